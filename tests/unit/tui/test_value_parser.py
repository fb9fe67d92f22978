"""Text of the state editor is parsed, or its fault is explained."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_tui.editors.value_parser import MAX_JSON, key_problem, read_keys, read_value, schema_words

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(values, st.booleans())
def test_every_json_value_reads_as_itself(value: Any, pretty: bool) -> None:
    read = read_value(json.dumps(value, indent=2 if pretty else None))
    assert (read.value, read.problem) == (value, "")


@given(st.text(max_size=60))
def test_whatever_is_typed_is_a_value_or_a_problem(text: str) -> None:
    read = read_value(text)
    assert read.problem or json.dumps(read.value) is not None
    assert not (read.problem and read.value is not None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("gold", 'line 1, column 1: this is no JSON value; a text needs quotes: "gold"'),
        ("on Monday", 'line 1, column 1: this is no JSON value; a text needs quotes: "on Monday"'),
        ('{"a": 1,\n "b" 2}', "line 2, column 6: a colon is missing here"),
        ("[1, 2", "line 1, column 6: a comma or a closing bracket is missing here"),
        ('"gold', "line 1, column 1: this text has no closing quote"),
        ("1 2", "line 1, column 3: there is more than one value"),
        ("{a: 1}", 'line 1, column 2: a key in "double quotes" is missing here'),
        ("NaN", "NaN is no JSON number; write a number or null."),
        ("[" * 100_000, "The value is nested too deeply."),
        ("  ", 'Nothing is written: null clears a value, "" is an empty text.'),
        ("1" * (MAX_JSON + 1), "The value has 100,001 characters, 100,000 can be edited here."),
    ],
)
def test_what_is_no_json_is_told_where_and_how_to_mend_it(text: str, problem: str) -> None:
    assert read_value(text).problem == problem


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("app:plan", ""),
        ("plan", ""),
        ("", "Write a key"),
        ("app:", "Write a name behind app:"),
        ("derived:left", "computed"),
        (" app:x", "no spaces"),
        ("app:\x1b[2J", "no control"),
    ],
)
def test_a_key_that_cannot_be_written_is_told_why(key: str, problem: str) -> None:
    said = key_problem(key)
    assert problem in said
    assert bool(said) == bool(problem)


def test_an_import_is_an_object_of_keys() -> None:
    assert read_keys('{"app:a": 1, "user:b": null}').value == {"app:a": 1, "user:b": None}
    assert "an object of keys" in read_keys("[1]").problem
    assert "an object of keys" in read_keys("{}").problem
    assert '"derived:x": derived: keys are computed' in read_keys('{"derived:x": 1}').problem


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 0, "maximum": 10}, "whole number from 0 to 10"),
        ({"type": "number", "exclusiveMinimum": 0}, "number above 0"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text or null"),
        ({"type": ["string", "null"]}, "text or null"),
        ({"enum": ["gold", "silver"]}, 'one of "gold", "silver"'),
        ({"type": "array", "items": {"type": "string"}}, "list of text"),
        ({"type": "object", "properties": {"day": {}, "time": {}}}, "object with day, time"),
        ({}, ""),
        (7, ""),
    ],
)
def test_a_schema_is_said_in_words(schema: Any, words: str) -> None:
    assert schema_words(schema) == words
