"""A canceller's first leaks stay out of the call; afterwards nothing is touched."""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.echo import NoCanceller
from gemini_live_runtime.audio.samples import FRAME, Int16
from gemini_live_runtime.audio.warm_up import LEARNING_FRAMES, TAIL_FRAMES, WarmUp

LOUD: Int16 = np.full(FRAME, 8000, np.int16)
SILENCE: Int16 = np.zeros(FRAME, np.int16)


def step(warm_up: WarmUp, far: Int16, mic: Int16) -> int:
    warm_up.render(far)
    return int(np.abs(warm_up.capture(mic)).max())


def test_the_microphone_is_untouched_before_anything_is_played() -> None:
    warm_up = WarmUp(NoCanceller())
    assert [step(warm_up, SILENCE, LOUD) for _ in range(500)] == [8000] * 500


def test_the_first_sounds_played_do_not_come_through() -> None:
    warm_up = WarmUp(NoCanceller())
    assert max(step(warm_up, LOUD, LOUD) for _ in range(LEARNING_FRAMES - 1)) <= 8000 * 0.01


def test_their_tail_does_not_come_through_either() -> None:
    warm_up = WarmUp(NoCanceller())
    step(warm_up, LOUD, LOUD)
    assert max(step(warm_up, SILENCE, LOUD) for _ in range(TAIL_FRAMES - 1)) <= 8000 * 0.01
    step(warm_up, SILENCE, LOUD)
    assert step(warm_up, SILENCE, LOUD) == 8000


def test_once_it_has_learned_the_microphone_is_untouched_for_good() -> None:
    warm_up = WarmUp(NoCanceller())
    for _ in range(LEARNING_FRAMES):
        step(warm_up, LOUD, LOUD)
    step(warm_up, LOUD, LOUD)
    assert {step(warm_up, far, LOUD) for far in (LOUD, SILENCE) * 200} == {8000}


def test_quiet_hiss_in_what_is_played_is_not_taken_for_learning() -> None:
    warm_up = WarmUp(NoCanceller())
    hiss: Int16 = np.full(FRAME, 10, np.int16)
    for _ in range(LEARNING_FRAMES * 2):
        assert step(warm_up, hiss, LOUD) == 8000
    assert not warm_up.learned
