"""A person louder than the echo is noticed before a filter knows its phase."""

from __future__ import annotations

import numpy as np
import pytest

from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.echo.echo_path import EchoPath
from gemini_live_runtime.audio.echo.expected_echo import LouderSpeech
from gemini_live_runtime.audio.echo.linear_echo import LinearEchoFilter
from gemini_live_runtime.audio.samples import FRAME, FRAME_MS, Float32, to_int16

DELAY_MS = 60.0
ECHO = 0.3
"""Amplitude of the echo to that of what is played."""
PROOF_MS = 120
WINDOW: Float32 = np.hanning(2 * FRAME).astype(np.float32)


class Call:
    """A call whose loudspeaker plays noise, with a known echo path or without."""

    def __init__(self, *, known_ms: float | None = None, echo: float = ECHO) -> None:
        self.filter = LinearEchoFilter()
        if known_ms is not None:
            self.filter.begin_with((ECHO,), known_ms)
        self.louder = LouderSpeech(self.filter.partitions)
        self._random = np.random.default_rng(7)
        self.far = self._random.normal(0, 0.1, 3 * 16_000).astype(np.float32)
        delay = round(DELAY_MS * FRAME / FRAME_MS)
        self.echo = echo * np.concatenate((np.zeros(delay, np.float32), self.far))
        self._before = np.zeros((2, FRAME), np.float32)
        self._at = 0

    def go_on(self, ms: int, person: float = 0.0, incoherence: float = 1.0, *, proven: bool = False) -> bool:
        """Return True when a person was noticed.

        `person` is the amplitude of one relative to that of the echo.
        """
        found = False
        for _ in range(ms // FRAME_MS):
            part = slice(self._at, self._at + FRAME)
            self._at += FRAME
            words = person * ECHO * self._random.normal(0, 0.1, FRAME).astype(np.float32)
            far, microphone = to_int16(self.far[part]), to_int16(self.echo[part] + words)
            newest = np.stack(self.filter.step(far, microphone))
            spectra = np.fft.rfft(np.hstack((self._before, newest)) * WINDOW, norm="forward").astype(np.complex64)
            self._before = newest
            found |= self.louder.update(self.filter, spectra, incoherence, proven=proven, is_audible=True)
        return found


def path_of(delay_ms: float) -> EchoPath:
    """Return the path of the echo after `delay_ms`, as it is stored."""
    return EchoPath(measured_at=0.0, room_db=-60.0, delay_ms=delay_ms, level_db=-10.0, response=(0.0,) * 32 + (ECHO,))


def test_an_echo_alone_is_nobody_once_its_loudness_is_known() -> None:
    call = Call()
    call.go_on(600)
    assert not call.go_on(1_400)
    assert not Call(known_ms=DELAY_MS).go_on(2_000)


def test_a_person_is_suspected_who_exceeds_the_echo_in_less_of_the_sound_than_one_who_is_heard() -> None:
    call = Call(known_ms=DELAY_MS)
    assert not call.go_on(500)
    assert not call.louder.suspects
    assert not call.go_on(50, person=3.0)
    assert call.louder.suspects
    assert not call.louder.is_likely


def test_a_person_13_db_over_the_echo_is_noticed_within_120_ms_in_the_first_second() -> None:
    call = Call()
    call.go_on(600)
    assert not call.go_on(100)
    assert call.go_on(PROOF_MS, person=4.5)


def test_who_is_as_loud_as_the_echo_in_all_bands_is_not_told_from_it() -> None:
    call = Call(known_ms=DELAY_MS)
    assert not call.go_on(500)
    assert not call.go_on(500, person=1.0)


def test_a_path_known_before_is_believed_within_300_ms_although_its_delay_differs_by_5() -> None:
    call = Call(known_ms=DELAY_MS + 5)
    assert not call.go_on(300)
    assert call.go_on(PROOF_MS, person=4.5)


def test_what_is_like_the_prediction_is_no_person_however_loud() -> None:
    call = Call(known_ms=DELAY_MS)
    assert not call.go_on(500)
    assert not call.go_on(500, person=3.2, incoherence=0.5)


@pytest.mark.parametrize(("person", "suspected"), [(1.8, False), (5.0, True)])
def test_what_is_partly_like_the_prediction_is_suspicious_only_where_it_is_loud(
    *, person: float, suspected: bool
) -> None:
    call = Call(known_ms=DELAY_MS)
    assert not call.go_on(500, incoherence=0.6)
    assert not call.go_on(200, person=person, incoherence=0.6)
    assert call.louder.suspects is suspected
    call.go_on(200, person=3.2)
    assert call.louder.suspects


@pytest.mark.parametrize("proven", [False, True])
def test_a_sound_that_a_proven_filter_predicts_is_no_person_however_loud(*, proven: bool) -> None:
    call = Call()
    call.go_on(700)
    sound = np.random.default_rng(1).normal(0, 300, (2, FRAME + 1)).astype(np.complex64)
    sound[0] *= 0.03  # of it is left
    found = [call.louder.update(call.filter, sound, 1.0, proven=proven, is_audible=True) for _ in range(12)]
    assert any(found) is not proven


def test_a_path_that_is_no_longer_the_rooms_is_found_out_within_200_ms_of_echo() -> None:
    call = Call()
    far, echo = call.far, call.echo
    for stored, restarts in ((path_of(DELAY_MS), 0), (path_of(DELAY_MS + 0.5), 0), (path_of(DELAY_MS + 40), 1)):
        canceller = DualCanceller(stored)
        for at in range(0, round((DELAY_MS + 250) * FRAME / FRAME_MS), FRAME):
            canceller.render(to_int16(far[at : at + FRAME]))
            canceller.capture(to_int16(echo[at : at + FRAME]))
        assert canceller.restarts == restarts
        assert canceller.state != "disturbed"


def test_the_noise_before_the_first_echo_does_not_make_a_filter_forget_a_known_path() -> None:
    random = np.random.default_rng(3)
    canceller = DualCanceller(path_of(DELAY_MS))

    def hear(far: float) -> None:
        canceller.render(to_int16(random.normal(0, far, FRAME).astype(np.float32)))
        canceller.capture(to_int16(random.normal(0, 1e-3, FRAME).astype(np.float32)))

    for _ in range(50):
        hear(0.0)
    # What is played becomes louder while its echo is on the way.
    for frame in range(int(DELAY_MS) // FRAME_MS):
        hear(0.02 * (frame + 1))
    assert canceller.restarts == 0
