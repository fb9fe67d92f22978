"""Parameters of a tool: injected ones, annotations, defaults, validation."""

from __future__ import annotations

import functools
import threading
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.store import State
from gemini_live_runtime.tools.declaration import Tool, ToolContext, tool

if TYPE_CHECKING:
    from nowhere import Nothing  # type: ignore[import-not-found]

    import gemini_live_runtime.tools.context as live


def context(state: State | None = None) -> ToolContext:
    return ToolContext("call-1", lambda text: None, state=state)


def properties(declared: Tool) -> dict[str, Any]:
    found: dict[str, Any] = declared.parameters["properties"]
    return found


def test_context_and_state_are_passed_in_and_left_out_of_the_schema() -> None:
    @tool
    def note(text: str, state: State, ctx: ToolContext) -> None:
        """Note."""

    state = State()
    given = context(state)
    assert list(properties(note)) == ["text"]
    assert note.bind(note.check({"text": "x"}), given) == {"text": "x", "state": state, "ctx": given}


def test_optional_and_annotated_injections_are_recognised() -> None:
    @tool
    def note(state: State | None, ctx: Annotated[ToolContext, "mine"]) -> None:
        """Note."""

    assert note.signature.injected == {"state": "state", "ctx": "context"}


def test_a_name_that_only_type_checkers_import_is_known_by_its_spelling() -> None:
    @tool
    def note(text: str, ctx: live.ToolContext, quoted: "live.ToolContext | None" = None) -> None:  # noqa: UP037
        """Note."""

    assert list(properties(note)) == ["text"]
    assert note.signature.injected == {"ctx": "context", "quoted": "context"}


def test_an_unknown_name_is_refused_with_tool_and_parameter() -> None:
    with pytest.raises(AgentError, match=r"note.*parameter what.*Nothing"):

        @tool
        def note(what: Nothing) -> None:
            """Note."""


def test_a_return_annotation_may_be_anything() -> None:
    @tool
    def note(text: str) -> Nothing:
        """Note."""

    assert list(properties(note)) == ["text"]


def test_types_of_the_enclosing_function_are_found() -> None:
    class Room(BaseModel):
        number: int

    @tool
    def enter(room: Room, rooms: list[Room]) -> None:
        """Enter."""

    assert properties(enter)["room"]["properties"] == {"number": {"type": "integer"}}
    assert enter.bind(enter.check({"room": {"number": 2}, "rooms": []}), context())["room"] == Room(number=2)


def test_another_class_called_state_is_an_argument() -> None:
    class State(BaseModel):
        name: str

    @tool
    def visit(state: State) -> None:
        """Visit."""

    assert list(properties(visit)) == ["state"]


def test_an_optional_parameter_is_its_type_and_may_be_left_out() -> None:
    @tool
    def book(room: int | None, note: str | None = None) -> None:
        """Book."""

    assert book.parameters == {
        "type": "object",
        "properties": {"room": {"type": "integer"}, "note": {"type": "string"}},
    }
    assert book.bind(book.check({}), context()) == {"room": None, "note": None}
    assert book.bind(book.check({"room": None, "note": "x"}), context()) == {"room": None, "note": "x"}


def test_a_default_that_can_change_is_fresh_for_each_call() -> None:
    @tool
    def add(items: list[str] = []) -> None:  # noqa: B006
        """Add."""

    add.bind(add.check({}), context())["items"].append("x")
    assert add.bind(add.check({}), context()) == {"items": []}


def test_parameters_may_have_names_that_pydantic_keeps_for_itself() -> None:
    @tool
    def odd(schema: str, model_config: int, copy: bool, _hidden: str = "h") -> None:
        """Odd."""

    assert odd.parameters["required"] == ["schema", "model_config", "copy"]
    bound = odd.bind(odd.check({"schema": "s", "model_config": 1, "copy": True}), context())
    assert bound == {"schema": "s", "model_config": 1, "copy": True, "_hidden": "h"}


