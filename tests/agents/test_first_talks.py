"""Sentences of people who talked with the agents for the first time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.paraphrases.measuring import measure

ANNA = ["My name is Anna and I was born in 1982."]
OFFERED = [*ANNA, "my tooth hurts", "about a 5", "morning"]
SLOW = ["my wifi is slow"]
REVIEWED = ["two waters", "that is all"]
PAYING = ["a coffee", "that is all", "yes"]
JOHN = ["yes", "John Smith", "17"]
TABLE = ["book a table for three at half past seven"]

UNASKED: list[tuple[str, list[str], str]] = [
    ("tech_support", SLOW, "ok testing it now"),
    ("tech_support", SLOW, "ok doing it now"),
    ("tech_support", SLOW, "I'm restarting it"),
    ("tech_support", [*SLOW, "please test the line"], "ok its restarting"),
    ("tech_support", SLOW, "I did restart it already"),
    ("clinic", [*OFFERED, "not so early"], "yes ok"),
    ("restaurant", [], "hi, table for two?"),
    ("restaurant", PAYING, "can I pay with my phone"),
    ("restaurant", PAYING, "I don't have cash"),
]

MEANT: list[tuple[str, list[str], str, Mapping[str, Any]]] = [
    ("restaurant", REVIEWED, "yes but take one water out", {"state": {"app:items": {"water": 1}}}),
    ("restaurant", REVIEWED, "yeah but take out one water", {"state": {"app:items": {"water": 1}}}),
    ("restaurant", ["two pasta please"], "hmm take out one pasta", {"state": {"app:items": {"pasta": 1}}}),
    ("restaurant", ["a pasta and a salad"], "no salad after all", {"state": {"app:items": {"pasta": 1}}}),
    ("restaurant", ["a water"], "and two more", {"state": {"app:items": {"water": 3}}}),
    ("restaurant", ["three waters"], "one less", {"state": {"app:items": {"water": 2}}}),
    ("restaurant", [], "one fish two salads and three waters",
     {"state": {"app:items": {"fish": 1, "salad": 2, "water": 3}}}),
    ("restaurant", REVIEWED, "you forgot my soup", {"state": {"app:items": {"water": 2, "soup": 1}}}),
    ("restaurant", ["two coffees"], "one of the coffees should be a water",
     {"state": {"app:items": {"coffee": 1, "water": 1}}}),
    ("restaurant", ["two soups"], "I mean fish, not soup",
     {"call": {"tool": "swap_item", "args": {"dish": "fish", "instead_of": "soup"}}}),
    ("restaurant", [*REVIEWED, "no it's wrong"], "yes", {"state": {"app:agreed": None}}),
    ("restaurant", REVIEWED, "yes except the water", {"state": {"app:agreed": None}}),
    ("restaurant", [*REVIEWED, "no it's wrong"], "I wanted three waters", {"state": {"app:items": {"water": 3}}}),
    ("clinic", ["its Robert Smith", "1968"], "wait, actually my name is Roberta",
     {"call": {"tool": "find_patient", "args": {"name": "Roberta", "birth_year": 1968}}}),
    ("clinic", [*ANNA, "headache"], "the later one", {"state": {"app:pain": None}}),
    ("clinic", OFFERED, "not so early", {"state": {"app:offer": None}}),
    ("clinic", OFFERED, "the afternoon is better",
     {"call": {"tool": "find_slot", "args": {"part_of_day": "afternoon"}}}),
    ("clinic", [*OFFERED, "the afternoon is better"], "yes please", {"call": {"tool": "book_slot", "args": {}}}),
    ("clinic", ["Hi, this is Maria Lopez, born 1990"], "my knee", {"state": {"app:symptom": "knee"}}),
    ("clinic", [], "I'm dying", {"state": {"app:grave": True}}),
    ("concierge", ["set a timer for half an hour"], "sorry twenty minutes",
     {"call": {"tool": "set_timer", "args": {"minutes": 20, "instead": True}}}),
    ("concierge", ["set a timer for ten minutes"], "cancel the timer", {"call": {"tool": "cancel_timer", "args": {}}}),
    ("concierge", [], "remind me to take my pills in forty five minutes",
     {"call": {"tool": "set_timer", "args": {"minutes": 45}}}),
    ("concierge", TABLE, "no wait, make the table at eight",
     {"call": {"tool": "book_table", "args": {"people": 3, "time": "20:00"}}}),
    ("concierge", TABLE, "we're only two", {"call": {"tool": "book_table", "args": {"people": 2, "time": "19:30"}}}),
    ("concierge", [], "book a table for two at seven, no, three at eight",
     {"call": {"tool": "book_table", "args": {"people": 3, "time": "20:00"}}}),
    ("concierge", ["what's the weather in Paris"], "ok and should I take an umbrella",
     {"call": {"tool": "get_weather", "args": {"city": "Paris"}}}),
    ("concierge", ["my name is Tom"], "no, it's Tim", {"call": {"tool": "memory_put", "args": {"value": "Tim"}}}),
    ("debt_collection", [*JOHN, "60"], "yes", {"call": {"tool": "take_payment", "args": {"amount": 60}}}),
    ("call_screening", ["it's Alice"], "Alice Brown", {"state": {"user:reason": None}}),
    ("call_screening", ["Anna"], "Miller", {"state": {"user:reason": None}}),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "before", "say"), UNASKED)
def test_nothing_is_done_that_was_not_asked(agent: str, before: list[str], say: str) -> None:
    turn = measure({"agent": agent, "before": before, "say": say, "refuses": True}).turn
    assert turn.calls == ()


@pytest.mark.parametrize(("agent", "before", "say", "outcome"), MEANT)
def test_what_was_meant_follows(agent: str, before: list[str], say: str, outcome: Mapping[str, Any]) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, **outcome})
    assert judged.is_right, (judged.turn.calls, judged.turn.answer)


def test_a_corrected_timer_leaves_one_running() -> None:
    line = {
        "agent": "concierge",
        "before": ["set a timer for half an hour", "sorry twenty minutes"],
        "say": "which timers are running",
        "answers": ["1 running"],
    }
    assert "You have 1 running: 20 minutes" in measure(line).turn.answer


def test_an_answer_to_two_wishes_asks_on_only_once() -> None:
    line = {"agent": "restaurant", "before": ["a pasta"], "say": "no pasta and a fish", "asks": True}
    assert measure(line).turn.answer == "Your order is empty now. That's 1 fish, 14 dollars. Anything else?"
