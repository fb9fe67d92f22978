"""Measure the sound layer: CPU, reaction in device blocks, echo cancelling.

    .venv/bin/python tests/bench/bench_audio.py

Times are medians, told as shares of the 10 ms they have to fit in or as ratios to a floor. The rooms are generated
(three delays and reverberation times, loudspeaker distortion, noise 34 dB under the echo, the voices of
tests/data/audio), so the table ranks cancellers; it does not predict a real room.

Exit status: 0 when every target is met, 1 otherwise.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.unit.audio.audio_support import FakePortAudio, Recorder  # noqa: E402

from gemini_live_runtime.audio.device_audio import DeviceAudio  # noqa: E402
from gemini_live_runtime.audio.echo.cancellers import Aec3, EchoCanceller, EchoState, NoCanceller  # noqa: E402
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller  # noqa: E402
from gemini_live_runtime.audio.echo.linear_echo import LinearEchoFilter  # noqa: E402
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline  # noqa: E402
from gemini_live_runtime.audio.resample import Resampler  # noqa: E402
from gemini_live_runtime.audio.samples import FRAME, Float32, Int16, to_int16  # noqa: E402
from gemini_live_runtime.audio.wav import WavReader  # noqa: E402

RATE = 16_000
SECONDS = 20
PERSON_FROM = 8
JUMP_AT = 10
TRIALS = 60
DEVICE_BLOCK = 480
"""Samples of the fake device's blocks of 10 ms."""


Block = tuple[float, float, int]
"""Time of a callback (s), peak of its block, and samples up to the last that is not silent."""


@dataclass(frozen=True)
class Line:
    """A measured number and its target."""

    name: str
    measured: float
    at_most: float
    unit: str

    def print(self) -> bool:
        """Print the line; whether the target is met."""
        met = self.measured <= self.at_most
        verdict = "ok" if met else "MISSED"
        print(f"{self.name:58} {self.measured:9.3f} {self.unit:12} target <= {self.at_most:g}  {verdict}")
        return met


def main() -> int:
    """Measure, print, judge."""
    lines = [*costs(), *asyncio.run(reactions()), *rooms()]
    print()
    met = [line.print() for line in lines]
    return 0 if all(met) else 1


def costs() -> list[Line]:
    """Share of 10 ms that a step takes, and a callback against copying its samples."""
    lines = []
    for rate in (16_000, 48_000):
        for playing in (False, True):
            step, callback = step_cost(rate, playing)
            state = "model speaks" if playing else "quiet"
            lines.append(
                Line(f"pipeline step, {rate // 1000} kHz devices, {state}", step / 0.01 * 100, 10, "% of 10 ms")
            )
    lines.append(Line("both callbacks, 48 kHz, model speaks", callback / 0.01 * 100, 1, "% of 10 ms"))
    return lines


