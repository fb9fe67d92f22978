"""Represent a tool call and its outcome."""

from __future__ import annotations

import math
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic_core import PydanticSerializationError

from gemini_live_runtime.author_code import error_text
from gemini_live_runtime.state.values import MAX_INT

Status = Literal["ok", "error", "timeout", "cancelled", "refused"]

# pydantic would turn NaN into null by itself, unseen.
_ANY: TypeAdapter[Any] = TypeAdapter(Any, config=ConfigDict(ser_json_inf_nan="constants"))


MAX_RESULT_CHARS = 1_000_000
"""Characters of the largest result: more than a model's context, and what can be encoded without blocking the loop."""

VALUE_CHARS = 32
"""Characters for which each value of a result counts besides its own."""

MAX_ERROR_CHARS = 10_000
"""Characters of an exception's text that are used; of its traceback the last ones, twice as many."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Call of a tool by the model."""

    call_id: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
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

    @property
    def call(self) -> ToolCall:
        """Call that ended."""
        return ToolCall(self.call_id, self.name, self.args)


def outcome(call: ToolCall, status: Status, result: dict[str, Any], cause: str = "", trace: str = "") -> Outcome:
    """Return an outcome of `call`; the runner sets `ms`."""
    return Outcome(call.call_id, call.name, status, result, 0.0, cause, trace, call.args)


def error_outcome(call: ToolCall, error: BaseException) -> Outcome:
    """Return the outcome of a call whose tool raised."""
    text = f"it called sys.exit({error})" if isinstance(error, SystemExit) else error_text(error).partition(": ")[2]
    if isinstance(error, KeyError) and len(error.args) == 1:
        # str() of a KeyError is its argument in quotes.
        text = str(error.args[0])
    text = text[:MAX_ERROR_CHARS]
    trace = "".join(traceback.format_exception(error))[-2 * MAX_ERROR_CHARS :]
    cause = error_text(error)[:MAX_ERROR_CHARS]
    return outcome(call, "error", {"error": text or type(error).__name__}, cause, trace)


def result_outcome(call: ToolCall, value: Any) -> Outcome:
    """Return the outcome of a call whose tool returned `value`.

    Its cause names the numbers that became null. A value above `MAX_RESULT_CHARS` is an error, found before it is
    encoded. Raises as `as_object` does.
    """
    nulls: list[str] = []
    # Looked at again as an object, because models and dataclasses are no containers before.
    result = {} if (too_large := is_too_large(value)) else as_object(value, nulls)
    if too_large or is_too_large(result):
        text = f"The result is above {MAX_RESULT_CHARS:,} characters, too large for a model. Return less at a time."
        return outcome(call, "error", {"error": text}, text)
    cause = f"JSON has no NaN and no infinity, so these became null: {', '.join(nulls[:10])}" if nulls else ""
    # The Live API documents an object with `error` as the way to report failure.
    return outcome(call, "error" if result.get("error") else "ok", result, cause)


def is_too_large(value: Any) -> bool:
    """Return True for a value above `MAX_RESULT_CHARS`, without looking at all of it."""
    left, waiting = MAX_RESULT_CHARS, [value]
    while waiting and left >= 0:
        item = waiting.pop()
        if isinstance(item, str | bytes | bytearray):
            left -= len(item)
        elif isinstance(item, Mapping | list | tuple | set | frozenset):
            left -= VALUE_CHARS * len(item)
            if left >= 0:
                waiting.extend(item)
                waiting.extend(item.values() if isinstance(item, Mapping) else ())
    return left < 0


def as_object(value: Any, nulls: list[str] | None = None) -> dict[str, Any]:
    """Return a tool's return value as a JSON object.

    A mapping, a dataclass or a pydantic model becomes the object itself, any other value its `output`. NaN and
    infinities become null; their places are added to `nulls`. Raises `TypeError` for a value that JSON cannot hold.
    """
    nulls = [] if nulls is None else nulls
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    try:
        plain = _finite(_ANY.dump_python(value, mode="json"), "result", nulls)
    except (PydanticSerializationError, RecursionError, ValueError) as error:
        raise TypeError(f"its result cannot be written as JSON: {error}") from None
    return plain if isinstance(plain, dict) else {"output": plain}


def _finite(value: Any, place: str, nulls: list[str]) -> Any:
    if type(value) is int and not -MAX_INT <= value <= MAX_INT:
        raise ValueError(f"{place} is a number of more than 308 digits")
    if isinstance(value, float) and not math.isfinite(value):
        nulls.append(place)
        return None
    if isinstance(value, dict):
        return {str(key): _finite(item, f"{place}.{key}", nulls) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item, f"{place}[{index}]", nulls) for index, item in enumerate(value)]
    return value
