"""Sentences are taken apart into clauses, also where nothing is punctuated."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.language.clauses import clauses_of
from gemini_live_runtime.local.scripts.script import bundled_script
from gemini_live_runtime.local.understanding.utterance_words import Words


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("wake me at six I'm just having a nap", ["wake me at six", "I'm just having a nap"]),
        ("it's agony easily nine out of ten", ["it's agony", "easily nine out of ten"]),
        ("hmm make that eight the kids are slow", ["hmm make that eight", "the kids are slow"]),
        ("on second thoughts no coffee please", ["on second thoughts", "no coffee please"]),
        ("never mind it just came back", ["never mind", "it just came back"]),
        ("I can do fifty a month tops", ["I can do fifty a month", "tops"]),
    ],
)
def test_clauses_are_found_by_how_they_begin(text: str, clauses: list[str]) -> None:
    assert clauses_of(text) == clauses


@pytest.mark.parametrize(
    "text",
    [
        "he said I'm late again",
        "tell my wife the weather is nice in Rome",
        "when I get my bonus I'll pay the lot",
        "should the train be late I'd need a taxi",
        "what is it like",
        "I think it's fine",
    ],
)
def test_words_that_go_on_begin_no_clause(text: str) -> None:
    assert clauses_of(text) == []


def test_where_a_sentence_is_punctuated_its_punctuation_counts() -> None:
    assert clauses_of("wake me at six, please, I'm having a nap") == ["wake me at six", "please", "I'm having a nap"]
    assert clauses_of("two soups, I'm sure it's right") == ["two soups", "I'm sure it's right"]


def test_the_point_of_a_title_ends_no_clause() -> None:
    assert clauses_of("It's Dr. O'Neill. I called before") == ["It's Dr. O'Neill", "I called before"]


def test_things_joined_by_and_are_told_in_clauses() -> None:
    assert clauses_of("my phone is dead and the wifi is slow") == ["my phone is dead", "the wifi is slow"]
    assert clauses_of("a soup and the fish") == []


def concierge() -> ScriptedDialogue:
    script = bundled_script("concierge")
    dialogue = ScriptedDialogue(script)
    dialogue.declare({call.tool: {} for intent in script.intents for call in intent.calls})
    return dialogue


def test_a_wish_is_found_beside_its_reason_without_a_comma() -> None:
    (call,) = concierge().respond("wake me in half an hour i'm just having a nap", typed=True).calls
    assert (call.name, call.args) == ("set_timer", {"minutes": 30})


def test_a_first_name_is_a_name_where_all_letters_are_small() -> None:
    assert "Martin" in Words("hi it's martin from the bank").original
    assert "martin" in Words("Hi, it's martin from the bank").original
