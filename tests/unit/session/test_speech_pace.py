"""Test where in the sound the deltas of a transcript are taken to belong."""

from __future__ import annotations

import random
import statistics
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.local.parts import SPEECH_RATE, SpeechChunk
from gemini_live_runtime.local.protocol.utterance import Utterance
from gemini_live_runtime.session.core.speech_pace import SAMPLES_PER_CHAR, SpeakingRate, SpeechPace

RATE = 24_000

TEXT = (
    "Thank you for waiting. I have looked at your reservation, and there is a table for four people at half past "
    "seven. It stands by the window, which most of our guests prefer. Would you like to keep it, or should I look for "
    "something later? The kitchen is open until eleven on Fridays."
)

Frame = tuple[str, int]
"""Text of a delta, or "" and samples of sound."""


def places(frames: list[Frame], samples_per_char: float = SAMPLES_PER_CHAR) -> list[tuple[str, int]]:
    pace, received, found = SpeechPace(), 0, []
    for text, samples in frames:
        received += samples
        if text:
            found.append((text, pace.place(len(text), received, samples_per_char)[0]))
    return found


def spoken(seed: int) -> list[SpeechChunk]:
    """Return words with sound: by letters, unevenly, with pauses at punctuation."""
    rng = random.Random(seed)
    chunks = []
    for number, word in enumerate(TEXT.split()):
        seconds = 0.08 + 0.055 * len(word) * rng.uniform(0.6, 1.5) + (0.35 if word[-1] in ".,?" else 0)
        chunks.append(SpeechChunk(bytes(2 * round(seconds * SPEECH_RATE)), f" {word}" if number else word))
    return chunks


def true_starts(chunks: list[SpeechChunk]) -> list[tuple[str, int]]:
    starts, at = [], 0
    for chunk in chunks:
        starts.append((chunk.text.strip(), at))
        at += len(chunk.pcm) // 2
    return starts


def median_error_ms(found: list[tuple[str, int]], chunks: list[SpeechChunk]) -> float:
    """Return the median over all words; words of one delta lie in it by their letters."""
    starts = true_starts(chunks)
    guessed = []
    for number, (text, first) in enumerate(found):
        end = found[number + 1][1] if number + 1 < len(found) else first + len(text) * SAMPLES_PER_CHAR
        at = 0
        for word in text.split():
            at = text.index(word, at)
            guessed.append(first + (end - first) * at // len(text))
            at += len(word)
    assert len(guessed) == len(starts)
    return statistics.median(abs(guess - true) for guess, (_, true) in zip(guessed, starts, strict=True)) / RATE * 1000


class Sender:
    """Collects what an utterance sends."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    async def audio(self, pcm: bytes) -> None:
        self.frames.append(("", len(pcm) // 2))

    async def send(self, message: object) -> None:
        self.frames.append((message.server_content.output_transcription.text, 0))  # type: ignore[attr-defined]


class Voice:
    """Speech of given words."""

    def __init__(self, chunks: list[SpeechChunk]) -> None:
        self._chunks = chunks

    async def speak(self, text: str, voice: str) -> AsyncIterator[SpeechChunk]:
        for chunk in self._chunks:
            yield chunk


def embedded_frames(chunks: list[SpeechChunk]) -> list[Frame]:
    async def main() -> list[Frame]:
        sender = Sender()
        await Utterance(sender, transcribe=True).speak(Voice(chunks), TEXT, "")  # type: ignore[arg-type]
        return sender.frames

    return run_virtual(main())


@pytest.mark.parametrize("seed", range(3))
def test_words_of_the_embedded_server_are_placed_within_a_tenth_of_a_second(seed: int) -> None:
    chunks = spoken(seed)
    assert median_error_ms(places(embedded_frames(chunks)), chunks) <= 100


@pytest.mark.parametrize("order", ["all text first", "all text last", "sentences ahead", "after their sound"])
def test_words_are_placed_within_three_tenths_of_a_second_whatever_the_order(order: str) -> None:
    rate = SpeakingRate()
    for seed in range(3):
        before = spoken(seed)
        rate.measure(len(TEXT), sum(len(chunk.pcm) // 2 for chunk in before))
    errors = []
    for seed in range(10, 15):
        chunks = spoken(seed)
        found = places(arranged(chunks, order), rate.samples_per_char)
        errors.append(median_error_ms(found, chunks))
    assert statistics.median(errors) <= 300


def arranged(chunks: list[SpeechChunk], order: str) -> list[Frame]:
    total = sum(len(chunk.pcm) // 2 for chunk in chunks)
    pieces = [("".join(chunk.text for chunk in chunks[at : at + 3]), at) for at in range(0, len(chunks), 3)]
    words: list[Frame] = [(text, 0) for text, _ in pieces]
    if order == "all text first":
        return [*words, ("", total)]
    if order == "all text last":
        return [("", total), *words]
    frames: list[Frame] = []
    for text, at in pieces:
        samples = sum(len(chunk.pcm) // 2 for chunk in chunks[at : at + 3])
        frames += [("", samples), (text, 0)] if order == "after their sound" else [(text, 0), ("", samples)]
    if order == "sentences ahead":
        # The text of each four pieces comes with the first.
        groups = [frames[at : at + 8] for at in range(0, len(frames), 8)]
        return [frame for group in groups for frame in (*group[0::2], *group[1::2])]
    return frames


def test_text_that_runs_ahead_of_its_sound_word_by_word_is_not_taken_for_its_place() -> None:
    chunks = spoken(1)
    frames: list[Frame] = []
    for chunk in chunks:
        frames += [(chunk.text, 0), ("", 2400)]
    rate = sum(len(chunk.pcm) // 2 for chunk in chunks) / len(TEXT)
    last, first = places(frames, rate)[-1], true_starts(chunks)[-1]
    assert abs(last[1] - first[1]) < 2 * RATE
    assert 2400 * len(chunks) < first[1] / 3


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 50_000)), max_size=40))
def test_deltas_are_placed_in_the_order_of_their_text(frames: list[tuple[int, int]]) -> None:
    found = [first for _, first in places([("x" * chars, samples) for chars, samples in frames])]
    assert found == sorted(found)
    assert all(first >= 0 for first in found)


def test_the_rate_is_that_of_complete_answers_and_of_nothing_else() -> None:
    rate = SpeakingRate()
    assert rate.samples_per_char == SAMPLES_PER_CHAR
    rate.measure(5, 100_000)
    rate.measure(200, 0)
    rate.measure(200, 200 * SAMPLES_PER_CHAR * 50)
    assert rate.samples_per_char == SAMPLES_PER_CHAR
    for _ in range(20):
        rate.measure(200, 200 * 2400)
    assert rate.samples_per_char == pytest.approx(2400, rel=0.01)
