"""Typed sentences are understood by their words, or refused when unsure."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.scripts.script import parse_script
from gemini_live_runtime.local.understanding.matching import MAX_WORDS
from gemini_live_runtime.local.understanding.meaning import MeaningMatcher
from gemini_live_runtime.local.understanding.utterance_words import Words

SCRIPT = """
format = 1
name = "inn"
fallback = "Pardon?"
fallback_again = "I can {abilities}."
abilities = "book tables and set timers"
everyday = true

[concepts]
book = ["book", "reserve", "put us down"]

[slots.city]
values = ["Rome", "Oslo"]
synonyms = { Oslo = ["capital of norway"] }
ask = "Where?"

[slots.people]
kind = "number"
before = ["for", "party of"]
after = ["people", "of us"]
min = 1
max = 20
ask = "How many?"

[slots.time]
kind = "time"
ask = "When?"

[slots.minutes]
kind = "duration"
min = 0
max = 180
ask = "How long?"

[[intent]]
name = "table"
change = true
means = ["[book] table {people?} {time?} (nice)"]
call = { tool = "seating", args = { people = "{people}", time = "{time}" } }
reply = ["Booked."]

[[intent]]
name = "weather"
change = true
means = ["weather|rain|umbrella {city}", "weather|rain|umbrella !insurance"]
reads = true
call = { tool = "sky", args = { city = "{city}" } }
reply = ["Dry."]

