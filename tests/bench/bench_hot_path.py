"""Measure what the session adds to the codec.

Microseconds for each piece of model speech and each microphone chunk.

    .venv/bin/python tests/bench/bench_hot_path.py

Everything but the socket is the product's own: `Connection`, recorder, hub (journal off and on), core, runner. The
transport hands out frames that are there already and takes what is sent at once, as a socket with room does. CPU time
of the process is measured, and the journal's thread is waited for. Batches are interleaved; medians and the median
ratio to a floor are printed. The socket's own row reads the same frames from a server on loopback, without decoding
them.

Frames have two floors. The one that targets refer to is what a program does that takes any frame: parse its JSON and
decode the base64 in it, here without the strict checks that the codec adds. The other is our own decoder of speech,
which matches templates and does neither; as it became quicker, the ratio to it grew.

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from websockets.asyncio.server import ServerConnection, serve

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.bench.device import stamped_chunk  # noqa: E402
from tests.bench.live import BenchAudio, make_hub, make_session  # noqa: E402

from gemini_live_runtime.audio.interface import MicChunk  # noqa: E402
from gemini_live_runtime.clock import LoopClock  # noqa: E402
from gemini_live_runtime.wire import b64  # noqa: E402
from gemini_live_runtime.wire.audio_frame import decode_server, encode_audio_chunk  # noqa: E402
from gemini_live_runtime.wire.connection import Connection  # noqa: E402
from gemini_live_runtime.wire.endpoints import Endpoint, local_endpoint  # noqa: E402
from gemini_live_runtime.wire.transport import Transport  # noqa: E402
from gemini_live_runtime.wire.websocket import open_websocket  # noqa: E402

ROUNDS = 61
BATCH = 200
ANY_FRAME, SPEECH, CHUNK = "parse JSON, decode base64", "decode a frame", "encode a chunk"

FLOORS = {
    ANY_FRAME: (),
    SPEECH: (ANY_FRAME,),
    "socket alone": (ANY_FRAME, SPEECH),
    "Connection.receive": (ANY_FRAME, SPEECH),
    "receive to play": (ANY_FRAME, SPEECH),
    "receive to play, recording": (ANY_FRAME, SPEECH),
    CHUNK: (),
    "microphone to transport": (CHUNK,),
    "microphone to transport, recording": (CHUNK,),
}
"""Cases that each case is compared with."""

AT_MOST = {
    "receive to play": 2.3,
    "receive to play, recording": 3.4,
    "microphone to transport, recording": 40.0,
}
"""Ratios to the first floor beyond which the exit status is 1."""

SETUP_COMPLETE = b'{"setupComplete": {}}'


def model_frames() -> list[bytes]:
    """Pieces of 40 ms as a server sends them: pretty-printed, binary."""
    blobs = [
        {"mimeType": "audio/pcm;rate=24000", "data": base64.b64encode(os.urandom(1920)).decode()} for _ in range(BATCH)
    ]
    messages = [{"serverContent": {"modelTurn": {"parts": [{"inlineData": blob}]}}} for blob in blobs]
    return [json.dumps(message, indent=2).encode() for message in messages]


class Lane(Transport):
    """Transport with one batch of frames at a time.

    `sent` is set once a batch has gone out.
    """

    def __init__(self) -> None:
        self._frames: list[bytes] = [SETUP_COMPLETE]
        self._wake = asyncio.Event()
        self.empty = asyncio.Event()
        self.count = 0

    def load(self, frames: list[bytes]) -> None:
        """Set the frames to be received next."""
        self._frames = frames[::-1]
        self.empty.clear()
        self._wake.set()

    async def send(self, frame: str | bytes) -> None:
        self.count += 1

    def send_now(self, frame: str | bytes) -> bool:
        self.count += 1
        return True

    async def recv(self) -> str | bytes:
        while not self._frames:
            self.empty.set()
            self._wake.clear()
            await self._wake.wait()
        return self._frames.pop()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        return None


class Bench:
    """A session, or a bare connection, to measure."""

    def __init__(self, clock: LoopClock, folder: Path | None) -> None:
        self.lane = Lane()
        self.audio = BenchAudio()
        self.hub = make_hub(clock, folder)
        self.session, self.opened = make_session(
            self.hub, self.audio, clock, local_endpoint("ws://localhost"), self._transport
        )

    async def _transport(self, _: Endpoint) -> Transport:
        return self.lane

    async def start(self) -> None:
        """Connect; returns when the session listens."""
        self.task = asyncio.create_task(self.session.run())
        await self.opened
        await self.lane.empty.wait()

    async def receive(self, frames: list[bytes]) -> None:
        """Pass a batch of model speech from the transport to `AudioIO.play`."""
        before = self.audio.played
        self.lane.load(frames)
        await self.lane.empty.wait()
        assert self.audio.played == before + len(frames)
        await self.written()

    async def send(self, chunks: list[MicChunk]) -> None:
        """Pass a batch of chunks from the listener to the transport."""
        goal, listener = self.lane.count + len(chunks), self.audio.listener
        assert listener is not None
        for chunk in chunks:
            listener.on_mic_chunk(chunk)
        assert self.lane.count == goal
        await self.written()

    async def written(self) -> None:
        """Wait until the journal's thread has written all of it."""
        if self.hub.journal is not None:
            await asyncio.to_thread(self.hub.journal.flush)

    async def stop(self) -> None:
        """End the session and its journal."""
        self.session.hang_up("done")
        await self.task
        if self.hub.journal is not None:
            await asyncio.to_thread(self.hub.journal.close)


