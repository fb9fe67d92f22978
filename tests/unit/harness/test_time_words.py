"""A length of time has the unit in which people would say it."""

from __future__ import annotations

import pytest

from gemini_live_runtime.harness.time_words import in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 second"),
        (-5, "1 second"),
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "60 seconds"),
        (89, "89 seconds"),
        (90, "2 minutes"),
        (3600, "60 minutes"),
        (3 * 3600, "3 hours"),
        (86_400, "24 hours"),
        (2 * 86_400, "2 days"),
    ],
)
def test_it_has_the_largest_unit_that_fits(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
