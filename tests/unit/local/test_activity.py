"""Test the starts and ends of speech."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live_support import hiss, voice

from gemini_live_runtime.local.protocol.activity import (
    MAX_UTTERANCE_S,
    ActivityDetector,
    ActivitySettings,
    Ended,
    Started,
)
from gemini_live_runtime.wire.messages import EndSensitivity, StartSensitivity

HIGH, LOW = StartSensitivity.HIGH, StartSensitivity.LOW


def edges_of(pcm: bytes, **chosen: object) -> list[Started | Ended]:
    return ActivityDetector(ActivitySettings(**chosen)).add(pcm)  # type: ignore[arg-type]


@pytest.mark.parametrize("start", [HIGH, LOW])
def test_speech_between_silences_is_one_utterance_at_its_place(start: StartSensitivity) -> None:
    started, ended = edges_of(hiss(1) + voice(1.5) + hiss(1.5), start=start)
    assert isinstance(started, Started)
    assert isinstance(ended, Ended)
    assert started.offset_s == pytest.approx(1.0, abs=0.1)
    assert ended.offset_s == pytest.approx(2.5, abs=0.1)


def test_the_utterance_holds_all_of_the_speech_and_some_room_around_it() -> None:
    sound = voice(1.5)
    _, ended = edges_of(hiss(1) + sound + hiss(1.5))
    assert isinstance(ended, Ended)
    assert sound in ended.pcm
    assert len(ended.pcm) < len(sound) + 32_000


def test_silence_and_a_quiet_room_are_not_speech() -> None:
    assert edges_of(bytes(64_000) + hiss(3)) == []


def test_a_loud_steady_hiss_is_not_an_endless_utterance() -> None:
    detector = ActivityDetector(ActivitySettings())
    detector.add(hiss(6, level=0.05))
    assert not detector.speaking


def test_a_longer_silence_duration_joins_what_a_shorter_one_parts() -> None:
    sound = hiss(0.5) + voice(1) + hiss(0.7) + voice(1) + hiss(2)
    assert len(edges_of(sound, silence_ms=300)) == 4
    assert len(edges_of(sound, silence_ms=1200)) == 2


def test_a_low_end_sensitivity_waits_longer_than_a_high_one() -> None:
    sound = hiss(0.5) + voice(1) + hiss(0.7) + voice(1) + hiss(2)
    assert len(edges_of(sound, end=EndSensitivity.HIGH)) == 4
    assert len(edges_of(sound, end=EndSensitivity.LOW)) == 2


def test_prefix_padding_is_the_speech_needed_for_a_start() -> None:
    sound = hiss(0.5) + voice(0.3) + hiss(1)
    assert len(edges_of(sound, prefix_ms=100)) == 2
    assert edges_of(sound, prefix_ms=600) == []


def test_prefix_padding_is_kept_before_the_start() -> None:
    before = hiss(1.5)
    _, ended = edges_of(before + voice(1.5) + hiss(1), prefix_ms=700)
    assert isinstance(ended, Ended)
    assert before[-int(0.7 * 32_000) :] in ended.pcm


def test_a_low_start_sensitivity_ignores_what_barely_stands_out_of_the_noise() -> None:
    room = hiss(1, level=0.002)
    sound = room + voice(1, level=0.08) + room + room
    assert edges_of(sound, start=HIGH)
    assert not edges_of(sound, start=LOW)


def test_a_flush_ends_what_is_under_way_and_nothing_else() -> None:
    detector = ActivityDetector(ActivitySettings())
    assert detector.flush() == []
    detector.add(hiss(0.5) + voice(1))
    (ended,) = detector.flush()
    assert isinstance(ended, Ended)
    assert detector.flush() == []


def test_an_utterance_ends_at_the_longest_length_and_another_begins() -> None:
    ends = [e for e in edges_of(hiss(0.5) + voice(MAX_UTTERANCE_S * 2 + 2)) if isinstance(e, Ended)]
    assert len(ends) == 2
    assert all(len(e.pcm) <= MAX_UTTERANCE_S * 32_000 for e in ends)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 3000), min_size=1, max_size=30))
def test_how_audio_is_cut_into_pieces_changes_nothing(sizes: list[int]) -> None:
    sound = hiss(0.3) + voice(0.6) + hiss(0.7)
    detector = ActivityDetector(ActivitySettings())
    pieces: list[Started | Ended] = []
    position = 0
    for size in sizes:
        pieces += detector.add(sound[position : position + size])
        position += size
    pieces += detector.add(sound[position:])
    assert pieces == edges_of(sound)