async def bare_receive(connection: Connection, lane: Lane, frames: list[bytes]) -> None:
    """Pass a batch through `Connection.receive` alone, without a recorder."""
    lane.load(frames)
    for _ in frames:
        await connection.receive()


@contextlib.asynccontextmanager
async def socket_of(frames: list[bytes]) -> AsyncIterator[Transport]:
    """Open a socket to a server that answers each message with all frames, ready-made."""
    ready = b"".join(b"\x82\x7e" + len(frame).to_bytes(2, "big") + frame for frame in frames)

    async def answer(connection: ServerConnection) -> None:
        async for _ in connection:
            connection.transport.write(ready)

    async with serve(answer, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        transport = await open_websocket(local_endpoint(f"ws://127.0.0.1:{port}"))
        try:
            yield transport
        finally:
            await transport.close()


async def socket_receive(transport: Transport, frames: list[bytes]) -> None:
    """Receive a batch from the socket."""
    await transport.send("go")
    for _ in frames:
        await transport.recv()


async def main() -> int:
    """Measure, print, judge."""
    clock, frames = LoopClock(), model_frames()
    pcm = [stamped_chunk(number) for number in range(BATCH)]
    chunks = [MicChunk(piece, 0.0) for piece in pcm]
    async with contextlib.AsyncExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory())
        socket = await stack.enter_async_context(socket_of(frames))
        plain, recorded = Bench(clock, None), Bench(clock, Path(name))
        await plain.start()
        await recorded.start()
        bare_lane = Lane()
        bare_lane.load([])
        bare = Connection.over(bare_lane)

        async def any_frame() -> None:
            for frame in frames:
                message = json.loads(frame)
                b64.decode(message["serverContent"]["modelTurn"]["parts"][0]["inlineData"]["data"])

        async def codec_in() -> None:
            for frame in frames:
                decode_server(frame)

        async def codec_out() -> None:
            for piece in pcm:
                encode_audio_chunk(piece)

        cases: dict[str, Callable[[], Awaitable[None]]] = {
            ANY_FRAME: any_frame,
            SPEECH: codec_in,
            "socket alone": lambda: socket_receive(socket, frames),
            "Connection.receive": lambda: bare_receive(bare, bare_lane, frames),
            "receive to play": lambda: plain.receive(frames),
            "receive to play, recording": lambda: recorded.receive(frames),
            CHUNK: codec_out,
            "microphone to transport": lambda: plain.send(chunks),
            "microphone to transport, recording": lambda: recorded.send(chunks),
        }
        samples: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for case, run in cases.items():
                started = time.process_time()
                await run()
                samples[case].append((time.process_time() - started) / BATCH * 1e6)
        await plain.stop()
        await recorded.stop()
        await bare.close()

    print(f"{'what':36} | {'at most':>7} | CPU")
    met = True
    for case, floors in FLOORS.items():
        ratios = [
            statistics.median(a / b for a, b in zip(samples[case], samples[floor], strict=True)) for floor in floors
        ]
        limit = AT_MOST.get(case)
        verdict = "" if limit is None else "  ok" if ratios[0] <= limit else "  MISSED"
        met &= limit is None or ratios[0] <= limit
        bound = "" if limit is None else f"{limit:g}x"
        told = "".join(f", {ratio:4.1f}x {floor}" for ratio, floor in zip(ratios, floors, strict=True))
        print(f"{case:36} | {bound:>7} | {statistics.median(samples[case]):6.2f} us{told}{verdict}")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
