"""What newcomers said to the debt collector, the technical support and the call screener."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.paraphrases.measuring import measure

MARIA = ["Yes I understand.", "My name is Maria Lopez.", "Forty two."]
PLAN = [*MARIA, "I can pay thirty dollars a month."]
DOWN = ["internet is down"]

UNASKED: list[tuple[str, list[str], str]] = [
    ("debt_collection", MARIA, "i can pay three hundred dollars, in january"),
    ("debt_collection", MARIA, "i will pay fifty dollars, next friday"),
    ("debt_collection", MARIA, "i can pay two hundred dollars but only in march"),
    ("debt_collection", MARIA, "i can pay fifty dollars, on friday"),
    ("debt_collection", MARIA, "i can pay fifty on friday"),
    ("debt_collection", MARIA, "take fifty dollars on the first"),
    ("debt_collection", MARIA, "fifty dollars, tomorrow"),
    ("debt_collection", MARIA, "i can pay 100 dollars, but later"),
    ("debt_collection", MARIA, "ok take 100 but not today"),
    ("debt_collection", MARIA, "i can pay 100, in two weeks"),
    ("debt_collection", MARIA, "i'll pay 300 but not before christmas"),
    ("debt_collection", MARIA, "i'll pay the whole lot, next week"),
    ("debt_collection", MARIA, "i can pay it all in march"),
    ("debt_collection", MARIA, "I'll pay fifty dollars, but in cash"),
    ("debt_collection", MARIA, "i'd like to pay the whole lot actually"),
    ("debt_collection", MARIA, "i can pay it all today"),
    ("debt_collection", MARIA, "i can pay all of it"),
    ("debt_collection", MARIA, "all of it please"),
    ("tech_support", DOWN, "restart the router, tomorrow"),
    ("concierge", [], "order a taxi, on friday"),
    ("concierge", [], "book a table for two at eight, tomorrow"),
]

RIGHT: list[tuple[str, list[str], str, Mapping[str, Any]]] = [
    ("debt_collection", MARIA, "i can pay fifty dollars, on friday", {"answers": ["which day"]}),
    ("debt_collection", MARIA, "I'll pay fifty dollars, but in cash", {"answers": ["from your card"]}),
    ("debt_collection", MARIA, "take 100 dollars now, and 200 in march",
     {"call": {"tool": "take_payment", "args": {"amount": 100}}}),
    ("debt_collection", MARIA, "take it all", {"call": {"tool": "take_payment", "args": {"amount": 300}}}),
    ("debt_collection", MARIA, "i'd like to pay the whole lot now",
     {"call": {"tool": "take_payment", "args": {"amount": 300}}}),
    ("debt_collection", [*MARIA, "i can pay all of it"], "yes",
     {"call": {"tool": "take_payment", "args": {"amount": 300}}}),
    ("debt_collection", PLAN, "fifty", {"asks": True, "state": {"app:monthly": 30}}),
    ("debt_collection", [*PLAN, "fifty"], "yes", {"state": {"app:monthly": 50, "session:phase": "plan"}}),
    ("debt_collection", PLAN, "or maybe sixty", {"state": {"app:monthly": 60, "session:phase": "plan"}}),
    ("debt_collection", MARIA, "sixty a month, or maybe sixty five", {"answers": ["one of the two"]}),
    ("debt_collection", MARIA, "sixty a month, or maybe sixty", {"state": {"app:monthly": 60}}),
    ("debt_collection", [*MARIA, "next week"], "fifty", {"asks": True}),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "before", "say"), UNASKED)
def test_nothing_is_done_that_a_newcomer_did_not_ask_for(agent: str, before: list[str], say: str) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, "refuses": True})
    assert judged.is_right, judged.turn


@pytest.mark.parametrize(("agent", "before", "say", "outcome"), RIGHT)
def test_a_newcomer_is_understood(agent: str, before: list[str], say: str, outcome: Mapping[str, Any]) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, **outcome})
    assert judged.is_right, judged.turn
