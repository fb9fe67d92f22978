"""Reading and writing values of plain types beside pydantic."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from gemini_live_runtime import commands, tool
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.harness.consent_store import ConsentRecord
from gemini_live_runtime.harness.memory import MemoryRecord
from gemini_live_runtime.harness.notifications import HarnessNotification
from gemini_live_runtime.harness.tasks import HarnessTask, TaskEvent, TaskResult
from gemini_live_runtime.plain_types import (
    JSON_CONFIG,
    MisfitError,
    Within,
    is_plain_json,
    plain_record,
    plain_type,
)
from gemini_live_runtime.records import keyword_record

PLAIN: list[Any] = [
    str,
    int,
    float,
    bool,
    Any,
    Literal["one"],
    Literal["one", "two"],
    str | None,
    list[int],
    list[str | None],
    tuple[float, ...],
    dict[str, Any],
    dict[str, list[bool]],
    Annotated[int, Within(ge=1, le=12)],
    Annotated[float, Within(gt=0, lt=10)],
    Annotated[str, Within(min_length=1, max_length=3)],
]
NOT_PLAIN: list[Any] = [
    bytes,
    list,
    dict[int, str],
    int | str,
    Literal[1],
    tuple[int, str],
    Annotated[int, Field(ge=1)],
    StrEnum("Kind", ["A"]),
    BaseModel,
    "int",
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 15)
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["one", "two", "1", "true", "\ud800", b"one"]),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
RECORDS = [HarnessTask, TaskEvent, TaskResult, HarnessNotification, MemoryRecord, ConsentRecord]


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@keyword_record
class Part:
    __pydantic_config__ = JSON_CONFIG

    part_name: str
    weight_g: float | None = None


@keyword_record
class Thing:
    __pydantic_config__ = JSON_CONFIG

    full_name: str
    colour: Colour = Colour.RED
    parts: tuple[Part, ...] = ()
    main_part: Part | None = None
    details: Any = None


def _same(left: Any, right: Any) -> bool:
    return repr(left) == repr(right) and type(left) is type(right)


@pytest.mark.parametrize("annotation", PLAIN, ids=str)
@given(value=VALUES)
@example(value=2**53 + 1)
@example(value="one")
@example(value=["a\udfff"])
def test_a_value_is_read_as_pydantic_reads_it_or_not_at_all(annotation: Any, value: Any) -> None:
    plain = plain_type(annotation)
    assert plain is not None
    try:
        found = plain.read(value)
    except MisfitError:
        return
    assert _same(found, TypeAdapter(annotation).validate_python(value))


@pytest.mark.parametrize("annotation", PLAIN, ids=str)
@given(value=VALUES)
def test_what_was_read_is_written_as_pydantic_writes_it_or_not_at_all(annotation: Any, value: Any) -> None:
    plain = plain_type(annotation)
    assert plain is not None
    try:
        read = plain.read(value)
        written = plain.write(read)
    except MisfitError:
        return
    assert _same(written, TypeAdapter(annotation).dump_python(read, mode="json"))


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (str, "é"),
        (int, 10**30),
        (float, 0.5),
        (float, 2),
        (bool, False),
        (Any, {"a": [None]}),
        (Literal["one", "two"], "two"),
        (str | None, None),
        (list[int], [1, 2]),
        (tuple[float, ...], [1.5]),
        (dict[str, list[bool]], {"a": [True]}),
        (Annotated[int, Within(ge=1, le=12)], 12),
        (Annotated[float, Within(gt=0, lt=10)], 0.1),
        (Annotated[str, Within(min_length=1, max_length=3)], "abc"),
    ],
)
def test_a_value_of_its_plain_type_needs_no_pydantic(annotation: Any, value: Any) -> None:
    plain = plain_type(annotation)
    assert plain is not None
    assert plain.read(value) == TypeAdapter(annotation).validate_python(value)


@pytest.mark.parametrize("annotation", NOT_PLAIN, ids=str)
def test_any_other_type_is_left_to_pydantic(annotation: Any) -> None:
    assert plain_type(annotation) is None


@pytest.mark.parametrize("annotation", PLAIN, ids=str)
def test_a_plain_type_has_pydantic_s_schema(annotation: Any) -> None:
    plain = plain_type(annotation)
    assert plain is not None
    assert plain.schema == TypeAdapter(annotation).json_schema()


@pytest.mark.parametrize(("bounds", "wrong"), [({"ge": 1}, 0), ({"gt": 1}, 1), ({"le": 1}, 2), ({"lt": 1}, 1)])
def test_pydantic_refuses_a_number_that_is_not_within_bounds(bounds: dict[str, float], wrong: int) -> None:
    annotation = Annotated[int, Within(**bounds)]
    plain = plain_type(annotation)
    assert plain is not None
    with pytest.raises(MisfitError):
        plain.read(wrong)
    with pytest.raises(ValidationError):
        TypeAdapter(annotation).validate_python(wrong)


@pytest.mark.parametrize("cls", commands.ORDERS.values())
def test_every_command_is_read_without_pydantic(cls: type[Any]) -> None:
    assert plain_record(cls) is not None


@pytest.mark.parametrize("cls", RECORDS)
def test_every_record_of_the_harness_is_read_without_pydantic(cls: type[Any]) -> None:
    assert plain_record(cls) is not None


_json = VALUES.filter(is_plain_json)
_parts = st.fixed_dictionaries({}, optional={"partName": st.text(), "part_name": st.text(), "weightG": _json})
_things = st.fixed_dictionaries(
    {},
    optional={
        "fullName": st.text(),
        "full_name": st.text(),
        "colour": st.sampled_from(["red", "blue", "green", 1]),
        "parts": st.lists(_parts, max_size=2) | st.none(),
        "mainPart": _parts | st.none(),
        "details": _json,
        "more": _json,
    },
)


@given(value=_things)
@example(value={"fullName": "a", "colour": "blue", "parts": [{"partName": "b", "weightG": 1}], "details": {"c": None}})
def test_a_record_is_read_and_written_as_pydantic_does_or_not_at_all(value: dict[str, Any]) -> None:
    plain, adapter = plain_record(Thing), TypeAdapter(Thing)
    assert plain is not None
    try:
        read = plain.read(value)
        written = plain.write(read)
    except MisfitError:
        return
    assert read == adapter.validate_python(value)
    whole = adapter.dump_python(read, mode="json", by_alias=True, exclude_none=True, warnings="error")
    assert json.dumps(written) == json.dumps(whole)


def test_a_record_with_all_its_parts_needs_no_pydantic() -> None:
    plain = plain_record(Thing)
    assert plain is not None
    thing = Thing(full_name="a", colour=Colour.BLUE, parts=(Part(part_name="b", weight_g=1.5),))
    value = {"fullName": "a", "colour": "blue", "parts": [{"partName": "b", "weightG": 1.5}]}
    assert (plain.read(value), plain.write(thing)) == (thing, value)
    with pytest.raises(MisfitError):
        plain.write(Thing(full_name=1))  # type: ignore[arg-type]
    with pytest.raises(MisfitError):
        plain.read({"full_name": "a", "fullName": "b"})


def test_what_is_no_record_has_no_plain_type_of_one() -> None:
    assert plain_record(dict) is None


def test_deep_values_are_left_to_pydantic() -> None:
    deep: Any = []
    for _ in range(70):
        deep = [deep]
    assert not is_plain_json(deep)
    assert is_plain_json(deep[0][0][0][0][0][0][0][0])


def test_the_bounds_of_the_harness_s_numbers_are_pydantic_s() -> None:
    hints = get_type_hints(TaskEvent, include_extras=True)
    for value in (-1, 2**53 + 1):
        with pytest.raises(ValidationError):
            TypeAdapter(hints["sequence"]).validate_python(value)


def test_the_default_demo_begins_without_large_libraries(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from gemini_live_runtime.agents.concierge import concierge\n"
        "from gemini_live_runtime.engine import assemble, process\n"
        "from gemini_live_runtime.harness.memory import MemoryWrite\n"
        "from gemini_live_runtime.harness.store import Harness\n"
        "from gemini_live_runtime.session.definition.description import describe\n"
        "from gemini_live_runtime.tools.results import as_object\n"
        "from gemini_live_runtime.vocabulary import command_from_line\n"
        "plan = concierge().plan()\n"
        "describe(plan)\n"
        "tools = {tool.name: tool for tool in plan.declared}\n"
        "assert tools['book_table'].check({'people': 2, 'time': '19:00'}) == {'people': 2, 'time': '19:00'}\n"
        "assert as_object({'people': 2, 'rooms': [1.5, None]}) == {'people': 2, 'rooms': [1.5, None]}\n"
        'command_from_line(\'{"id": "c1", "command": "text.send", "data": {"text": "hello"}}\')\n'
        "with Harness.open(sys.argv[1]) as harness:\n"
        "    harness.memory.put(MemoryWrite(scope='user', key='name', value='Ann'))\n"
        "    assert harness.memory.get('user', 'name').value == 'Ann'\n"
        "print(*{'pydantic', 'numpy', 'html.parser', 'decimal', 'difflib'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "h")], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({}, "Within\\(\\) has no bounds. Give one of gt, ge, lt, le, min_length, max_length."),
        ({"ge": "1"}, "Within\\(ge='1'\\) is no bound. Give a number."),
        ({"le": math.nan}, "Within\\(le=nan\\) is no bound."),
        ({"gt": True}, "Within\\(gt=True\\) is no bound."),
        ({"max_length": -1}, "Within\\(max_length=-1\\) is no bound. Give a whole number from 0 on."),
        ({"min_length": 1.5}, "Within\\(min_length=1.5\\) is no bound."),
    ],
)
def test_bounds_that_are_none_are_refused(bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        Within(**bounds)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (Annotated[str, Within(ge=1)], "Within\\(ge=1\\) is no bound of str. Use min_length, max_length."),
        (Annotated[int, Within(max_length=3)], "Within\\(max_length=3\\) is no bound of int. Use gt, ge, lt, le."),
        (Annotated[bool, Within(le=1)], "Within\\(le=1\\) is no bound of bool. A flag has no bounds."),
    ],
)
def test_a_tool_refuses_bounds_that_do_not_fit_its_parameter(annotation: Any, message: str) -> None:
    def act(value: Any) -> None:
        """Act."""

    act.__annotations__["value"] = annotation
    with pytest.raises(AgentError, match=message):
        tool(act)


@pytest.mark.parametrize(
    "annotation", [Annotated[int | None, Within(ge=3)], Annotated[list[int], Within(min_length=3)]]
)
def test_bounds_of_other_types_are_checked_by_pydantic(annotation: Any) -> None:
    assert plain_type(annotation) is None
    adapter = TypeAdapter(annotation)
    assert adapter.json_schema() == TypeAdapter(Annotated[annotation.__origin__, _field_of(annotation)]).json_schema()
    for value in (2, [1, 2]):
        with pytest.raises(ValidationError):
            adapter.validate_python(value)


def _field_of(annotation: Any) -> Any:
    (within,) = annotation.__metadata__
    return Field(**within.bounds)
