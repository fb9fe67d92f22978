"""Give the canceller arrays of any layout: it hears the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.unit.audio.audio_support import babble

from gemini_live_runtime.audio.echo.cancellers import Aec3, EchoCanceller
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.samples import FRAME, to_int16


@pytest.mark.parametrize("make", [Aec3, DualCanceller])
def test_views_with_gaps_between_their_samples_are_heard_like_others(make: Callable[[], EchoCanceller]) -> None:
    far = to_int16(babble(16_000, 1.0, seed=1))
    near = to_int16(0.5 * np.roll(babble(16_000, 1.0, seed=1), 300) + babble(16_000, 1.0, seed=2, level=0.02))
    both = np.stack((near, far), axis=1)
    heard = []
    for near_side, far_side in ((near, far), (both[:, 0], both[:, 1]), (near[::-1].copy()[::-1], far)):
        canceller = make()
        frames = []
        for at in range(0, len(far) - FRAME, FRAME):
            canceller.render(far_side[at : at + FRAME])
            frames.append(canceller.capture(near_side[at : at + FRAME]))
        heard.append(np.concatenate(frames))
    assert np.array_equal(heard[1], heard[0])
    assert np.array_equal(heard[2], heard[0])
