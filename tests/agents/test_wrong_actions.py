"""Sentences that once led a bundled agent to an action unasked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.paraphrases.measuring import measure

UNASKED: list[tuple[str, list[str], str]] = [
    ("concierge", [], "can you write something down for me"),
    ("restaurant", [], "My nephew can't have nuts, is there any in the salad?"),
    ("restaurant", [], "are you a real waiter"),
    ("debt_collection", [], "is this a scam"),
    ("debt_collection", ["Yes I understand."], "I'm Maria Lopez, last four digits 4242"),
    ("call_screening", [], "it's working now"),
    ("call_screening", [], "I'm returning her call"),
    ("call_screening", ["My name is Anna."], "hold on a second"),
    ("tech_support", [], "don't touch my router"),
    ("tech_support", [], "I don't need a technician, just tell me how to change my wifi password."),
    ("concierge", [], "I love the weather in Rome"),
    ("concierge", [], "the weather was dreadful, wasn't it"),
    ("restaurant", ["A pasta please.", "That is all.", "Yes, that is right."], "do you take cards?"),
    ("restaurant", ["One pasta and one salad."], "same again for my mate"),
    ("restaurant", ["One soup and two coffees."], "make that three"),
    ("restaurant", [], "I want a pasta, no, hold on, a pizza, and make it two."),
    (
        "call_screening",
        ["this is Peter Brown", "about the contract", "it can wait"],
        "I don't do messages, I want to speak to the man himself.",
    ),
]


@pytest.mark.parametrize(("agent", "before", "say"), UNASKED)
def test_nothing_is_done_that_was_not_asked(agent: str, before: list[str], say: str) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, "refuses": True})
    assert judged.is_right, judged.turn


ANNA = ["My name is Anna and I was born in 1982."]
JOHN = ["Yes I understand.", "My name is John Smith.", "Seventeen."]

RIGHT: list[tuple[str, list[str], str, Mapping[str, Any]]] = [
    ("concierge", [], "can you book a table for tonight", {"asks": True}),
    ("clinic", [], "I'm feeling awful", {"answers": ["sorry", "year were you born"]}),
    ("clinic", ["My name is Anna and I was born in 1982."], "repeat that please", {"answers": ["what is wrong"]}),
    ("restaurant", ["One pasta."], "I've changed my mind, no pasta",
     {"state": {"app:items": {}, "session:phase": "order"}}),
    ("restaurant", ["A pasta and a salad, please."], "lose the salad", {"state": {"app:items": {"pasta": 1}}}),
    ("restaurant", [], "how much is the pasta", {"answers": ["11"]}),
    ("debt_collection", ["Yes I understand."], "how much do I owe", {"asks": True}),
    ("debt_collection", ["Yes I understand.", "My name is Maria Lopez."], "the last two are four two",
     {"call": {"tool": "verify_identity", "args": {"name": "Maria Lopez", "digits": 42}}}),
    ("call_screening", [], "I'm returning his call, it's Dave", {"state": {"user:caller": "Dave"}}),
    ("concierge", [], "what is it you do?", {"answers": ["set timers"]}),
    ("concierge", [], "what's for dinner?", {"answers": ["menu"]}),
    ("concierge", ["What is the weather like?"], "here, I mean", {"asks": True}),
    ("concierge", [], "no more questions, bye", {"answers": ["goodbye"]}),
    ("concierge", [], "a taxi tomorrow morning please", {"answers": ["right now"]}),
    ("concierge", [], "don't let me forget to call my sister",
     {"call": {"tool": "add_note", "args": {"text": "call my sister"}}}),
    ("concierge", [], "can someone drive me to the station?", {"call": {"tool": "order_taxi", "args": {}}}),
    ("clinic", [], "I don't feel well", {"answers": ["sorry to hear that"]}),
    ("clinic", [*ANNA, "I have a fever."], "since yesterday, after eating mushrooms", {"asks": True}),
    ("clinic", [*ANNA, "I have a fever."], "quite a lot", {"answers": ["a number"]}),
    ("restaurant", ["two pasta"], "Go on then, add another one.", {"state": {"app:items": {"pasta": 3}}}),
    ("restaurant", ["two pasta"], "same again please", {"state": {"app:items": {"pasta": 4}}}),
    ("tech_support", ["I want to speak to a technician"], "it's Walter Green, I'm the account holder",
     {"call": {"tool": "hand_over", "args": {"name": "Walter Green"}}}),
    ("restaurant", ["A pasta please.", "That is all."], "could you read that back to me?", {"answers": ["1 pasta"]}),
    ("debt_collection", [], "are you recording this?", {"answers": ["this call is recorded"]}),
    ("debt_collection", [], "what do you want", {"answers": ["to collect a debt"]}),
    ("debt_collection", JOHN, "how much do I owe", {"answers": ["120 dollars"]}),
    ("debt_collection", JOHN, "can I pay half?", {"answers": ["an amount now"]}),
    ("tech_support", ["My internet is slow."], "turn the router off and on again for me",
     {"call": {"tool": "restart_router", "args": {}}}),
    ("tech_support", ["My internet is slow.", "Restart the router.", "Nothing changed."], "ok put me through",
     {"call": {"tool": "call_specialist", "args": {}}}),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "before", "say", "outcome"), RIGHT)
def test_it_is_understood(agent: str, before: list[str], say: str, outcome: Mapping[str, Any]) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, **outcome})
    assert judged.is_right, judged.turn
