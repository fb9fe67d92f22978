import json
from collections.abc import Mapping
from typing import Any

import pytest

from gemini_live_runtime.local.dialogue.dialogue_state import MAX_SAID
from gemini_live_runtime.local.dialogue.open_calls import MAX_OPEN_CALLS
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.parts import Reply
from gemini_live_runtime.local.scripts.script import bundled_script

TOOLS = (
    *("get_weather", "set_timer", "list_timers", "cancel_timer", "add_note", "list_notes"),
    *(
        "delete_last_note",
        "book_table",
        "cancel_booking",
        "order_taxi",
        "get_time",
        "memory_put",
        "memory_delete",
        "task_cancel",
    ),
)


def concierge(**more: Mapping[str, Any]) -> ScriptedDialogue:
    dialogue = ScriptedDialogue(bundled_script("concierge"))
    dialogue.declare({name: {} for name in TOOLS} | more)
    return dialogue


def neutral(**tools: Mapping[str, Any]) -> ScriptedDialogue:
    dialogue = ScriptedDialogue(bundled_script("neutral"))
    dialogue.declare(tools)
    return dialogue


def hear(dialogue: ScriptedDialogue, text: str) -> Reply:
    return dialogue.respond(text, typed=True)


def called(reply: Reply) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, dict(call.args)) for call in reply.calls]


@pytest.mark.parametrize(
    ("said", "tool", "args"),
    [
        ("what is the weather in lisbon", "get_weather", {"city": "Lisbon"}),
        ("set a timer for ten minutes", "set_timer", {"minutes": 10}),
        ("set a tea timer for five minutes", "set_timer", {"minutes": 5, "label": "tea"}),
        ("which timers are running", "list_timers", {}),
        ("take a note buy milk", "add_note", {"text": "buy milk"}),
        ("read my notes", "list_notes", {}),
        ("delete the last note", "delete_last_note", {}),
        ("book a table for four people at half past seven", "book_table", {"people": 4, "time": "19:30"}),
        ("cancel my booking", "cancel_booking", {}),
        ("what time is it", "get_time", {}),
    ],
)
def test_a_phrase_calls_its_tool_with_what_was_said(said: str, tool: str, args: dict[str, Any]) -> None:
    assert called(hear(concierge(), said)) == [(tool, args)]


def test_an_answer_is_expected_while_a_question_is_open() -> None:
    dialogue = concierge()
    hear(dialogue, "tell me a story")
    assert not dialogue.is_asking
    hear(dialogue, "book a table")
    assert dialogue.is_asking
    dialogue.respond("what is the weather in Naples", typed=False, is_doubtful=True)
    assert dialogue.is_asking


def test_what_is_missing_is_asked_for_one_by_one() -> None:
    dialogue = concierge()
    assert hear(dialogue, "book a table").text == "For how many people?"
    assert hear(dialogue, "four").text == "At what time?"
    assert called(hear(dialogue, "at eight")) == [("book_table", {"people": 4, "time": "20:00"})]


def test_an_answer_that_is_not_understood_is_asked_again_once() -> None:
    dialogue = concierge()
    hear(dialogue, "book a table")
    assert hear(dialogue, "bananas").text.endswith("For how many people?")
    assert "You can say" in hear(dialogue, "bananas").text
    assert called(hear(dialogue, "four")) == []


def test_another_wish_drops_the_open_question() -> None:
    dialogue = concierge()
    hear(dialogue, "book a table")
    assert called(hear(dialogue, "what time is it")) == [("get_time", {})]
    assert called(hear(dialogue, "four")) == []


def test_a_free_answer_is_taken_as_typed() -> None:
    dialogue = concierge()
    hear(dialogue, "take a note")
    assert called(hear(dialogue, "Call Bob")) == [("add_note", {"text": "Call Bob"})]


def test_never_mind_drops_the_open_question() -> None:
    dialogue = concierge()
    hear(dialogue, "take a note")
    assert hear(dialogue, "never mind").text == "All right."
    assert called(hear(dialogue, "Call Bob")) == []


