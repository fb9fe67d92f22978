"""Sentences of new users that the bundled agents once misunderstood, by agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.paraphrases.measuring import measure

MISSED = ("catch that", "still don't follow", "didn't understand")
"""Words of an answer to what was not understood."""

SOUP_AND_COFFEES = ["a soup and two coffees"]
REVIEWED = ["one pasta", "that is all"]
TO_PAY = [*REVIEWED, "yes that is right"]

RESTAURANT: list[tuple[list[str], str, Mapping[str, Any]]] = [
    (SOUP_AND_COFFEES, "take one coffee away", {"state": {"app:items": {"soup": 1, "coffee": 1}}}),
    (["five fish"], "one less fish", {"state": {"app:items": {"fish": 4}}}),
    (["five fish"], "take two fish off", {"state": {"app:items": {"fish": 3}}}),
    (["five fish"], "make one fish a salad", {"state": {"app:items": {"fish": 4, "salad": 1}}}),
    (["two soups"], "I'd rather have pasta instead of the soups", {"state": {"app:items": {"pasta": 2}}}),
    (SOUP_AND_COFFEES, "cancel the coffees", {"state": {"app:items": {"soup": 1}, "session:phase": "order"}}),
    (SOUP_AND_COFFEES, "just the soups", {"state": {"app:items": {"soup": 1, "coffee": 2}}, "asks": True}),
    (SOUP_AND_COFFEES, "remove everything", {"state": {"app:items": {"soup": 1, "coffee": 2}}, "asks": True}),
    (["one pasta"], "just one pasta", {"state": {"app:items": {"pasta": 1}}}),
    (["one pasta"], "just the pasta, that's all",
     {"state": {"app:items": {"pasta": 1}, "session:phase": "review"}}),
    (REVIEWED, "yes, plus two coffees",
     {"state": {"app:items": {"pasta": 1, "coffee": 2}, "session:phase": "review"}}),
    (["a pasta"], "and coffees for both of us", {"answers": ["how many"]}),
    (["a pasta"], "the same for my friend", {"state": {"app:items": {"pasta": 2}}}),
    ([], "the pasta at home is better", {"refuses": True}),
    ([], "my kids only eat pasta", {"refuses": True}),
    ([], "I guess the soup's ok", {"answers": ["shall i add soup"]}),
    ([], "what's the soup today?", {"answers": ["its price"]}),
    ([], "what's the cheapest thing", {"answers": ["water"]}),
    ([], "I'll have that", {"answers": ["which dish"]}),
    ([], "no I meant the soup", {"state": {"app:items": {"soup": 1}}}),
    (["a pasta"], "no onions in the soup please", {"answers": ["can't note wishes"]}),
    (["a pasta"], "can I see the whole order", {"answers": ["1 pasta"]}),
    (["a pasta"], "what drinks have you got", {"answers": ["coffee for 3 dollars and water for 2"]}),
    (TO_PAY, "I don't want to pay", {"answers": ["cancel my order"]}),
    ([*TO_PAY, "by card please"], "4111 1111 1111 1111", {"answers": ["card at the reader"]}),
]  # fmt: skip


@pytest.mark.parametrize(("before", "say", "outcome"), RESTAURANT)
def test_the_restaurant_takes_the_order_that_was_meant(before: list[str], say: str, outcome: Mapping[str, Any]) -> None:
    judged = measure({"agent": "restaurant", "before": before, "say": say, **outcome})
    assert judged.is_right, judged.turn


@pytest.mark.parametrize(
    "say",
    [
        "that'll be everything",
        "done",
        "I'm done ordering",
        "nothing else",
        "we're good",
        "that will do",
        "the bill please",
    ],
)
def test_who_has_ordered_all_is_not_told_that_nothing_was_understood(say: str) -> None:
    turn = measure({"agent": "restaurant", "before": ["one pasta"], "say": say, "refuses": True}).turn
    assert turn.state["session:phase"] == "review"
    assert not [words for words in MISSED if words in turn.answer], turn.answer
