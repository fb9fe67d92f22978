"""Serve the benchmarks: report arrival times, and stream an answer on request.

    python tests/bench/wire_server.py

A process of its own. It prints one JSON line with its `url` when it listens and ends when standard input does. Lines on
standard input are orders: `report` prints what arrived since the last report, as one JSON object; `stream` and `quiet`
start and stop model speech (25 pieces of 40 ms a second) with twelve words a second of transcript.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import threading
import time
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

SENTENCE = "the harbour is quiet this morning and the light comes in low over the water"
WORDS = SENTENCE.split(" ")
PIECE_S = 0.04
PIECE = base64.b64encode(os.urandom(1920)).decode()
WORDS_A_TURN = 40
_ALPHABET = str.maketrans("-_", "+/")


class Desk:
    """Arrivals so far, and whether the server is to speak."""

    def __init__(self) -> None:
        self.audio_us: dict[str, list[float]] = {}
        self.texts: list[tuple[str, int]] = []
        self.speak = asyncio.Event()

    def obey(self, order: str) -> None:
        """Carry out one line of standard input."""
        if order == "report":
            print(json.dumps({"audio_us": self.audio_us, "texts": self.texts}), flush=True)
            self.audio_us, self.texts = {}, []
        elif order == "stream":
            self.speak.set()
        elif order == "quiet":
            self.speak.clear()


def audio_of(message: dict[str, Any]) -> str:
    """Return the base64 of a message's audio, or ""; google-genai writes snake case."""
    given = message.get("realtimeInput") or message.get("realtime_input") or {}
    blob = given.get("audio") or {}
    data: str = blob.get("data", "")
    return data


def text_of(message: dict[str, Any]) -> str:
    """Return the text that was typed, or ""."""
    given = message.get("clientContent") or {}
    parts = [part for turn in given.get("turns", ()) for part in turn.get("parts", ())]
    return "".join(part.get("text", "") for part in parts)


async def talk(connection: ServerConnection, desk: Desk) -> None:
    """Serve one client, identified by its model's name."""
    setup = json.loads(await connection.recv())["setup"]
    name = setup["model"].rpartition("/")[2]
    await connection.send(b'{"setupComplete": {}}')
    speaking = asyncio.create_task(speak(connection, desk))
    try:
        while True:
            frame = await connection.recv()
            now = time.monotonic_ns()
            message = json.loads(frame)
            data = audio_of(message)
            if data:
                pcm = base64.b64decode(data.translate(_ALPHABET))
                stamp = int.from_bytes(pcm[:8], "little")
                # A chunk of a file's silence carries no stamp.
                if 0 <= now - stamp < 10**10:
                    desk.audio_us.setdefault(name, []).append((now - stamp) / 1000)
            elif text := text_of(message):
                desk.texts.append((text, now))
                await connection.send(json.dumps({"serverContent": {"turnComplete": True}}).encode())
    except ConnectionClosed:
        pass
    finally:
        speaking.cancel()


async def speak(connection: ServerConnection, desk: Desk) -> None:
    """Turn after turn, for as long as the server is to speak."""
    audio = {"modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": PIECE}}]}}
    frame = json.dumps({"serverContent": audio}, indent=2).encode()
    loop = asyncio.get_running_loop()
    while True:
        await desk.speak.wait()
        due, word, owed = loop.time(), 0, 0.0
        while desk.speak.is_set() and word < WORDS_A_TURN:
            await connection.send(frame)
            owed += 12 * PIECE_S
            while owed >= 1:
                owed -= 1
                text = f"{WORDS[word % len(WORDS)]} "
                said = {"serverContent": {"outputTranscription": {"text": text}}}
                await connection.send(json.dumps(said).encode())
                word += 1
            due += PIECE_S
            await asyncio.sleep(max(0.0, due - loop.time()))
        await connection.send(json.dumps({"serverContent": {"generationComplete": True}}).encode())
        await connection.send(json.dumps({"serverContent": {"turnComplete": True}}).encode())


async def main() -> None:
    """Serve until standard input ends."""
    desk, loop, over = Desk(), asyncio.get_running_loop(), asyncio.Event()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(desk.obey, line.strip())
        loop.call_soon_threadsafe(over.set)

    async def handle(connection: ServerConnection) -> None:
        await talk(connection, desk)

    async with serve(handle, "127.0.0.1", 0, compression=None, ping_interval=None, close_timeout=1) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        print(json.dumps({"url": f"ws://127.0.0.1:{port}"}), flush=True)
        threading.Thread(target=read, daemon=True).start()
        await over.wait()


if __name__ == "__main__":
    asyncio.run(main())
