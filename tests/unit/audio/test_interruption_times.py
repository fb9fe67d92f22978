"""Measure how soon a model falls silent from what a loudspeaker played."""

from __future__ import annotations

import numpy as np
import pytest
from tests.audio.interruptions import LATEST_S, RATE, silence_after

SECONDS = 6


def played(*spans: tuple[float, float]) -> np.ndarray:
    """Return noise in spans of seconds, and silence between."""
    sound = np.zeros(SECONDS * RATE, np.float32)
    rng = np.random.default_rng(3)
    for begin, end in spans:
        part = sound[round(begin * RATE) : round(end * RATE)]
        part[:] = 0.1 * rng.standard_normal(len(part))
    return sound


@pytest.mark.parametrize(
    ("model", "ms"),
    [
        (((1.0, 3.15),), 150),
        (((1.0, 2.9), (3.1, 3.2)), 200),
        (((1.0, 2.9), (4.5, 6.0)), 0),
        (((1.0, 6.0),), 1000 * LATEST_S),
    ],
    ids=["in mid-sentence", "after a gap", "in a gap", "never"],
)
def test_silence_is_measured_from_the_persons_first_sample_to_the_models_last(
    model: tuple[tuple[float, float], ...], ms: float
) -> None:
    models = played(*model)
    person = played((3.0, 4.0))
    assert silence_after(models + person, models) == pytest.approx(ms, abs=1)
