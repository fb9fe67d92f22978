"""Declarations of tools from functions, and errors that name the parameter."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.tools.declaration import BadArguments, Tool, ToolContext, tool


class Guest(BaseModel):
    name: str
    nights: int = 1


def context() -> ToolContext:
    return ToolContext("call-1", lambda text: None)


@tool
def book(
    people: Annotated[int, Field(ge=1)], area: Literal["inside", "outside"] = "inside", *, ctx: ToolContext
) -> str:
    """Book a table.

    It is held for ten minutes.

    Args:
        people: How many guests.
        area: Where to sit.
    """
    return f"{people} {area} {ctx.call_id}"


def test_the_schema_comes_from_annotations_and_docstring() -> None:
    assert book.name == "book"
    assert book.description == "Book a table."
    assert book.parameters == {
        "type": "object",
        "properties": {
            "people": {"type": "integer", "minimum": 1, "description": "How many guests."},
            "area": {
                "type": "string",
                "enum": ["inside", "outside"],
                "default": "inside",
                "description": "Where to sit.",
            },
        },
        "required": ["people"],
    }


def test_a_context_parameter_is_passed_and_not_in_the_schema() -> None:
    bound = book.bind(book.check({"people": 2}), context())
    assert book.function(**bound) == "2 inside call-1"


def test_numbers_may_be_floats_or_strings() -> None:
    assert book.bind(book.check({"people": 2.0}), context())["people"] == 2
    assert book.bind(book.check({"people": "2"}), context())["people"] == 2


def test_bad_arguments_name_every_field() -> None:
    with pytest.raises(BadArguments, match=r"people: .*area: "):
        book.bind(book.check({"people": 0, "area": "roof"}), context())


def test_pydantic_models_are_welcome_as_parameters() -> None:
    @tool
    def check_in(guest: Guest) -> str:
        """Check a guest in."""
        return guest.name

    bound = check_in.bind(check_in.check({"guest": {"name": "Ada", "nights": 2}}), context())
    assert check_in.function(**bound) == "Ada"


def test_unannotated_parameters_are_texts() -> None:
    @tool
    def say(what):  # type: ignore[no-untyped-def]
        """Say."""

    assert say.parameters["properties"] == {"what": {"type": "string"}}


def test_a_property_named_title_survives() -> None:
    @tool
    def rename(title: str) -> None:
        """Rename."""

    assert "title" in rename.parameters["properties"]


def test_options_are_kept() -> None:
    @tool(name="other", description="D", blocking=False, scheduling="SILENT", timeout_s=3)
    def f() -> None:
        """Ignored."""

    assert isinstance(f, Tool)
    assert (f.name, f.description, f.blocking, f.scheduling, f.timeout_s) == ("other", "D", False, "SILENT", 3)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"name": "two words"}, "two words"),
        ({"scheduling": "SILENT"}, "blocking=False"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"background": "no"}, "f: background must be True or False, not 'no'"),
        ({"blocking": "no"}, "blocking must be True or False"),
        ({"spillable": 1}, "spillable must be True or False"),
        ({"side_effects": "no"}, "side_effects must be True or False"),
        ({"idempotent": "no"}, "idempotent must be True or False"),
    ],
)
def test_unusable_options_are_refused_by_name(options: dict[str, object], word: str) -> None:
    def f() -> None:
        """F."""

    with pytest.raises(AgentError, match=word):
        tool(**options)(f)  # type: ignore[call-overload]


def test_variable_arguments_cannot_be_declared() -> None:
    with pytest.raises(AgentError, match="args"):

        @tool
        def f(*args: int) -> None:
            """F."""


def test_a_parameter_without_a_schema_is_refused_by_name() -> None:
    with pytest.raises(AgentError, match="no schema"):

        @tool
        def f(x: object()) -> None:  # type: ignore[valid-type]
            """F."""


@pytest.mark.parametrize(("name", "kind"), [("state", "State"), ("context", "ToolContext"), ("ctx", "ToolContext")])
def test_an_unannotated_parameter_named_like_an_injected_one_is_refused_with_the_fix(name: str, kind: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def save(book: str, {name}):\n    'Save.'", namespace)
    with pytest.raises(AgentError, match=f"parameter {name} has no annotation.*Write {name}: {kind}"):
        tool(namespace["save"])
