"""Utterances are taken apart into plain words beside those that were said."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.understanding.utterance_words import Words


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("take a hundred, and fifty a month", "take a hundred then and fifty a month"),
        ("a hundred. fifty a month", "a hundred then fifty a month"),
        ("a hundred and fifty a month", "a hundred and fifty a month"),
        ("a hundred, please", "a hundred please"),
        ("twenty, five of them children", "twenty then five of them children"),
        ("at eightish", "at eight ish"),
        ("a danish", "a danish"),
    ],
)
def test_a_pause_ends_a_number(said: str, plain: str) -> None:
    assert Words(said).plain == plain.split()


def test_what_is_added_for_a_pause_was_not_said() -> None:
    assert Words("a hundred, fifty").original == ["a", "hundred", "", "fifty"]
