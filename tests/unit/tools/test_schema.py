"""Schemas are translated to the Live API's subset, or refused by name."""

from __future__ import annotations

import datetime
import enum
import uuid
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from pydantic import BaseModel, Field

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_schema import MAX_DEPTH
from gemini_live_runtime.tools.declaration import Tool, tool


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 4


class Tree(BaseModel):
    children: list[Tree] = []


class Choice(BaseModel):
    value: int | str


@dataclass
class Point:
    x: float
    y: float = 0


def declared(annotation: Any) -> dict[str, Any]:
    def f(x): ...  # type: ignore[no-untyped-def]

    f.__annotations__ = {"x": annotation}
    found: dict[str, Any] = tool(f).parameters["properties"]["x"]
    return found


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (Optional[int], {"type": "integer"}),  # noqa: UP045
        (Size, {"type": "string", "enum": ["small", "large"]}),
        (Optional[Size], {"type": "string", "enum": ["small", "large"]}),  # noqa: UP045
        (Literal["a"], {"type": "string", "enum": ["a"]}),
        (Literal["a", None], {"type": "string", "enum": ["a"]}),
        (Union[Literal["a"], Size], {"type": "string", "enum": ["a", "small", "large"]}),  # noqa: UP007
        (Literal[2, 4], {"type": "integer", "minimum": 2, "maximum": 4, "description": "one of 2, 4"}),
        (Level, {"type": "integer", "minimum": 2, "maximum": 4, "description": "one of 2, 4"}),
        (Literal[True], {"type": "boolean", "description": "one of true"}),
        (int | float, {"type": "number"}),
        (Annotated[int, Field(gt=0, lt=10)], {"type": "integer", "minimum": 1, "maximum": 9}),
        (Annotated[float, Field(gt=0, description="D.")], {"type": "number", "minimum": 0, "description": "D."}),
        (Annotated[str, Field(pattern="^a")], {"type": "string", "pattern": "^a"}),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (datetime.date, {"type": "string", "description": "format: date"}),
        (Annotated[uuid.UUID, Field(description="Which.")], {"type": "string", "description": "Which. (format: uuid)"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (set[int], {"type": "array", "items": {"type": "integer"}}),
        (tuple[float, float], {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}),
        (dict[str, Any], {"type": "object"}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (
            Point,
            {
                "type": "object",
                "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0}},
                "required": ["x"],
            },
        ),
    ],
)
def test_annotations_with_an_equivalent_are_translated(annotation: Any, schema: dict[str, Any]) -> None:
    assert declared(annotation) == schema


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int | str, r"parameter x takes more than one type \(integer or string\)"),
        (Choice, r"parameter x\.value takes more than one type"),
        (list[int | str], r"parameter x\[\] takes more than one type"),
        (dict[str, int | str], r"parameter x\.\* takes more than one type"),
        (Literal["a", 1], "choices of more than one type"),
        (Literal["", "a"], "an empty text"),
        (list, r"without the type of its items.*list\[str\]"),
        (list[Any], "without the type of its items"),
        (dict[str, list[Any]], r"parameter x\.\* is a list without"),
        (tuple[int, str], "different types"),
        (Any, "has no type"),
        (None, "of type null"),
        (Tree, r"contains itself \(Tree\)"),
    ],
)
def test_annotations_without_an_equivalent_are_refused_by_tool_and_parameter(annotation: Any, words: str) -> None:
    with pytest.raises(AgentError, match=words) as caught:
        declared(annotation)
    assert "Tool f: " in str(caught.value)
    assert caught.value.field.startswith("x")


def explicit(schema: dict[str, Any]) -> dict[str, Any]:
    made = Tool.from_schema("f", "F.", {"type": "object", "properties": {"x": schema}}, lambda args: args)
    found: dict[str, Any] = made.parameters["properties"]["x"]
    return found


@pytest.mark.parametrize(
    ("given", "schema"),
    [
        ({"type": "STRING"}, {"type": "string"}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"allOf": [{"type": "string"}], "description": "D"}, {"type": "string", "description": "D"}),
        ({"oneOf": [{"type": "null"}, {"type": "number"}]}, {"type": "number"}),
        ({"properties": {"a": {"type": "string"}}}, {"type": "object", "properties": {"a": {"type": "string"}}}),
        ({"type": "string", "x-own": 1, "examples": ["e"], "title": "T"}, {"type": "string"}),
        ({"type": "integer", "exclusiveMaximum": 3.5}, {"type": "integer", "maximum": 3}),
    ],
)
def test_explicit_schemas_with_an_equivalent_are_translated(given: dict[str, Any], schema: dict[str, Any]) -> None:
    assert explicit(given) == schema


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"allOf": [{"type": "string"}, {"type": "string"}]}, "allOf"),
        ({"type": ["string", "integer"]}, "string or integer"),
        ({"$ref": "#/$defs/Nowhere"}, "not defined"),
        ({"$ref": "#"}, "not defined"),
        ({"type": "file"}, "of type file"),
        (reduce(lambda inner, _: {"type": "array", "items": inner}, range(MAX_DEPTH), {}), "nested too deeply"),
    ],
)
def test_explicit_schemas_without_an_equivalent_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(AgentError, match=words):
        explicit(given)
