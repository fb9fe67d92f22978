"""Measure how soon the model falls silent for a person, at the loudspeaker.

    .venv/bin/python -m tests.audio.interruptions --count 12 --turns client

In each session a second process speaks into the model's story. What the loudspeaker plays is recorded twice, all of it
and the model alone; the difference is the person. Time runs from the first sample of the person above -40 dBFS to the
last one of the model above -60 dBFS, both as played. It needs pulseaudio, pactl, parec and flite.

Exit status: 1 when the median or the 95th percentile exceeds its target.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from tests.audio.conversation import Conversation, is_a, say, set_echo
from tests.audio.sessions import VOICES, loop

RATE = 48_000
MEDIAN_MS, P95_MS = 200.0, 300.0
LATEST_S = 2
"""Seconds for which a person is waited for to interrupt the model."""
LEVELS = (-6.0, -3.0, 0.0)
"""Levels of the echo, in dB; at more the recordings would clip."""
QUESTIONS = ("what time is it", "stop please", "hello can you hear me", "wait a moment", "no thank you")
PERSON, SILENCE = 10 ** (-40 / 20), 10 ** (-60 / 20)

Samples: TypeAlias = npt.NDArray[np.float32]


@contextmanager
def recording(environment: dict[str, str], path: Path, *source: str) -> Iterator[None]:
    """Record from a source or a stream into `path`, as float32 mono of `RATE`."""
    options = ("--raw", "--format=float32le", f"--rate={RATE}", "--channels=1", "--latency-msec=10")
    with path.open("wb") as file:
        process = subprocess.Popen(["parec", *options, *source], stdout=file, env=environment)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def models_stream(environment: dict[str, str]) -> str:
    """Return the index of the only stream that plays."""
    listed = subprocess.run(
        ["pactl", "list", "short", "sink-inputs"], env=environment, capture_output=True, text=True, check=True
    )
    (index,) = re.findall(r"^(\d+)", listed.stdout, re.MULTILINE)
    return str(index)


def lag_of(part: Samples, whole: Samples) -> int:
    """Return where `part` begins in `whole`, in samples; may be negative."""
    size = 1 << (len(part) + len(whole)).bit_length()
    product = np.fft.irfft(np.fft.rfft(whole, size) * np.conj(np.fft.rfft(part, size)), size)
    at = int(product.argmax())
    return at if at < len(whole) else at - size


def silence_after(everything: Samples, model: Samples) -> float:
    """Return the ms from a person's first sample to the model's last one.

    It is `LATEST_S` at most. Raises ValueError when it cannot be measured.
    """
    lag = lag_of(model, everything)
    everything, model = (everything[lag:], model) if lag >= 0 else (everything, model[-lag:])
    length = min(len(everything), len(model))
    spoken = np.flatnonzero(np.abs(model[:length]) > SILENCE)
    if not len(spoken):
        raise ValueError("the model's stream was opened anew")
    # Both have the same level, sample for sample. Before the model speaks, the person asked for the story.
    person = np.abs(everything[:length] - model[:length]) > PERSON
    person[: spoken[0]] = False
    if not person.any():
        raise ValueError("no person is in the recording")
    first = int(person.argmax())
    # The next answer of the model begins seconds later. Between two sentences it may be silent when the person begins,
    # and say nothing more.
    loud = np.concatenate(([0], np.flatnonzero(np.abs(model[first : first + LATEST_S * RATE]) > SILENCE)))
    pauses = np.flatnonzero(np.diff(loud) > RATE // 2)
    last = loud[pauses[0]] if len(pauses) else loud[-1]
    return 1000 * float(last) / RATE


def interrupt(
    environment: dict[str, str], number: int, folder: Path, turns: str, spoken: float, louder: float
) -> float:
    """Hold one session; return the ms from the person's first sample to silence.

    The person begins once `spoken` seconds of the model's first answer were heard, or at its first words with 0.
    """
    set_echo(environment, LEVELS[number % len(LEVELS)])
    voice, text = VOICES[number % len(VOICES)], QUESTIONS[number % len(QUESTIONS)]
    story = say("tell me a story", folder / f"story-{voice}.wav", voice)
    question = say(text, folder / f"question-{number}.wav", voice)
    everything, model = folder / "everything.raw", folder / "model.raw"
    session = Conversation(environment, "--turns", turns)
    try:
        session.until(is_a("session.state", word="listening"))
        with (
            recording(environment, everything, "--device=loop.monitor"),
            recording(environment, model, f"--monitor-stream={models_stream(environment)}"),
        ):
            session.plays(story)
            session.until(is_a("playback.started"))
            heard = 0.0
            while heard < spoken:
                heard += session.until(is_a("playback.heard"))["data"]["count"] / 24_000
            session.plays(question, louder)
            is_cut = session.within(LATEST_S, is_a("turn.interrupted"))
            session.within(1.0, is_a("session.ended"))
        session.ends()
    finally:
        session.kill()
    if not is_cut:
        return 1000.0 * LATEST_S
    return silence_after(np.fromfile(everything, np.float32), np.fromfile(model, np.float32))


def main() -> int:
    """Hold the sessions; print a line for each."""
    parser = argparse.ArgumentParser(description="Measure how soon the model falls silent.")
    parser.add_argument("--count", type=int, default=12, help="number of sessions")
    parser.add_argument("--turns", default="auto", help="who detects turns: server, client or auto")
    parser.add_argument("--spoken", type=float, default=4.0, help="seconds of speech to hear; 0: at once")
    parser.add_argument("--louder", type=float, default=0.0, help="level in dB of the person who interrupts")
    arguments = parser.parse_args()
    times: list[float] = []
    with tempfile.TemporaryDirectory() as name, loop(Path(name)) as environment:
        for number in range(arguments.count):
            try:
                options = arguments.turns, arguments.spoken, arguments.louder
                times.append(interrupt(environment, number, Path(name), *options))
            except ValueError as error:
                print(f"session {number}: not measured, {error}", flush=True)
                continue
            print(f"session {number}: silent after {times[-1]:.0f} ms", flush=True)
    if not times:
        print("No session could be measured.")
        return 1
    median = statistics.median(times)
    p95 = statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
    print(f"median {median:.0f} ms (target {MEDIAN_MS:.0f}), 95th percentile {p95:.0f} ms (target {P95_MS:.0f})")
    return 1 if median > MEDIAN_MS or p95 > P95_MS else 0


if __name__ == "__main__":
    sys.exit(main())
