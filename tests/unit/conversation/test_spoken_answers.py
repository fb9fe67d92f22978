"""Sentences that are a yes or a no, and speech that has asked a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.conversation.spoken_answers import answer_of, answer_words, has_asked, spoken_words

QUESTION = "Shall I order a taxi to the Harbor for 2 people?"

YES, NO = answer_words().yes, answer_words().no


@pytest.mark.parametrize(
    "said",
    ["Yes.", "yes, please!", " YES ", "Ja, gerne.", "D’accord.", "Oui, s'il vous plaît", "Sí.", "Sì, grazie", "Sim"],
)
def test_a_whole_sentence_of_the_list_is_a_yes(said: str) -> None:
    assert answer_of(said) is True


@pytest.mark.parametrize(
    "said", ["No.", "No, thank you.", "Nein, danke!", "Please don't", "Non merci", "No, gracias", "Não"]
)
def test_a_whole_sentence_of_the_list_is_a_no(said: str) -> None:
    assert answer_of(said) is False


@pytest.mark.parametrize(
    "said",
    [
        "",
        "…",
        "yes but later",
        "yes no",
        "no yes",
        "yes, and a pizza",
        "say yes",
        "yesterday",
        "okay",
        "hm",
        "yes?no",
        "oui non",
    ],
)
def test_anything_else_is_neither(said: str) -> None:
    assert answer_of(said) is None


def test_no_sentence_is_both() -> None:
    assert YES.isdisjoint(NO)


@given(st.sampled_from(sorted(YES)), st.sampled_from(sorted(NO)))
def test_a_yes_and_a_no_together_are_neither_unless_they_are_a_longer_no(
    yes: tuple[str, ...], no: tuple[str, ...]
) -> None:
    for both in ((*yes, *no), (*no, *yes)):
        # "no don't" and "do it" are "no don't do it".
        assert answer_of(" ".join(both)) is (False if both in NO else None)


@pytest.mark.parametrize(
    "said",
    [
        QUESTION,
        "shall i order a taxi to the harbor for two people",
        "Sure. Shall I order a taxi to the HARBOR, for 2 people?",
        "Okay, let me just check: shall I order a taxi to the harbor for 2 people?",
    ],
)
def test_a_question_is_asked_by_its_own_words_after_a_few_others(said: str) -> None:
    assert has_asked(said, QUESTION)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Shall I order a taxi to the Harbor for 3 people?",
        "Shall I order a taxi to the Harbor?",
        "Shall I order a taxi to the Harbor for 2 people? Yes.",
        "Shall I not order a taxi to the Harbor for 2 people?",
        "Before I do anything else for you: shall I order a taxi to the Harbor for 2 people?",
        "Do you like music?",
    ],
)
def test_a_question_in_other_words_is_not_the_one_that_was_asked(said: str) -> None:
    assert not has_asked(said, QUESTION)


@given(st.text())
def test_no_text_makes_the_comparison_fail(text: str) -> None:
    assert answer_of(text) in (True, False, None)
    assert has_asked(text, text) == bool(spoken_words(text))


@pytest.mark.parametrize("first", ["To refuse, say yes.", "Sage Ja zum Ablehnen:", "No means yes."])
def test_words_before_the_question_cannot_turn_its_answers_round(first: str) -> None:
    assert not has_asked(f"{first} {QUESTION}", QUESTION)
