"""Represent a tool call and its outcome."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field, is_dataclass, replace
from typing import Any, Literal, cast

from gemini_live_runtime.author_code import error_text, exact_text, plain_text, text_alone, traceback_of
from gemini_live_runtime.plain_types import is_plain_json
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.state.values import MAX_INT

Status = Literal["ok", "error", "timeout", "cancelled", "refused"]

MAX_RESULT_CHARS = 1_000_000
"""Characters of the largest result: more than a model's context, and what can be encoded without blocking the loop."""

MAX_RESULT_LEVELS = 90
"""Levels of nesting of the deepest result: a message has 100, of which an answer's envelope takes some."""

VALUE_CHARS = 32
"""Characters for which each value of a result counts besides its own."""

MAX_PARTS = 8
"""Items of a result among which an agent is looked for."""

MAX_ERROR_CHARS = 10_000
"""Characters of an exception's text that are used; of its traceback the last ones, twice as many."""


@frozen_record
class ToolCall:
    """Call of a tool by the model."""

    call_id: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)


@frozen_record
class Outcome:
    """Outcome of one call, after `ms` milliseconds.

    `result` is a JSON object for the model, `cause` a sentence for the log.
    """

    call_id: str
    name: str
    status: Status
    result: dict[str, Any]
    ms: float
    cause: str = ""
    trace: str = ""
    """Traceback of a tool that raised, for the journal."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the call."""
    task: str = ""
    """Id of the task as which the call goes on; "" for a call that has ended."""
    agent: Any = None
    """Agent that the tool returned, to hand the conversation over to; None for other results."""

    @property
    def call(self) -> ToolCall:
        """Call that ended."""
        return ToolCall(self.call_id, self.name, self.args)


def outcome(call: ToolCall, status: Status, result: dict[str, Any], cause: str = "", trace: str = "") -> Outcome:
    """Return an outcome of `call`; the runner sets `ms`."""
    return Outcome(call.call_id, call.name, status, result, 0.0, cause, trace, call.args)


def error_outcome(call: ToolCall, error: BaseException) -> Outcome:
    """Return the outcome of a call whose tool raised."""
    text = text_alone(error)
    if isinstance(error, SystemExit):
        text = f"it called sys.exit({text})"
    elif isinstance(error, KeyError) and len(error.args) == 1 and isinstance(error.args[0], str):
        # str() of a KeyError is its argument in quotes.
        text = plain_text(error.args[0])
    text = text[:MAX_ERROR_CHARS]
    trace = traceback_of(error)[-2 * MAX_ERROR_CHARS :]
    cause = error_text(error)[:MAX_ERROR_CHARS]
    return outcome(call, "error", {"error": text or type(error).__name__}, cause, trace)


class ResultTooLargeError(TypeError):
    """Result above `MAX_RESULT_CHARS` or `MAX_RESULT_LEVELS`; told to the model."""


def _too_long(chars: int) -> ResultTooLargeError:
    limit = f"{MAX_RESULT_CHARS:,}"
    return ResultTooLargeError(
        f"The result has at least {chars:,} characters, above the limit of {limit}. Return less at a time."
    )


def _too_deep() -> ResultTooLargeError:
    return ResultTooLargeError(
        f"The result has more than {MAX_RESULT_LEVELS} levels of nesting, the limit. Return fewer levels at a time."
    )


class IteratorResultError(TypeError):
    """Result with an iterator, whose code may not run here."""


def result_outcome(call: ToolCall, value: Any, *, iterates: bool = True) -> Outcome:
    """Return the outcome of a call whose tool returned `value`.

    Its cause names the numbers that became null. A value that is too large is an error, found before it is encoded.
    Raises as `as_object` does.
    """
    nulls: list[str] = []
    if _is_agent_class(value) or (isinstance(value, tuple | list) and any(map(_is_agent_class, value[:MAX_PARTS]))):
        text = "The tool returned the class of an agent: make one, by calling the class"
        return outcome(call, "error", {"error": text}, text)
    value, agents = _without_agents(value)
    if len(agents) > 1:
        named = " and ".join(agent.name for agent in agents)
        text = f"The tool returned {len(agents)} agents, {named}: a conversation is handed over to one"
        return outcome(call, "error", {"error": text}, text)
    try:
        result = as_object(value, nulls, iterates=iterates)
    except ResultTooLargeError as error:
        return outcome(call, "error", {"error": str(error)}, str(error))
    # The Live API documents an object with `error` as the way to report failure.
    ended = outcome(call, "error" if result.get("error") else "ok", result, nulls_text(nulls))
    return replace(ended, agent=agents[0]) if agents and ended.status == "ok" else ended


