"""Self-repairs are undone where they show which words they replace."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.scripts.script import bundled_script
from gemini_live_runtime.local.understanding.self_repair import SelfRepair

REPAIRED = [
    ("restaurant", "No no, I said for me, one pasta.", "No no, I said one pasta."),
    ("restaurant", "I meant for my wife two soups", "I meant two soups"),
    ("concierge", "set a timer for ten, sorry, twenty minutes", "set a timer for twenty minutes"),
    ("concierge", "set a timer for an hour, or rather, half an hour", "set a timer for half an hour"),
    ("concierge", "a table for two, no, for three, at eight", "a table for three, at eight"),
    ("concierge", "a table for two no three at eight", "a table for three at eight"),
    ("concierge", "book a table for four at seven, I mean at eight", "book a table for four at eight"),
    ("concierge", "a table for six, well, actually seven of us, at eight", "a table for seven of us, at eight"),
    ("concierge", "how's the weather in Berlin? sorry, Vienna", "how's the weather in Vienna"),
    ("concierge", "the weather in London, no wait, Dublin", "the weather in Dublin"),
    ("concierge", "five, no, six, I mean seven minutes", "seven minutes"),
    ("restaurant", "two soups, no, three", "three soups"),
    ("restaurant", "one fish, no make that two, and a coffee", "two fish, and a coffee"),
    ("restaurant", "two pastas as well, no 3", "3 pastas as well"),
    ("restaurant", "two fish, no, a salad and a pasta", "a salad and a pasta"),
    ("restaurant", "one fish, wait, make that two fish", "two fish"),
    ("restaurant", "I'd like the soup, or no, rather the salad", "I'd like the salad"),
    ("restaurant", "by card, no, in cash", "in cash"),
    ("restaurant", "no soup, I mean salad", "no salad"),
    ("restaurant", "no, a soup, make it a salad", "no, a salad"),
    ("restaurant", "not the fish but the pasta", "the pasta"),
    (
        "restaurant",
        "could you make it three instead of two? My brother's here",
        "could you make it three? My brother's here",
    ),
    ("restaurant", "make it three soups instead of two", "make it three soups"),
    ("restaurant", "three instead of two", "make it three"),
    ("call_screening", "this is Gareth Pew, that's P U G H", "this is Gareth Pugh"),
    ("restaurant", "not one coffee but two", "two coffee"),
    ("clinic", "a two, well, maybe a three", "a three"),
    ("debt_collection", "100 a month? no way, 20", "20"),
    ("debt_collection", "a hundred? you must be joking, make it thirty", "thirty"),
    ("debt_collection", "forty, no, let's say sixty a month", "sixty a month"),
    ("debt_collection", "forty no say sixty", "sixty"),
    ("clinic", "a two, no, more like a four", "a four"),
    ("debt_collection", "fifty a month, well, perhaps sixty", "sixty a month"),
    ("debt_collection", "I'll pay a hundred now, sorry, two hundred", "I'll pay two hundred now"),
    ("clinic", "the morning, no, sorry, the afternoon", "the afternoon"),
    ("call_screening", "my name is Anna, sorry, Hannah", "my name is Hannah"),
    ("call_screening", "come on Sunday, no, Saturday", "come on Saturday"),
    ("clinic", "my chest hurts, just kidding, I have a cough", "no, I have a cough"),
    ("clinic", "a rash, jk, only a cough", "no, only a cough"),
]

KEPT = [
    ("restaurant", "no pasta, make it fish"),
    ("restaurant", "cancel the pasta, make it a salad"),
    ("restaurant", "not the soup, rather the salad"),
    ("clinic", "a two, maybe a three"),
    ("restaurant", "a pasta, no salad"),
    ("restaurant", "two soups and, sorry, a coffee please"),
    ("restaurant", "two soups, sorry, and a coffee"),
    ("restaurant", "two soups, wait, a coffee too"),
    ("restaurant", "no, a coffee please"),
    ("restaurant", "I mean two soups"),
    ("restaurant", "a pasta, but no, we have to go"),
    ("concierge", "order a taxi, no, leave it"),
    ("concierge", "take a note: I'm sorry I was late, I mean it"),
    ("concierge", "no, not at eight"),
    ("concierge", "take a note three eggs instead of two"),
    ("call_screening", "tell him to bring three instead of two"),
    ("restaurant", "pasta instead of soup"),
    ("concierge", "wait, I need a table"),
    ("clinic", "it is not urgent but I'd like to come"),
    ("call_screening", "tell him I said no, he knows why"),
    ("call_screening", "on Sunday, and on Saturday"),
    ("clinic", "I'm not joking"),
    ("call_screening", "tell him I was only joking about the cake"),
    ("call_screening", "tell him, I'm joking about the cake"),
]


@pytest.mark.parametrize(("agent", "said", "meant"), REPAIRED)
def test_what_was_corrected_is_replaced(agent: str, said: str, meant: str) -> None:
    assert SelfRepair(bundled_script(agent).slots).resolve(said) == meant


@pytest.mark.parametrize(("agent", "said"), KEPT)
def test_other_words_stay_as_they_are(agent: str, said: str) -> None:
    assert SelfRepair(bundled_script(agent).slots).resolve(said) == said


@pytest.mark.parametrize(
    "said",
    ["a coffee, no, tea", "two pastas, or maybe three", "one fish, no wait, a pizza", "pasta. no, curry, please"],
)
def test_a_correction_by_an_unknown_value_is_unclear(said: str) -> None:
    assert SelfRepair(bundled_script("restaurant").slots).is_unclear(said)


@pytest.mark.parametrize(
    "said",
    ["a coffee, no, water", "two soups, no, thanks", "a pasta, no, forget it", "yes, no, that is fine", "no, tea"],
)
def test_other_sentences_with_a_no_are_clear(said: str) -> None:
    assert not SelfRepair(bundled_script("restaurant").slots).is_unclear(said)
