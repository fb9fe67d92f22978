"""A question about what was meant, and the answer to it."""

from __future__ import annotations

import pytest

from gemini_live_runtime.conversation.transcript_turn import TranscriptTurn, TranscriptWindow
from gemini_live_runtime.local.dialogue.confirmation import asks_back, check_of, meant, question_of, words_to_act_on
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.scripts.script import bundled_script

ASKED = question_of("cancel my order")


@pytest.mark.parametrize(
    "text", ["yes", "Yes, please.", "Yep", "yes, that's right", "yes, take it", "that's it, thanks"]
)
def test_a_clear_yes_stands_for_the_phrase(text: str) -> None:
    assert meant(text, ASKED) == "cancel my order"


@pytest.mark.parametrize("text", ["no", "yes but not now", "a coffee", "", "oh well", "thanks", "yes I do the cooking"])
def test_other_words_stand_for_themselves(text: str) -> None:
    assert meant(text, ASKED) == text


def test_a_yes_to_another_question_is_a_yes() -> None:
    assert meant("yes", f"{ASKED} Anything else?") == "yes"


@pytest.mark.parametrize(
    ("text", "answer"),
    [("Not really.", "no"), ("nope", "no"), ("I don't think so", "no"), ("Yep.", "yes"), ("uh huh", "yes")],
)
def test_an_answer_in_other_words_is_a_yes_or_a_no(text: str, answer: str) -> None:
    assert meant(text, "Does that suit you?") == answer


def test_no_answer_is_read_where_nothing_was_asked() -> None:
    assert meant("not really", "All right.") == "not really"


def test_a_question_of_consent_is_asked_again_in_its_own_words() -> None:
    assert check_of(check_of("Do you agree?")) == "Just to be sure: Do you agree?"


@pytest.mark.parametrize("said", [ASKED, f"All right. {ASKED}", check_of("Do you agree?")])
def test_asking_back_is_noticed(said: str) -> None:
    assert asks_back(said)


def test_nothing_is_acted_on_while_the_model_asks_back() -> None:
    assert words_to_act_on(window("Cancel my newspaper.", ASKED)) == ""


def test_after_a_yes_the_phrase_is_acted_on() -> None:
    assert words_to_act_on(window("Yes.", "No problem.", ASKED)) == "cancel my order"


def calls_for_sam() -> ScriptedDialogue:
    dialogue = ScriptedDialogue(bundled_script("call_screening"))
    dialogue.instruct("Find out whether it is urgent, or can wait until tonight.")
    dialogue.prompt()
    return dialogue


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("it can wait", "Do you mean: it can wait?"),
        ("it can't wait", "Do you mean: it cannot wait?"),
        ("It can wait.", "Do you mean: it can wait?"),
    ],
)
def test_can_and_cant_sound_alike_and_are_asked_about(said: str, asked: str) -> None:
    assert calls_for_sam().respond(said, typed=False).text == asked
    assert calls_for_sam().respond(said, typed=True).text != asked
    assert calls_for_sam().respond("it is not urgent", typed=False).text == "Very well."


def test_doubtful_words_are_asked_about_and_acted_on_after_a_yes() -> None:
    dialogue = ScriptedDialogue(bundled_script("concierge"))
    dialogue.declare({"get_weather": {}})
    asked = dialogue.respond("what is the weather in Naples", typed=False, is_doubtful=True)
    assert (asked.text, asked.calls) == ("Do you mean: what is the weather in Naples?", ())
    (call,) = dialogue.respond("yes", typed=False).calls
    assert (call.name, call.args) == ("get_weather", {"city": "Naples"})


def test_after_a_no_nothing_is_done_about_doubtful_words() -> None:
    dialogue = ScriptedDialogue(bundled_script("concierge"))
    dialogue.declare({"get_weather": {}})
    dialogue.respond("what is the weather in Naples", typed=False, is_doubtful=True)
    answer = dialogue.respond("no", typed=False)
    assert (answer.text, answer.calls) == ("All right.", ())


def test_after_a_yes_what_can_wait_waits() -> None:
    dialogue = calls_for_sam()
    assert [dialogue.respond(said, typed=False).text for said in ("it can wait", "yes")][-1] == "Very well."


def test_after_a_no_the_open_question_is_asked_again() -> None:
    dialogue = calls_for_sam()
    answers = [dialogue.respond(said, typed=False).text for said in ("it can wait", "no")]
    assert answers[-1] == "All right. Is it urgent, or can it wait until tonight?"


@pytest.mark.parametrize("text", ["No, that's fine then.", "no no that'll do nicely", "no, it suits me"])
def test_a_no_before_praise_of_an_offer_agrees(text: str) -> None:
    assert not meant(text, "I can offer you nine. Does that suit you?").lower().startswith("no")
    assert meant(text, "Anything else?") == text


@pytest.mark.parametrize("text", ["no, that's too early", "no, it does not suit me", "no"])
def test_a_no_that_declines_an_offer_stays_one(text: str) -> None:
    assert meant(text, "Does that suit you?") == text


@pytest.mark.parametrize(
    "text", ["yes, nine", "nine then", "tomorrow at nine's good", "9 is fine", "no problem, book it"]
)
def test_an_offer_said_again_is_agreed_to(text: str) -> None:
    assert meant(text, "I can offer you tomorrow at nine. Does that suit you?") == "yes"


@pytest.mark.parametrize(
    "text", ["nine?", "not nine", "yes, ten", "nine or ten", "no problem, but not nine", "tomorrow"]
)
def test_other_words_about_an_offer_stay_as_they_are(text: str) -> None:
    assert meant(text, "I can offer you tomorrow at nine. Does that suit you?") == text


def test_the_question_writes_a_phrase_as_people_do() -> None:
    assert question_of("i will pay 50 dollars") == "Do you mean: I will pay 50 dollars?"


def window(user: str, model: str, asked: str = "") -> TranscriptWindow:
    return TranscriptWindow((TranscriptTurn(number=1, by="typed", started_at=0.0, user=user, model=model),), asked)
