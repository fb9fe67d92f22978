"""A question counts as heard only when all of its sound was played."""

from __future__ import annotations

from gemini_live_runtime.session.agent.tools.spoken_question import FASTEST, RATE, SpokenQuestion
from gemini_live_runtime.session.agent.utterances import Utterances

QUESTION = "Shall I pay?"


def asked() -> SpokenQuestion:
    question = SpokenQuestion(QUESTION, Utterances())
    question.on_model_text(3, QUESTION)
    question.on_generated(3, 24_000)
    return question


def test_it_is_heard_when_its_last_sample_was_played() -> None:
    question = asked()
    question.on_played(3, 24_000, 1.0)
    assert question.state == "asking"
    question.on_drained(3, 1.0)
    assert question.state == "listening"


def test_words_without_a_sound_were_not_heard() -> None:
    question = SpokenQuestion(QUESTION, Utterances())
    question.on_model_text(3, QUESTION)
    question.on_generated(3, 0)
    question.on_drained(3, 1.0)
    assert question.state == "asking"


def test_a_half_that_was_played_is_not_the_whole() -> None:
    question = asked()
    question.on_played(3, 12_000, 1.0)
    question.on_drained(3, 1.0)
    assert question.state == "asking"
    question.on_played(3, 24_000, 2.0)
    assert question.state == "listening"


def test_what_was_cut_was_not_heard() -> None:
    question = asked()
    question.on_played(3, 24_000, 1.0)
    question.on_cut(4)
    question.on_drained(3, 1.0)
    assert question.state == "asking"


def test_a_cut_after_its_end_takes_nothing_away() -> None:
    question = asked()
    question.on_played(3, 24_000, 1.0)
    question.on_drained(3, 1.0)
    question.on_cut(4)
    assert question.state == "listening"


def test_its_words_may_come_after_its_sound() -> None:
    question = SpokenQuestion(QUESTION, Utterances())
    question.on_played(3, 24_000, 1.0)
    question.on_drained(3, 1.0)
    question.on_model_text(3, "Shall I ")
    assert question.state == "asking"
    question.on_model_text(3, "pay?")
    assert question.state == "listening"
    question.on_model_text(3, " Yes.")
    assert question.state == "off"


def test_words_of_a_sound_that_is_too_short_for_them_were_not_heard() -> None:
    question = SpokenQuestion(QUESTION, Utterances())
    least = len(QUESTION) * RATE // FASTEST
    question.on_model_text(3, QUESTION)
    question.on_generated(3, least - 1)
    question.on_played(3, least - 1, 1.0)
    question.on_drained(3, 1.0)
    assert question.state == "asking"