[[intent]]
name = "timer"
change = true
means = ["timer|wake {minutes}"]
call = { tool = "bell", args = { minutes = "{minutes}" } }
reply = ["Set."]
"""


def talker() -> ScriptedDialogue:
    dialogue = ScriptedDialogue(parse_script(SCRIPT, "inn.toml"))
    dialogue.declare({"seating": {}, "sky": {}, "bell": {}})
    return dialogue


def calls(*texts: str) -> tuple[str, dict[str, Any]] | str:
    """Return the call that the last of `texts` leads to, or the answer."""
    dialogue = talker()
    for text in texts:
        reply = dialogue.respond(text, typed=True)
        if reply.calls:
            dialogue.results([(call, {}) for call in reply.calls])
    return (reply.calls[0].name, dict(reply.calls[0].args)) if reply.calls else reply.text


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("Could you possibly reserve us a nice table at half past seven, there will be six of us?", (6, "19:30")),
        ("we'd like to book for four people, a table at 8", (4, "20:00")),
        ("table at 7pm please, can you put us down, party of 5", (5, "19:00")),
        ("book a table for two, 19:15", (2, "19:15")),
        ("reserve a table for seven at seven", (7, "19:00")),
    ],
)
def test_slots_are_told_apart_by_the_words_around_them(text: str, call: tuple[int, str]) -> None:
    assert calls(text) == ("seating", {"people": call[0], "time": call[1]})


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("wake me in half an hour", 30), ("timer, an hour and a half", 90), ("wake me up in 90 seconds", 1.5)],
)
def test_a_duration_has_its_unit(text: str, minutes: float) -> None:
    assert calls(text) == ("bell", {"minutes": minutes})


def test_words_may_be_mistyped_and_have_endings() -> None:
    assert calls("do I need my umbrela in Oslo") == ("sky", {"city": "Oslo"})
    assert calls("do people need umbrellas in the capital of Norway") == ("sky", {"city": "Oslo"})


def test_a_sentence_of_too_many_words_is_not_read_in_part() -> None:
    assert calls("book a table for two at eight " + "please " * MAX_WORDS) == "Pardon?"


def test_a_missing_slot_is_asked_for() -> None:
    assert calls("can you book a table for tonight") == "How many?"
    assert calls("can you book a table for tonight", "four", "at eight") == (
        "seating",
        {"people": 4, "time": "20:00"},
    )


@pytest.mark.parametrize(
    "text",
    [
        "I already booked a table for two at eight",
        "don't book a table for two at eight",
        "my uncle paints a table for book fairs and museum shops",
        "what about my travel insurance, umbrella and all",
        "rain check on museum visits",
        "wake up sheeple",
        "book a flight for two at eight",
        "",
    ],
)
def test_what_is_unsure_calls_nothing(text: str) -> None:
    assert isinstance(calls(text), str)


@pytest.mark.parametrize(
    "text",
    [
        "when can I book a table for two at eight",
        "why is a table for two at eight booked",
        "do you book tables for two",
    ],
)
def test_a_question_books_nothing(text: str) -> None:
    assert isinstance(calls(text), str)


@pytest.mark.parametrize(
    "text",
    [
        "do you have one for two at eight to book",
        "is it possible to book for two at 8",
        "I was wondering if I could book for two at 8",
    ],
)
def test_a_request_in_the_form_of_a_question_is_one(text: str) -> None:
    assert calls(f"{text}, a table") == ("seating", {"people": 2, "time": "20:00"})


def test_an_opinion_asks_for_nothing() -> None:
    assert isinstance(calls("I love the rain in Oslo"), str)
    assert calls("I'd love some rain in Oslo") == ("sky", {"city": "Oslo"})


def test_an_if_that_asks_is_no_condition() -> None:
    assert calls("see if there's rain in Oslo") == ("sky", {"city": "Oslo"})
    assert isinstance(calls("book a table for two at eight if Dave comes"), str)


@pytest.mark.parametrize(
    "text",
    [
        "suppose you book a table for two at eight, what then",
        "I might book a table for two at eight",
        "my friend said you book a table for two at eight",
        "I'll book a table for two at eight myself",
        "book a table for two at eight, I'm only joking",
    ],
)
def test_what_is_only_spoken_of_is_not_done(text: str) -> None:
    assert isinstance(calls(text), str)


@pytest.mark.parametrize(
    "text", ["was it for five people", "at nine?", "is five people fine", "we are five, is that fine?"]
)
def test_a_question_about_what_was_done_changes_nothing(text: str) -> None:
    assert isinstance(calls("book a table for two people at eight", text), str)


def test_what_was_done_is_no_mistyped_wish() -> None:
    assert isinstance(calls("I reserved a table for two at eight"), str)
    assert calls("reserv a table for two at eight") == ("seating", {"people": 2, "time": "20:00"})


def test_a_weighed_negation_is_a_negation() -> None:
    script = parse_script(SCRIPT.replace('"timer|wake {minutes}"', '"not_urgent"'), "inn.toml")
    meaning = script.intents[2].means[0]
    assert MeaningMatcher(script).match(meaning, Words("It isn't that urgent")) is not None
    assert MeaningMatcher(script).match(meaning, Words("It is urgent, not that it matters")) is None


@pytest.mark.parametrize("text", ["and in Rome?", "what about Rome then", "no, Rome I meant"])
def test_the_last_call_is_made_again_with_what_changed(text: str) -> None:
    assert calls("is it raining in Oslo", text) == ("sky", {"city": "Rome"})


def test_a_correction_keeps_the_rest() -> None:
    asked = "book a table for two people at 8"
    assert calls(asked, "no, make it five people") == ("seating", {"people": 5, "time": "20:00"})
    assert calls("timer for 5 minutes", "actually make that eight") == ("bell", {"minutes": 8})


def test_other_words_after_a_call_change_nothing() -> None:
    assert calls("is it raining in Oslo", "my aunt was born in Rome") == "Pardon?"


def test_the_last_call_is_known_on_another_connection() -> None:
    before, after = talker(), talker()
    before.respond("rain in Oslo?", typed=True)
    after.restore(before.snapshot())
    assert after.respond("and Rome?", typed=True).calls[0].args == {"city": "Rome"}


def test_a_second_miss_says_more() -> None:
    assert calls("fish") == "Pardon?"
    assert calls("fish", "bicycle") == "I can book tables and set timers."
    assert calls("fish", "rain in Oslo", "bicycle") == "Pardon?"


@pytest.mark.parametrize(
    "text",
    ["are you a real person or a computer?", "is this a machine", "what can you do for me", "sorry, what was that?"],
)
def test_what_people_say_to_any_agent_is_answered(text: str) -> None:
    assert calls("fish", text) not in ("Pardon?", "I can book tables and set timers.")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('means = ["[nowhere] table"]', "unknown concept"),
        ('means = ["table {nothing}"]', "unknown slot"),
        ('means = ["table {people"]', "stray bracket"),
        ('means = ["{people?}"]', "asks for no word"),
        ('means = ["---"]', "is no word"),
    ],
)
def test_a_meaning_that_cannot_be_read_is_named(line: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        parse_script(SCRIPT.replace('means = ["timer|wake {minutes}"]', line), "inn.toml")


KITCHEN = """
format = 1
name = "kitchen"
fallback = "Pardon?"

