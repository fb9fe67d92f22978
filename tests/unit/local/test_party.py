"""People of a party are added up."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.language.party import with_people_counted


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("for four of us, two adults and two kids", "for 4 people"),
        ("my wife and me and the three kids", "5 people"),
        ("two adults and a baby", "3 people"),
        ("me, my husband and our two children", "4 people"),
        ("my parents and me", "3 people"),
        ("myself, my sister and 3 friends at eight", "5 people at eight"),
        ("a table for six people: four adults and two toddlers, please", "a table for 6 people, please"),
        ("my wife, my son and I", "3 people"),
        ("two adults, one child and a baby", "4 people"),
        ("five adults & 2 kids", "7 people"),
    ],
)
def test_a_party_is_added_up(said: str, meant: str) -> None:
    assert with_people_counted(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "me and my wife",
        "for two at seven",
        "five people, two adults and two kids",
        "two kids",
        "a table for me",
        "ten minutes and two kids",
        "in an hour",
    ],
)
def test_other_words_stay_as_they_are(said: str) -> None:
    assert with_people_counted(said) == said
