"""Idioms are said in plain words, and rough numbers as numbers."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.language.idioms import asking_for_another, in_plain_words, naming_another


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
        ("i could murder a pizza", "i would like a pizza"),
        ("it is a matter of life and death", "it is urgent"),
        ("running like a dream", "running fine"),
        ("have not got two pennies to rub together", "have no money"),
        ("i have a tenner", "i have ten pounds"),
        ("smashing book me in", "great book me in"),
        ("late in the day please", "in the afternoon please"),
        ("tell me what it is like in oslo", "tell me what is it like in oslo"),
        ("do you know how warm it is", "do you know how warm it is"),
        ("what it is like", "what it is like"),
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


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("no, let's say sixty", "make it sixty"),
        ("no make that forty", "make it forty"),
        ("oh no, sorry, I said thirty a month", "make it thirty a month"),
        ("no, let's say nothing", ""),
        ("no sixty", ""),
        ("let's say sixty", ""),
    ],
)
def test_a_no_before_another_number_asks_to_make_it_that(said: str, meant: str) -> None:
    assert naming_another(said) == meant