def _without_agents(value: Any) -> tuple[Any, list[Any]]:
    """Return what a tool returned without the agents in it, and these."""
    if is_agent(value):
        return {"handed_over_to": value.name}, [value]
    if not isinstance(value, tuple | list) or len(value) > MAX_PARTS or not any(map(is_agent, value)):
        return value, []
    agents = [item for item in value if is_agent(item)]
    others = [item for item in value if not is_agent(item)]
    rest = others[0] if len(others) == 1 else others
    return rest if others else {"handed_over_to": agents[0].name}, agents


def _is_agent_class(value: Any) -> bool:
    return isinstance(value, type) and getattr(value, "is_agent", False) is True


def is_agent(value: Any) -> bool:
    """Return True for an agent, however it was defined."""
    return getattr(type(value), "is_agent", False) is True


def nulls_text(nulls: Sequence[str]) -> str:
    """Return a sentence that names the places of numbers that became null, or ""."""
    return f"JSON has no NaN and no infinity, so these became null: {', '.join(nulls[:10])}" if nulls else ""


def as_object(value: Any, nulls: list[str] | None = None, *, iterates: bool = True) -> dict[str, Any]:
    """Return a tool's return value as a JSON object.

    A mapping, a dataclass or a pydantic model becomes the object itself, any other value its `output`; an iterator
    becomes a list. NaN and infinities become null; their places are added to `nulls`. Raises `TypeError` for a value
    that JSON cannot hold, `ResultTooLargeError` above `MAX_RESULT_CHARS` or `MAX_RESULT_LEVELS`, found before it is
    encoded, and `IteratorResultError` for an iterator unless `iterates`: taking its items runs the author's code.
    """
    nulls = [] if nulls is None else nulls
    try:
        value = _Bounded(iterates).copy(value)
    except RecursionError as error:
        raise TypeError(f"its result cannot be written as JSON: {error}") from None
    try:
        plain = _finite(value if is_plain_json(value) else _dumped(value), "result", nulls)
        # Measured again as an object, because models and dataclasses are no containers before.
        plain = _Bounded().copy(plain if isinstance(plain, dict) else {"output": plain})
    except (RecursionError, ValueError) as error:
        raise TypeError(f"its result cannot be written as JSON: {error}") from None
    return cast("dict[str, Any]", plain)


def _dumped(value: Any) -> Any:
    """Return a value as JSON, by pydantic, but with NaN and infinities."""
    # Imported here, for most results are plain.
    from pydantic import BaseModel, ConfigDict, TypeAdapter

    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return TypeAdapter(Any, config=ConfigDict(ser_json_inf_nan="constants")).dump_python(value, mode="json")


class _Bounded:
    """Copier of containers within `MAX_RESULT_CHARS` and `MAX_RESULT_LEVELS`."""

    def __init__(self, iterates: bool = True) -> None:
        self._taken = 0
        self._iterates = iterates

    def copy(self, value: Any, level: int = 1) -> Any:
        """Return `value` with lists in place of its iterators, sets and tuples."""
        if isinstance(value, str | bytes | bytearray):
            self._take(len(value))
        elif isinstance(value, Mapping | list | tuple | set | frozenset | Iterator):
            if level > MAX_RESULT_LEVELS:
                raise _too_deep()
            return self._copy_container(value, level + 1)
        return value

    def _copy_container(self, value: Any, inner: int) -> Any:
        if isinstance(value, Iterator):
            if not self._iterates:
                raise IteratorResultError(f"its result holds a {type(value).__name__}")
            return [self._copy_next(item, inner) for item in value]
        self._take(VALUE_CHARS * len(value))
        if isinstance(value, Mapping):
            self._take(sum(len(key) for key in value if isinstance(key, str | bytes)))
            return {key: self.copy(item, inner) for key, item in value.items()}
        return [self.copy(item, inner) for item in value]

    def _copy_next(self, item: Any, level: int) -> Any:
        self._take(VALUE_CHARS)
        return self.copy(item, level)

    def _take(self, chars: int) -> None:
        self._taken += chars
        if self._taken > MAX_RESULT_CHARS:
            raise _too_long(self._taken)


def _finite(value: Any, place: str, nulls: list[str]) -> Any:
    if type(value) is int and not -MAX_INT <= value <= MAX_INT:
        raise ValueError(f"{place} is a number of more than 308 digits")
    if isinstance(value, float) and not math.isfinite(value):
        nulls.append(place)
        return None
    if isinstance(value, dict):
        return {str(exact_text(key)): _finite(item, f"{place}.{key}", nulls) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item, f"{place}[{index}]", nulls) for index, item in enumerate(value)]
    return value
