"""Durations are written as people say them."""

from __future__ import annotations

import pytest

from gemini_live_runtime.agents.times import duration_in_words


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (0.75, "45 seconds"),
        (1, "1 minute"),
        (1.5, "90 seconds"),
        (2.5, "2 minutes and 30 seconds"),
        (90, "90 minutes"),
        (120, "2 hours"),
        (150, "2 hours and 30 minutes"),
    ],
)
def test_a_duration_has_no_decimal_point(minutes: float, words: str) -> None:
    assert duration_in_words(minutes) == words
