"""Send an answer as transcript deltas and paced audio, or as text parts."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable

from gemini_live_runtime.local.parts import SPEECH_RATE, Speech, SpeechChunk
from gemini_live_runtime.local.protocol.message_sender import MessageSender
from gemini_live_runtime.wire.messages import (
    Content,
    Part,
    ServerContent,
    ServerMessage,
    Transcription,
)

CHUNK_MS = 80
"""Milliseconds of audio in a frame."""

SPEED = 4.0
"""Speed of sending audio, as a multiple of real time."""

MAX_LEAD_S = 8.0
"""Most seconds of audio ahead of playback; beyond it audio is sent in real time."""

TEXT_INTERVAL_S = 0.02
"""Seconds between two pieces of a text answer."""

WORDS_IN_A_PIECE = 3
"""Words of a text delta."""

_BYTES_A_SECOND = SPEECH_RATE * 2
_CHUNK_BYTES = _BYTES_A_SECOND * CHUNK_MS // 1000


class Utterance:
    """Answer of one turn; `text` and `audio_s` are what has been sent so far.

    `on_piece` is awaited after each piece.
    """

    def __init__(
        self, sender: MessageSender, *, transcribe: bool, on_piece: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._sender = sender
        self._transcribe = transcribe
        self._on_piece = on_piece or _go_on
        self._plays_until = 0.0
        self.text = ""
        self.audio_s = 0.0

    async def speak(self, speech: Speech, text: str, voice: str) -> None:
        """Send `text` as audio, each piece of the transcript just before its audio."""
        stream: AsyncIterator[SpeechChunk] = speech.speak(text, voice)
        between = " " if self.text else ""
        rest = bytearray()
        async with contextlib.AsyncExitStack() as stack:
            close = getattr(stream, "aclose", None)
            if close is not None:
                stack.push_async_callback(close)
            async for spoken in stream:
                words = re.findall(r"\s*\S+", spoken.text)
                if words and between and not words[0][0].isspace():
                    words[0] = between + words[0]
                between = ""
                await self._clause(words, spoken.pcm, rest)
        if rest:
            await self._chunk(bytes(rest))

    async def _clause(self, words: list[str], pcm: bytes, rest: bytearray) -> None:
        """Send the whole chunks of `rest` and `pcm`, leaving the remainder in `rest`."""
        letters = max(1, sum(map(len, words)))
        begins_at = len(rest)
        done = said = 0
        rest += pcm
        sent = 0
        while done < len(words) or len(rest) >= _CHUNK_BYTES:
            # A word is sent before the chunk in which it begins, estimated from its place in the text.
            due = ""
            while done < len(words) and begins_at + said * len(pcm) // letters < sent + _CHUNK_BYTES:
                due += words[done]
                said += len(words[done])
                done += 1
            await self._delta(due)
            if len(rest) < _CHUNK_BYTES:
                await self._delta("".join(words[done:]))
                return
            await self._chunk(bytes(rest[:_CHUNK_BYTES]))
            del rest[:_CHUNK_BYTES]
            sent += _CHUNK_BYTES

    async def _chunk(self, pcm: bytes) -> None:
        pcm = pcm[: len(pcm) & ~1]
        await self._sender.audio(pcm)
        loop = asyncio.get_running_loop()
        seconds = len(pcm) / _BYTES_A_SECOND
        self.audio_s += seconds
        self._plays_until = max(loop.time(), self._plays_until) + seconds
        await self._on_piece()
        lead = self._plays_until - loop.time()
        await asyncio.sleep(max(seconds / SPEED, lead - MAX_LEAD_S))

    async def transcript_only(self, text: str) -> None:
        """Send `text` as a transcript without audio, piece by piece."""
        for piece in pieces(text):
            await self._delta(piece, always=True)
            await self._on_piece()
            await asyncio.sleep(TEXT_INTERVAL_S)

    async def write(self, text: str) -> None:
        """Send `text` as text parts."""
        for piece in pieces(text):
            self.text += piece
            turn = Content(role="model", parts=(Part(text=piece),))
            await self._sender.send(ServerMessage(server_content=ServerContent(model_turn=turn)))
            await self._on_piece()
            await asyncio.sleep(TEXT_INTERVAL_S)

    async def played(self) -> None:
        """Wait until everything sent should have been played."""
        left = self._plays_until - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.sleep(left)

    @property
    def unplayed_s(self) -> float:
        """Seconds of audio not played yet by a client that plays at once."""
        return max(0.0, self._plays_until - asyncio.get_running_loop().time())

    async def _delta(self, text: str, *, always: bool = False) -> None:
        if not text:
            return
        self.text += text
        if self._transcribe or always:
            content = ServerContent(output_transcription=Transcription(text=text))
            await self._sender.send(ServerMessage(server_content=content))


async def _go_on() -> None:
    return None


def pieces(text: str, separate: Callable[[str], list[str]] = re.compile(r"\s*\S+").findall) -> list[str]:
    """Split `text` into deltas of a few words, each with its leading space."""
    words = separate(text)
    return ["".join(words[i : i + WORDS_IN_A_PIECE]) for i in range(0, len(words), WORDS_IN_A_PIECE)]