def test_what_is_not_understood_is_said_with_some_of_what_one_can_say() -> None:
    dialogue, examples = concierge(), bundled_script("concierge").examples
    replies = [hear(dialogue, "open the pod bay doors").text for _ in range(8)]
    assert replies[0].startswith("I didn't catch that.")
    assert "I can tell you the weather" in replies[1]
    listing = [reply for reply in replies if "say, what can I say" not in reply]
    assert all(sum(example in reply for example in examples) == 3 for reply in listing)
    assert all(any(example in reply for reply in replies) for example in examples)


def test_what_is_not_understood_again_and_again_is_said_in_other_words() -> None:
    dialogue = concierge()
    replies = [hear(dialogue, "open the pod bay doors").text for _ in range(4)]
    assert len({reply.partition(".")[0] for reply in replies}) == 4


@pytest.mark.parametrize(
    "said",
    ["can you book a table for tonight", "get me the time of the next train", "list my notes timers", "roll the dice"],
)
def test_a_bundled_dialogue_calls_no_tool_that_merely_has_a_name_of_these_words(said: str) -> None:
    dialogue = concierge(roll_dice={})
    assert called(hear(dialogue, said)) == []
    assert not dialogue.grammar.accepts(["roll", "dice"])
    assert all("roll dice" not in hear(dialogue, "open the pod bay doors").text for _ in range(4))


@pytest.mark.parametrize("said", ["hello", "who are you", "what can you do", "which phases are there"])
def test_an_agent_without_a_dialogue_is_spoken_for_by_its_own_names(said: str) -> None:
    dialogue = neutral(roll_dice={}, openDoor={})
    dialogue.label({"agent": "game_master", "phases": "intro,main_part"})
    reply = hear(dialogue, said).text
    own = {"hello": "roll dice", "what can you do": "roll dice, or open door", "which phases are there": "main part"}
    assert "game master" in reply
    assert own.get(said, "") in reply
    assert not any(word in reply for word in ("weather", "concierge", "table"))


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("so what can you help with", "I call a tool when you say its name: roll dice."),
        ("who am I speaking to", "I'm the embedded server and no language model"),
        ("cheers", "You're welcome."),
        ("oh forget about it", "All right."),
        ("are you a robot", "I'm the embedded server, a computer program"),
    ],
)
def test_the_neutral_dialogue_understands_what_people_say_to_any_agent(said: str, answer: str) -> None:
    assert hear(neutral(roll_dice={}), said).text.startswith(answer)


def test_without_labels_and_tools_the_neutral_dialogue_names_none() -> None:
    dialogue = neutral()
    assert dialogue.prompt().text == "I'm listening."
    for said in ("hello", "who are you", "what can you do", "which phases are there", "open the pod bay doors"):
        reply = hear(dialogue, said).text
        assert reply.endswith((".", "?"))
        assert "{" not in reply


def test_a_labelled_agent_is_greeted_by_its_name() -> None:
    dialogue = neutral()
    dialogue.label({"agent": "game_master"})
    assert dialogue.prompt().text == "Hello, this is game master. I'm listening."


def test_an_agent_without_a_dialogue_is_offered_its_own_tools_and_none_of_the_concierges() -> None:
    dialogue = neutral(roll_dice={})
    offered = " ".join(hear(dialogue, "open the pod bay doors").text for _ in range(4))
    assert "roll dice" in offered
    assert "notes" not in offered
    assert called(hear(dialogue, "roll dice")) == [("roll_dice", {})]


