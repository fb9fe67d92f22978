"""The embedded model asks a question of consent, and takes yes or no."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.scripts.script import bundled_script
from gemini_live_runtime.session.agent.tools.consent_prompt import format_consent_prompt

QUESTION = "Shall I order a <b>taxi</b> & a cake?"


def asked(question: str = QUESTION) -> ScriptedDialogue:
    dialogue = ScriptedDialogue(bundled_script("concierge"))
    dialogue.instruct("You are the concierge.")
    dialogue.note("[Context] " + format_consent_prompt(question))
    return dialogue


def test_it_is_asked_word_for_word_and_once() -> None:
    dialogue = asked()
    assert dialogue.prompt().text == QUESTION
    assert dialogue.prompt().text == QUESTION  # the question that is open
    assert "Shall" not in ScriptedDialogue(bundled_script("concierge")).prompt().text


@pytest.mark.parametrize(("said", "reply"), [("yes please", "All right."), ("No, thank you.", "All right, I won't.")])
def test_yes_and_no_get_a_reply(said: str, reply: str) -> None:
    dialogue = asked()
    dialogue.prompt()
    assert dialogue.respond(said, typed=False).text == reply


def test_other_words_mean_what_they_always_do_and_end_the_question() -> None:
    dialogue = asked()
    dialogue.prompt()
    assert dialogue.respond("who are you", typed=False).text.startswith("I'm the concierge")
    assert dialogue.respond("yes", typed=False).text != "All right."


def test_yes_and_no_are_recognised_while_the_question_is_open() -> None:
    dialogue = asked()
    assert not dialogue.grammar.accepts(["yes", "please"])
    dialogue.prompt()
    assert dialogue.grammar.accepts(["yes", "please"])
    assert dialogue.grammar.accepts(["no", "thank", "you"])


def test_a_dictated_yes_means_the_same_and_its_preview_changes_nothing() -> None:
    dialogue = asked()
    dialogue.prompt()
    for _ in range(2):
        preview = dialogue.preview("yes please")
        assert preview is not None
        assert preview.text == "All right."


def test_a_resumed_conversation_keeps_it() -> None:
    before = asked()
    before.prompt()
    dialogue = ScriptedDialogue(bundled_script("concierge"))
    dialogue.restore(before.snapshot())
    assert dialogue.respond("yes", typed=False).text == "All right."


@pytest.mark.parametrize("block", ["{}", '{"question": 1}', '{"question": " "}', "[1]", "nothing", "{" * 5000])
def test_a_note_that_only_looks_like_one_is_an_ordinary_note(block: str) -> None:
    dialogue = ScriptedDialogue(bundled_script("concierge"))
    dialogue.note(f"<consent>\n{block}\n</consent>")
    assert "question" not in dialogue.prompt().text
