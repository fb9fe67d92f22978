"""Background tools: the call is acknowledged at once, the conversation goes on, and the result comes when it is there.

What to send is data: `acknowledgement` when a call begins, `final_answer` when it ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, get_args

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.tools.results import Outcome, ToolCall, as_object
from gemini_live_runtime.tools.running import RunningCalls

Scheduling = Literal["INTERRUPT", "WHEN_IDLE", "SILENT"]
"""When a model that did not wait takes up a result: at once, when it is idle, or without a word."""


class ResultFormatter(Protocol):
    """What the model is told of a background call. Each method gives a JSON object."""

    def format_running(self, call: ToolCall) -> dict[str, Any]:
        """The call has begun."""
        ...

    def format_result(self, call: ToolCall, outcome: Outcome) -> dict[str, Any]:
        """The call ended in `outcome`: a result, an error, a timeout or a refusal."""
        ...

    def format_cancelled(self, call: ToolCall) -> dict[str, Any]:
        """The call was cancelled on this side; for one that the server cancelled nothing is sent."""
        ...


class DefaultResultFormatter:
    """`status`, the tool's name, and its result or error."""

    def format_running(self, call: ToolCall) -> dict[str, Any]:
        """`{"status": "running", "tool": name}`."""
        return {"status": "running", "tool": call.name}

    def format_result(self, call: ToolCall, outcome: Outcome) -> dict[str, Any]:
        """`{"status": "completed", "tool": name, "result": result}`, or `"error"` with the error's text."""
        if outcome.status == "ok":
            return {"status": "completed", "tool": call.name, "result": outcome.result}
        return {"status": "error", "tool": call.name, "error": outcome.result.get("error") or outcome.status}

    def format_cancelled(self, call: ToolCall) -> dict[str, Any]:
        """`{"status": "cancelled", "call_id": id}`."""
        return {"status": "cancelled", "call_id": call.call_id}


@dataclass(frozen=True, slots=True)
class ToolExecutionMode:
    """How a tool's calls are answered: make one with `standard` or `background`.

    Raises `AgentError` for a scheduling or a formatter that cannot be used.
    """

    kind: Literal["standard", "background"] = "standard"
    scheduling: Scheduling | None = None
    formatter: ResultFormatter = field(default_factory=DefaultResultFormatter, compare=False)

    @classmethod
    def standard(cls, scheduling: Scheduling | None = None) -> ToolExecutionMode:
        """One answer when the call ends. The model waits for it, unless its scheduling is given."""
        return cls("standard", scheduling)

    @classmethod
    def background(
        cls, formatter: ResultFormatter | None = None, scheduling: Scheduling = "WHEN_IDLE"
    ) -> ToolExecutionMode:
        """An acknowledgement at once, and the result with `scheduling` when the call ends."""
        return cls("background", scheduling, DefaultResultFormatter() if formatter is None else formatter)

    def __post_init__(self) -> None:
        """Validate."""
        allowed = get_args(Scheduling)
        if self.scheduling not in (allowed if self.is_background else (*allowed, None)):
            raise AgentError(
                f"There is no scheduling {self.scheduling!r}",
                remedy=f"Use one of {', '.join(allowed)}",
                field="scheduling",
                value=self.scheduling,
            )
        for method in ("format_running", "format_result", "format_cancelled"):
            if not callable(getattr(self.formatter, method, None)):
                raise AgentError(
                    f"{type(self.formatter).__name__} is not a ResultFormatter: it has no {method}",
                    field="formatter",
                    value=self.formatter,
                )

    @property
    def is_background(self) -> bool:
        """Whether calls are acknowledged before they end."""
        return self.kind == "background"

    @property
    def blocking(self) -> bool:
        """Whether the model waits for the answer."""
        return self.scheduling is None


STANDARD = ToolExecutionMode.standard()


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """One function response. `problem` says that a formatter failed (`error`) and the default one was used instead."""

    response: dict[str, Any]
    scheduling: Scheduling | None = None
    will_continue: bool | None = None
    problem: str = ""
    error: BaseException | None = field(default=None, compare=False, repr=False)


def acknowledgement(call: ToolCall, mode: ToolExecutionMode, *, async_tools: bool = True) -> ToolAnswer | None:
    """What to send when `call` begins: None, except for a background tool of a model that takes async tools.

    It leaves the call open (`will_continue`) and carries no scheduling, which is the result's.
    """
    if not mode.is_background or not async_tools:
        return None
    response, problem, error = _formatted(mode, "format_running", call)
    return ToolAnswer(response, None, True, problem, error)


def final_answer(outcome: Outcome, mode: ToolExecutionMode, *, async_tools: bool = True) -> ToolAnswer:
    """What to send when a call has ended; it closes the call. Not for calls that the server cancelled."""
    scheduling = mode.scheduling if async_tools else None
    if not mode.is_background:
        result = outcome.result
        if outcome.status == "cancelled" and not result:
            result = {"error": f"{outcome.name} was cancelled before it had a result"}
        return ToolAnswer(result, scheduling)
    if outcome.status == "cancelled":
        response, problem, error = _formatted(mode, "format_cancelled", outcome.call)
    else:
        response, problem, error = _formatted(mode, "format_result", outcome.call, outcome)
    return ToolAnswer(response, scheduling, False if async_tools else None, problem, error)


def _formatted(mode: ToolExecutionMode, method: str, *args: Any) -> tuple[dict[str, Any], str, BaseException | None]:
    try:
        return as_object(getattr(mode.formatter, method)(*args)), "", None
    except (Exception, SystemExit) as error:
        problem = f"{type(mode.formatter).__name__}.{method}: {type(error).__name__}: {error}"
        default: dict[str, Any] = getattr(DefaultResultFormatter(), method)(*args)
        return default, problem, error


class BackgroundToolTracker(RunningCalls):
    """The background calls that are running, by id."""

    made_up_ids: ClassVar[str] = "background"
