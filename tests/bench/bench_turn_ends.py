"""Compare the plain end of a turn with that by the end-of-turn model.

`python -m tests.bench turn_ends`. Each sentence is spoken by several voices of espeak-ng and flite, and the pause that
the voice makes at the comma is stretched. A false end is a turn that ends in that pause. The delay is from the last
voice of the sentence to the end of the turn, in audio time: the model's own time is measured apart. Needs espeak-ng and
flite, and for the model the extra `turns`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from tests.support.synthetic_speech import RATE, have_voices, say

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.endpointing.activity import BYTES_PER_S, InputActivity
from gemini_live_runtime.session.endpointing.end_of_turn import SOUND_S, THRESHOLD, EndOfTurnModel
from gemini_live_runtime.session.endpointing.smart_turn import SmartTurn
from gemini_live_runtime.session.link.mic_sound import MicSound

VOICES = ("espeak:en-us@150", "espeak:en-gb@170", "espeak:en-us+f3@140", "flite:slt", "flite:rms", "flite:awb")

SENTENCES = (
    "I would like to book, a table for four tonight",
    "my number is five five one, two three nine eight",
    "could you please tell me, what the weather is like in Bergen",
    "I need to change my flight to, the one at nine in the morning",
    "the order was two pizzas and, a bottle of water",
    "when I switch it on it starts and then, the screen goes black",
    "send it to the address in, Hamilton Street number twelve",
    "we arrive on Friday and, we leave on Sunday evening",
)

PAUSES_S = (0.6, 1.0, 1.6)
TAIL_S = 4.0
CHUNK = 640

RULES: tuple[tuple[str, float, float | None], ...] = (
    ("plain, 0.4 s (responsive, the default)", 0.4, None),
    ("plain, 0.8 s (conversational)", 0.8, None),
    ("plain, 1.6 s", 1.6, None),
    ("model, 0.4 s or 3 s", 0.4, 3.0),
    ("model, 0.2 s or 3 s", 0.2, 3.0),
    ("model, 0.4 s or 1.6 s", 0.4, 1.6),
)
"""Rules: a name, the shorter delay, and with a model the longer one."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """Sentence as sound, with the ends of its pause and of its last voice."""

    pcm: bytes
    goes_on_at_s: float
    ends_at_s: float


def spoken(voice: str, sentence: str, pause_s: float) -> Spoken | None:
    """Return a sentence with its pause stretched; None where the voice makes none."""
    samples = np.frombuffer(say(voice, sentence), dtype="<i2")
    level = np.abs(samples[: len(samples) // 160 * 160].reshape(-1, 160)).max(axis=1)
    voiced = np.flatnonzero(level > 500)
    gaps = np.diff(voiced)
    if not len(voiced) or gaps.max() < 6:
        return None
    at = int(gaps.argmax())
    middle = int((voiced[at] + voiced[at + 1]) // 2) * 160
    added = max(0, int((pause_s - gaps[at] / 100) * RATE))
    stretched = np.concatenate([samples[:middle], np.zeros(added, dtype="<i2"), samples[middle:]])
    goes_on, ends = int(voiced[at + 1]) * 160 + added, (int(voiced[-1]) + 1) * 160 + added
    stretched = stretched[:ends]
    # A little noise: no microphone is digitally silent.
    noise = np.random.default_rng(len(sentence)).normal(0, 8, len(stretched) + int(TAIL_S * RATE))
    pcm = (np.concatenate([stretched, np.zeros(int(TAIL_S * RATE))]) + noise).clip(-32768, 32767).astype("<i2")
    return Spoken(pcm.tobytes(), goes_on / RATE, ends / RATE)


class Listening:
    """Detector with a rule, and the times at which turns have ended."""

    def __init__(self, short_s: float, long_s: float | None, model: EndOfTurnModel | None, took: list[float]) -> None:
        self.ends: list[float] = []
        self._at = 0.0
        self._sound = bytearray()
        self._took = took
        asks = partial(self._ask, long_s, model) if long_s is not None and model is not None else lambda pause: None
        self._activity = InputActivity(
            "responsive", on_begin=self._sound.clear, on_end=lambda: self.ends.append(self._at), on_pause=asks
        )
        self._activity.set_delay(short_s)

    def _ask(self, long_s: float, model: EndOfTurnModel, pause: int) -> None:
        began = time.perf_counter()
        probability = model.predict(bytes(self._sound[-int(SOUND_S * BYTES_PER_S) :]))
        self._took.append(time.perf_counter() - began)
        if probability < THRESHOLD:
            self._activity.expect_more(pause, long_s)

    def hear(self, pcm: bytes) -> list[float]:
        """Return the times (s) at which turns have ended."""
        for at in range(0, len(pcm), CHUNK):
            self._at = (at + CHUNK) / BYTES_PER_S
            for piece in self._activity.filter(MicSound.at(at // 2, pcm[at : at + CHUNK]), model_speaking=False):
                self._sound += piece
        return self.ends


def sentences() -> Iterator[Spoken]:
    """Yield each sentence by each voice with each pause."""
    for voice in VOICES:
        for sentence in SENTENCES:
            for pause_s in PAUSES_S:
                found = spoken(voice, sentence, pause_s)
                if found is not None:
                    yield found


def main() -> int:
    """Measure every rule; 0."""
    if not have_voices():
        raise SystemExit("espeak-ng and flite are not installed")
    model: EndOfTurnModel | None = None
    try:
        model = SmartTurn()
    except AgentError as error:
        print(f"Without the model: {error}")
    heard = list(sentences())
    print(f"{len(heard)} sentences, pauses of {', '.join(f'{pause:g}' for pause in PAUSES_S)} s")
    print(f"{'rule':42}{'false ends':>12}{'delay, median':>15}{'mean':>8}{'p90':>8}")
    took: list[float] = []
    for name, short_s, long_s in RULES:
        if long_s is not None and model is None:
            continue
        false, delays = 0, []
        for one in heard:
            ends = Listening(short_s, long_s, model, took).hear(one.pcm)
            false += any(end < one.goes_on_at_s for end in ends)
            delays.append(ends[-1] - one.ends_at_s if ends else TAIL_S)
        delays.sort()
        print(
            f"{name:42}{false / len(heard):>11.0%} {statistics.median(delays):>13.2f} s"
            f"{statistics.mean(delays):>6.2f} s{delays[int(len(delays) * 0.9)]:>6.2f} s",
            flush=True,
        )
    if took:
        took.sort()
        print(
            f"a prediction takes {took[len(took) // 2] * 1000:.0f} ms (p95 {took[int(len(took) * 0.95)] * 1000:.0f} ms)"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
