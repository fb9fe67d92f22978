"""Microphone sound that waits for a connection."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.session.link.kept_audio import KeptAudio
from gemini_live_runtime.session.link.mic_sound import MicSound
from gemini_live_runtime.session.link.policy import LinkPolicy

MS = 16
"""Samples in a millisecond."""


def chunk(number: int) -> bytes:
    """Return 20 ms of sound that is recognised by its number."""
    return (number % 65536).to_bytes(2, "little") * (20 * MS)


class Microphone:
    """Microphone whose chunks of 20 ms are numbered."""

    def __init__(self, **policy: float) -> None:
        self.kept = KeptAudio(LinkPolicy(**policy))  # type: ignore[arg-type]
        self.number = 0

    def hears(self, seconds: float, *, sent: bool = False) -> None:
        for _ in range(round(seconds * 50)):
            self.kept.add(self.kept.number(chunk(self.number)), None, sent=sent)
            self.number += 1

    def takes(self) -> list[int]:
        return [int.from_bytes(taken.sound[:2], "little") for taken in self.kept.take()]


def test_of_silence_the_newest_second_waits_and_the_rest_is_counted() -> None:
    microphone = Microphone()
    microphone.hears(3)
    assert (microphone.kept.dropped, microphone.kept.dropped_s) == (100, pytest.approx(2))
    assert microphone.takes() == list(range(100, 150))


def test_an_utterance_waits_from_its_onset_however_long_it_is_silent_after_it() -> None:
    microphone = Microphone()
    microphone.hears(5)
    microphone.kept.on_voice(True)
    microphone.hears(3)
    microphone.kept.on_voice(False)
    microphone.hears(20)
    taken = microphone.takes()
    # 0.4 s before the mark, 3 s of voice, and the newest second.
    assert taken == [*range(230, 400), *range(1350, 1400)]


def test_of_a_long_utterance_the_newest_ten_seconds_wait() -> None:
    microphone = Microphone()
    microphone.kept.on_voice(True)
    microphone.hears(15)
    assert microphone.takes() == list(range(250, 750))
    assert microphone.kept.dropped_s == pytest.approx(5)


def test_what_was_sent_of_an_utterance_is_kept_until_it_is_heard() -> None:
    microphone = Microphone()
    microphone.kept.on_voice(True)
    microphone.hears(2, sent=True)
    microphone.hears(1)
    assert len(microphone.kept) == 50
    assert microphone.takes() == list(range(150))
    microphone.hears(2, sent=True)
    microphone.kept.on_heard()
    assert microphone.takes() == []
    assert microphone.kept.dropped == 0


def test_what_is_dropped_after_it_was_sent_is_not_counted() -> None:
    microphone = Microphone()
    microphone.hears(30, sent=True)
    assert microphone.kept.dropped == 0


def test_what_nothing_will_take_is_counted() -> None:
    microphone = Microphone()
    microphone.hears(0.5)
    microphone.kept.drop()
    assert (microphone.kept.dropped, microphone.takes()) == (25, [])


@given(st.lists(st.sampled_from(["voice", "pause", "chunk", "sent", "heard", "take"]), max_size=300))
def test_every_chunk_is_taken_once_in_order_or_counted(steps: list[str]) -> None:
    microphone = Microphone(audio_kept_s=0.1, speech_kept_s=0.5)
    taken: list[int] = []
    unsent = 0
    for step in steps:
        if step in ("voice", "pause"):
            microphone.kept.on_voice(step == "voice")
        elif step in ("chunk", "sent"):
            microphone.hears(0.02, sent=step == "sent")
            unsent += step == "chunk"
        elif step == "heard":
            microphone.kept.on_heard()
        else:
            unsent -= len(microphone.kept)
            taken += microphone.takes()
    assert unsent == len(microphone.kept) + microphone.kept.dropped
    taken += microphone.takes()
    assert taken == sorted(set(taken))


def test_sound_that_a_lost_connection_did_not_send_waits_for_the_next_one() -> None:
    microphone = Microphone()
    microphone.hears(0.04, sent=True)
    kept = microphone.kept
    kept.take_back(MicSound.at(320, chunk(1)))
    kept.on_heard()
    assert microphone.takes() == [1]
    assert kept.dropped == 0


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(0, 300), st.integers(1, 300))
def test_of_chunks_of_any_length_the_part_waits_that_was_not_sent(lengths: list[int], first: int, length: int) -> None:
    kept = KeptAudio(LinkPolicy())
    for at, samples in enumerate(lengths):
        kept.add(kept.number(bytes([at, 1]) * samples), None, sent=True)
    captured = sum(lengths)
    kept.take_back(MicSound.at(first, bytes(2 * length)))
    lost = range(first, first + length)
    kept.on_heard()
    taken = kept.take()
    assert [n for each in taken for n in range(each.sound.first, each.sound.end)] == [
        n for n in range(captured) if n in lost
    ]
    assert kept.dropped_s * 16_000 == pytest.approx(sum(n >= captured for n in lost))


def test_sound_that_a_slow_connection_dropped_is_counted_and_not_kept() -> None:
    microphone = Microphone()
    microphone.hears(0.02, sent=True)
    microphone.kept.count_dropped(MicSound.at(0, chunk(0)))
    assert (microphone.kept.dropped, microphone.takes()) == (1, [])


def test_sound_that_is_no_longer_kept_is_counted_where_it_was_not_sent() -> None:
    microphone = Microphone()
    microphone.hears(0.2, sent=True)
    microphone.kept.on_heard()
    microphone.kept.take_back(MicSound.at(0, bytes(6400)))
    assert (microphone.kept.dropped, microphone.kept.dropped_s) == (10, pytest.approx(0.2))


def test_held_sound_is_not_forgotten_with_the_turn_before_it() -> None:
    microphone = Microphone()
    microphone.hears(0.1, sent=True)
    microphone.kept.hold(5 * 320)
    microphone.hears(0.1, sent=True)
    microphone.kept.on_heard()
    microphone.kept.forget_turn()
    assert microphone.takes() == list(range(5, 10))
