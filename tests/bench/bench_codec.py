"""Measure the wire's hot paths against Google's client and against SIMD base64.

Run it with any Python that has this project installed: it restarts itself under `.venv-sdk`, where google-genai lives,
so that everything is measured in one process, in interleaved batches. Ratios are medians over rounds.

    python3 -m venv .venv-sdk && .venv-sdk/bin/pip install google-genai pybase64
    .venv/bin/python tests/bench/bench_codec.py

Exit status: 0 when every measured target is met, 1 otherwise.
"""

from __future__ import annotations

import base64
import json
import os
import random
import statistics
import subprocess
import sys
import timeit
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SDK_PYTHON = ROOT / ".venv-sdk" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
BATCHES = 201
BATCH_SECONDS = 0.001

PEER_SEND = "google-genai send_realtime_input"
PEER_RECEIVE = "google-genai receive"


INPUTS = 32
"""Different inputs that every path goes round: real traffic never repeats itself."""

Call = tuple[str, Any, Sequence[Any]]
"""Statement to time, the callable in it, and the inputs to call it with."""


@dataclass(frozen=True)
class Target:
    """Target for `subject` against `against`.

    At least `at_least` times faster, or at most `at_most` times slower.
    """

    name: str
    subject: str
    against: str
    at_least: float = 0.0
    at_most: float = 0.0


TARGETS = [
    Target("encode a 20 ms chunk vs google-genai", "encode 20 ms", PEER_SEND, at_least=100),
    Target("encode a 20 ms chunk vs base64 floor", "encode 20 ms", "floor: encode 20 ms", at_most=2),
    Target("decode a 40 ms frame vs google-genai", "decode 40 ms", PEER_RECEIVE, at_least=25),
    Target("decode a 40 ms frame vs base64 floor", "decode 40 ms", "floor: decode 40 ms", at_most=4),
    Target("stdlib-only encode vs google-genai", "encode 20 ms, stdlib", PEER_SEND, at_least=35),
    Target("stdlib-only decode vs google-genai", "decode 40 ms, stdlib", PEER_RECEIVE, at_least=8),
]


def ours() -> dict[str, Call]:
    """Our paths and their floors."""
    import pybase64

    from gemini_live_runtime.wire import b64
    from gemini_live_runtime.wire.audio_frame import (
        decode_server,
        encode_audio_chunk,
        make_chunk_encoder,
        make_decoder,
    )

    chunks, frames = microphone_chunks(), model_frames()
    spans = [pybase64.b64encode(pcm) for pcm in model_pcm()]
    encode_plain, decode_plain = (
        make_chunk_encoder(b64.stdlib_encode),
        make_decoder(b64.stdlib_decode_strict),
    )
    for decode in (decode_server, decode_plain):
        assert [decode(frame).data for frame in frames] == model_pcm()  # type: ignore[union-attr]
    return {
        "encode 20 ms": ("call(given)", encode_audio_chunk, chunks),
        "decode 40 ms": ("call(given)", decode_server, frames),
        "encode 20 ms, stdlib": ("call(given)", encode_plain, chunks),
        "decode 40 ms, stdlib": ("call(given)", decode_plain, frames),
        "floor: encode 20 ms": ("call(given)", pybase64.b64encode, chunks),
        "floor: decode 40 ms": ("call(given, None, True)", pybase64.b64decode, spans),
        "floor: decode 40 ms, stdlib": ("call(given)", b64.stdlib_decode_strict, spans),
    }


def peer() -> dict[str, Call]:
    """Return Google's client around a fake socket.

    Its coroutines are driven without an event loop.
    """
    from google import genai
    from google.genai import live, types

    class NoSocket:
        frame = b""

        async def send(self, _: object) -> None:
            return None

        async def recv(self, decode: bool = True) -> bytes:
            return self.frame

    socket = NoSocket()
    client = genai.Client(api_key="no-key-is-needed-here")
    session = live.AsyncSession(api_client=client._api_client, websocket=socket)
    blobs = [types.Blob(data=chunk, mime_type="audio/pcm;rate=16000") for chunk in microphone_chunks()]

    def drive(coroutine: Any) -> Any:
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value
        raise AssertionError("the coroutine waited for something")

    def receive(frame: bytes) -> Any:
        socket.frame = frame
        return drive(session._receive())

    assert [receive(frame).data for frame in model_frames()] == model_pcm()
    return {
        PEER_SEND: ("call(given)", lambda blob: drive(session.send_realtime_input(audio=blob)), blobs),
        PEER_RECEIVE: ("call(given)", receive, model_frames()),
    }