[facts]
price = "soup costs {} dollars"

[slots.dish]
values = ["soup", "salad"]
ask = "Which?"

[slots.count]
kind = "number"
min = 1
max = 20
ask = "How many?"

[slots.guest]
kind = "name"

[slots.pain]
values = ["headache", "cough"]

[[intent]]
name = "add"
typed = ["{count} {dish}", "a {dish}"]
means = ["{dish} {count?} (cold)"]
call = { tool = "cook", args = { dish = "{dish}", count = "{count?}" } }
reply = ["Done."]

[[intent]]
name = "same"
means = ["same_again|another_one"]
again = true
reply = ["Nothing yet."]

[[intent]]
name = "pay"
means = ["pay|bill"]
call = { tool = "charge", args = { amount = "{told.price}" } }
reply = ["Paid."]

[[intent]]
name = "guest"
means = ["{guest} (table office)"]
reply = ["Hello {guest}."]

[[intent]]
name = "ill"
means = ["{pain} ... !sister"]
reply = ["Get well: {pain}."]
"""


FETCH = """
[[intent]]
name = "fetch"
say = ["fetch {guest}"]
call = { tool = "fetch", args = { who = "{guest}" } }
reply = ["Done."]
"""


def orders(*texts: str) -> list[dict[str, Any]] | str:
    """Return the arguments of all calls of the last text, or its answer."""
    dialogue = ScriptedDialogue(parse_script(KITCHEN, "kitchen.toml"))
    dialogue.declare({"cook": {}, "charge": {}})
    dialogue.instruct("Be kind. The soup costs 6 dollars today.")
    for text in texts:
        reply = dialogue.respond(text, typed=True)
        if reply.calls:
            dialogue.results([(call, {}) for call in reply.calls])
    return [dict(call.args) for call in reply.calls] or reply.text


def test_parts_that_mean_the_same_are_several_calls() -> None:
    assert orders("two soups and a salad") == [{"dish": "soup", "count": 2}, {"dish": "salad"}]
    assert orders("a couple of soups, a salad") == [{"dish": "soup", "count": 2}, {"dish": "salad"}]


@pytest.mark.parametrize("text", ["soup with salad on top", "do not bring two soups and a bicycle"])
def test_a_sentence_is_not_acted_on_in_part(text: str) -> None:
    assert orders(text) == "Pardon?"


def test_two_wishes_that_are_each_whole_are_both_done() -> None:
    assert orders("soup and I want to pay") == [{"dish": "soup"}, {"amount": 6}]


def test_what_is_on_the_menu_is_asked_about_beside_what_is_not() -> None:
    assert orders("two soups and a bicycle") == "Do you mean: 2 soup?"
    assert orders("two bicycles and a soup") == "Do you mean: a soup?"
    assert orders("two bicycles and a soup", "yes") == [{"dish": "soup"}]


def test_two_names_for_one_thing_lead_to_no_call() -> None:
    text = KITCHEN.replace('kind = "name"', 'kind = "name"\nask = "Who?"') + FETCH
    script = parse_script(text.replace("format = 1", "format = 1\ncall_by_name = false"), "kitchen.toml")
    dialogue = ScriptedDialogue(script)
    dialogue.declare({"fetch": {}})
    assert not dialogue.respond("fetch Dave and fetch Anna", typed=True).calls
    assert dialogue.respond("fetch Dave", typed=True).calls


def test_the_last_call_is_made_once_more() -> None:
    assert orders("two soups", "same again please") == [{"dish": "soup", "count": 2}]
    assert orders("same again please") == "Nothing yet."


def test_a_negation_in_a_phrase_explains_none_elsewhere() -> None:
    script = KITCHEN.replace('"{count} {dish}", "a {dish}"', '"not {dish}"')
    script = script.replace('"{dish} {count?} (cold)"', '"forget {dish}"')
    dialogue = ScriptedDialogue(parse_script(script, "kitchen.toml"))
    dialogue.declare({"cook": {}, "charge": {}})
    assert not dialogue.respond("don't forget my soup", typed=True).calls
    assert dialogue.respond("forget my soup", typed=True).calls


@pytest.mark.parametrize("text", ["soup without salt", "two minutes soup", "one more napkin soup"])
def test_a_word_beside_a_thing_may_make_it_another(text: str) -> None:
    assert orders(text) == "Pardon?"


def test_a_thing_that_something_is_told_of_is_not_asked_for() -> None:
    script = parse_script(KITCHEN, "kitchen.toml")
    dialogue = ScriptedDialogue(script)
    dialogue.declare({"cook": {}})
    assert not dialogue.respond("the soup is for my son", typed=True).calls
    assert dialogue.respond("the soup is fine for me", typed=True).calls


def test_a_value_of_the_instruction_is_an_argument() -> None:
    assert orders("can I pay the bill") == [{"amount": 6}]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("this is Tom Becker", "Tom Becker"),
        ("hi, it's Rebecca from Dr Patel's office", "Rebecca"),
        ("Peter here", "Peter"),
        ("my name is Doctor Hughes", "Doctor Hughes"),
        ("it's Ann, Ann Lee", "Ann"),
    ],
)
def test_a_name_is_known_by_the_words_around_it(text: str, name: str) -> None:
    assert orders(text) == f"Hello {name}."


@pytest.mark.parametrize("text", ["it's working now", "this is great", "I am sorry", "my name is", "peter paints here"])
def test_other_words_are_no_name(text: str) -> None:
    assert orders(text) == "Pardon?"


def test_what_counts_is_found_among_many_words() -> None:
    told = "honestly, ever since the marathon on Sunday I've had this rotten cough that drives everybody crazy"
    assert orders(told) == "Get well: cough."
    assert orders(told.replace("I've", "my sister's")) == "Pardon?"


@pytest.mark.parametrize(("text", "is_negated"), [("I can't stop this cough", False), ("I don't have a cough", True)])
def test_a_negation_is_told(text: str, is_negated: bool) -> None:
    script = parse_script(KITCHEN, "kitchen.toml")
    meaning = next(intent for intent in script.intents if intent.name == "ill").means[0]
    found = MeaningMatcher(script).match(meaning, Words(text))
    assert found is not None
    assert found.negated is is_negated


def test_a_word_of_the_script_is_not_taken_for_a_mistyped_one() -> None:
    script = parse_script(KITCHEN.replace('"soup", "salad"', '"dinner", "winner"'), "kitchen.toml")
    dialogue = ScriptedDialogue(script)
    dialogue.declare({"cook": {}})
    assert dialogue.respond("cold dinner", typed=True).calls[0].args == {"dish": "dinner"}
    assert dialogue.respond("cold dinnr", typed=True).calls[0].args == {"dish": "dinner"}


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("Dave can't come, so please book a table for five at eight", (5, "20:00")),
        ("reserve a table for two at seven if you can, it's our birthday", (2, "19:00")),
    ],
)
def test_the_clause_that_asks_for_something_is_acted_on(text: str, call: tuple[int, str]) -> None:
    assert calls(text) == ("seating", {"people": call[0], "time": call[1]})


@pytest.mark.parametrize(
    "text",
    [
        "don't book anything yet, a table for two at seven would do",
        "if it rains, book a table for two at seven",
        "we had a table for two at seven, it was on the book",
        "book us a table, two zebras at seven",
    ],
)
def test_what_is_forbidden_past_or_of_another_thing_is_not_acted_on(text: str) -> None:
    assert calls(text)[0] != "seating"


@pytest.mark.parametrize(("text", "call"), [("make it three", (3, "19:00")), ("push it back to eight", (2, "20:00"))])
def test_a_bare_number_changes_the_slot_that_it_is_near_to(text: str, call: tuple[int, str]) -> None:
    assert calls("book a table for two at seven", text) == ("seating", {"people": call[0], "time": call[1]})
