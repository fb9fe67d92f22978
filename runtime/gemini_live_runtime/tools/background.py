"""Word the answers to tool calls, in the background or not.

The model waits for the one answer to a standard call. A background call gets two: an acknowledgement at once, which
leaves the call open (`will_continue`), and the result when the call ends, scheduled by `Scheduling`. The functions here
return the answers as data; the session sends them.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Literal, Protocol, get_args

from gemini_live_runtime.author_code import USER_ERRORS, error_text
from gemini_live_runtime.choices import as_choice
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.records import frozen_record, record
from gemini_live_runtime.tools.results import Outcome, ToolCall, as_object, nulls_text
from gemini_live_runtime.tools.running import RunningCalls

DEFAULT_BUDGET_MS = 300.0
"""Milliseconds in which a spillable tool is answered by default, about a pause in talk."""

Scheduling = Literal["INTERRUPT", "WHEN_IDLE", "SILENT"]
"""Moment at which a model that did not wait uses a result: at once, when idle, or silently."""


class ResultFormatter(Protocol):
    """Wording of a background call's answers. Each method returns a JSON object."""

    def format_running(self, call: ToolCall) -> dict[str, Any]:
        """Return the answer to a call that has begun."""
        ...

    def format_result(self, call: ToolCall, outcome: Outcome) -> dict[str, Any]:
        """Return the answer for a result, an error, a timeout or a refusal."""
        ...

    def format_cancelled(self, call: ToolCall) -> dict[str, Any]:
        """Return the answer for a call that was cancelled on this side.

        Not called for a call that the server cancelled: that gets no answer.
        """
        ...


class DefaultResultFormatter:
    """Formatter with `status`, the tool's name, and its result or error."""

    def format_running(self, call: ToolCall) -> dict[str, Any]:
        """Return `{"status": "running", "tool": name}`."""
        return {"status": "running", "tool": call.name}

    def format_result(self, call: ToolCall, outcome: Outcome) -> dict[str, Any]:
        """Return `status` "completed" with `result`, or "error" with `error`."""
        if outcome.status == "ok":
            return {"status": "completed", "tool": call.name, "result": outcome.result}
        return {"status": "error", "tool": call.name, "error": outcome.result.get("error") or outcome.status}

    def format_cancelled(self, call: ToolCall) -> dict[str, Any]:
        """Return `{"status": "cancelled", "call_id": id}`."""
        return {"status": "cancelled", "call_id": call.call_id}


@frozen_record
class ToolExecutionMode:
    """Way to answer a tool's calls.

    Create one with `standard`, `background` or `budget`.
    Raises `AgentError` for an unknown kind or scheduling, an object that is no `ResultFormatter`, or a budget that is
    no number above 0.
    """

    kind: Literal["standard", "background", "budget"] = "standard"
    scheduling: Scheduling | None = None
    formatter: ResultFormatter = field(default_factory=DefaultResultFormatter, compare=False)
    budget_ms: float | None = None
    """Milliseconds in which a call of kind "budget" is answered: with its result, or with the id of its task."""

    @classmethod
    def standard(cls, scheduling: Scheduling | None = None) -> ToolExecutionMode:
        """Answer once, when the call ends.

        The model waits for the answer, unless `scheduling` is set.
        """
        return cls("standard", scheduling)

    @classmethod
    def background(
        cls, formatter: ResultFormatter | None = None, scheduling: Scheduling = "WHEN_IDLE"
    ) -> ToolExecutionMode:
        """Acknowledge at once, and send the result with `scheduling` when the call ends."""
        return cls("background", scheduling, DefaultResultFormatter() if formatter is None else formatter)

    @classmethod
    def budget(cls, budget_ms: float = DEFAULT_BUDGET_MS) -> ToolExecutionMode:
        """Answer when the call ends, or after `budget_ms` with the id of its task.

        The call goes on as a `HarnessTask` then, whose end is a notification.
        """
        return cls("budget", None, budget_ms=budget_ms)

    def __post_init__(self) -> None:
        """Validate the kind, the scheduling, the formatter and the budget."""
        kinds = ("standard", "background", "budget")
        kind = as_choice(self.kind, kinds)
        if kind not in kinds:
            remedy = "Use ToolExecutionMode.standard(), .background() or .budget()"
            raise AgentError(f"Unknown kind of tool {kind!r:.60}", remedy=remedy, field="kind", value=kind)
        object.__setattr__(self, "kind", kind)
        allowed = get_args(Scheduling)
        object.__setattr__(self, "scheduling", as_choice(self.scheduling, allowed))
        if self.scheduling not in (allowed if self.is_background else (*allowed, None)):
            raise AgentError(
                f"Unknown scheduling {self.scheduling!r}",
                remedy=f"Use one of {', '.join(allowed)}",
                field="scheduling",
                value=self.scheduling,
            )
        for method in ("format_running", "format_result", "format_cancelled"):
            if not callable(getattr(self.formatter, method, None)):
                raise AgentError(
                    f"{type(self.formatter).__name__} is not a ResultFormatter: it has no method {method}",
                    field="formatter",
                    value=self.formatter,
                )
        budget_ms = self.budget_ms
        if (self.kind == "budget") != (budget_ms is not None) or (
            budget_ms is not None and not (is_finite(budget_ms) and budget_ms > 0)
        ):
            raise AgentError(
                f"budget_ms must be a number above 0, not {budget_ms!r:.60}",
                remedy="Give milliseconds",
                field="budget_ms",
                value=budget_ms,
            )

    @property
    def is_background(self) -> bool:
        """True when calls are acknowledged before they end."""
        return self.kind == "background"

    @property
    def spills(self) -> bool:
        """True when a call that takes longer than its budget goes on as a task."""
        return self.kind == "budget"

    @property
    def blocking(self) -> bool:
        """True when the model waits for the answer."""
        return self.scheduling is None


