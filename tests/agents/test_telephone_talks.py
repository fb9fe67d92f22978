"""Talks of two minutes in callers' own words, with the agents on a telephone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.paraphrases.measuring import measure

UNDERSTOOD = ["yes I understand"]
NAMED = [*UNDERSTOOD, "my name is Maria Lopez"]
MARIA = [*NAMED, "42"]
PLAN = [*MARIA, "I can pay thirty dollars a month"]
SLOW = ["my internet is slow"]
TESTED = [*SLOW, "test the line"]
RESTARTED = [*SLOW, "restart the router"]
ANNA = ["My name is Anna and I was born in 1982"]
COUGHING = [*ANNA, "I have a cough"]
ITCHING = [*ANNA, "I've got a rash on my arm", "zero"]

UNASKED: list[tuple[str, list[str], str]] = [
    ("debt_collection", NAMED, "It's four four, er, hang on, let me find it."),
    ("debt_collection", NAMED, "forty, no wait, let me look it up"),
    ("debt_collection", MARIA, "I can pay a hundred now, one moment, let me check my account"),
    ("tech_support", SLOW, "restart it, hang on, I have to save my work"),
    ("tech_support", SLOW, "Yes, it seems to be back"),
    ("tech_support", SLOW, "ok it works again"),
    ("tech_support", RESTARTED, "it works! no, wait, it's gone again"),
    ("tech_support", RESTARTED, "it works, oh, it's gone again"),
    ("tech_support", [], "My internet was gone yesterday but today it's fine, I only want to know why"),
    ("tech_support", [], "I had no internet yesterday"),
    ("clinic", COUGHING, "nine when I move it, otherwise two"),
]

RIGHT: list[tuple[str, list[str], str, Mapping[str, Any]]] = [
    ("tech_support", [], "the internet is slow, no sorry, there's none at all",
     {"state": {"app:problem": "no internet"}}),
    ("tech_support", SLOW, "cant u just reboot it", {"call": {"tool": "restart_router", "args": {}}}),
    ("tech_support", SLOW, "couldn't you test the line first?", {"call": {"tool": "check_line", "args": {}}}),
    ("tech_support", SLOW, "can you get somebody to come out", {"state": {"session:phase": "escalate"}}),
    ("clinic", COUGHING, "no wait, it's more my throat that hurts", {"state": {"app:symptom": "sore throat"}}),
    ("clinic", ITCHING, "but it hurts when I scratch it, a four maybe", {"state": {"app:pain": 4}}),
    ("debt_collection", PLAN, "I agree but only once", {"state": {"session:phase": "negotiate"}}),
    ("debt_collection", [*PLAN, "I agree but only once"], "agreed", {"state": {"session:phase": "negotiate"}}),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "before", "say"), UNASKED)
def test_nothing_is_done_that_the_caller_did_not_ask_for(agent: str, before: list[str], say: str) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, "refuses": True})
    assert judged.is_right, judged.turn


@pytest.mark.parametrize(("agent", "before", "say", "outcome"), RIGHT)
def test_the_caller_is_understood(agent: str, before: list[str], say: str, outcome: Mapping[str, Any]) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, **outcome})
    assert judged.is_right, judged.turn
