"""Extraction with a text model: the request, and reading answers by fields."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel, field_validator, model_validator

from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.conversation import extraction as ex
from gemini_live_runtime.conversation.answer_schema import MAX_REFUSED, answer_schema_of
from gemini_live_runtime.conversation.extraction import ExtractedFields, Refusal
from gemini_live_runtime.conversation.extraction_runner import ExtractionFailure, ExtractionResult, ExtractionRunner
from gemini_live_runtime.conversation.llm_extractor import PROMPT, LlmExtractor, parse_answer
from gemini_live_runtime.conversation.promotion import FieldPromotion
from gemini_live_runtime.conversation.text_model import ScriptedTextModel
from gemini_live_runtime.conversation.transcript import ToolCallSummary, TranscriptBuffer
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.state.store import State


class Guest(BaseModel):
    name: str = Field(description="As the guest says it", min_length=1)
    age: int | None = None


class Booking(BaseModel):
    """A table."""

    guest: Guest
    people: Annotated[int, Field(ge=1, le=20)]
    time: str = "19:00"
    seat: Literal["inside", "terrace"] | None = None


def conversation(said: str = "a table for three") -> TranscriptBuffer:
    transcript = TranscriptBuffer()
    transcript.begin_turn(0, "voice", 0.0)
    transcript.add_input("hello")
    transcript.add_output("Good evening")
    transcript.begin_turn(1, "voice", 1.0)
    transcript.add_input(said)
    transcript.add_tool_call(ToolCallSummary.of("c1", "look", {"n": 3}, {"free": True}, "ok"))
    return transcript


def extract(extractor: LlmExtractor, reply: str) -> ExtractedFields:
    async def go() -> ExtractedFields:
        return await extractor.extract(conversation().window_with_current(3), ScriptedTextModel([reply]))

    return run_virtual(go())


class PlainModel:
    """A text model whose function is no coroutine."""

    def generate(self, request: object) -> str:
        return '{"name": "Ada"}'


async def test_a_models_plain_function_answers_as_well() -> None:
    model: Any = PlainModel()
    found = await LlmExtractor(Guest).extract(conversation().window_with_current(3), model)
    assert found.fields == {"name": "Ada"}


# -- the request


def test_the_request_has_the_tool_calls_and_the_turn_that_is_going_on() -> None:
    request = LlmExtractor(Booking).request(conversation().window_with_current(3))
    assert request.system == PROMPT
    assert "User: hello\nAssistant: Good evening\n\nUser: a table for three\n[Tool: look(" in request.text
    assert '{"free": true}' in request.text
    assert [turn.number for turn in request.turns] == [0, 1]


def test_the_schema_keeps_descriptions_and_has_no_references_and_titles() -> None:
    schema = LlmExtractor(Booking, prompt="Find the booking.").answer_schema.json_schema
    assert schema["description"] == "A table."
    assert schema["properties"]["guest"]["properties"]["name"]["description"] == "As the guest says it"
    assert "$" not in json.dumps(schema)
    assert "title" not in json.dumps(schema)


def test_a_field_may_be_called_title() -> None:
    class Book(BaseModel):
        title: str

    assert answer_schema_of(Book).json_schema["properties"] == {"title": {"type": "string"}}


def test_a_schema_that_contains_itself_is_refused() -> None:
    class Node(BaseModel):
        next: Optional[Node] = None  # noqa: UP045

    Node.model_rebuild(_types_namespace={"Node": Node})
    with pytest.raises(AgentError, match="refers to itself"):
        LlmExtractor(Node)


def test_an_authors_prompt_is_the_system_prompt() -> None:
    extractor = LlmExtractor(Booking, prompt="Find the booking.")
    assert extractor.request(conversation().window(3)).system == "Find the booking."
    assert (extractor.name, extractor.window, extractor.trigger) == ("Booking", 3, ex.EVERY_TURN)
    assert extractor.defined_at.startswith("test_llm_extractor.py:")


@pytest.mark.parametrize(("said", "wanted"), [("no", False), ("two words", False), ("now it is four", True)])
def test_few_words_are_not_worth_asking(said: str, wanted: bool) -> None:
    window = conversation(said).window_with_current(3)
    assert LlmExtractor(Booking, min_words=3).should_extract(window) is wanted
    assert LlmExtractor(Booking).should_extract(window)


# -- the answer


@pytest.mark.parametrize(
    "answer", ['{"a": 1}', '```json\n{"a": 1}\n```', '```\n{"a": 1}```', '  ``` {"a": 1} ```\n', '\n{"a": 1}\n']
)
def test_a_fence_around_the_answer_is_taken_off(answer: str) -> None:
    assert parse_answer(answer, "X") == {"a": 1}


@pytest.mark.parametrize("answer", ["", "Sure! Here", '{"a": NaN}', "[" * 100_000, '{"a"', "1" * 5000])
def test_an_answer_that_is_not_json_is_an_error_with_little_of_it(answer: str) -> None:
    with pytest.raises(GeminiLiveError) as caught:
        parse_answer("\x1b[2J" + answer, "X")
    assert len(str(caught.value)) < 150
    assert "\x1b" not in str(caught.value)


@given(st.text())
def test_no_answer_breaks_the_parser(answer: str) -> None:
    with contextlib.suppress(GeminiLiveError):
        parse_answer(answer, "X")


def test_a_list_and_an_endless_answer_are_errors() -> None:
    with pytest.raises(GeminiLiveError, match="not a JSON object"):
        parse_answer("[1]", "X")
    with pytest.raises(GeminiLiveError, match="200001 characters"):
        parse_answer("x" * 200_001, "X")


def test_valid_fields_are_kept_when_others_are_refused() -> None:
    found = extract(LlmExtractor(Booking), '{"guest": {"name": ""}, "people": "3", "seat": "roof", "mood": "x"}')
    assert found.fields == {"people": 3}
    assert {refusal.field for refusal in found.refused} == {"guest", "seat", "mood"}
    reasons = {refusal.field: refusal.reason for refusal in found.refused}
    assert reasons["mood"] == "it is not in the schema"
    assert reasons["guest"].startswith("name: String should have at least 1 character")


def test_a_field_that_is_left_out_is_neither_found_nor_refused() -> None:
    assert extract(LlmExtractor(Booking), '{"people": 3}') == ExtractedFields({"people": 3})


def test_a_null_for_a_field_that_knows_none_counts_as_left_out() -> None:
    assert extract(LlmExtractor(Booking), '{"people": null, "guest": {"name": "Ann"}}') == ExtractedFields(
        {"guest": {"name": "Ann"}}
    )


def test_a_default_is_no_finding() -> None:
    assert "time" not in extract(LlmExtractor(Booking), '{"guest": {"name": "Ann"}, "people": 2}').fields


def test_validators_of_a_field_hold_when_other_fields_are_refused() -> None:
    class Order(BaseModel):
        size: str
        count: int

        @field_validator("size")
        @classmethod
        def known(cls, value: str) -> str:
            if value not in ("S", "M"):
                raise ValueError(f"{value} is no size")
            return value.lower()

    assert answer_schema_of(Order).read({"size": "S", "count": "x"}).fields == {"size": "s"}
    found = answer_schema_of(Order).read({"size": "\x1b[1m" + "X" * 300, "count": 1})
    assert found.fields == {"count": 1}
    assert len(found.refused[0].reason) == 80
    assert "\x1b" not in found.refused[0].reason


def test_a_validator_of_the_whole_object_can_refuse_everything() -> None:
    class Span(BaseModel):
        start: int
        end: int

        @model_validator(mode="after")
        def in_order(self) -> Span:
            if self.end < self.start:
                raise ValueError("it ends before it starts")
            return self

    assert answer_schema_of(Span).read({"start": 5, "end": 1}) == ExtractedFields(
        {}, (Refusal("", "Value error, it ends before it starts"),)
    )
    alone = answer_schema_of(Span).read({"start": 5, "end": "x"})
    assert alone.fields == {}
    assert alone.refused[0].field == ""


def test_a_field_with_an_alias_is_requested_by_it_and_named_as_in_python() -> None:
    class Person(BaseModel):
        first_name: str = Field(alias="firstName")

    assert list(answer_schema_of(Person).json_schema["properties"]) == ["firstName"]
    assert answer_schema_of(Person).read({"firstName": "Ann"}).fields == {"first_name": "Ann"}
    assert answer_schema_of(Person).read({"firstName": []}).refused[0].field == "first_name"


def test_the_number_of_refusals_is_bounded() -> None:
    found = answer_schema_of(Booking).read({f"f{number}": 1 for number in range(1000)})
    assert len(found.refused) == MAX_REFUSED
    assert found.refused[-1].reason == f"{1000 - MAX_REFUSED + 1} more fields were refused"


# -- JSON schemas

DISH: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "pattern": "^[A-Z]"},
        "price": {"type": "number", "exclusiveMinimum": 0, "maximum": 99},
        "spice": {"enum": ["mild", "hot"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "note": {"type": ["string", "null"]},
        "wine": {"$ref": "#/$defs/wine"},
        "count": {"anyOf": [{"type": "integer"}, {"const": "many"}]},
    },
    "required": ["name"],
    "$defs": {"wine": {"type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"]}},
}


@pytest.mark.parametrize(
    ("field", "fits", "fails", "reason"),
    [
        ("name", "Soup", "soup", "it has the wrong form"),
        ("name", "Soup", "", "it is too short or too long"),
        ("price", 3.5, 0, "it is out of range"),
        ("price", 99, "3", "it is not number"),
        ("price", 1, True, "it is not number"),
        ("spice", "hot", "extra", "it is not one of the allowed values"),
        ("tags", ["a"], ["a", 1], "item 1: it is not string"),
        ("tags", [], ["a", "b", "c"], "it has too few or too many items"),
        ("note", None, 3, "it is not string or null"),
        ("wine", {"year": 1990}, {}, "it lacks year"),
        ("wine", {"year": 1990}, {"year": 1.5}, "year: it is not integer"),
        ("count", "many", "few", "it fits none of the alternatives"),
        ("other", None, 3, "it is not in the schema"),
    ],
)
def test_a_json_schema_is_checked_field_by_field(field: str, fits: Any, fails: Any, reason: str) -> None:
    shape = answer_schema_of(DISH)
    if field != "other":
        assert shape.read({field: fits}) == ExtractedFields({field: fits})
    assert shape.read({field: fails, "spice": "mild"} if field != "spice" else {field: fails}).refused == (
        Refusal(field, reason),
    )


def test_a_keyword_that_is_not_checked_is_refused_at_once() -> None:
    with pytest.raises(AgentError, match="multipleOf"):
        answer_schema_of({"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 3}}})
    with pytest.raises(AgentError, match="type 'int'"):
        answer_schema_of({"type": "object", "properties": {"n": {"type": "int"}}})
    with pytest.raises(AgentError, match="pattern"):
        answer_schema_of({"type": "object", "properties": {"n": {"pattern": "("}}})


def test_a_schema_of_no_object_is_refused() -> None:
    with pytest.raises(AgentError, match="object"):
        answer_schema_of({"type": "array"})
    with pytest.raises(AgentError, match="object"):
        answer_schema_of(RootModel[list[int]])
    with pytest.raises(AgentError, match="no schema"):
        answer_schema_of(3)  # type: ignore[arg-type]
    with pytest.raises(AgentError, match=r"not in \$defs"):
        answer_schema_of({"$ref": "#/$defs/nothing"})


# -- settings


def test_a_json_schema_needs_a_name() -> None:
    with pytest.raises(AgentError, match="needs a name"):
        LlmExtractor(DISH)
    assert LlmExtractor(DISH, name="Dish").name == "Dish"
    assert LlmExtractor(DISH, name="Dish").fields == tuple(DISH["properties"])
    assert LlmExtractor(Booking).fields == ("guest", "people", "time", "seat")


def test_promoting_a_field_that_the_schema_does_not_have_is_refused() -> None:
    with pytest.raises(AgentError, match="promotes peple"):
        LlmExtractor(Booking, promotions=[FieldPromotion.overwrite("peple")])


def test_its_own_model_comes_before_the_sessions() -> None:
    own = ScriptedTextModel(['{"people": 2}'])
    extractor = LlmExtractor(Booking, model=own)
    assert not extractor.needs_model
    assert LlmExtractor(Booking).needs_model
    assert extract(extractor, "never asked").fields == {"people": 2}


async def test_in_a_runner_findings_are_promoted_and_a_bad_answer_is_a_failure() -> None:
    reports: list[ExtractionResult | ExtractionFailure] = []
    state = State()
    rule = FieldPromotion.keep_known("people").to("user:people")
    model = ScriptedTextModel(['{"people": 3}', "I cannot " + "x" * 500, GeminiLiveError("Away")])
    schedule = ex.ExtractionSchedule([LlmExtractor(Booking, promotions=[rule])])
    runner = ExtractionRunner(state, schedule, model, LoopClock(), reports.append, reports.append)
    for turn in range(3):
        runner.trigger("turn", turn, conversation().window_with_current)
        await runner.drain()
    assert state["user:people"] == 3
    found, bad, away = reports
    assert isinstance(found, ExtractionResult)
    assert isinstance(bad, ExtractionFailure)
    assert isinstance(away, ExtractionFailure)
    assert "is not JSON: 'I cannot xxx" in bad.text
    assert len(bad.text) < 130
    assert away.text == "Away."


def test_a_request_has_the_question_before_the_turns() -> None:
    window = conversation().window(1)
    request = LlmExtractor(Booking).request(replace(window, asked="Does it\nsuit you?"))
    assert request.text.startswith("What the assistant had said before:\nDoes it suit you?\n\nTranscript:\n")
    assert request.asked == "Does it\nsuit you?"
    assert LlmExtractor(Booking).request(replace(window, asked="")).text.startswith("Transcript:\n")