def step_cost(rate: int, playing: bool) -> tuple[float, float]:
    """Median seconds of a pipeline step and of both callbacks' work."""
    rng = np.random.default_rng(0)
    pipeline = AudioPipeline(Recorder(), DualCanceller(), mic_rate=rate, out_rate=rate, lead=3)
    assert pipeline.playout.ring is not None
    assert pipeline.played is not None
    assert pipeline.microphone is not None
    out = np.zeros(rate // 100, np.float32)
    mic = rng.normal(0, 0.01, rate // 100).astype(np.float32)
    if playing:
        pipeline.playout.play(1, rng.normal(0, 3000, 24_000 * 15).astype("<i2").tobytes())
    steps, callbacks = [], []
    for number in range(1400):
        start = time.perf_counter()
        pipeline.playout.ring.read(out, number * 0.01)
        pipeline.played.write(out, number * 0.01)
        pipeline.microphone.write(mic, number * 0.01)
        middle = time.perf_counter()
        pipeline.step(number * 0.01)
        steps.append(time.perf_counter() - middle)
        callbacks.append(middle - start)
    return statistics.median(steps[200:]), statistics.median(callbacks[200:])


async def reactions() -> list[Line]:
    """Return device blocks and ms from `play` to sound and from `cut` to silence.

    The frame is longer than the prebuffer, so that none is waited for.
    """
    fake = FakePortAudio()
    audio = DeviceAudio(load=lambda: fake, probe=fake.found)
    await audio.open(Recorder())
    microphone, speaker = fake.stream("input"), fake.stream("output")
    blocks: list[Block] = []
    stopping = threading.Event()

    def device() -> None:
        due = time.monotonic()
        while not stopping.is_set():
            due += 0.01
            time.sleep(max(0.0, due - time.monotonic()))
            at = time.monotonic()
            # A microphone that is silent for long is opened anew, and the loudspeaker with it.
            microphone.call()
            out = speaker.call()[:, 0]
            loud = np.flatnonzero(np.abs(out) > 1e-3)
            blocks.append((at, float(np.abs(out).max()), int(loud[-1]) + 1 if len(loud) else 0))

    thread = threading.Thread(target=device, daemon=True)
    thread.start()
    sound = np.full(24_000 * 2, 8_000, np.int16).tobytes()
    first, silent = [], []
    first_ms, silent_ms = [], []
    for gen in range(TRIALS):
        await asyncio.sleep(0.05 + 0.001 * (gen % 10))
        asked = time.monotonic()
        audio.play(gen, sound)
        began = await until(blocks, asked, lambda block: block[1] > 0.1)
        first.append(len(began))
        first_ms.append(1000 * (began[-1][0] - asked))
        await asyncio.sleep(0.06)
        asked = time.monotonic()
        audio.cut(gen + 1)
        ended = await until(blocks, asked, lambda block: block[1] < 1e-3)
        silent.append(len(ended))
        at, _, samples = next(block for block in ended if block[2] < DEVICE_BLOCK)
        silent_ms.append(1000 * (at - asked) + samples * 10 / DEVICE_BLOCK)
    stopping.set()
    thread.join()
    await audio.close()
    return [
        Line("play -> first sample, device blocks, p99", float(np.percentile(first, 99)), 3, "blocks"),
        Line("play -> first sample, device blocks, median", statistics.median(first), 2, "blocks"),
        Line("play -> first sample handed over, p99", float(np.percentile(first_ms, 99)), 11, "ms"),
        Line("cut -> silence (the fade is the first block), worst", max(silent), 2, "blocks"),
        Line("cut -> silence at the device, median", statistics.median(silent_ms), 9, "ms"),
        Line("cut -> silence at the device, p99", float(np.percentile(silent_ms, 99)), 13, "ms"),
    ]


async def until(blocks: list[Block], moment: float, wanted: Callable[[Block], bool]) -> list[Block]:
    """Return the device's blocks that began after `moment`, up to the `wanted` one."""
    for _ in range(400):
        await asyncio.sleep(0.005)
        later = [block for block in blocks if block[0] > moment]
        for number, block in enumerate(later, 1):
            if wanted(block):
                return later[:number]
    raise RuntimeError("the device did not play, or did not fall silent, in two seconds")


def voice(name: str, seconds: float, level_dbfs: float) -> Float32:
    """Return a voice of tests/data/audio, repeated to `seconds`.

    Its active level is `level_dbfs`.
    """
    reader = WavReader(ROOT / "tests" / "data" / "audio" / name)
    sound = Resampler(reader.rate, RATE, "VHQ").process(reader.read(10_000_000), last=True)
    reader.close()
    sound = np.concatenate([sound, np.zeros(RATE // 2, np.float32)])
    sound = np.tile(sound, int(seconds * RATE / len(sound)) + 1)[: int(seconds * RATE)]
    loud = active(sound, -35).repeat(FRAME)
    return sound * np.float32(10 ** (level_dbfs / 20) / np.sqrt((sound[: len(loud)][loud] ** 2).mean()))


def powers(sound: Float32) -> np.ndarray:
    """Mean squares of 10 ms frames."""
    return (sound[: len(sound) // FRAME * FRAME].reshape(-1, FRAME).astype(float) ** 2).mean(axis=1) + 1e-12


def active(sound: Float32, relative_db: float) -> np.ndarray:
    """Return a mask of the 10 ms frames within `relative_db` of the loud ones."""
    power = powers(sound)
    return power > np.percentile(power, 95) * 10 ** (relative_db / 10)


def impulse_response(decay_s: float, delay_ms: int, seed: int) -> np.ndarray:
    """Return a room's impulse response: a delayed direct path and its decay.

    The decay is noise that falls by 60 dB in `decay_s`, 4 dB under the direct path in all.
    """
    rng = np.random.default_rng(seed)
    count = int(decay_s * RATE)
    tail = rng.standard_normal(count) * 10 ** (-3 * np.arange(count) / count)
    tail[: RATE // 250] = 0
    tail *= 10 ** (-4 / 20) / np.sqrt((tail**2).sum())
    tail[0] = 1.0
    return np.concatenate([np.zeros(RATE * delay_ms // 1000), tail])


def convolve(sound: Float32, response: np.ndarray) -> Float32:
    """Convolution by one long transform, as long as `sound`."""
    size = 1 << (len(sound) + len(response)).bit_length()
    return np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(response, size), size)[: len(sound)].astype(np.float32)


class Linear:
    """The linear filter alone, to see its part."""

    has_near_end = True
    probe = None
    state: EchoState = ""

    def __init__(self) -> None:
        self._filter = LinearEchoFilter()
        self._far: list[Int16] = []

    def render(self, frame: Int16) -> None:
        """Queue."""
        self._far.append(frame)

    def capture(self, frame: Int16) -> Int16:
        """Subtract."""
        error, _ = self._filter.step(self._far.pop(0), frame)
        return np.clip(np.rint(error), -32768, 32767).astype(np.int16)

    def on_frames_lost(self, later: int = 0) -> None:
        """No-op: the filter re-adapts by itself."""


CANCELLERS: dict[str, Callable[[], EchoCanceller]] = {
    "none": NoCanceller,
    "AEC3 alone": Aec3,
    "linear filter alone": Linear,
    "linear filter, then AEC3 (used)": DualCanceller,
}


def run(canceller: EchoCanceller, far: Float32, mic: Float32) -> tuple[Float32, float]:
    """Return the cleaned microphone (float) and the median seconds per frame."""
    out, times = [], []
    far16, mic16 = to_int16(far), to_int16(mic)
    for at in range(0, len(mic) // FRAME * FRAME, FRAME):
        start = time.perf_counter()
        canceller.render(far16[at : at + FRAME])
        out.append(canceller.capture(mic16[at : at + FRAME]))
        times.append(time.perf_counter() - start)
    return np.concatenate(out).astype(np.float32) / np.float32(32768), statistics.median(times)


def erle(mic: Float32, clean: Float32, heard: np.ndarray, start: float, end: float) -> float:
    """Reduction in dB over the frames in which the echo was loud."""
    span = slice(int(start * 100), int(end * 100))
    return float(10 * np.log10(powers(mic)[span][heard[span]].mean() / powers(clean)[span][heard[span]].mean()))


def lag_of(clean: Float32, reference: Float32) -> int:
    """Return the samples by which `clean` is later than `reference`, 0 to 50 ms."""
    size = 1 << (2 * len(clean)).bit_length()
    cross = np.fft.irfft(np.fft.rfft(clean, size) * np.conj(np.fft.rfft(reference, size)), size)
    return int(np.argmax(cross[: RATE // 20]))


def room_scores(make: Callable[[], EchoCanceller], room: int) -> list[float]:
    """Measure a canceller in one room.

    Returns ERLE at 2-4 s, after 6 s, 0-1 s and 1-4 s after a 60 ms jump, the person's lost frames and level change, and
    the seconds a frame took.
    """
    decay, delay = [(0.25, 40), (0.30, 80), (0.40, 120)][room]
    rng = np.random.default_rng(room)
    far = voice("model_speech.wav", SECONDS, -20)
    distorted = np.tanh(far + 0.05) - np.tanh(0.05)
    response = impulse_response(decay, delay, room + 1)
    echo = convolve(distorted.astype(np.float32), response)
    moved = convolve(distorted.astype(np.float32), np.concatenate([np.zeros(RATE * 60 // 1000), response]))
    gain = 10 ** (-26 / 20) / np.sqrt(powers(echo)[active(echo, -30)].mean())
    echo, moved = echo * np.float32(gain), moved * np.float32(gain)
    noise = (rng.standard_normal(len(far)) * 10 ** (-60 / 20)).astype(np.float32)
    heard = active(echo, -30)

    clean, seconds = run(make(), far, echo + noise)
    scores = [erle(echo + noise, clean, heard, 2, 4), erle(echo + noise, clean, heard, 6, SECONDS)]

    jumped = np.concatenate([echo[: JUMP_AT * RATE], moved[JUMP_AT * RATE :]]) + noise
    clean, _ = run(make(), far, jumped)
    scores += [erle(jumped, clean, heard, JUMP_AT, JUMP_AT + 1), erle(jumped, clean, heard, JUMP_AT + 1, JUMP_AT + 4)]

    person = np.zeros_like(far)
    person[PERSON_FROM * RATE :] = voice("barge_in.wav", SECONDS - PERSON_FROM, -26)
    alone, _ = run(make(), np.zeros_like(far), person + noise)
    lag = lag_of(alone, person)
    clean, _ = run(make(), far, echo + person + noise)
    aligned = np.concatenate([clean[lag:], np.zeros(lag, np.float32)])
    spoken = active(person, -30)
    change = 10 * np.log10(powers(aligned) / powers(person))[spoken]
    scores += [float((change < -12).mean() * 100), float(np.median(change)), seconds * 1e6]
    return scores


def rooms() -> list[Line]:
    """Print the table of cancellers, means over three rooms."""
    print(
        f"{'canceller':32} {'ERLE 2-4 s':>10} {'> 6 s':>6} {'jump 0-1':>9} {'1-4 s':>6} "
        f"{'lost %':>7} {'median dB':>10} {'us/10 ms':>9}"
    )
    table = {}
    for name, make in CANCELLERS.items():
        scores = table[name] = np.mean([room_scores(make, room) for room in range(3)], axis=0)
        early, late, jump, recovered, lost, level, cost = scores
        print(
            f"{name:32} {early:10.1f} {late:6.1f} {jump:9.1f} {recovered:6.1f} {lost:7.1f} {level:10.1f} {cost:9.0f}",
            flush=True,
        )
    used, alone = table["linear filter, then AEC3 (used)"], table["AEC3 alone"]
    return [
        Line("double talk: frames lost, against AEC3 alone", used[4] / max(alone[4], 1e-9), 0.25, "x"),
        Line("echo left after 6 s", -used[1], -20, "dB"),
        Line("canceller's share of 10 ms", used[6] / 10_000 * 100, 10, "% of 10 ms"),
    ]


if __name__ == "__main__":
    sys.exit(main())
