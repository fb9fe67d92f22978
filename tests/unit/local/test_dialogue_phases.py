"""The scripted model in a conversation with phases: it reacts to what it is told, and remembers what it heard."""

import json
from typing import Any

from phased_script import SCRIPT

from gemini_live_runtime.local.dialogue import ScriptedDialogue
from gemini_live_runtime.local.parts import Reply
from gemini_live_runtime.local.told import MAX_NOTES

TOOLS = ("confirm", "pay", "send_receipt")


def desk(instruction: str = "", *notes: str, **more: dict[str, Any]) -> ScriptedDialogue:
    dialogue = ScriptedDialogue(SCRIPT)
    dialogue.declare({name: {} for name in TOOLS} | more)
    dialogue.instruct(instruction)
    for note in notes:
        dialogue.note(note)
    return dialogue


def hear(dialogue: ScriptedDialogue, text: str) -> Reply:
    return dialogue.hear(text, typed=True)


def called(reply: Reply) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, dict(call.args)) for call in reply.calls]


CONFIRMED = [("confirm", {"what": "disclosure", "full": True})]


# -- during ----------------------------------------------------------------------------------------------------------


def test_a_phrase_means_what_the_instruction_makes_of_it() -> None:
    dialogue = desk("You are a clerk. First READ the\n  disclosure.")
    assert called(hear(dialogue, "yes")) == CONFIRMED
    dialogue.instruct("Now chat.")
    assert hear(dialogue, "yes").text == "Good."


def test_an_intent_of_another_phase_is_not_understood() -> None:
    assert hear(desk("Now chat."), "I can pay 50 dollars").text.startswith("I didn't catch that")


def test_a_note_counts_like_the_instruction() -> None:
    assert called(hear(desk("Be kind.", "Read the disclosure."), "yes")) == CONFIRMED


def test_the_newest_of_what_was_told_decides() -> None:
    later = desk("Settle the debt.", "Read the disclosure.", "The sky is blue.")
    earlier = desk("Be kind.", "Read the disclosure.", "Agree on a payment.")
    assert called(hear(later, "yes")) == CONFIRMED
    assert hear(earlier, "yes").text == "How much can you pay?"


def test_an_instruction_ends_the_notes_before_it() -> None:
    dialogue = desk("Be kind.", "Read the disclosure.")
    dialogue.instruct("Be brief.")
    assert hear(dialogue, "yes").text == "Good."


def test_old_notes_are_forgotten() -> None:
    dialogue = desk("Be kind.", "Read the disclosure.", *["The sky is blue."] * MAX_NOTES)
    assert hear(dialogue, "yes").text == "Good."


def test_a_better_fitting_phrase_goes_before_one_of_the_phase() -> None:
    dialogue = desk("Settle the debt.")
    assert hear(dialogue, "this is John Smith").text == "Hello John Smith."


def test_a_tool_of_a_phase_is_not_called_by_its_name_alone() -> None:
    dialogue = desk("Now chat.", roll={})
    assert called(hear(dialogue, "I want to pay something")) == []
    assert called(hear(dialogue, "please roll something")) == [("roll", {})]


def test_what_a_phrase_means_in_a_phase_goes_before_a_tool_of_that_name() -> None:
    assert called(hear(desk("Read the disclosure.", yes={}, right={}), "that is right")) == CONFIRMED


def test_a_question_of_a_phase_ends_with_it() -> None:
    dialogue = desk("Agree on a payment.")
    assert hear(dialogue, "yes").text == "How much can you pay?"
    dialogue.instruct("Say goodbye.")
    assert called(hear(dialogue, "50")) == []


def test_a_question_that_still_fits_outlives_an_instruction() -> None:
    dialogue = desk("Agree on a payment.")
    hear(dialogue, "yes")
    dialogue.note("Settle the debt.")
    assert hear(dialogue, "50").text == "Who is calling?"


def test_phrases_of_every_phase_are_listened_for() -> None:
    assert desk("Now chat.").grammar.accepts(["i", "can", "pay", "fifty", "dollars"])


# -- being prompted --------------------------------------------------------------------------------------------------


def test_a_prompt_at_the_beginning_is_greeted() -> None:
    assert desk("Be kind.").prompt().text == "Welcome to the desk."


def test_a_prompt_says_the_cue_for_what_was_told() -> None:
    assert desk("First read the disclosure.").prompt().text == "This call is recorded. Is that right?"


def test_the_cue_of_the_newest_note_goes_first() -> None:
    assert desk("Read the disclosure.", "Agree on a payment.").prompt().text == "How about it?"


