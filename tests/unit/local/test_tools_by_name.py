from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.local.dialogue.tools_by_name import (
    MAX_DEPTH,
    arguments_for,
    default_for,
    missing_text,
    named_tools,
)
from gemini_live_runtime.local.understanding.utterance_words import Words

NAMES = ["roll_dice", "openDoor", "search", "open"]


@pytest.mark.parametrize(
    ("said", "tools"),
    [
        ("please roll the dice", ["roll_dice"]),
        ("dice, roll!", ["roll_dice"]),
        ("open the front door", ["openDoor", "open"]),
        ("serach for cats", ["search"]),
        ("roll over", []),
        ("", []),
    ],
)
def test_a_tool_is_named_when_all_its_words_were_said(said: str, tools: list[str]) -> None:
    assert [tool.name for tool in named_tools(Words(said), NAMES)] == tools


def arguments(said: str, schema: dict[str, Any]) -> dict[str, Any]:
    return arguments_for(schema, named_tools(Words(said), ["roll_dice"])[0].rest)


def test_a_number_is_taken_from_the_words() -> None:
    schema = {"properties": {"sides": {"type": "integer"}}, "required": ["sides"]}
    assert arguments("roll dice with twenty sides", schema) == {"sides": 20}


def test_an_enum_value_is_taken_from_the_words_in_its_own_spelling() -> None:
    schema = {"properties": {"kind": {"type": "string", "enum": ["SIX_SIDED", "COIN"]}}}
    assert arguments("roll six sided dice", schema) == {"kind": "SIX_SIDED"}


def test_a_free_text_takes_what_is_left() -> None:
    schema = {"properties": {"wish": {"type": "STRING"}, "times": {"type": "INTEGER"}}, "required": ["wish"]}
    assert arguments("roll the dice 3 for Good Luck please", schema) == {"times": 3, "wish": "Good Luck"}


def test_an_optional_argument_that_was_not_said_is_left_out() -> None:
    assert arguments("roll dice", {"properties": {"sides": {"type": "integer"}}}) == {}


def test_a_number_is_kept_within_its_bounds() -> None:
    schema = {"properties": {"sides": {"type": "integer", "maximum": 12}}}
    assert arguments("roll dice 99", schema) == {"sides": 12}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 1),
        ({"type": "number", "minimum": 2.5}, 2.5),
        ({"type": "boolean"}, True),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1}, [1]),
        ({"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}, {"a": 1}),
        ({"enum": ["x", "y"]}, "x"),
        ({"type": "string", "default": "d"}, "d"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"type": ["null", "boolean"]}, True),
    ],
)
def test_a_required_argument_that_was_not_said_gets_a_value_of_its_type(schema: dict[str, Any], value: object) -> None:
    schema_of_all = {"properties": {"x": schema}, "required": ["x"]}
    assert arguments_for(schema_of_all, []) == {"x": value}


def test_of_arguments_nested_without_end_the_outer_ones_get_a_value() -> None:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(MAX_DEPTH + 3):
        schema = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    value, levels = default_for(schema), 0
    while isinstance(value, dict):
        value, levels = value["x"], levels + 1
    assert (value, levels) == ("", MAX_DEPTH + 1)


@pytest.mark.parametrize(
    ("schema", "missing"),
    [
        ({"type": "string"}, "x"),
        ({}, "x"),
        ({"type": "string", "example": "e"}, ""),
        ({"enum": ["a"]}, ""),
        ({"type": "integer"}, ""),
    ],
)
def test_a_required_text_that_was_not_said_is_to_be_asked_for(schema: dict[str, Any], missing: str) -> None:
    schema_of_all = {"properties": {"x": schema}, "required": ["x"]}
    assert missing_text(schema_of_all, arguments_for(schema_of_all, [])) == missing
    assert missing_text(schema_of_all, {"x": "said"}) == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.text(max_size=4), max_size=2),
    lambda inner: st.dictionaries(
        st.sampled_from(["type", "properties", "required", "enum", "items", "anyOf", "minimum", "default", "x"]),
        inner | st.sampled_from(["integer", "object", "array", "string"]),
        max_size=4,
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["properties", "required", "type"]), JSON), st.lists(st.text(max_size=6)))
def test_no_schema_breaks_the_arguments(schema: dict[str, Any], rest: list[str]) -> None:
    missing_text(schema, arguments_for(schema, rest))
    default_for(schema)
