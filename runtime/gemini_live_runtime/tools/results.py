"""A call and how it ended."""

from __future__ import annotations

import math
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticSerializationError

Status = Literal["ok", "error", "timeout", "cancelled", "refused"]

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool."""

    call_id: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one call ended; `result` is always an object. `cause` is for the log, not for the model."""

    call_id: str
    name: str
    status: Status
    result: dict[str, Any]
    ms: float
    cause: str = ""
    trace: str = ""
    """The traceback of a tool that raised, for the journal."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """What the call was made with."""

    @property
    def call(self) -> ToolCall:
        """The call that ended."""
        return ToolCall(self.call_id, self.name, self.args)


def outcome(call: ToolCall, status: Status, result: dict[str, Any], cause: str = "", trace: str = "") -> Outcome:
    """The outcome of `call`; whoever ran it stamps the time."""
    return Outcome(call.call_id, call.name, status, result, 0.0, cause, trace, call.args)


def fault(call: ToolCall, error: BaseException) -> Outcome:
    """The outcome of a call whose code raised."""
    said = f"it called sys.exit({error})" if isinstance(error, SystemExit) else str(error)
    trace = "".join(traceback.format_exception(error))
    return outcome(call, "error", {"error": said or type(error).__name__}, f"{type(error).__name__}: {error}", trace)


def as_object(value: Any) -> dict[str, Any]:
    """The JSON object of a tool's return value: an object as it is, anything else under `output`.

    Numbers that JSON does not have (NaN, infinities) become null. Raises `TypeError` for what cannot be written.
    """
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    try:
        plain = _finite(_ANY.dump_python(value, mode="json"))
    except (PydanticSerializationError, RecursionError, ValueError) as error:
        raise TypeError(f"its result cannot be written as JSON: {error}") from None
    return plain if isinstance(plain, dict) else {"output": plain}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value