def test_arguments_that_were_not_declared_are_passed_over() -> None:
    @tool
    def one(a: int) -> None:
        """Return the first."""

    assert one.bind(one.check({"a": 1, "b": 2}), context()) == {"a": 1}


def test_nested_models_are_inlined_and_checked() -> None:
    class Address(BaseModel):
        """Postal address."""

        street: str
        zone: Literal["north", "south"] = "north"

    class Guest(BaseModel):
        name: str
        home: Address
        others: list[Address] = Field(default_factory=list, description="Former ones.")

    @tool
    def register(guest: Guest) -> None:
        """Register."""

    text = str(register.parameters)
    assert not any(word in text for word in ("$ref", "$defs", "$schema", "title"))
    guest = properties(register)["guest"]
    assert guest["required"] == ["name", "home"]
    assert guest["properties"]["home"] == guest["properties"]["others"]["items"]
    assert guest["properties"]["home"]["description"] == "Postal address."
    with pytest.raises(ValueError, match=r"guest\.home\.street"):
        register.bind(register.check({"guest": {"name": "Ada", "home": {}}}), context())


def test_money_is_a_number() -> None:
    @tool
    def pay(amount: Annotated[Decimal, Field(gt=0, le=100)]) -> None:
        """Pay."""

    assert properties(pay)["amount"] == {"type": "number", "minimum": 0.0, "maximum": 100.0}
    assert pay.bind(pay.check({"amount": 12.5}), context()) == {"amount": Decimal("12.5")}


def test_a_default_that_json_cannot_hold_is_left_out_of_the_schema(recwarn: pytest.WarningsRecorder) -> None:
    marker = object()

    @tool
    def f(x: str = marker) -> None:  # type: ignore[assignment]
        """F."""

    assert properties(f) == {"x": {"type": "string"}}
    assert f.bind(f.check({}), context())["x"] is marker
    assert not recwarn.list


def test_a_field_as_a_default_is_refused_with_the_fix() -> None:
    with pytest.raises(AgentError, match=r"parameter people.*Annotated"):

        @tool
        def book(people: int = Field(ge=1)) -> None:
            """Book."""


def test_a_method_without_its_object_is_refused_and_a_bound_one_is_a_tool() -> None:
    class Desk:
        def ring(self, times: int) -> int:
            """Ring."""
            return times

    with pytest.raises(AgentError, match="bound method"):
        tool(Desk.ring)
    ring = tool(Desk().ring)
    assert (ring.name, list(properties(ring))) == ("ring", ["times"])


def test_partials_and_callable_objects_are_tools_when_they_have_a_name() -> None:
    def book(room: int, people: int) -> int:
        """Book."""
        return room * people

    class Answer:
        def __call__(self, what: str) -> str:
            """Answer."""
            return what

    partial = tool(name="book_two")(functools.partial(book, people=2))
    assert partial.parameters["required"] == ["room"]
    assert list(properties(tool(name="answer")(Answer()))) == ["what"]
    with pytest.raises(AgentError, match="not usable"):
        tool(Answer())


@pytest.mark.parametrize("thing", [3, "name", None.__class__])
def test_an_object_that_is_no_function_is_refused(thing: Any) -> None:
    with pytest.raises(AgentError):
        tool()(thing)


def test_generators_are_refused() -> None:
    with pytest.raises(AgentError, match="generator"):

        @tool
        def count() -> Any:
            """Count."""
            yield 1


def test_the_parameter_of_which_no_schema_can_be_made_is_named() -> None:
    with pytest.raises(AgentError, match=r"parameter lock\b"):

        @tool
        def f(a: int, lock: threading.Event) -> None:
            """F."""


def test_a_section_without_a_blank_line_before_it_is_no_part_of_the_description() -> None:
    def close(people: int) -> None:
        """Book a table
        for some people.
        Args:
            people: How many.
        """

    def sphinx(people: int) -> None:
        """Book a table.
        :param people: How many.
        """

    def only(people: int) -> None:
        """
        Args:
            people: How many.
        """

    assert [tool(function).description for function in (close, sphinx, only)] == [
        "Book a table for some people.",
        "Book a table.",
        "",
    ]
    assert tool(close).parameters["properties"]["people"]["description"] == "How many."


