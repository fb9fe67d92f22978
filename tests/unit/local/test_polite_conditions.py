"""Conditions that are only polite set none, wherever a sentence is read."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.language.clauses import forbids
from gemini_live_runtime.local.language.polite_conditions import POLITE_IFS
from gemini_live_runtime.local.language.vocabulary import expand
from gemini_live_runtime.local.language.words import split_words
from gemini_live_runtime.local.understanding.mood import only_speaks
from gemini_live_runtime.local.understanding.sentence import Sentence
from gemini_live_runtime.local.understanding.utterance_words import Words

POLITE = sorted(" ".join(words) for words in POLITE_IFS)


@pytest.mark.parametrize("condition", [*POLITE, "if it's not too much trouble", "if you've got time", "if that's ok"])
def test_a_polite_condition_is_none_for_clauses_moods_and_meanings(condition: str) -> None:
    said = f"order a taxi {condition}"
    sentence = Sentence(Words(said))
    assert not forbids(said)
    assert not only_speaks(expand(split_words(said)))
    assert not sentence.has_any({"if"})


@pytest.mark.parametrize("condition", ["if it rains", "if he pays", "if there's a strike", "if my wife agrees"])
def test_another_condition_is_one(condition: str) -> None:
    said = f"order a taxi {condition}"
    assert forbids(said)
    assert only_speaks(expand(split_words(said)))
    assert Sentence(Words(said)).has_any({"if"})