def microphone_chunks() -> list[bytes]:
    """Different chunks of 20 ms at 16 kHz, s16le."""
    return [random.Random(seed).randbytes(640) for seed in range(INPUTS)]


def model_pcm() -> list[bytes]:
    """Different pieces of 40 ms at 24 kHz, s16le."""
    return [random.Random(seed).randbytes(1920) for seed in range(INPUTS)]


def model_frames() -> list[bytes]:
    """40 ms of speech each, as servers send it: pretty-printed, binary."""
    blobs = [{"mimeType": "audio/pcm;rate=24000", "data": base64.b64encode(pcm).decode()} for pcm in model_pcm()]
    messages = [{"serverContent": {"modelTurn": {"parts": [{"inlineData": blob}]}}} for blob in blobs]
    return [json.dumps(message, indent=2).encode() for message in messages]


def measure(paths: dict[str, Call]) -> dict[str, list[float]]:
    """Return the seconds per call of each path, one value per interleaved round."""
    timers = {}
    for name, (statement, call, inputs) in paths.items():
        timer = timeit.Timer(f"for given in inputs: {statement}", globals={"call": call, "inputs": inputs})
        timers[name] = (timer, max(1, int(BATCH_SECONDS / timer.timeit(3) * 3)))
    samples: dict[str, list[float]] = {name: [] for name in paths}
    for _ in range(BATCHES):
        for name, (timer, count) in timers.items():
            samples[name].append(timer.timeit(count) / count / INPUTS)
    return samples


def times_faster(samples: dict[str, list[float]], subject: str, against: str) -> float:
    """Return how many times faster `subject` is.

    The median over rounds, so that a slow phase of the machine hits both.
    """
    return statistics.median(b / a for a, b in zip(samples[subject], samples[against], strict=True))


def report(samples: dict[str, list[float]]) -> bool:
    """Print the tables; whether every measured target is met."""
    print(f"{'path':38} {'us, median':>10}")
    for name, values in samples.items():
        print(f"{name:38} {statistics.median(values) * 1e6:10.3f}")
    print(f"\n{'goal':38} {'target':>10} {'measured':>10}")
    met = True
    for target in TARGETS:
        wanted = f">= {target.at_least:g}x" if target.at_least else f"<= {target.at_most:g}x"
        if target.against not in samples:
            print(f"{target.name:38} {wanted:>10} {'not measured':>10}")
            continue
        faster = times_faster(samples, target.subject, target.against)
        ratio = faster if target.at_least else 1 / faster
        good = ratio >= target.at_least if target.at_least else ratio <= target.at_most
        met &= good
        print(f"{target.name:38} {wanted:>10} {ratio:9.1f}x{'' if good else '  MISSED'}")
    return met


def main() -> int:
    """Measure with google-genai if it can be imported here or in `.venv-sdk`.

    Otherwise measure without it.
    """
    try:
        import google.genai as sdk
    except ImportError:
        sdk = None
    if sdk is None and SDK_PYTHON.exists() and "BENCH_CODEC_CHILD" not in os.environ:
        path = os.pathsep.join([str(ROOT / "runtime"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        environment = {**os.environ, "PYTHONPATH": path, "BENCH_CODEC_CHILD": "1"}
        return subprocess.run([str(SDK_PYTHON), str(Path(__file__).resolve())], env=environment, check=False).returncode
    paths = ours()
    if sdk is None:
        print("google-genai is NOT measured: there is no .venv-sdk with it. Make one with")
        print("    python3 -m venv .venv-sdk && .venv-sdk/bin/pip install google-genai pybase64\n")
    else:
        print(f"google-genai {sdk.__version__}, CPython {sys.version.split()[0]}, {BATCHES} interleaved batches\n")
        paths.update(peer())
    return 0 if report(measure(paths)) else 1


if __name__ == "__main__":
    sys.exit(main())
