"""Wishes that are hedged or put off."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.understanding.tentative import (
    Hedged,
    hedged,
    hesitates,
    leaves_open,
    partly_hedged,
    proposes,
    put_off,
)


@pytest.mark.parametrize(
    "said",
    ["maybe a taxi", "Perhaps we could get a taxi", "well, I could have a taxi", "a taxi, maybe", "possibly a taxi"],
)
def test_a_hedge_is_taken_off_a_wish(said: str) -> None:
    found = hedged(said)
    assert found is not None
    assert found.wish in ("a taxi", "get a taxi")
    assert not found.is_thought


@pytest.mark.parametrize(
    "said",
    ["I was thinking of a taxi", "I'm considering a taxi", "we might take a taxi", "I was wondering about a taxi"],
)
def test_a_thought_is_told_from_an_answer(said: str) -> None:
    assert hedged(said) == Hedged("a taxi", is_thought=True)


@pytest.mark.parametrize("said", ["a taxi or something", "a taxi, or whatever", "or a taxi", "hm, or a taxi"])
def test_an_alternative_is_a_thought(said: str) -> None:
    assert hedged(said) == Hedged("a taxi", is_thought=True)


def test_what_is_firm_is_told_from_what_is_not() -> None:
    assert partly_hedged("the soup and maybe a pasta") == ("the soup", "a pasta")
    assert partly_hedged("a soup, a fish and I might have a coffee") == ("a soup, a fish", "a coffee")
    assert partly_hedged("the soup or maybe the pasta") == ("", "")


@pytest.mark.parametrize(
    "said",
    [
        "or rather a taxi",
        "or else",
        "a taxi",
        "could I have a taxi",
        "I was wondering if I could have a taxi",
        "maybe",
        "",
    ],
)
def test_other_words_have_no_hedge(said: str) -> None:
    assert hedged(said) is None


def test_what_comes_first_is_told_from_what_waits() -> None:
    assert put_off("order a taxi, but first a coffee") == ("order a taxi", "a coffee")
    assert put_off("a taxi but before you do that, a coffee") == ("a taxi", "a coffee")
    assert put_off("the first train, but not the last") == ("", "")


@pytest.mark.parametrize(
    "said", ["how about eight", "or nine", "and what about six", "we could also be five", "maybe nine"]
)
def test_a_proposal_is_told_from_a_change(said: str) -> None:
    assert proposes(said)
    assert not proposes("make it nine")


@pytest.mark.parametrize("said", ["my boss might come too so could be seven", "we may be six", "there could be five"])
def test_a_number_is_left_open(said: str) -> None:
    assert leaves_open(said)
    assert not leaves_open("could we be seven")


@pytest.mark.parametrize("said", ["I guess that works", "yes, maybe", "well, I suppose so", "if I must"])
def test_a_yes_may_hesitate(said: str) -> None:
    assert hesitates(said)
    assert not hesitates("yes, I think so")