NOTE = {"note_name": {"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]}}


def test_a_text_that_a_named_tool_needs_is_asked_for() -> None:
    dialogue = neutral(**NOTE)
    assert hear(dialogue, "note the name 7").text == "What is the name?"
    second = neutral(**NOTE)
    second.restore(json.loads(json.dumps(dialogue.snapshot())))
    assert hear(second, "who are you").text.startswith("I'm the embedded server")
    assert called(hear(second, "my name is Ada Byron")) == [("note_name", {"name": "Ada Byron", "age": 7})]
    assert called(hear(second, "Ada")) == []


@pytest.mark.parametrize("said", ["never mind", "note name Bob"])
def test_a_text_that_was_asked_for_need_not_be_given(said: str) -> None:
    dialogue = neutral(**NOTE)
    hear(dialogue, "note name")
    assert called(hear(dialogue, said)) == ([("note_name", {"name": "Bob"})] if "Bob" in said else [])
    assert called(hear(dialogue, "open the pod bay doors")) == []


def test_a_text_that_is_not_heard_is_asked_for_once_more() -> None:
    dialogue = neutral(**NOTE)
    hear(dialogue, "note name")
    assert dialogue.respond("", typed=False).text == "I didn't catch that. What is the name?"
    assert "What is the name" not in dialogue.respond("", typed=False).text


def test_nothing_heard_is_not_understood() -> None:
    assert concierge().respond("", typed=False).text.startswith("I didn't catch that.")


def test_a_scripted_tool_that_was_not_declared_is_named() -> None:
    dialogue = ScriptedDialogue(bundled_script("concierge"))
    reply = hear(dialogue, "what time is it")
    assert (called(reply), "get time" in reply.text) == ([], True)


def test_a_declared_tool_is_called_when_its_words_are_said() -> None:
    dialogue = neutral(roll_dice={"properties": {"sides": {"type": "integer"}}, "required": ["sides"]})
    assert called(hear(dialogue, "please roll the dice with 20 sides")) == [("roll_dice", {"sides": 20})]


def test_a_declared_tool_goes_before_a_line_of_the_script() -> None:
    assert called(hear(neutral(count_twenty={}), "count to twenty")) == [("count_twenty", {})]


def test_the_result_of_an_unscripted_tool_is_told() -> None:
    dialogue = neutral(roll_dice={})
    request = hear(dialogue, "roll dice").calls[0]
    assert dialogue.results([(request, {"output": {"eyes": 6}})]).text == "roll dice says: eyes 6."


def test_a_reply_depends_on_the_result() -> None:
    dialogue = concierge()
    for notes, text in (
        ([], "You have no notes."),
        (["a"], "You have one note: a."),
        (["a", "b"], "2 notes: a and b."),
    ):
        request = hear(dialogue, "read my notes").calls[0]
        assert dialogue.results([(request, {"notes": notes})]).text.endswith(text)


def test_an_error_result_is_said() -> None:
    dialogue = concierge()
    request = hear(dialogue, "cancel my booking").calls[0]
    assert dialogue.results([(request, {"error": "There is no booking."})]).text == (
        "I couldn't cancel it: There is no booking."
    )


def test_a_call_without_an_answer_is_told_politely() -> None:
    dialogue = concierge()
    request = hear(dialogue, "what time is it").calls[0]
    reply = dialogue.results([(request, {"error": "it has not answered", "timeout": True})])
    assert reply.text == "The tool get time hasn't answered, so I stopped waiting."


def test_a_result_without_the_expected_fields_is_still_told() -> None:
    dialogue = concierge()
    request = hear(dialogue, "what time is it").calls[0]
    assert dialogue.results([(request, {"epoch": 5})]).text == "get time says: epoch 5."


def test_a_call_that_goes_on_is_remembered_until_its_last_result() -> None:
    dialogue = concierge()
    (request,) = hear(dialogue, "what is the weather in Rome").calls
    assert dialogue.results([(request, {"summary": "Looking out."})], more=True).text == "Looking out."
    assert dialogue.results([(request, {"summary": "Sunny."})]).text == "Sunny."
    assert dialogue.results([(request, {"sky": "late"})]).text == "get weather says: sky late."


def test_it_remembers_what_was_said_and_what_it_answered() -> None:
    dialogue = concierge()
    hear(dialogue, "Hello there")
    assert "Hello there" in hear(dialogue, "what did I say before").text
    dialogue.respond("goodbye", typed=False)
    assert hear(dialogue, "say that again").text.startswith("I said: Goodbye")


def test_answers_that_always_fit_take_turns() -> None:
    dialogue = concierge()
    assert hear(dialogue, "tell me a joke").text != hear(dialogue, "tell me a joke").text


def test_a_restored_dialogue_goes_on_where_it_was() -> None:
    first = concierge()
    hear(first, "good evening")
    hear(first, "book a table")
    state = json.loads(json.dumps(first.snapshot()))
    second = concierge()
    second.restore(state)
    assert hear(second, "four").text == "At what time?"
    assert "good evening" in hear(second, "what did I say before").text


def test_a_restored_dialogue_knows_whose_result_arrives() -> None:
    first = concierge()
    request = hear(first, "what is the weather in rome").calls[0]
    second = concierge()
    second.restore(json.loads(json.dumps(first.snapshot())))
    assert second.results([(request, {"error": "no"})]).text == "I have no weather for Rome: no."


def test_memory_is_bounded() -> None:
    dialogue = concierge()
    for number in range(200):
        hear(dialogue, "what time is it" if number % 2 else f"hello {number}")
    state = dialogue.snapshot()
    assert len(state["said"]) == MAX_SAID
    assert len(state["open"]) <= MAX_OPEN_CALLS


def test_the_grammar_listens_for_answers_only_while_a_question_is_open() -> None:
    dialogue = concierge()
    assert not dialogue.grammar.accepts(["four"])
    hear(dialogue, "book a table")
    assert dialogue.grammar.accepts(["four"])


def test_the_grammar_listens_for_the_clients_tools() -> None:
    dialogue = neutral(roll_dice={"properties": {"sides": {"type": "integer"}}})
    assert dialogue.grammar.accepts(["please", "roll", "the", "dice", "twenty"])


def test_a_preview_tells_the_answer_and_changes_nothing() -> None:
    dialogue = concierge()
    before = dialogue.snapshot()
    preview = dialogue.preview("could you squeeze four of us in at eight")
    assert preview is not None
    assert dialogue.snapshot() == before
    assert called(preview) == called(hear(dialogue, "could you squeeze four of us in at eight"))


@pytest.mark.parametrize("text", ["tale my gonna get the right done the", "she I didn't get and all right yeah no"])
def test_a_preview_has_no_answer_to_words_that_mean_something_by_chance(text: str) -> None:
    assert ScriptedDialogue(bundled_script("concierge")).preview(text) is None


def test_a_preview_answers_a_long_request_in_other_words() -> None:
    preview = ScriptedDialogue(bundled_script("concierge")).preview("could you perhaps tell me a nice story")
    assert preview is not None
    assert preview.text.startswith("Once upon a time")


def test_a_preview_has_no_answer_to_what_is_not_understood() -> None:
    assert concierge().preview("the cat slept on the radiator") is None
    assert concierge().preview("") is None


def test_a_dictated_text_is_not_handed_to_a_tool() -> None:
    dialogue = concierge()
    assert dialogue.preview("remember to lock the bicycle") is None
    hear(dialogue, "take a note")
    assert dialogue.preview("lock the bicycle") is None
    assert called(hear(dialogue, "lock the bicycle")) == [("add_note", {"text": "lock the bicycle"})]


def test_after_a_call_the_grammar_has_corrections_of_its_slots() -> None:
    dialogue = concierge()
    assert not dialogue.grammar.accepts("make that eight people".split())  # noqa: SIM905
    reply = hear(dialogue, "book a table for six people at seven")
    dialogue.results([(call, {"people": 6, "time": "19:00"}) for call in reply.calls])
    assert dialogue.grammar.accepts("make that eight people".split())  # noqa: SIM905
    assert called(hear(dialogue, "make that eight people"))[0][1]["people"] == 8


def test_a_dictated_word_among_many_others_means_nothing() -> None:
    dialogue = ScriptedDialogue(bundled_script("concierge"))
    assert dialogue.preview("the museum is closed but there is") is None
    clinic = ScriptedDialogue(bundled_script("clinic"))
    clinic.instruct("Ask for the caller's first name and year of birth.")
    assert clinic.preview("my dad has just collapsed and he is not breathing") is not None
