"""Test the scripted dialogue with phases: instructions, notes and memory."""

import json
from typing import Any

from phased_script import SCRIPT

from gemini_live_runtime.local.dialogue.dialogue_state import MAX_KNOWN_CHARS
from gemini_live_runtime.local.dialogue.instruction_notes import MAX_NOTE_CHARS, MAX_NOTES
from gemini_live_runtime.local.dialogue.open_calls import arguments_of
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.parts import Reply
from gemini_live_runtime.local.scripts.script import parse_script
from gemini_live_runtime.local.scripts.script_types import ScriptedCall

TOOLS = ("confirm", "pay", "send_receipt")


def desk(instruction: str = "", *notes: str, **more: dict[str, Any]) -> ScriptedDialogue:
    dialogue = ScriptedDialogue(SCRIPT)
    dialogue.declare({name: {} for name in TOOLS} | more)
    dialogue.instruct(instruction)
    for note in notes:
        dialogue.note(note)
    return dialogue


def hear(dialogue: ScriptedDialogue, text: str) -> Reply:
    return dialogue.respond(text, typed=True)


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


def test_of_a_note_without_end_the_beginning_counts() -> None:
    room = "The sky is blue. " * (MAX_NOTE_CHARS // 17)
    assert called(hear(desk("Be kind.", f"Read the disclosure. {room}"), "yes")) == CONFIRMED
    assert hear(desk("Be kind.", f"{room} Read the disclosure."), "yes").text == "Good."


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


# -- questions, answers, examples, the end ---------------------------------------------------------------------------

CLERK = """
format = 1
name = "clerk"
fallback = "Pardon? {last_question} You can say: {examples_now}."
examples = ["my shirt is red", "the total please", "we are done", "good day"]
[slots.colour]
ask = "Which colour?"
values = ["red", "blue"]
[slots.who]
kind = "text"
max = 2
[[intent]]
name = "colour"
say = ["my shirt is {colour}"]
during = "ask for the shirt"
call = { tool = "note", args = { colour = "{colour}" } }
reply = ["Noted: {result.sum}. Anything else?"]
[[intent]]
name = "shirt"
say = ["a shirt please"]
during = "ask for the shirt"
call = { tool = "note", args = { colour = "{colour}" } }
reply = ["Noted. Anything else?"]
[[intent]]
name = "done"
say = ["we are done"]
reply = ["All right."]
[[intent]]
name = "total"
say = ["the total please"]
call = { tool = "add_up" }
reply = ["{result.sum}."]
[[intent]]
name = "yes_more"
say = ["yes"]
after = "anything else?"
reply = ["Which shirt?"]
[[intent]]
name = "yes"
say = ["yes"]
reply = ["Good."]
[[intent]]
name = "hello"
say = ["good day"]
typed = ["this is {who}"]
reply = ["Good day."]
[[intent]]
name = "told"
tells = ["wanted"]
during = "ask for the shirt"
reply = ["I see, {wanted}."]
[[cue]]
told = "read it back"
say = "It is {known.sum}. Right?"
[[cue]]
told = "say farewell"
say = "Farewell."
end = "It is over. {known.sum} Farewell."
[extract.finished]
when = ["we are done"]
value = true
[extract.wanted]
when = ["polo"]
value = "a polo shirt"
[[extract.more]]
when = ["yes"]
after = "anything else?"
value = true
"""


def clerk(*tools: str, told: str = "Ask for the shirt.") -> ScriptedDialogue:
    dialogue = ScriptedDialogue(parse_script(CLERK, "clerk.toml"))
    dialogue.declare({name: {} for name in tools})
    dialogue.instruct(told)
    return dialogue


def noted(dialogue: ScriptedDialogue, **answer: Any) -> str:
    (request,) = hear(dialogue, "my shirt is red").calls
    return dialogue.results([(request, answer)]).text


def test_a_question_stays_open_though_something_else_is_said() -> None:
    dialogue = clerk("note")
    noted(dialogue, sum="one shirt")
    assert hear(dialogue, "good day").text == "Good day."
    assert hear(dialogue, "hm").text.startswith("Pardon? Anything else? ")
    assert dialogue.prompt().text == "Anything else?"


def test_a_call_answers_the_open_question() -> None:
    dialogue = clerk("note", "add_up")
    noted(dialogue, sum="one shirt")
    (request,) = hear(dialogue, "the total please").calls
    dialogue.results([(request, {"sum": "one"})])
    assert hear(dialogue, "hm").text.startswith("Pardon? You can say: ")


def test_what_is_asked_for_a_call_stays_open_while_the_fallback_asks_it() -> None:
    dialogue = clerk("note")
    assert hear(dialogue, "a shirt please").text == "Which colour?"
    assert all(hear(dialogue, "hm").text.startswith("Pardon? Which colour?") for _ in range(4))
    assert hear(dialogue, "good day").text == "Good day."
    assert called(hear(dialogue, "blue")) == [("note", {"colour": "blue"})]


def test_only_examples_that_fit_now_are_offered() -> None:
    offered = hear(clerk("note", "add_up"), "hm").text
    assert "my shirt is red" in offered
    assert "my shirt is red" not in hear(clerk("note", "add_up", told="Chat."), "hm").text


def test_an_example_whose_tool_was_not_declared_is_not_offered() -> None:
    dialogue = clerk(told="Chat.")
    offered = " ".join(hear(dialogue, "hm").text for _ in range(5))
    assert "we are done" in offered
    assert "total" not in offered


def test_an_intent_after_a_text_is_understood_only_as_its_answer() -> None:
    dialogue = clerk("note")
    assert hear(dialogue, "yes").text == "Good."
    noted(dialogue, sum="one shirt")
    assert hear(dialogue, "yes").text == "Which shirt?"


def test_what_is_extracted_among_other_words_is_no_slip() -> None:
    dialogue = clerk("note")
    assert hear(dialogue, "well I think we are done for today").text == "All right."
    assert hear(dialogue, "oh yes why not").text.startswith("Pardon?")
    noted(dialogue, sum="one shirt")
    assert hear(dialogue, "oh yes why not").text == "Which shirt?"


def test_an_argument_may_be_put_together_from_two_slots() -> None:
    call = ScriptedCall("check", {"name": "{first} {last}"}, ("first", "last"))
    assert arguments_of(call, {"first": "Ada", "last": "Byron"}) == {"name": "Ada Byron"}


def test_what_only_extraction_understands_is_answered_where_an_intent_tells_it() -> None:
    assert hear(clerk(), "the polo I saw in your window").text == "I see, a polo shirt."
    assert hear(clerk(told="Chat."), "the polo I saw in your window").text.startswith("Pardon?")


def test_a_text_has_at_most_so_many_words() -> None:
    assert hear(clerk(), "this is Maria Lopez").text == "Good day."
    assert hear(clerk(), "this is not a name").text.startswith("Pardon?")


def test_what_tools_answered_is_known_later() -> None:
    dialogue = clerk("note")
    noted(dialogue, status="completed", result={"sum": "one shirt"})
    dialogue.instruct("Read it back.")
    other = clerk("note")
    other.restore(json.loads(json.dumps(dialogue.snapshot())))
    assert dialogue.prompt().text == other.prompt().text == "It is one shirt. Right?"


def test_a_long_value_that_a_tool_answered_is_not_known_later() -> None:
    dialogue = clerk("note")
    noted(dialogue, status="completed", result={"sum": "x" * (MAX_KNOWN_CHARS + 1), "place": "x" * MAX_KNOWN_CHARS})
    assert [name for name in ("sum", "place") if name in dialogue.snapshot()["known"]] == ["place"]


def test_after_the_end_no_tool_is_called_and_everything_is_answered_kindly() -> None:
    dialogue = clerk("note", "add_up", "roll_dice")
    dialogue.note("Say farewell.")
    for said in ("my shirt is red", "the total please", "roll dice", "hm"):
        assert hear(dialogue, said) == Reply("It is over. Farewell.")
    assert hear(dialogue, "good day").text == "Good day."


def test_an_end_drops_the_open_question() -> None:
    dialogue = clerk("note")
    hear(dialogue, "a shirt please")
    dialogue.note("Say farewell.")
    assert hear(dialogue, "blue").text == "It is over. Farewell."


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
    assert told.text == "The tool send receipt hasn't answered, so I stopped waiting."


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
