"""Measure how exactly words are placed in the embedded server's speech.

    .venv/bin/python tests/bench/bench_words.py

espeak-ng's library says when each word begins. The embedded server does not know: it divides a clause by letters, and
the session estimates from the order of text and sound.

Exit status: 0 when the median is at most 300 ms, 1 otherwise; 2 without the library.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from gemini_live_runtime.clock import run_virtual  # noqa: E402
from gemini_live_runtime.local.parts import SpeechChunk  # noqa: E402
from gemini_live_runtime.local.protocol.utterance import Utterance  # noqa: E402
from gemini_live_runtime.local.speech.espeak import clauses, split_at_words  # noqa: E402
from gemini_live_runtime.session.core.speech_pace import SpeakingRate, SpeechPace  # noqa: E402
from gemini_live_runtime.speech_map import Place, add_text, sample_of  # noqa: E402

RATE = 24_000
TEXTS = (
    "It is 21 degrees and clear in Lisbon, with a light breeze from the north-west. Tomorrow looks much the same, so "
    "you can leave the umbrella at home.",
    "You have an outstanding balance of two thousand one hundred and forty dollars. Would you like to pay it now, or "
    "should we agree on a plan of four instalments?",
    "I have a table for four at half past seven, by the window. May I take your name and a telephone number, please?",
    "Your tea timer is running. I'll tell you when the five minutes are over, unless you would rather hear it earlier.",
)
WORD = 1
"""Type of espeak-ng's event at which a word begins."""


class Event(ctypes.Structure):
    """Event of espeak-ng."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_uint64),
    ]


class Espeak:
    """Library of espeak-ng, which tells the words' times."""

    def __init__(self) -> None:
        import espeakng_loader

        self._library = ctypes.CDLL(espeakng_loader.get_library_path())
        data = str(espeakng_loader.get_data_path()).encode()
        self._rate = self._library.espeak_Initialize(1, 0, data, 0)
        self._library.espeak_SetVoiceByName(b"en-us")
        self._library.espeak_SetParameter(1, 165, 0)

    def speak(self, clause: str) -> tuple[bytes, list[int]]:
        """Return the clause's sound at 24 kHz and the sample at which each word begins."""
        import numpy as np
        import soxr

        pcm, starts = bytearray(), []

        def taken(samples: Any, count: int, events: Any) -> int:
            if count:
                pcm.extend(ctypes.string_at(samples, count * 2))
            at = 0
            while events[at].type:
                if events[at].type == WORD:
                    starts.append((events[at].text_position - 1, events[at].audio_position))
                at += 1
            return 0

        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))
        callback = kind(taken)
        self._library.espeak_SetSynthCallback(callback)
        text = clause.encode() + b"\0"
        self._library.espeak_Synth(text, len(text), 0, 1, 0, 1, None, None)
        self._library.espeak_Synchronize()
        sound = np.frombuffer(bytes(pcm), np.int16).astype(np.float32) / 32768
        told = dict(reversed(starts))
        words, at = [], 0
        for word in clause.split():
            at = clause.index(word, at)
            words.append(told.get(at, -1) * RATE // 1000 if at in told else -1)
            at += len(word)
        return (soxr.resample(sound, self._rate, RATE, "HQ") * 32767).astype("<i2").tobytes(), words


class Sender:
    """Takes what the embedded server sends, and places its words as a session does."""

    def __init__(self, rate: SpeakingRate) -> None:
        self.received = self.chars = 0
        self.places: tuple[Place, ...] = ()
        self._rate, self._pace = rate, SpeechPace()

    async def audio(self, pcm: bytes) -> None:
        """Take sound."""
        self.received += len(pcm) // 2

    async def send(self, message: Any) -> None:
        """Take text."""
        text = message.server_content.output_transcription.text
        first, count = self._pace.place(len(text), self.received, self._rate.samples_per_char)
        self.places = add_text(self.places, self.chars, text, first, count)
        self.chars += len(text)


class Voice:
    """Speech as `EspeakSpeech` makes it, with the words' true times."""

    def __init__(self, espeak: Espeak) -> None:
        self._espeak = espeak
        self.starts: list[int] = []

    async def speak(self, text: str, voice: str) -> AsyncIterator[SpeechChunk]:
        """Yield words with sound."""
        at, first = 0, True
        for clause in clauses(text):
            pcm, starts = self._espeak.speak(clause)
            self.starts += [start + at if start >= 0 else -1 for start in starts]
            at += len(pcm) // 2
            for spoken in split_at_words(clause, pcm):
                yield SpeechChunk(spoken.pcm, spoken.text.lstrip() if first else spoken.text)
                first = False


def errors_ms(espeak: Espeak, text: str, rate: SpeakingRate) -> list[float]:
    """Return how many ms each word is placed late."""
    voice, sender = Voice(espeak), Sender(rate)

    async def answer() -> None:
        await Utterance(sender, transcribe=True).speak(voice, text, "")  # type: ignore[arg-type]

    run_virtual(answer())
    rate.measure(sender.chars, sender.received)
    found, at = [], 0
    for word, start in zip(text.split(), voice.starts, strict=True):
        at = text.index(word, at)
        if start >= 0:
            found.append((sample_of(sender.places, len(text), at) - start) / RATE * 1000)
        at += len(word)
    return found


def main() -> int:
    """Measure, print, judge."""
    try:
        espeak = Espeak()
    except (ImportError, OSError) as error:
        print(f"espeak-ng's library is missing: {error}")
        return 2
    rate = SpeakingRate()
    errors = [error for text in TEXTS for error in errors_ms(espeak, text, rate)]
    sizes = sorted(map(abs, errors))
    median, p95 = statistics.median(sizes), sizes[int(0.95 * len(sizes))]
    print(
        f"{len(errors)} words: placed off by {median:.0f} ms (median), {p95:.0f} ms (p95), {max(sizes):.0f} ms (most)"
    )
    print(
        f"late on average by {statistics.fmean(errors):.0f} ms; {RATE / rate.samples_per_char:.1f} characters a second"
    )
    return 0 if median <= 300 else 1


if __name__ == "__main__":
    sys.exit(main())