def test_a_cue_that_lacks_a_fact_leaves_its_place_to_the_next() -> None:
    dialogue = desk("Agree on a payment.")
    assert dialogue.prompt().text == "How about it?"
    hear(dialogue, "my name is Maria")
    assert dialogue.prompt().text == "How about it, Maria?"


def test_without_a_cue_the_open_question_is_asked_again() -> None:
    dialogue = desk("Settle the debt.")
    question = hear(dialogue, "yes").text
    assert dialogue.prompt().text == question


def test_without_a_cue_the_last_question_is_asked_again() -> None:
    dialogue = desk("Read the disclosure.")
    dialogue.prompt()
    dialogue.instruct("Wait.")
    assert dialogue.prompt().text == "Is that right?"


def test_with_nothing_to_ask_a_prompt_gets_a_short_line() -> None:
    dialogue = desk("Now chat.")
    hear(dialogue, "yes")
    assert dialogue.prompt().text == "Please go on."


# -- remembering and calling -----------------------------------------------------------------------------------------


def test_a_remembered_slot_fills_later_lines_and_arguments() -> None:
    dialogue = desk("Settle the debt.")
    hear(dialogue, "my name is Maria Lopez")
    assert hear(dialogue, "yes").text == "How much can you pay?"
    assert called(hear(dialogue, "50 dollars")) == [
        ("pay", {"amount": 50, "payer": "Maria Lopez"}),
        ("send_receipt", {"to": "Maria Lopez"}),
    ]


def test_what_is_said_later_replaces_what_is_remembered() -> None:
    dialogue = desk("Read the disclosure.")
    hear(dialogue, "my name is Mary")
    hear(dialogue, "this is Maria")
    (request,) = hear(dialogue, "yes").calls
    assert dialogue.results([(request, {"ok": True})]).text == "Thank you, Maria."


def test_without_remember_a_slot_is_for_its_own_intent() -> None:
    dialogue = desk("Settle the debt.")
    hear(dialogue, "I can pay 50 dollars")
    hear(dialogue, "my name is Maria")
    assert hear(dialogue, "yes").text == "How much can you pay?"


def pay(dialogue: ScriptedDialogue) -> Reply:
    hear(dialogue, "my name is Maria")
    hear(dialogue, "yes")
    return hear(dialogue, "50")


def test_results_of_calls_made_together_are_told_together() -> None:
    dialogue = desk("Settle the debt.")
    first, second = pay(dialogue).calls
    told = dialogue.results([(first, {"reference": "R1", "channel": "web"}), (second, {"channel": "mail"})])
    assert told.text == "Maria pays 50, R1, sent by mail."


def test_one_failure_among_calls_made_together_is_the_result() -> None:
    dialogue = desk("Settle the debt.")
    first, second = pay(dialogue).calls
    assert dialogue.results([(first, {"error": "no funds"}), (second, {"sent": True})]).text == "That failed: no funds."


def test_one_call_without_an_answer_among_several_is_told() -> None:
    dialogue = desk("Settle the debt.")
    first, second = pay(dialogue).calls
    told = dialogue.results([(first, {"reference": "R1"}), (second, {"error": "late", "timeout": True})])
    assert told.text == "The tool send receipt has not answered, so I stopped waiting."


def test_a_tool_refused_in_this_phase_is_told() -> None:
    dialogue = desk("Read the disclosure.")
    (request,) = hear(dialogue, "yes").calls
    told = dialogue.results([(request, {"error": "confirm is not available now"})])
    assert told.text == "I may not do that yet: confirm is not available now."


def test_calls_are_made_only_if_every_tool_was_declared() -> None:
    dialogue = ScriptedDialogue(SCRIPT)
    dialogue.declare({"pay": {}})
    dialogue.instruct("Settle the debt.")
    assert "send receipt" in hear(dialogue, "yes").text


# -- going on elsewhere ----------------------------------------------------------------------------------------------


def moved(dialogue: ScriptedDialogue) -> ScriptedDialogue:
    other = desk("The setup says something.")
    other.restore(json.loads(json.dumps(dialogue.snapshot())))
    return other


def test_a_restored_dialogue_knows_what_it_was_told_and_what_it_heard() -> None:
    dialogue = desk("Be kind.", "Settle the debt.")
    hear(dialogue, "my name is Maria")
    other = moved(dialogue)
    hear(other, "yes")
    assert called(hear(other, "50"))[0] == ("pay", {"amount": 50, "payer": "Maria"})


def test_a_restored_dialogue_tells_results_of_calls_made_together_together() -> None:
    dialogue = desk("Settle the debt.")
    requests = pay(dialogue).calls
    results = [(request, {"reference": "R1", "channel": "mail"}) for request in requests]
    assert moved(dialogue).results(results).text == "Maria pays 50, R1, sent by mail."
