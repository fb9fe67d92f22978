"""Idioms are said in plain words, and rough numbers as numbers."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.language.idioms import asking_for_another, in_plain_words


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("could a nurse give me a ring", "could a nurse call me"),
        ("please phone us back", "please call us back"),
        ("give him a quick call", "call him"),
        ("two at most", "two"),
        ("fifty dollars a month tops", "fifty dollars a month tops"),
        ("fifty dollars tops", "fifty dollars"),
        ("more like a six", "a six"),
        ("at least a hundred", "a hundred"),
        ("my ring is at least pretty", "my ring is at least pretty"),
    ],
)
def test_idioms_and_rough_numbers_become_plain(said: str, meant: str) -> None:
    assert [word for word in in_plain_words(said.split()) if word] == meant.split()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("could it be thirty instead?", "make it thirty instead"),
        ("hmm, can we say forty", "hmm, make it forty"),
        ("better make that a quarter past eight", ""),
        ("could it be a fever", ""),
        ("can you do it", ""),
    ],
)
def test_a_question_for_another_number_asks_to_make_it_that(said: str, meant: str) -> None:
    assert asking_for_another(said) == meant