STANDARD = ToolExecutionMode.standard()


@record
class ToolAnswer:
    """Function response to send.

    `problem` reports numbers that became null, or that the formatter raised `error` and the default formatter worded
    the response.
    """

    response: dict[str, Any]
    scheduling: Scheduling | None = None
    will_continue: bool | None = None
    problem: str = ""
    error: BaseException | None = field(default=None, compare=False, repr=False)


def acknowledgement(call: ToolCall, mode: ToolExecutionMode, *, async_tools: bool = True) -> ToolAnswer | None:
    """Return the answer to send when `call` begins, or None.

    Only background tools of a model with async tools have one. It leaves the call open (`will_continue`) and has no
    scheduling: that belongs to the result.
    """
    if not mode.is_background or not async_tools:
        return None
    response, problem, error = _format(mode, "format_running", call)
    return ToolAnswer(response, None, True, problem, error)


def final_answer(outcome: Outcome, mode: ToolExecutionMode, *, async_tools: bool = True) -> ToolAnswer:
    """Return the answer that closes an ended call.

    Send none for a call that the server cancelled.
    """
    scheduling = mode.scheduling if async_tools else None
    if not mode.is_background:
        result = outcome.result
        if outcome.status == "cancelled" and not result:
            result = {"error": f"{outcome.name} was cancelled before it had a result"}
        return ToolAnswer(result, scheduling)
    if outcome.status == "cancelled":
        response, problem, error = _format(mode, "format_cancelled", outcome.call)
    else:
        response, problem, error = _format(mode, "format_result", outcome.call, outcome)
    return ToolAnswer(response, scheduling, False if async_tools else None, problem, error)


def _format(mode: ToolExecutionMode, method: str, *args: Any) -> tuple[dict[str, Any], str, BaseException | None]:
    if type(mode.formatter) is DefaultResultFormatter:
        # JSON of a result that was measured already; around it there is room for this wording.
        response: dict[str, Any] = getattr(mode.formatter, method)(*args)
        return response, "", None
    try:
        nulls: list[str] = []
        response = as_object(getattr(mode.formatter, method)(*args), nulls)
        return response, f"{type(mode.formatter).__name__}.{method}: {nulls_text(nulls)}" if nulls else "", None
    except USER_ERRORS as error:
        problem = f"{type(mode.formatter).__name__}.{method}: {error_text(error)}"
        default: dict[str, Any] = getattr(DefaultResultFormatter(), method)(*args)
        return default, problem, error


class BackgroundToolTracker(RunningCalls):
    """Running background calls by id."""

    id_prefix: ClassVar[str] = "background"
