"""Sentences of strangers who talked with the agents for two minutes each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.paraphrases.measuring import measure

TABLE = ["book a table for three at eight"]
TIMER = ["set a timer for five minutes"]
TO_REVIEW = ["two salads", "that is all"]
LAURA = ["this is Laura", "it is about the house"]

UNASKED: list[tuple[str, list[str], str]] = [
    ("concierge", TABLE, "we have to be there at nine"),
    ("concierge", TABLE, "we must leave at half past nine"),
    ("concierge", TABLE, "I have to be home at ten"),
    ("concierge", ["what is the weather in Lisbon"], "and what's the time there"),
    ("concierge", ["take a note buy milk"], "hmm what was I going to say"),
    ("concierge", ["book a table"], "we are 2, maybe 3"),
    ("concierge", [], "table for four at seven, maybe eight"),
    ("concierge", [], "remind me at 3 to ring the vet"),
    ("restaurant", [], "could we get the salads"),
    ("restaurant", ["six coffees"], "six coffees, that's it"),
    ("restaurant", ["a fish"], "the fish"),
    ("restaurant", ["a soup"], "and coffees please"),
    ("restaurant", ["a pasta"], "ok then the pasta, but small"),
    ("restaurant", ["two salads", "make it one"], "my wife wants the same as me"),
]

MEANT: list[tuple[str, list[str], str, Mapping[str, Any]]] = [
    ("concierge", [], "two and a half hours on the clock, please",
     {"call": {"tool": "set_timer", "args": {"minutes": 150}}}),
    ("concierge", [], "one and a half hours on the clock", {"call": {"tool": "set_timer", "args": {"minutes": 90}}}),
    ("concierge", [], "set a timer for 2.5 hours", {"call": {"tool": "set_timer", "args": {"minutes": 150}}}),
    ("concierge", [], "ping me in an hour and a quarter", {"call": {"tool": "set_timer", "args": {"minutes": 75}}}),
    ("concierge", TIMER, "no, just the one, 2.5 hours",
     {"call": {"tool": "set_timer", "args": {"minutes": 150, "instead": True}}}),
    ("concierge", TIMER, "forget that. 150 minutes",
     {"call": {"tool": "set_timer", "args": {"minutes": 150, "instead": True}}}),
    ("concierge", TABLE, "it has to be nine", {"call": {"tool": "book_table", "args": {"people": 3, "time": "21:00"}}}),
    ("concierge", [], "my daughter lives in lisbon, is it raining there",
     {"call": {"tool": "get_weather", "args": {"city": "Lisbon"}}}),
    ("concierge", [], "is it cold there, my sister is in Oslo",
     {"call": {"tool": "get_weather", "args": {"city": "Oslo"}}}),
    ("concierge", [], "taxi asap", {"call": {"tool": "order_taxi", "args": {}}}),
    ("concierge", [], "please, I need one car for go to the museum", {"call": {"tool": "order_taxi", "args": {}}}),
    ("concierge", [], "weather in Rome and Oslo and set a timer for 5 min",
     {"call": {"tool": "set_timer", "args": {"minutes": 5}}}),
    ("concierge", [], "remind me tomorrow to ring the vet",
     {"call": {"tool": "add_note", "args": {"text": "ring the vet tomorrow"}}}),
    ("restaurant", [], "my lad wants pasta, the missus soup, and i'm having the fish",
     {"state": {"app:items": {"pasta": 1, "soup": 1, "fish": 1}}}),
    ("call_screening", [], "Rita", {"state": {"user:caller": "Rita"}}),
    ("call_screening", [], "name? Igor", {"state": {"user:caller": "Igor"}}),
    ("call_screening", [*LAURA, "it can wait", "not really but i need an answer"], "just ask him to text me",
     {"call": {"tool": "take_message", "args": {"message": "text me"}}}),
    ("restaurant", ["four pasta please"], "No no, I said for me, one pasta.", {"state": {"app:items": {"pasta": 1}}}),
    ("restaurant", [*TO_REVIEW, "and a coffee"], "no wait, two coffees",
     {"state": {"app:items": {"salad": 2, "coffee": 2}}}),
    ("concierge", [], "a table for my husband and me at 7:30, and our daughter",
     {"call": {"tool": "book_table", "args": {"people": 3, "time": "19:30"}}}),
    ("concierge", ["take a note passport"], "add sunscreen to that",
     {"call": {"tool": "add_note", "args": {"text": "sunscreen"}}}),
    ("concierge", ["order a taxi"], "is it here yet", {"answers": ["still calling"]}),
    ("concierge", [], "cancel everything", {"answers": ["One thing at a time"]}),
    ("restaurant", ["two waters"], "-1 water", {"state": {"app:items": {"water": 1}}}),
    ("restaurant", [], "3x coffee 2x water", {"state": {"app:items": {"coffee": 3, "water": 2}}}),
    ("restaurant", [], "salad n soup", {"state": {"app:items": {"salad": 1, "soup": 1}}}),
    ("restaurant", ["a fish", "hmm she wants the pasta instead"], "the fish", {"state": {"app:items": {"pasta": 1}}}),
    ("call_screening", ["mum here"], "it's about a refund", {"state": {"app:spam": None}}),
    ("call_screening", [], "We are offering free roof inspections", {"state": {"app:spam": True}}),
    ("concierge", ["I need also table"], "two persons, 19 o clock",
     {"call": {"tool": "book_table", "args": {"people": 2, "time": "19:00"}}}),
    ("concierge", ["order a taxi"], "for tomorrow 9 o clock", {"answers": ["right now"]}),
    ("restaurant", ["a fish"], "how much for just the fish", {"answers": ["14 dollars"]}),
    ("restaurant", ["a fish"], "That will be all for the moment", {"answers": ["All right."]}),
    ("restaurant", ["a fish", "that is all", "no"], "yes send it", {"answers": ["didn't catch"]}),
    ("call_screening", [], "tell him its Jaz", {"state": {"user:reason": None}}),
    ("call_screening", [], "x", {"state": {"user:caller": None}}),
    ("call_screening", [], "never mind wrong number", {"state": {"session:phase": "left"}}),
    ("call_screening", ["Why?", "Hmm", "Hmm"], "Max", {"state": {"app:message": None}}),
    ("concierge", ["tell me a joke"], "that's all thanks", {"answers": ["You're welcome."]}),
    ("concierge", [], "put a note: bring the camera",
     {"call": {"tool": "add_note", "args": {"text": "bring the camera"}}}),
    ("restaurant", ["two soups"], "i mean pasta instead of soup", {"state": {"app:items": {"pasta": 2}}}),
    ("restaurant", ["six coffees"], "six coffees, that's it", {"state": {"session:phase": "review"}}),
    ("call_screening", [], "Sam? it's me mate", {"state": {"user:caller": None}}),
    ("call_screening", ["Pete Marsh"], "football on sunday, is he in", {"state": {"session:phase": "decide"}}),
    ("concierge", [*TABLE, "hmm my wife says half past eight is better"], "yes",
     {"call": {"tool": "book_table", "args": {"people": 3, "time": "20:30"}}}),
    ("concierge", TABLE, "would that be by the window?", {"answers": ["tell the restaurant"]}),
    ("concierge", [], "Good evening. I wonder whether you could help an old man.", {"answers": ["Gladly"]}),
    ("concierge", [], "cancel it", {"answers": ["What should I cancel"]}),
    ("concierge", [], "weather in Rome in december", {"answers": ["only know what is typical for this month"]}),
    ("concierge", [], "could somebody drive us at 8", {"answers": ["right now"]}),
    ("concierge", [], "wake me at half past seven tomorrow", {"answers": ["only count minutes"]}),
    ("restaurant", ["two soups", "that is all", "yes", "card"], "did it go through", {"answers": ["paid yet"]}),
    ("restaurant", ["two fish"], "Actually only three fish-- I mean, three pasta and one fish",
     {"state": {"app:items": {"fish": 1, "pasta": 3}}}),
    ("restaurant", ["two fish"], "make it three fish and a coffee", {"state": {"app:items": {"fish": 3, "coffee": 1}}}),
    ("concierge", [], "Is it going to freeze in Helsinki",
     {"call": {"tool": "get_weather", "args": {"city": "Helsinki"}}}),
    ("restaurant", ["two soups"], "just a soup", {"state": {"app:items": {"soup": 1}}}),
    ("restaurant", ["two soups"], "and just a coffee", {"state": {"app:items": {"soup": 2, "coffee": 1}}}),
    ("restaurant", [], "We are six people. Three fish, two pasta and one salad",
     {"state": {"app:items": {"fish": 3, "pasta": 2, "salad": 1}}}),
    ("restaurant", ["a fish"], "what does that make", {"answers": ["14 dollars"]}),
    ("restaurant", ["a fish"], "that should do it", {"state": {"session:phase": "review"}}),
    ("restaurant", TO_REVIEW, "actually a coffee too", {"state": {"app:items": {"salad": 2, "coffee": 1}}}),
    ("call_screening", [*LAURA, "it can wait"], "I don't want to leave a message",
     {"answers": ["write something down"]}),
    ("concierge", TABLE, "ok nine then", {"call": {"tool": "book_table", "args": {"people": 3, "time": "21:00"}}}),
    ("restaurant", ["could we get the salads"], "two", {"state": {"app:items": {"salad": 2}}}),
    ("restaurant", [], "salads then. one for me and one for my son", {"state": {"app:items": {"salad": 2}}}),
    ("restaurant", [], "coffees, one for me, one for my wife and two for the kids",
     {"state": {"app:items": {"coffee": 4}}}),
    ("restaurant", [], "two waters, one for me and one for her", {"state": {"app:items": {"water": 2}}}),
    ("restaurant", TO_REVIEW, "no, one salad and one soup", {"state": {"app:items": {"salad": 1, "soup": 1}}}),
    ("restaurant", [*TO_REVIEW, "replace one salad with fish"], "right", {"state": {"app:agreed": None}}),
    ("call_screening", ["Pete Marsh"], "please hurry", {"state": {"user:reason": None}}),
    ("call_screening", ["Pete Marsh"], "Could be urgent, I don't know", {"state": {"user:reason": None}}),
    ("call_screening", ["it's his wife"], "um, Julia. is he in a meeting", {"state": {"user:reason": None}}),
    ("call_screening", ["Pete Marsh"], "I want to ask whether he is free on saturday",
     {"state": {"session:phase": "decide"}}),
    ("call_screening", LAURA, "I just want to speak to him", {"state": {"app:urgency": None}}),
    ("call_screening", LAURA, "of course it is", {"answers": ["yes or no"]}),
    ("call_screening", [], "we're doing a survey in your area", {"state": {"app:spam": True}}),
    ("call_screening", [], "I'm an old friend from school", {"answers": ["your name"]}),
    ("call_screening", [], "this is urgent, his mother fell", {"state": {"user:reason": "mother"}}),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "before", "say"), UNASKED)
def test_nothing_is_done_that_was_not_asked(agent: str, before: list[str], say: str) -> None:
    assert measure({"agent": agent, "before": before, "say": say, "refuses": True}).turn.calls == ()


def test_a_dish_that_was_not_ordered_is_not_said_to_be_taken_off() -> None:
    line = {"agent": "restaurant", "before": ["a fish"], "say": "scrap one coffee", "refuses": True}
    assert "there is no coffee" in measure(line).turn.answer


@pytest.mark.parametrize(("agent", "before", "say", "meant"), MEANT)
def test_what_is_meant_happens(agent: str, before: list[str], say: str, meant: Mapping[str, Any]) -> None:
    measured = measure({"agent": agent, "before": before, "say": say, **meant})
    assert measured.is_right, measured.turn
