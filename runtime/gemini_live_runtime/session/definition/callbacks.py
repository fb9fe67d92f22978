"""Callbacks of a session and the functions that listen to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from gemini_live_runtime.choices import as_member, nearest
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.state.functions import parameters_of


class CallbackMode(StrEnum):
    """Mode of a listener: the session awaits it, or goes on without it."""

    BLOCKING = "blocking"
    """Awaited in order, in the agent's task queue."""
    CONCURRENT = "concurrent"
    """Started and not awaited."""


class CallbackSpec(NamedTuple):
    """Signature of one callback.

    `lane`: "fast" callbacks are called inline as messages arrive, "control" ones in the agent's task queue.
    `answers`: the session uses what the listener returns.
    """

    lane: Literal["fast", "control"]
    arguments: tuple[str, ...]
    answers: bool = False


CALLBACKS: Mapping[str, CallbackSpec] = MappingProxyType(
    {
        "on_audio": CallbackSpec("fast", ("pcm",)),
        "on_text": CallbackSpec("fast", ("text",)),
        "on_text_complete": CallbackSpec("fast", ("text",)),
        "on_input_transcript": CallbackSpec("fast", ("text", "is_final")),
        "on_output_transcript": CallbackSpec("fast", ("text", "is_final")),
        "on_thought": CallbackSpec("fast", ("text",)),
        "on_vad_start": CallbackSpec("fast", ()),
        "on_vad_end": CallbackSpec("fast", ()),
        "on_phase": CallbackSpec("fast", ("wire_phase",)),
        "on_usage": CallbackSpec("fast", ("usage",)),
        "on_interrupted": CallbackSpec("control", ()),
        "on_tool_call": CallbackSpec("control", ("calls", "state"), answers=True),
        "on_tool_cancelled": CallbackSpec("control", ("ids",)),
        "on_turn_complete": CallbackSpec("control", ("turn",)),
        "on_generation_complete": CallbackSpec("control", ()),
        "on_go_away": CallbackSpec("control", ("time_left_s",)),
        "on_connected": CallbackSpec("control", ("handle",)),
        "on_disconnected": CallbackSpec("control", ("reason",)),
        "on_resumed": CallbackSpec("control", ()),
        "on_error": CallbackSpec("control", ("text",)),
        "on_extracted": CallbackSpec("control", ("name", "value")),
        "on_extraction_error": CallbackSpec("control", ("name", "message")),
        "on_teardown": CallbackSpec("control", ()),
        "before_tool_response": CallbackSpec("control", ("responses", "state"), answers=True),
        "on_turn_boundary": CallbackSpec("control", ("state", "writer"), answers=True),
        "instruction_template": CallbackSpec("control", ("state",), answers=True),
        "instruction_amendment": CallbackSpec("control", ("state",), answers=True),
    }
)
"""Every callback by name. The answer of `on_turn_boundary` is the state it has written when it returns."""


@dataclass(frozen=True, slots=True, eq=False)
class Listener:
    """Function of an author that listens to a callback."""

    function: Callable[..., Any]
    name: str
    mode: CallbackMode
    defined_at: str


@frozen_record
class EventCallbacks:
    """Immutable listeners by callback, in the order they were added."""

    _listeners: Mapping[str, tuple[Listener, ...]] = field(default_factory=dict)

    def add(
        self,
        callback: str,
        function: Callable[..., Any],
        *,
        mode: CallbackMode | None = None,
        name: str = "",
        defined_at: str = "",
    ) -> EventCallbacks:
        """Return a copy in which `function` listens to `callback` too.

        `mode` is blocking by default; `name` names the listener in reports and defaults to the function's own.
        Raises `AgentError` for an unknown callback, a function that cannot take its arguments, an async one for a fast
        callback, and the concurrent mode where the session needs the answer or calls inline.
        """
        spec = _spec(callback)
        name = name or getattr(function, "__qualname__", "") or type(function).__name__
        called = CallbackMode.BLOCKING if mode is None else as_member(CallbackMode, mode)
        listener = Listener(function, name, called, defined_at or caller_place())
        _check(callback, spec, listener)
        return EventCallbacks({**self._listeners, callback: (*self.of(callback), listener)})

    def of(self, callback: str) -> tuple[Listener, ...]:
        """Return the listeners of `callback`, in order."""
        return self._listeners.get(callback, ())


def _spec(callback: str) -> CallbackSpec:
    spec = CALLBACKS.get(callback) if isinstance(callback, str) else None
    if spec is None:
        near = nearest(callback, CALLBACKS)
        raise AgentError(
            f"Unknown callback {callback}",
            remedy=f"Did you mean {near}?" if near else f"Callbacks: {', '.join(CALLBACKS)}",
            field="callback",
            value=callback,
        )
    return spec


DECIDING = frozenset(("instruction_template", "instruction_amendment"))
"""Callbacks whose listeners decide, and may only read the state."""


def _check(callback: str, spec: CallbackSpec, listener: Listener) -> None:
    who = f"{callback}: {listener.name} ({listener.defined_at})"
    function: Any = listener.function
    mode: Any = listener.mode
    problem = remedy = ""
    if not callable(function):
        problem, remedy = f"{who} is not a function", "Use a function"
    elif _is(function, inspect.isgeneratorfunction) or _is(function, inspect.isasyncgenfunction):
        problem, remedy = f"{who} is a generator, which would never run", "Do not use yield in it"
    elif not _takes(function, spec.arguments):
        problem = f"{who} cannot be called with ({', '.join(spec.arguments)})"
        remedy = f"Give it {len(spec.arguments) or 'no'} parameter{'' if len(spec.arguments) == 1 else 's'}"
    elif spec.lane == "fast" and _is(function, inspect.iscoroutinefunction):
        problem, remedy = f"{who} is async, but is called inline", "Make it a plain function that starts a task"
    elif not isinstance(mode, CallbackMode):
        problem, remedy = f"{who} cannot have the mode {mode!r:.60}", f"Use one of {', '.join(CallbackMode)}"
    elif spec.lane == "fast" and listener.mode is CallbackMode.CONCURRENT:
        problem, remedy = f"{who} cannot be concurrent: it is called inline", "Leave the mode out"
    elif spec.answers and listener.mode is CallbackMode.CONCURRENT:
        problem, remedy = f"{who} cannot be concurrent: the session waits for its answer", "Leave the mode out"
    if problem:
        raise AgentError(problem, remedy=remedy, field=callback, value=listener.name)


def _is(function: Callable[..., Any], kind: Callable[[Any], bool]) -> bool:
    return kind(function) or kind(getattr(function, "__call__", None))  # noqa: B004 - an object's own method is meant


def _takes(function: Callable[..., Any], arguments: tuple[str, ...]) -> bool:
    takes = parameters_of(function)
    if takes is None:
        return True  # the plan warns
    try:
        takes.bind(*arguments)
    except TypeError:
        return False
    return True
