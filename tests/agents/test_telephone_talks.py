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
TO_SCHEDULE = [*COUGHING, "a four"]
ITCHING = [*ANNA, "I've got a rash on my arm", "zero"]
DISPUTED = [*MARIA, "that isn't mine"]
WORKING = [*RESTARTED, "yes it works"]

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
    ("tech_support", RESTARTED, "is it quicker now?"),
    ("tech_support", SLOW, "third time this week man"),
    ("tech_support", WORKING, "will it be slow again tomorrow?"),
    ("debt_collection", DISPUTED, "can I pay it off"),
    ("debt_collection", DISPUTED, "it was a mistake of yours"),
]

RIGHT: list[tuple[str, list[str], str, Mapping[str, Any]]] = [
    ("tech_support", [], "the internet is slow, no sorry, there's none at all",
     {"state": {"app:problem": "no internet"}}),
    ("tech_support", SLOW, "cant u just reboot it", {"call": {"tool": "restart_router", "args": {}}}),
    ("tech_support", SLOW, "couldn't you just test the line first?", {"call": {"tool": "check_line", "args": {}}}),
    ("tech_support", SLOW, "can you get somebody to come out", {"state": {"session:phase": "escalate"}}),
    ("clinic", COUGHING, "no wait, it's more my throat that hurts", {"state": {"app:symptom": "sore throat"}}),
    ("clinic", ITCHING, "but it hurts when I scratch it, a four maybe", {"state": {"app:pain": 4}}),
    ("debt_collection", PLAN, "I agree but only once", {"state": {"session:phase": "negotiate"}}),
    ("tech_support", WORKING, "hmm no it's slow again", {"state": {"session:phase": "diagnose", "app:works": None}}),
    ("tech_support", [*WORKING, "it's gone again", "restart it"], "works now", {"state": {"session:phase": "solved"}}),
    ("tech_support", WORKING, "can you send someone anyway", {"state": {"session:phase": "escalate"}}),
    ("tech_support", RESTARTED, "actually it's dropped again", {"answers": ["put you through"]}),
    ("tech_support", SLOW, "aight test it", {"call": {"tool": "check_line", "args": {}}}),
    ("tech_support", SLOW, "Do I have to do something for that test?", {"answers": ["test the line"]}),
    ("tech_support", SLOW, "Would you be able to check whether there's an outage in our area?",
     {"answers": ["your own line"]}),
    ("tech_support", TESTED, "will it delete my settings if you restart?", {"answers": ["keeps all settings"]}),
    ("tech_support", SLOW, "is it the cable outside?", {"answers": ["whether it's the line"]}),
    ("debt_collection", [*DISPUTED, "ok maybe it's mine then"], "yes",
     {"state": {"session:phase": "negotiate", "app:disputed": None}}),
    ("debt_collection", ["yes", "that isn't mine", "can I pay it off"], "yes", {"state": {"session:phase": "verify"}}),
    ("debt_collection", UNDERSTOOD, "that isn't mine", {"answers": ["i see then i won't ask any further"]}),
    ("debt_collection", [*UNDERSTOOD, "It's Maria", "Lopez"], "my number, let me see, it ends with four two",
     {"call": {"tool": "verify_identity", "args": {"name": "Maria Lopez", "digits": 42}}}),
    ("debt_collection", [], "I understand but I don't agree", {"asks": True}),
    ("debt_collection", [], "no I don't quite understand", {"refuses": True, "answers": ["do you understand"]}),
    ("debt_collection", MARIA, "can i pay in bits", {"answers": ["or monthly payments"]}),
    ("debt_collection", MARIA, "I want to talk to a manager", {"answers": ["no one else in this call"]}),
    ("debt_collection", MARIA, "okay so what is this about?", {"answers": ["a debt at harbor bank"]}),
    ("debt_collection", MARIA, "how high is the amount", {"answers": ["you owe 300 dollars"]}),
    ("debt_collection", MARIA, "ok i pay today", {"answers": ["how much would you like to pay now"]}),
    ("debt_collection", [*MARIA, "take it all"], "no wait", {"answers": ["can't undo a payment"]}),
    ("debt_collection", [], "tomorrow after five", {"asks": True}),
    ("clinic", [], "David 1971 stomach ache", {"call": {"tool": "find_patient", "args": {"name": "David"}}}),
    ("clinic", [], "Anna 1982 i burned my hand", {"call": {"tool": "find_patient", "args": {"name": "Anna"}}}),
    ("debt_collection", [], "k understood", {"state": {"app:understood": True}}),
    ("tech_support", RESTARTED, "Seems quicker now", {"state": {"app:works": True}}),
    ("clinic", [], "need an appointment asap", {"answers": ["certainly"]}),
    ("clinic", [], "Good morning dear", {"answers": ["hello what is your name"]}),
    ("clinic", [], "why do you need to know my name", {"answers": ["find you among our patients"]}),
    ("clinic", [], "who's gonna see this information", {"answers": ["on this machine"]}),
    ("clinic", [], "i've had a stomach ache since this morning", {"answers": ["sorry to hear that what is your name"]}),
    ("clinic", TO_SCHEDULE, "do you have 11 o clock", {"call": {"tool": "find_slot", "args": {"hour": "eleven"}}}),
    ("clinic", TO_SCHEDULE, "what hours", {"answers": ["in the morning and in the afternoon"]}),
    ("clinic", TO_SCHEDULE, "ten then", {"refuses": True, "answers": ["nine or eleven in the morning"]}),
    ("clinic", TO_SCHEDULE, "can we do at three", {"refuses": True, "answers": ["nine or eleven in the morning"]}),
    ("clinic", TO_SCHEDULE, "cancel that, I'll call back", {"refuses": True, "answers": ["nothing is booked"]}),
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
