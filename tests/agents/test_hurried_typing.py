"""People type in small letters, without apostrophes, and ask between two answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.paraphrases.measuring import measure

ANNA = ["my name is Anna and I was born in 1982"]
SCHEDULED = [*ANNA, "I have a fever", "four"]

SAID: list[tuple[str, list[str], str, Mapping[str, Any]]] = [
    ("concierge", ["book a table"], "theres four of us", {"state": {"app:people": 4}}),
    ("concierge", ["book a table", "itll be four people"], "ill take eight oclock",
     {"call": {"tool": "book_table", "args": {"people": 4, "time": "20:00"}}}),
    ("concierge", [], "im allergic to nuts by the way", {"answers": ["take a note"]}),
    ("concierge", [], "can you remember where i parked, level 3", {"answers": ["take a note"]}),
    ("concierge", ["take a note buy milk"], "what have i told you", {"call": {"tool": "list_notes", "args": {}}}),
    ("concierge", ["take a note buy milk"], "delete that one", {"call": {"tool": "delete_last_note", "args": {}}}),
    ("concierge", [], "set an alarm for 7am", {"answers": ["count minutes"]}),
    ("concierge", [], "set an alarm for ten minutes", {"call": {"tool": "set_timer", "args": {"minutes": 10}}}),
    ("clinic", [], "whats that for?", {"answers": ["find you"]}),
    ("clinic", [*ANNA, "I have a fever"], "dunno, bad enough", {"answers": ["give me a number"]}),
    ("clinic", [*SCHEDULED, "early"], "got anything after lunch?",
     {"call": {"tool": "find_slot", "args": {"part_of_day": "afternoon"}}, "state": {"session:phase": "confirm"}}),
    ("clinic", SCHEDULED, "two is great", {"call": {"tool": "find_slot", "args": {"part_of_day": "afternoon"}}}),
    ("restaurant", ["ill have the fish"], "nah thats us", {"state": {"session:phase": "review"}}),
    ("clinic", SCHEDULED, "mornings are bad for me", {"answers": ["in the afternoon"]}),
    ("restaurant", ["ill have the fish"], "ok done", {"state": {"session:phase": "review"}}),
    ("restaurant", ["a pasta and a coffee"], "hmm no coffee, water instead",
     {"call": {"tool": "swap_item", "args": {"dish": "water", "instead_of": "coffee"}}}),
    ("tech_support", ["my phone line is dead", "put me through to a technician"], "and what happens now",
     {"answers": ["ten minutes"]}),
    ("restaurant", ["ill have the fish"], "how long will it be", {"answers": ["a few minutes"]}),
    ("debt_collection", [], "debt? what debt?", {"answers": ["collect a debt"]}),
    ("debt_collection", ["yes", "its john smith"], "17",
     {"call": {"tool": "verify_identity", "args": {"name": "John Smith", "digits": 17}}}),
    ("call_screening", [], "its just jenny", {"state": {"user:caller": "Jenny"}}),
    ("call_screening", ["its jenny"], "its about the tennis club", {"state": {"user:reason": "the tennis club"}}),
    ("clinic", ANNA, "my little boy has a fever and he won't eat", {"answers": ["only for you who are calling"]}),
    ("tech_support", ["my internet is slow", "please restart the router"], "oh great, it's back",
     {"state": {"session:phase": "solved"}}),
    ("tech_support", [], "nothing will load on any of my devices", {"state": {"app:problem": "no internet"}}),
    ("tech_support", ["my internets slow"], "what do you mean", {"answers": ["restart often helps"]}),
    ("tech_support", ["my internets slow", "reboot it", "still rubbish"], "fine, get me the specialist",
     {"call": {"tool": "call_specialist", "args": {}}}),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "before", "say", "outcome"), SAID)
def test_it_is_understood(agent: str, before: list[str], say: str, outcome: Mapping[str, Any]) -> None:
    judged = measure({"agent": agent, "before": before, "say": say, **outcome})
    assert judged.is_right, judged.turn


def test_a_reason_is_kept_without_the_words_around_it() -> None:
    turn = measure({"agent": "call_screening", "before": ["its jenny"], "say": "its about the car", "asks": True}).turn
    assert turn.state["user:reason"] == "the car"
