"""Test extraction by a script's patterns, without a model."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from phased_script import SCRIPT, TEXT

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.local.dialogue.slot_extractor import SlotExtractor
from gemini_live_runtime.local.scripts.script import parse_script

STRING, INTEGER, BOOLEAN = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}


@dataclass(frozen=True)
class Turn:
    user: str = ""
    model: str = ""
    unheard: str = ""


@dataclass(frozen=True)
class Request:
    turns: tuple[Turn, ...] = ()
    schema: Mapping[str, Any] | None = None
    text: str = "What did the caller say?"
    asked: str = ""


def extracted(*turns: Turn, required: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    request = Request(turns, {"type": "object", "properties": fields, "required": list(required)})
    result = json.loads(asyncio.run(SlotExtractor(SCRIPT).generate(request)))
    assert isinstance(result, dict)
    return result


def test_a_field_is_the_slot_of_its_name() -> None:
    assert extracted(Turn("My name is Maria Lopez"), name=STRING) == {"name": "Maria Lopez"}


def test_a_script_may_name_another_slot_for_a_field() -> None:
    assert extracted(Turn("my name is Maria"), caller=STRING) == {"caller": "Maria"}


def test_the_newest_word_counts() -> None:
    assert extracted(Turn("my name is Mary"), Turn("this is Maria"), Turn("yes"), name=STRING) == {"name": "Maria"}


def test_fields_may_come_from_different_turns() -> None:
    turns = (Turn("my name is Maria"), Turn("I can pay fifty dollars"))
    assert extracted(*turns, name=STRING, amount=INTEGER) == {"name": "Maria", "amount": 50}


def test_an_answer_is_understood_by_the_question_before_it() -> None:
    asked = Turn(model="Thank you. How much  can you pay?")
    assert extracted(asked, Turn("hundred"), amount=INTEGER) == {"amount": 100}
    assert extracted(Turn(model="How are you?"), Turn("hundred"), amount=INTEGER) == {}


def test_a_question_before_the_first_turn_counts() -> None:
    schema = {"type": "object", "properties": {"amount": INTEGER}}
    request = Request((Turn("hundred"),), schema, asked="How much can you pay?")
    assert json.loads(asyncio.run(SlotExtractor(SCRIPT).generate(request))) == {"amount": 100}


def test_a_choice_that_clauses_tell_differently_is_not_made() -> None:
    rules = '[[extract.size]]\nwhen = ["big"]\nvalue = "big"\n[[extract.size]]\nwhen = ["small"]\nvalue = "small"\n'
    extractor = SlotExtractor(parse_script(TEXT + rules, "desk.toml"))
    size = {"anyOf": [{"type": "string", "enum": ["big", "small"]}, {"type": "null"}]}
    for said, found in (("a big one", {"size": "big"}), ("a big one, or a small one", {})):
        request = Request((Turn(said),), {"type": "object", "properties": {"size": size}})
        assert json.loads(asyncio.run(extractor.generate(request))) == found


def test_a_rule_may_wait_for_a_question() -> None:
    rule = '[extract.sure]\nwhen = ["yes"]\nafter = "Are you sure?"\nvalue = true\n'
    extractor = SlotExtractor(parse_script(TEXT + rule, "desk.toml"))
    for asked, found in (("Are you  sure?", {"sure": True}), ("How are you?", {})):
        request = Request((Turn("oh yes"),), {"type": "object", "properties": {"sure": BOOLEAN}}, asked=asked)
        assert json.loads(asyncio.run(extractor.generate(request))) == found


def test_a_rule_may_take_the_meaning_of_an_intent() -> None:
    more = '[[intent]]\nname = "off"\nmeans = ["cancel|call_off (it)"]\nreply = ["Fine."]\n'
    rule = '[extract.sure]\nintent = "off"\nvalue = false\n'
    extractor = SlotExtractor(parse_script(f"{TEXT}{more}{rule}", "desk.toml"))
    request = Request((Turn("would you cancel it"),), {"type": "object", "properties": {"sure": BOOLEAN}})
    assert json.loads(asyncio.run(extractor.generate(request))) == {"sure": False}


@pytest.mark.parametrize(
    ("said", "found"), [("pull the plug", {"sure": False}), ("do not pull the plug", {}), ("no", {}), ("no way", {})]
)
def test_a_rule_may_take_the_phrases_of_an_intent_but_no_single_word(said: str, found: dict[str, bool]) -> None:
    more = (
        '[[intent]]\nname = "off"\nmeans = ["cancel it"]\nsay = ["pull the plug"]\ntyped = ["no"]\nreply = ["Fine."]\n'
    )
    rule = '[extract.sure]\nintent = "off"\nvalue = false\n'
    extractor = SlotExtractor(parse_script(f"{TEXT}{more}{rule}", "desk.toml"))
    request = Request((Turn(said),), {"type": "object", "properties": {"sure": BOOLEAN}})
    assert json.loads(asyncio.run(extractor.generate(request))) == found


def test_a_free_answer_is_taken_as_said() -> None:
    assert extracted(Turn(model="Who is calling?"), Turn("Maria Lopez"), name=STRING) == {"name": "Maria Lopez"}


def test_a_phrase_is_no_answer_to_a_question_about_something_else() -> None:
    assert extracted(Turn(model="Who is calling?"), Turn("that is right"), name=STRING) == {}


def test_an_answer_before_the_end_of_the_question_counts() -> None:
    asked = Turn(model="Who is", unheard=" calling? Please say it.")
    assert extracted(asked, Turn("Maria"), name=STRING) == {"name": "Maria"}


def test_turns_of_the_model_alone_and_silent_ones_do_not_hide_a_question() -> None:
    turns = (Turn(model="Who is calling?"), Turn(), Turn("Maria"))
    assert extracted(*turns, name=STRING) == {"name": "Maria"}


def test_a_phrase_anywhere_in_what_was_said_gives_a_field_its_value() -> None:
    said = Turn("Oh come on, this is ridiculous, can I please talk to the human over there")
    assert extracted(said, mood=STRING, wants_human=BOOLEAN) == {"mood": "angry", "wants_human": True}


def test_of_several_rules_the_newest_turn_decides() -> None:
    assert extracted(Turn("I am angry"), Turn("oh well, thank you"), mood=STRING) == {"mood": "happy"}
    assert extracted(Turn("thank you"), Turn("I am angry, thank you"), mood=STRING) == {"mood": "angry"}


def test_what_nothing_was_said_about_is_absent_or_null_when_required() -> None:
    assert extracted(Turn("yes"), required=("name",), name=STRING, mood=STRING) == {"name": None}


def test_fields_that_the_script_does_not_know_stay_empty() -> None:
    assert extracted(Turn("my name is Maria"), shoe_size=INTEGER) == {}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 50),
        ({"type": "number"}, 50),
        ({"type": "STRING"}, "50"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 50),
        ({"type": ["null", "integer"]}, 50),
        ({}, 50),
    ],
)
def test_a_value_has_the_type_of_the_schema(schema: dict[str, Any], value: object) -> None:
    found = extracted(Turn("I can pay fifty dollars"), amount=schema)["amount"]
    assert (found, type(found)) == (value, type(value))


def test_a_value_that_the_schema_does_not_allow_is_not_given() -> None:
    said = Turn("the second floor")
    assert extracted(said, floor=BOOLEAN) == {}
    assert extracted(said, floor={"type": "string", "enum": ["ground"]}) == {}
    assert extracted(said, floor={"type": "string", "enum": ["First", "Second"]}) == {"floor": "Second"}


def test_without_turns_the_text_is_what_was_said() -> None:
    request = Request(schema={"properties": {"name": STRING}}, text="my name is Maria")
    assert json.loads(asyncio.run(SlotExtractor(SCRIPT).generate(request))) == {"name": "Maria"}


def test_it_refuses_to_write_text() -> None:
    with pytest.raises(UsageError, match="desk"):
        asyncio.run(SlotExtractor(SCRIPT).generate(Request((Turn("yes"),))))


def test_what_is_only_spoken_of_is_no_consent() -> None:
    script = parse_script(
        TEXT
        + """
[[extract.agrees]]
when = ["yes", "sure"]
value = true
acts = true
""",
        "desk.toml",
    )

    def agrees(text: str) -> dict[str, Any]:
        request = Request((Turn(text),), {"type": "object", "properties": {"agrees": BOOLEAN}})
        return dict(json.loads(asyncio.run(SlotExtractor(script).generate(request))))

    assert agrees("yes please") == {"agrees": True}
    for text in ("are you sure?", "yes but how long does it take", "I might say yes", "sure, it's raining"):
        assert agrees(text) == {}, text


def test_words_whose_meaning_the_model_asks_for_tell_nothing() -> None:
    turn = Turn("my name is Maria, or so they say", "Do you mean: my name is Maria?")
    assert extracted(turn, caller=STRING) == {}


def test_a_yes_tells_what_the_model_asked() -> None:
    asked = Turn(model="Do you mean: my name is Maria?")
    assert extracted(asked, Turn("yes"), caller=STRING) == {"caller": "Maria"}
