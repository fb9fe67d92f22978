"""Declare functions as tools, by their signatures or with a JSON schema."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Literal, get_args, overload

from gemini_live_runtime.author_code import exact_text
from gemini_live_runtime.choices import as_choice
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.tools.background import (
    DEFAULT_BUDGET_MS,
    STANDARD,
    ResultFormatter,
    Scheduling,
    ToolExecutionMode,
)
from gemini_live_runtime.tools.consent import ConsentPolicy, check_policy
from gemini_live_runtime.tools.context import ToolContext
from gemini_live_runtime.tools.kinds import ToolKind
from gemini_live_runtime.tools.parameters import BadArguments, Parameters, from_function, from_schema, parse_docstring
from gemini_live_runtime.tools.voice_consent import ToolRisk, check_question, check_risk

__all__ = ["BadArguments", "Scheduling", "Tool", "ToolContext", "tool"]

Restart = Literal["", "again", "continue"]
"""Way to go on with a task whose program died: not at all, from the beginning, or from its newest checkpoint."""

DEFAULT_TIMEOUT_S = 30.0
TASK_TIMEOUT_S = 3600.0
BACKGROUND_TIMEOUT_S = 600.0
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")


@frozen_record(kw_only=True)
class Tool:
    """Declared tool: create one with `@tool` or `Tool.from_schema`.

    `mode` is the way to answer its calls; `timeout_s` (seconds, above 0) is the limit of one call.
    """

    name: str
    description: str
    function: Callable[..., Any]
    signature: Parameters = field(repr=False)
    mode: ToolExecutionMode = STANDARD
    timeout_s: float = DEFAULT_TIMEOUT_S
    side_effects: bool = False
    """True when a call changes something outside the program: it runs once its intent is on the disk."""
    idempotent: bool = False
    """True when a call may run again after the program died in it."""
    kind: ToolKind = ToolKind.LOCAL
    """Origin of the tool; that of a provider's tools is the provider's."""
    consent: ConsentPolicy = "allow"
    """Rule for its calls: run them, ask the operator first, or refuse them."""
    restart: Restart = ""
    """Way in which a task whose program died may be started anew with its arguments."""
    after_notification: bool = True
    """False when its calls are refused that follow from a notification."""
    voice_consent: str = ""
    """Question that asks the user aloud, with the names of parameters in braces; "": only keys answer."""
    risk: ToolRisk = ""
    """Thing that it touches for which no spoken consent counts; "" for none."""
    always_asks: bool = False
    """True when no policy lets its calls run unasked, and no consent to them is remembered."""
    explain: Callable[[Mapping[str, Any]], str] | None = field(default=None, compare=False, repr=False)
    """Returns what a call with such arguments would do, for the one who is asked."""
    defined_at: str = field(default_factory=caller_place, compare=False, repr=False)
    """Source line of the declaration, as `file.py:12`."""

    def __post_init__(self) -> None:
        if not isinstance(self.description, str):
            raise AgentError(
                f"Tool {self.name}: its description is {self.description!r:.60}",
                remedy="Give a text",
                field="description",
                value=self.description,
            )
        object.__setattr__(self, "name", exact_text(self.name))
        object.__setattr__(self, "description", exact_text(self.description))

    @classmethod
    def from_schema(
        cls,
        name: str,
        description: str,
        parameters: Mapping[str, Any],
        function: Callable[..., Any],
        *,
        blocking: bool | None = None,
        background: bool = False,
        scheduling: Scheduling | None = None,
        formatter: ResultFormatter | None = None,
        timeout_s: float | None = None,
        side_effects: bool = False,
        idempotent: bool = False,
        spillable: bool = False,
        budget_ms: float | None = None,
        restart: Restart = "",
        consent: ConsentPolicy = "allow",
        voice_consent: str | None = None,
        risk: ToolRisk = "",
    ) -> Tool:
        """Declare a function that takes the arguments as one dict, with a JSON schema.

        The arguments are checked for required properties, types, enums and bounds. Further parameters may be
        annotated `ToolContext` or `State`. The options are those of `tool`.
        """
        _check_flags(name, blocking, background, spillable, side_effects, idempotent)
        options = (blocking, background, scheduling, formatter, spillable, budget_ms)
        mode = _mode(name, *options, is_asked_aloud=bool(voice_consent))
        _check(name, timeout_s)
        signature = from_schema(function, name, parameters)
        risk = check_risk(risk, name=name)
        question = check_question(voice_consent, signature.schema, name=name, risk=risk)
        return cls(
            name=name,
            description=description,
            function=function,
            signature=signature,
            mode=mode,
            timeout_s=_timeout(mode, timeout_s),
            side_effects=side_effects,
            idempotent=idempotent,
            restart=_check_restart(restart, name, mode, signature, side_effects=side_effects),
            consent=check_policy(consent, name=name),
            voice_consent=question,
            risk=risk,
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON schema of the arguments, in the Live API's subset."""
        return self.signature.schema

    @property
    def blocking(self) -> bool:
        """True when the model waits for the answer."""
        return self.mode.blocking

    @property
    def scheduling(self) -> Scheduling | None:
        """Scheduling of the answer; None when the model waits for it."""
        return self.mode.scheduling

    @property
    def wants_state(self) -> bool:
        """True when the function has a parameter of type `State`."""
        return "state" in self.signature.injected.values()

    def with_mode(self, mode: ToolExecutionMode) -> Tool:
        """Return the tool with another mode.

        A timeout that is the default of the old mode becomes the default of the new one.
        """
        default = self.timeout_s == _timeout(self.mode)
        return replace(self, mode=mode, timeout_s=_timeout(mode) if default else self.timeout_s)

    def check(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the model's arguments as keyword arguments for `function`.

        Raises `BadArguments` naming the fields that do not fit, and what a validator of the author's raises.
        """
        return self.signature.check(self.name, args)

    def bind(self, checked: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        """Return checked arguments with the function's other ones."""
        return self.signature.bind(self.name, checked, context)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    blocking: bool | None = None,
    background: bool = False,
    scheduling: Scheduling | None = None,
    formatter: ResultFormatter | None = None,
    timeout_s: float | None = None,
    side_effects: bool = False,
    idempotent: bool = False,
    spillable: bool = False,
    budget_ms: float | None = None,
    restart: Restart = "",
    consent: ConsentPolicy = "allow",
    voice_consent: str | None = None,
    risk: ToolRisk = "",
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    blocking: bool | None = None,
    background: bool = False,
    scheduling: Scheduling | None = None,
    formatter: ResultFormatter | None = None,
    timeout_s: float | None = None,
    side_effects: bool = False,
    idempotent: bool = False,
    spillable: bool = False,
    budget_ms: float | None = None,
    restart: Restart = "",
    consent: ConsentPolicy = "allow",
    voice_consent: str | None = None,
    risk: ToolRisk = "",
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Declare a plain or async function as a tool.

    The schema comes from the annotations, the descriptions from the docstring (its first paragraph and its `Args:`
    section). Parameters annotated `ToolContext` or `State` get the session's, and are not part of the schema.

    The model waits for the answer, with two exceptions. With `blocking=False` it goes on talking, and gets the answer
    when the call ends. With `background=True` it gets an acknowledgement at once, and the result when the call ends,
    both worded by `formatter`. `scheduling` of the result is "WHEN_IDLE" by default. `timeout_s` is 30 by default, 600
    in the background.

    A `spillable` tool is answered within `budget_ms` (300 by default): with its result, or else with the id of a task.
    The call goes on as that task, for an hour at most by default; `ToolContext.progress` tells how far it is, and a
    notification tells the model its end.

    With `restart="again"` a task whose program died is started anew, with the same arguments, by the next session of an
    agent of the same name: for tools that may run twice. At most three times in a row, within a day. With
    `restart="continue"` it gets the newest checkpoint that it gave to `ToolContext.progress`, too.

    A tool with `side_effects`, such as a payment, runs once the disk has its call, so that the death of the program
    hides none; where the disk refuses, the model gets an error in place of a result. Of a call that was running when
    the program died the model learns that it was interrupted; one of an `idempotent` tool runs again.

    With `consent="ask"` each call waits until the operator has agreed to it with its arguments, and with "deny" it is
    refused; the profile and the session may say otherwise. The time limit begins once it runs.

    `voice_consent` is the question to ask the user aloud then, such as "Shall I order a taxi to {place}?", with the
    names of all parameters in braces; a spoken yes counts as well as the operator's key. The model does not wait for
    the answer of such a tool. One whose `risk` is "commands", "files" or "money" needs the key.

    Raises `AgentError` naming the function and the parameter that cannot be declared.
    """

    def declare(target: Callable[..., Any]) -> Tool:
        if not callable(target):
            raise AgentError(f"{target!r:.80} is not a function", field="function", value=target)
        called = name or getattr(target, "__name__", "")
        if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
            raise AgentError(f"Tool {called} is a generator", remedy="Return the result instead", field="function")
        summary, documented = parse_docstring(target)
        _check_flags(called, blocking, background, spillable, side_effects, idempotent)
        options = (blocking, background, scheduling, formatter, spillable, budget_ms)
        mode = _mode(called, *options, is_asked_aloud=bool(voice_consent))
        _check(called, timeout_s)
        signature = from_function(target, called, documented)
        checked_risk = check_risk(risk, name=called)
        question = check_question(voice_consent, signature.schema, name=called, risk=checked_risk)
        return Tool(
            name=called,
            description=description or summary,
            function=target,
            signature=signature,
            mode=mode,
            timeout_s=_timeout(mode, timeout_s),
            side_effects=side_effects,
            idempotent=idempotent,
            restart=_check_restart(restart, called, mode, signature, side_effects=side_effects),
            consent=check_policy(consent, name=called),
            voice_consent=question,
            risk=checked_risk,
        )

    return declare if function is None else declare(function)


def _check_restart(
    restart: object, name: str, mode: ToolExecutionMode, signature: Parameters, *, side_effects: bool
) -> Restart:
    chosen: Restart = as_choice(restart, get_args(Restart))
    if chosen not in get_args(Restart):
        raise AgentError(
            f"Tool {name}: restart cannot be {restart!r:.60}",
            remedy='Use "again" or "continue", or leave it out',
            field="restart",
            value=restart,
        )
    fault = remedy = ""
    if chosen and side_effects:
        fault, remedy = "it has side effects", "Leave out restart"
    elif chosen and not mode.spills:
        fault, remedy = "its calls do not go on as tasks", "Add spillable=True, or leave out restart"
    elif chosen == "continue" and "context" not in signature.injected.values():
        fault, remedy = "it has no ToolContext, which has the checkpoint", 'Add the parameter, or use "again"'
    if fault:
        raise AgentError(f"Tool {name} cannot be restarted: {fault}", remedy=remedy, field="restart", value=restart)
    return chosen


def _check(name: str, timeout_s: float | None) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise AgentError(
            f"Tool name {name!r:.60} is not usable",
            remedy="Use letters, digits, _ . : -, not starting with a digit",
            field="name",
            value=name,
        )
    if timeout_s is not None and not (is_finite(timeout_s) and timeout_s > 0):
        raise AgentError(
            f"Tool {name}: timeout_s must be a number above 0, not {timeout_s!r}",
            remedy="Give seconds, or leave it out",
            field="timeout_s",
            value=timeout_s,
        )


def _check_flags(
    name: str, blocking: object, background: object, spillable: object, side_effects: object, idempotent: object
) -> None:
    flags = {
        "blocking": False if blocking is None else blocking,
        "background": background,
        "spillable": spillable,
        "side_effects": side_effects,
        "idempotent": idempotent,
    }
    for field_name, value in flags.items():
        if not isinstance(value, bool):
            raise AgentError(
                f"Tool {name}: {field_name} must be True or False, not {value!r:.60}", field=field_name, value=value
            )


def _mode(
    name: str,
    blocking: bool | None,
    background: bool,
    scheduling: Scheduling | None,
    formatter: ResultFormatter | None,
    spillable: bool,
    budget_ms: float | None,
    *,
    is_asked_aloud: bool = False,
) -> ToolExecutionMode:
    if is_asked_aloud and blocking:
        raise AgentError(
            f"Tool {name}: voice_consent needs a model that does not wait for the call, or it could not ask",
            remedy="Leave out blocking=True",
            field="blocking",
            value=blocking,
        )
    spills = spillable or budget_ms is not None
    if spills and (background or blocking is False):
        raise AgentError(
            f"Tool {name}: a tool that continues as a task cannot be {'background' if background else 'non-blocking'}",
            remedy="Leave out one of them: a background call has a record of its own",
            field="budget_ms",
            value=budget_ms,
        )
    if background and blocking:
        raise AgentError(f"Tool {name}: a background tool cannot be blocking", field="blocking", value=blocking)
    if formatter is not None and not background:
        raise AgentError(f"Tool {name}: formatter needs background=True", field="formatter", value=formatter)
    if scheduling is not None and not background and blocking in (None, True) and not (is_asked_aloud and not spills):
        raise AgentError(
            f"Tool {name}: scheduling needs blocking=False or background=True", field="scheduling", value=scheduling
        )
    later: Scheduling = "WHEN_IDLE" if scheduling is None else scheduling
    try:
        if background:
            return ToolExecutionMode.background(formatter, later)
        if spills:
            mode = ToolExecutionMode.budget(DEFAULT_BUDGET_MS if budget_ms is None else budget_ms)
            return replace(mode, scheduling="WHEN_IDLE") if is_asked_aloud else mode
        waits = blocking is not False and not is_asked_aloud
        return ToolExecutionMode.standard(None if waits else later)
    except AgentError as error:
        message = f"Tool {name}: {error.message}"
        raise AgentError(message, remedy=error.remedy, field=error.field, value=error.value) from None


def _timeout(mode: ToolExecutionMode, timeout_s: float | None = None) -> float:
    """Return the timeout in seconds, or the default of the mode for None."""
    if timeout_s is not None:
        return float(timeout_s)
    if mode.spills:
        return TASK_TIMEOUT_S
    return BACKGROUND_TIMEOUT_S if mode.is_background else DEFAULT_TIMEOUT_S
