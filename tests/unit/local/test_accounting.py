"""Every word of a sentence belongs to what is done, or a question is asked first."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.scripts.script import bundled_script
from gemini_live_runtime.local.understanding.accounting import Accounting, unaccounted
from gemini_live_runtime.local.understanding.utterance_words import Words

SCRIPT = bundled_script("restaurant")
ADD = next(intent for intent in SCRIPT.intents if intent.name == "add")
UNDERSTOOD = next(intent for intent in bundled_script("debt_collection").intents if intent.name == "understood")
CANCEL = next(intent for intent in SCRIPT.intents if intent.name == "cancel")


@pytest.mark.parametrize("text", ["please cancel the order", "oh well, cancel everything then", "cancell my order"])
def test_a_plain_request_is_accounted_for(text: str) -> None:
    assert Accounting(SCRIPT).unaccounted(CANCEL, Words(text)) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("cancel my newspaper", ["newspaper"]),
        ("he cancels the order", ["he"]),
        ("if it rains cancel the order", ["if", "rains"]),
        ("cancel two orders", ["two"]),
    ],
)
def test_another_thing_person_condition_or_number_is_left_over(text: str, left: list[str]) -> None:
    assert Accounting(SCRIPT).unaccounted(CANCEL, Words(text)) == left


def test_words_that_fill_a_slot_for_any_words_are_left_over() -> None:
    slots = {"before": "cancel", "after": "newspaper"}
    assert Accounting(SCRIPT).unaccounted(CANCEL, Words("cancel my newspaper"), slots) == ["newspaper"]


def test_a_value_accounts_for_its_words_and_its_number() -> None:
    said = Words("two coffees please")
    assert Accounting(SCRIPT).unaccounted(ADD, said, {"dish": "coffee", "count": 2}) == []


def test_another_number_is_left_over() -> None:
    said = Words("two coffees at seven")
    assert Accounting(SCRIPT).unaccounted(ADD, said, {"dish": "coffee", "count": 2}) == ["seven"]


def test_words_of_another_value_are_left_over() -> None:
    assert Accounting(SCRIPT).unaccounted(ADD, Words("a coffee, no salad"), {"dish": "coffee"}) == ["no", "salad"]


def test_filler_of_several_words_counts_as_a_whole() -> None:
    filler = (("i", "was", "told", "to"),)
    assert unaccounted(Words("I was told to order"), {"order"}, (), filler) == []
    assert unaccounted(Words("I was told that I order"), {"order"}, (), filler) == ["was", "told"]


def test_the_phrase_for_an_intent_tells_its_values() -> None:
    assert Accounting(SCRIPT).phrase_for(ADD, {"dish": "soup", "count": 2}) == "2 soup please"


def test_a_phrase_without_values_tells_none() -> None:
    assert Accounting(SCRIPT).phrase_for(CANCEL, {"after": "newspaper"}) == "cancel my order"


@pytest.mark.parametrize("text", ["yes yes, I know the drill", "yeah I get it, you want your money"])
def test_a_clear_yes_with_a_remark_is_accounted_for(text: str) -> None:
    assert Accounting(bundled_script("debt_collection")).unaccounted(UNDERSTOOD, Words(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "yes, if he pays the drill",
        "yes, but no drill",
        "yes, what drill",
        "yes, fifty drills",
        "I know the drill",
        "sure, blame the bank",
    ],
)
def test_a_yes_with_a_condition_denial_question_or_number_is_not(text: str) -> None:
    assert Accounting(bundled_script("debt_collection")).unaccounted(UNDERSTOOD, Words(text)) != []