def test_an_entry_of_the_docstring_may_have_several_lines() -> None:
    @tool
    def f(a: int, b: str) -> None:
        """F.

        Args:
            a: The first
                note: of two.
            b (str): The second.

        Returns:
            c: nothing.
        """

    assert properties(f)["a"]["description"] == "The first note: of two."
    assert properties(f)["b"]["description"] == "The second."


# -- explicit schemas --------------------------------------------------------------------------------------------------

SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1},
        "days": {"type": ["integer", "null"], "minimum": 1, "maximum": 7},
        "unit": {"enum": ["C", "F"]},
        "places": {"type": "array", "items": {"$ref": "#/definitions/place"}},
    },
    "required": ["city", "days", "missing"],
    "definitions": {"place": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}},
}


def weather() -> Tool:
    return Tool.from_schema("weather", "The weather.", SCHEMA, lambda args: args)


def test_an_explicit_schema_is_narrowed_like_any_other() -> None:
    declared = weather()
    assert (declared.name, declared.description) == ("weather", "The weather.")
    assert declared.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": "integer", "minimum": 1, "maximum": 7},
            "unit": {"type": "string", "enum": ["C", "F"]},
            "places": {
                "type": "array",
                "items": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
            },
        },
        "required": ["city"],
    }


def test_arguments_are_passed_as_one_dict() -> None:
    args = {"city": "Rome", "days": 2.0, "places": [{"x": 1}], "more": [1]}
    bound = weather().bind(weather().check(args), context())
    assert bound == {"args": {"city": "Rome", "days": 2, "places": [{"x": 1}], "more": [1]}}
    assert isinstance(bound["args"]["days"], int)


def test_a_value_that_is_not_required_may_be_null() -> None:
    assert (
        weather().bind(weather().check({"city": "Rome", "days": None, "unit": None}), context())["args"]["days"] is None
    )


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({}, "city: is missing"),
        ({"city": 3}, "city: must be a string, not 3"),
        ({"city": None}, "city: must be a string, not null"),
        ({"city": "Rome", "days": 1.5}, "days: must be an integer"),
        ({"city": "Rome", "days": True}, "days: must be an integer, not true"),
        ({"city": "Rome", "days": 8}, "days: must be from 1 to 7"),
        ({"city": "Rome", "unit": "K"}, "unit: must be one of C, F"),
        ({"city": "Rome", "places": [{"x": 1}, {}]}, r"places\[1\].x: is missing"),
        ({"city": 3, "days": "x"}, "city: .*; days: "),
    ],
)
def test_arguments_that_do_not_fit_the_schema_are_named(args: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        weather().bind(weather().check(args), context())


def test_an_explicit_tool_may_have_context_and_state() -> None:
    def function(args: dict[str, Any], ctx: ToolContext, state: State) -> None: ...

    declared = Tool.from_schema("f", "F.", {"type": "object"}, function, background=True, scheduling="SILENT")
    given = context(State())
    assert declared.bind(declared.check({"a": 1}), given) == {"args": {"a": 1}, "ctx": given, "state": given.state}
    assert (declared.mode.is_background, declared.scheduling) == (True, "SILENT")


def test_a_function_of_several_parameters_does_not_take_an_explicit_schema() -> None:
    def function(a: int, b: int) -> None: ...

    with pytest.raises(AgentError, match="one dict, not 2"):
        Tool.from_schema("f", "F.", {}, function)


def test_an_explicit_schema_that_is_no_object_is_refused() -> None:
    with pytest.raises(AgentError, match="must be an object"):
        Tool.from_schema("f", "F.", {"type": "string"}, lambda args: args)


def test_a_state_outside_a_session_is_missed_by_name() -> None:
    @tool
    def note(state: State) -> None:
        """Note."""

    with pytest.raises(AgentError, match="note wants the session's State"):
        note.bind(note.check({}), context())
