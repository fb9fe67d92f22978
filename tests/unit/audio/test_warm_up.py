"""Test that leaks of a new canceller are attenuated, and nothing afterwards."""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.echo.cancellers import NoCanceller
from gemini_live_runtime.audio.echo.warm_up import (
    CLEAN_FRAMES,
    DISTURBED_FRAMES,
    LEARNING_FRAMES,
    PATIENCE_FRAMES,
    TAIL_FRAMES,
    WarmUp,
)
from gemini_live_runtime.audio.samples import FRAME, Int16

LOUD: Int16 = np.full(FRAME, 8000, np.int16)
QUIET: Int16 = np.full(FRAME, 800, np.int16)
SILENCE: Int16 = np.zeros(FRAME, np.int16)
TURNED_DOWN = 8000 * 0.01


class Learner:
    """A canceller that leaves a share of the microphone's amplitude."""

    name = "learner"
    has_near_end = True
    state = ""

    def __init__(self, left: float) -> None:
        self.left = left
        self.restarts = 0
        self.louder_frames = 0
        self.is_confirmed = False

    def render(self, frame: Int16) -> None:
        pass

    def capture(self, frame: Int16) -> Int16:
        return (frame * self.left).astype(np.int16)

    def on_frames_lost(self, later: int = 0) -> None:
        pass


def step(warm_up: WarmUp, far: Int16, mic: Int16) -> int:
    warm_up.render(far)
    return int(np.abs(warm_up.capture(mic)).max())


def test_the_microphone_is_untouched_before_anything_is_played() -> None:
    warm_up = WarmUp(NoCanceller())
    assert [step(warm_up, SILENCE, LOUD) for _ in range(500)] == [8000] * 500


def test_what_leaks_does_not_come_through_however_long_the_canceller_takes_to_learn() -> None:
    canceller = Learner(0.3)
    warm_up = WarmUp(canceller)
    assert max(step(warm_up, LOUD, LOUD) for _ in range(LEARNING_FRAMES + 60)) <= TURNED_DOWN
    canceller.left = 0.01
    for _ in range(CLEAN_FRAMES + 60):
        step(warm_up, LOUD, LOUD)
    assert warm_up.learned


def test_a_first_echo_keeps_the_microphone_closed_although_it_seems_to_be_gone() -> None:
    warm_up = WarmUp(Learner(0.01))
    for _ in range(PATIENCE_FRAMES - 1):
        step(warm_up, LOUD, LOUD)
    assert not warm_up.learned
    step(warm_up, LOUD, LOUD)
    assert warm_up.learned


def test_after_lost_samples_an_echo_that_is_gone_opens_the_microphone_sooner() -> None:
    warm_up = disturbed(Learner(0.01))
    for _ in range(CLEAN_FRAMES - 1):
        step(warm_up, LOUD, LOUD)
    assert not warm_up.learned
    step(warm_up, LOUD, LOUD)
    assert warm_up.learned


def test_one_burst_of_echo_starts_the_proof_anew() -> None:
    canceller = Learner(0.01)
    warm_up = disturbed(canceller)
    for _ in range(CLEAN_FRAMES - 1):
        step(warm_up, LOUD, LOUD)
    canceller.left = 0.5
    step(warm_up, LOUD, LOUD)
    canceller.left = 0.01
    for _ in range(CLEAN_FRAMES - 1):
        step(warm_up, LOUD, LOUD)
    assert not warm_up.learned


def disturbed(canceller: Learner) -> WarmUp:
    """Return a warm-up that had learned when samples were lost."""
    warm_up = WarmUp(canceller)
    while not warm_up.learned:
        step(warm_up, LOUD, LOUD)
    warm_up.on_frames_lost()
    return warm_up


def test_where_nothing_comes_back_the_microphone_is_soon_open() -> None:
    warm_up = WarmUp(NoCanceller())
    for _ in range(LEARNING_FRAMES):
        step(warm_up, LOUD, SILENCE)
    assert step(warm_up, LOUD, LOUD) == 8000


def test_who_speaks_into_the_first_answer_is_let_through_after_a_while() -> None:
    warm_up = WarmUp(NoCanceller())
    assert max(step(warm_up, LOUD, LOUD) for _ in range(PATIENCE_FRAMES - 1)) <= TURNED_DOWN
    step(warm_up, LOUD, LOUD)
    assert step(warm_up, LOUD, LOUD) == 8000


def test_the_tail_of_the_first_sounds_does_not_come_through_either() -> None:
    warm_up = WarmUp(NoCanceller())
    step(warm_up, LOUD, LOUD)
    assert max(step(warm_up, SILENCE, LOUD) for _ in range(TAIL_FRAMES - 1)) <= TURNED_DOWN
    step(warm_up, SILENCE, LOUD)
    assert step(warm_up, SILENCE, LOUD) == 8000


def test_once_it_has_learned_the_microphone_is_untouched_for_good() -> None:
    warm_up = WarmUp(NoCanceller())
    for _ in range(PATIENCE_FRAMES + 1):
        step(warm_up, LOUD, LOUD)
    assert {step(warm_up, far, LOUD) for far in (LOUD, SILENCE) * 200} == {8000}


def test_quiet_hiss_in_what_is_played_is_not_taken_for_learning() -> None:
    warm_up = WarmUp(NoCanceller())
    hiss: Int16 = np.full(FRAME, 10, np.int16)
    for _ in range(PATIENCE_FRAMES * 2):
        assert step(warm_up, hiss, LOUD) == 8000
    assert not warm_up.learned


def test_after_lost_samples_the_microphone_is_turned_down_again_for_a_moment() -> None:
    warm_up = WarmUp(NoCanceller())
    for _ in range(PATIENCE_FRAMES + 1):
        step(warm_up, LOUD, LOUD)
    assert warm_up.learned
    warm_up.on_frames_lost()
    assert step(warm_up, SILENCE, LOUD) == 8000
    down = [step(warm_up, LOUD, LOUD) for _ in range(DISTURBED_FRAMES - 1)]
    assert max(down) <= 8000 * 0.01
    step(warm_up, LOUD, LOUD)
    assert step(warm_up, LOUD, LOUD) == 8000


def test_someone_louder_than_the_echo_comes_through_while_the_canceller_learns() -> None:
    canceller = Learner(0.3)
    warm_up = WarmUp(canceller)
    assert step(warm_up, LOUD, LOUD) <= TURNED_DOWN
    canceller.louder_frames = 1
    heard = [step(warm_up, LOUD, LOUD) for _ in range(2)]
    assert not warm_up.learned
    assert heard[-1] > 2000


def test_someone_confirmed_comes_through_in_a_first_echo_but_not_after_lost_samples() -> None:
    canceller = Learner(0.3)
    canceller.is_confirmed = True
    warm_up = WarmUp(canceller)
    assert [step(warm_up, LOUD, LOUD) for _ in range(2)][-1] > 2000
    warm_up = disturbed(canceller)
    assert [step(warm_up, LOUD, LOUD) for _ in range(2)][-1] <= TURNED_DOWN


def test_a_canceller_that_starts_over_is_attenuated_again() -> None:
    canceller = Learner(0.01)
    warm_up = WarmUp(canceller)
    while not warm_up.learned:
        step(warm_up, LOUD, LOUD)
    canceller.left, canceller.restarts = 0.3, 1
    assert step(warm_up, LOUD, LOUD) <= TURNED_DOWN
