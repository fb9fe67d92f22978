"""Calls of newcomers to the bundled agents that answer a telephone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.paraphrases.measuring import measure

MARIA = ["Yes I understand.", "My name is Maria Lopez.", "Forty two."]
PLAN = [*MARIA, "I can pay thirty dollars a month."]
DOWN = ["internet is down"]
SLOW = ["my internet is slow"]
TO_PERSON = [*SLOW, "I want a person"]
RESTARTED = [*SLOW, "restart the router"]
PETE = ["it's pete", "about the bike"]
TO_WRITE = [*PETE, "it can wait"]
WRITTEN = [*TO_WRITE, "tell him I called"]

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
    ("debt_collection", MARIA, "I'll pay 50 dollars, maybe"),
    ("tech_support", TO_PERSON, "wifi"),
    ("tech_support", RESTARTED, "yes but slow"),
    ("tech_support", RESTARTED, "yes but only in the kitchen"),
    ("debt_collection", MARIA, "stop ringing me"),
    ("debt_collection", [], "don't call back"),
    ("debt_collection", [], "take me off your list"),
    ("debt_collection", MARIA, "don't call me on Monday"),
    ("debt_collection", MARIA, "i could have paid a hundred last month"),
    ("debt_collection", MARIA, "i already paid that last week"),
    ("debt_collection", [*MARIA, "i already paid that last week"], "no i don't dispute it i just paid it"),
    ("debt_collection", MARIA, "i don't want you to stop calling, i want to sort it out"),
    ("debt_collection", MARIA, "i could pay maybe twenty now if you stop calling"),
    ("debt_collection", ["Yes."], "wrong number"),
    ("debt_collection", ["Yes."], "my brother john owes that"),
    ("debt_collection", MARIA, "my brother owes me money"),
    ("tech_support", DOWN, "restart the router, tomorrow"),
    ("tech_support", TO_PERSON, "restart please"),
    ("tech_support", TO_PERSON, "ok restart"),
    ("tech_support", TO_PERSON, "specialist"),
    ("tech_support", [*SLOW, "restart the router, tomorrow"], "is it possible to restart only the wifi"),
    ("tech_support", SLOW, "ok it's on again"),
    ("tech_support", [*RESTARTED, "no"], "ok it's on again"),
    ("tech_support", RESTARTED, "yeah it's a bit better"),
    ("tech_support", RESTARTED, "a bit faster"),
    ("tech_support", [], "my internet was slow yesterday but it's fine today"),
    ("tech_support", [], "the internet was down last night, but now it works"),
    ("call_screening", TO_WRITE, "well ok it is"),
    ("call_screening", TO_WRITE, "ok ill hold"),
    ("call_screening", TO_WRITE, "hmm fair enough"),
    ("call_screening", TO_WRITE, "well tomorrow would be good i suppose"),
    ("call_screening", WRITTEN, "i love him"),
    ("call_screening", WRITTEN, "anything yet"),
    ("call_screening", WRITTEN, "also tell him i love him"),
    ("clinic", ["My name is Anna and I was born in 1982."], "I had a headache yesterday but it's fine now"),
    ("concierge", [], "order a taxi, on friday"),
    ("concierge", [], "book a table for two at eight, tomorrow"),
]

GOODBYES: list[tuple[str, list[str], str, str]] = [
    ("tech_support", [*RESTARTED, "yes it works"], "what was wrong", "can't tell what it was"),
    ("tech_support", [*TO_PERSON, "Jane"], "no wait wednesday", "can't set the day"),
    ("tech_support", [*TO_PERSON, "Jane"], "can i have that in writing", "can't send anything"),
    ("tech_support", [*TO_PERSON, "Jane"], "how much does it cost", "ask the technician"),
    ("call_screening", WRITTEN, "i love him", "can't add anything"),
    ("call_screening", WRITTEN, "anything yet", "will read it tonight"),
    ("call_screening", WRITTEN, "no, cancel that", "can't change"),
    ("call_screening", ["I have a special offer"], "i am not selling anything", "misunderstood"),
    ("debt_collection", [*MARIA, "take it all"], "can i have that in writing", "comes by mail"),
    ("debt_collection", [*MARIA, "take it all"], "no wait, i want it back", "can't undo a payment"),
    ("debt_collection", [*PLAN, "yes"], "when does it start", "can't say when it starts"),
    ("debt_collection", [*PLAN, "yes"], "actually make it twenty", "can't change the plan"),
    ("debt_collection", [*PLAN, "yes"], "is this recorded", "is recorded"),
    ("debt_collection", [*MARIA, "call me on Monday"], "no wait wednesday", "can't change that"),
    ("debt_collection", ["this is not my debt"], "no i don't dispute it", "I owe this after all"),
    ("tech_support", [*TO_PERSON, "Jane"], "my name is spelled with a y", "tell the technician"),
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
    ("debt_collection", [*MARIA, "stop ringing me"], "yes", {"state": {"session:phase": "no_calls"}}),
    ("debt_collection", [*MARIA, "stop ringing me"], "no", {"state": {"session:phase": "negotiate"}, "asks": True}),
    ("debt_collection", [*MARIA, "i already paid that last week"], "yes", {"state": {"app:disputed": True}}),
    ("debt_collection", MARIA, "I paid that off years ago", {"state": {"app:disputed": True}}),
    ("debt_collection", [], "wrong number", {"asks": True}),
    ("debt_collection", ["Yes."], "no this isn't maria", {"asks": True}),
    ("debt_collection", ["Yes."], "it's not maria, it's john smith", {"answers": ["last two digits"]}),
    ("debt_collection", [], "yeah sure", {"state": {"app:understood": True}}),
    ("debt_collection", [], "i guess so", {"state": {"app:understood": True}}),
    ("debt_collection", PLAN, "i mean just once", {"state": {"session:phase": "negotiate"}, "asks": True}),
    ("debt_collection", [*PLAN, "i mean just once"], "agreed", {"state": {"session:phase": "negotiate"}}),
    ("debt_collection", PLAN, "when is the first payment", {"answers": ["can't note when it starts"]}),
    ("debt_collection", ["Yes.", "17", "john"], "john, john smith, s m i t h",
     {"call": {"tool": "verify_identity", "args": {"name": "John Smith", "digits": 17}}}),
    ("debt_collection", ["Yes.", "Maria Lopez", "43"], "I meant 42",
     {"call": {"tool": "verify_identity", "args": {"digits": 42}}, "state": {"session:phase": "negotiate"}}),
    ("tech_support", TO_PERSON, "priya", {"call": {"tool": "hand_over", "args": {"name": "Priya"}}}),
    ("tech_support", TO_PERSON, "call me steve", {"call": {"tool": "hand_over", "args": {"name": "Steve"}}}),
    ("tech_support", TO_PERSON, "call me later", {"asks": True}),
    ("tech_support", TO_PERSON, "restart please", {"answers": ["who should the technician ask for"]}),
    ("tech_support", RESTARTED, "yeah it's a bit better", {"answers": ["as it should"]}),
    ("tech_support", RESTARTED, "much better", {"state": {"session:phase": "solved"}}),
    ("tech_support", SLOW, "first the line", {"call": {"tool": "check_line", "args": {}}}),
    ("tech_support", SLOW, "first the router", {"call": {"tool": "restart_router", "args": {}}}),
    ("tech_support", SLOW, "would restarting help", {"answers": ["often helps"]}),
    ("tech_support", [], "my phone's fine but the internet keeps dropping", {"state": {"app:problem": "no internet"}}),
    ("tech_support", [], "the wifi isn't slow, it's off", {"state": {"app:problem": "no internet"}}),
    ("tech_support", [], "it was fine yesterday but today the internet is down",
     {"state": {"app:problem": "no internet"}}),
    ("tech_support", [], "my internet was slow yesterday but it's fine today", {"answers": ["isn't working now"]}),
    ("call_screening", ["it's pete"], "i'm calling about the bike he's selling",
     {"state": {"session:phase": "decide", "app:spam": None}}),
    ("call_screening", [], "we are selling insurance", {"state": {"app:spam": True}}),
    ("call_screening", PETE, "not super urgent", {"state": {"app:urgency": "low"}}),
    ("call_screening", PETE, "it is not really that urgent", {"state": {"app:urgency": "low"}}),
    ("call_screening", PETE, "super urgent", {"state": {"app:urgency": "high"}}),
    ("call_screening", [], "delivery for sam, i'm outside",
     {"state": {"user:caller": None, "user:reason": "delivery"}}),
    ("call_screening", ["it's anna"], "um, mike i guess", {"state": {"user:reason": None}}),
    ("call_screening", ["it's anna"], "john from work",
     {"state": {"user:reason": None}, "answers": ["what is it about"]}),
    ("call_screening", ["it's anna"], "his brother john from work is ill",
     {"state": {"user:reason": "his brother John from work is ill"}}),
    ("call_screening", [], "officer brown", {"state": {"user:caller": "Brown"}}),
    ("call_screening", [], "this is claire, claire from accounting", {"state": {"user:caller": "Claire"}}),
    ("call_screening", [], "it's pete", {"answers": ["thank you pete what is it about"]}),
    ("call_screening", [], "hello its anna miller here", {"state": {"user:caller": "Anna Miller"}}),
    ("call_screening", [], "hiya its anna miller", {"state": {"user:caller": "Anna Miller"}}),
    ("call_screening", TO_WRITE, "dinner is at seven",
     {"call": {"tool": "take_message", "args": {"message": "dinner is at seven"}}}),
    ("call_screening", ["its anna miller", "the server is down"], "really urgent yes",
     {"state": {"session:phase": "connected"}}),
    ("tech_support", TO_PERSON, "Bill", {"call": {"tool": "hand_over", "args": {"name": "Bill"}}}),
    ("tech_support", TO_PERSON, "mark please", {"call": {"tool": "hand_over", "args": {"name": "Mark"}}}),
    ("call_screening", [], "this is mark", {"answers": ["thank you mark"]}),
    ("call_screening", ["its anna miller"], "really urgent yes", {"state": {"user:reason": None}}),
    ("call_screening", ["its anna miller"], "the urgent repair", {"state": {"user:reason": "the urgent repair"}}),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "before", "say"), UNASKED)
def test_nothing_is_done_that_a_newcomer_did_not_ask_for(agent: str, before: list[str], say: str) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, "refuses": True})
    assert judged.is_right, judged.turn


@pytest.mark.parametrize(("agent", "before", "say", "outcome"), RIGHT)
def test_a_newcomer_is_understood(agent: str, before: list[str], say: str, outcome: Mapping[str, Any]) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, **outcome})
    assert judged.is_right, judged.turn


@pytest.mark.parametrize(("agent", "before", "say", "words"), GOODBYES)
def test_after_the_end_a_newcomer_still_gets_an_answer(agent: str, before: list[str], say: str, words: str) -> None:
    turn = measure({"agent": agent, "before": before, "say": say, "refuses": True}).turn
    assert words in turn.answer, turn
