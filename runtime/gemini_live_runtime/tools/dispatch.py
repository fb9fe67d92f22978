"""Run tools: each call has exactly one outcome.

Outcomes are a result, an error, a timeout, a cancellation or a refusal. The model waits for an answer to each call id,
so every exception of a tool becomes an outcome. Plain functions run in threads of their own: they may block, and the
conversation must not. A thread cannot be cancelled, so a call that ends by its time limit leaves its thread behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from gemini_live_runtime.author_code import USER_ERRORS, is_awaitable, result_or_error
from gemini_live_runtime.clock import Clock, hold_time
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.threads import call_in_thread
from gemini_live_runtime.tools.background import STANDARD, BackgroundToolTracker, ToolExecutionMode
from gemini_live_runtime.tools.context import Agents, Memory, Notifications, Tasks
from gemini_live_runtime.tools.declaration import BadArguments, Tool, ToolContext
from gemini_live_runtime.tools.progress import NewestProgress, Progress
from gemini_live_runtime.tools.registry import HarnessToolRegistry
from gemini_live_runtime.tools.results import (
    IteratorResultError,
    Outcome,
    Status,
    ToolCall,
    error_outcome,
    outcome,
    result_outcome,
)
from gemini_live_runtime.tools.running import RunningCall, RunningCalls

__all__ = ["MAX_BACKGROUND", "MAX_CONCURRENT", "Outcome", "Status", "ToolCall", "ToolDispatcher"]

MAX_CONCURRENT = 32
"""Calls that may run at once; further ones are refused, so that a looping model cannot exhaust the machine."""
MAX_BACKGROUND = 32
"""Background calls that may run at once, besides the others."""
MAX_TASKS = 64
"""Calls that may go on as tasks at once, besides the others."""


class ToolDispatcher:
    """Dispatcher that runs a session's tools concurrently, each with its own timeout."""

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        clock: Clock,
        on_finished: Callable[[Outcome], None],
        on_notify: Callable[[str, str], None],
        on_progress: Callable[[str, Progress], None] = lambda call_id, progress: None,
        state: State | None = None,
        agents: Agents | None = None,
        memory: Memory | None = None,
    ) -> None:
        """Register the tools.

        `on_finished` gets each outcome, `on_notify(tool, text)` a tool's message to the operator,
        `on_progress(call_id, progress)` how far a call is. `state` is the session's; tools are the origin of their
        writes to it. Raises `AgentError` when two tools have the same name, or when a tool has a `State` parameter and
        `state` is None.
        """
        self._on_finished = on_finished
        self._on_notify = on_notify
        self._on_progress = on_progress
        self._tasks: set[str] = set()
        """Ids of calls that go on as tasks, which the model no longer waits for."""
        self._state = state
        self._agents = agents
        self._memory = memory
        self.session_tasks: Tasks | None = None
        """Tasks of the session, for tools that follow them."""
        self.session_notifications: Notifications | None = None
        """Notifications of the session, for tools that queue them."""
        self.make_context: Callable[..., ToolContext] = _tool_context
        """Makes the context of a call: `(call, notify, state=, cancelled=, agents=)`."""
        self.stand_in: Callable[[str], Callable[..., Any] | None] = lambda name: None
        """Returns the function that is called in place of a tool's, by its name; None for its own."""
        self._generated_ids = 0
        self._closed = False
        self._foreground = RunningCalls(clock=clock)
        self.background = BackgroundToolTracker(clock=clock)
        self.tools = HarnessToolRegistry(tools)
        self._earlier: dict[str, Tool] = {}
        """Tools that were replaced, whose calls may go on."""
        for declared in self.tools.values():
            if declared.wants_state and state is None:
                raise AgentError(
                    f"Tool {declared.name} ({declared.defined_at}) has a State parameter, but the session has no state",
                    remedy="Give the session a State, or remove the parameter",
                    field="state",
                )

    def replace(self, tools: Iterable[Tool]) -> None:
        """Replace the tools; running calls go on.

        Raises `AgentError` when two tools have the same name.
        """
        before, self.tools = self.tools, HarnessToolRegistry(tools)
        self._earlier.update(before)

    def declared(self, name: str) -> Tool | None:
        """Return a tool, also one that was replaced since; None without one."""
        return self.tools.get(name) or self._earlier.get(name)

    @property
    def open_calls(self) -> int:
        """Number of running calls, background calls included."""
        return self._foreground.active_count + self.background.active_count

    @property
    def active_ids(self) -> list[str]:
        """Ids of the running calls, background calls included."""
        return [*self._foreground.active_ids, *self.background.active_ids]

    def has_side_effects(self, name: str) -> bool:
        """Return True for a tool that changes something outside the program."""
        declared = self.tools.get(name)
        return declared is not None and declared.side_effects

    def mode_of(self, name: str) -> ToolExecutionMode:
        """Return the mode of tool `name`; the standard mode for an unknown tool."""
        declared = self.declared(name)
        return STANDARD if declared is None else declared.mode

    def start(self, call_id: str, name: str, args: Mapping[str, Any], *, checkpoint: Any = None) -> str:
        """Start a call, and return its id; `on_finished` gets the outcome.

        `checkpoint` is that of the task which it continues. An empty `call_id` is replaced by a generated one.
        `on_finished` gets a refusal before this returns. Raises `ValueError` when a call with this id is running.
        """
        if not call_id:
            self._generated_ids += 1
            call_id = f"unnumbered-{self._generated_ids}"
        call = ToolCall(call_id, name, dict(args))
        if self._closed:
            self._on_finished(outcome(call, "cancelled", {}))
            return call_id
        if refusal := self._refusal(name):
            self._on_finished(outcome(call, "refused", {"error": refusal}, refusal))
            return call_id
        declared = self.tools[name]
        try:
            with writing_as(Origin("tool", name)):
                checked = declared.check(call.args)
        except BadArguments as error:
            self._on_finished(outcome(call, "refused", {"error": str(error)}, str(error)))
            return call_id
        except USER_ERRORS as error:
            self._on_finished(error_outcome(call, error))
            return call_id
        calls = self.background if declared.mode.is_background else self._foreground
        return calls.spawn(
            call,
            lambda running: self._run(declared, checked, running, checkpoint),
            timeout_s=declared.timeout_s,
            on_ended=self._on_finished,
        )

    def _refusal(self, name: str) -> str:
        """Return why a call of tool `name` would not be started now; "" when it would."""
        declared = self.tools.get(name)
        if declared is None:
            return f"There is no tool {name}. Tools: {', '.join(self.tools) or 'none'}."
        if declared.mode.is_background:
            is_full = self.background.active_count >= MAX_BACKGROUND
            return f"Too many background tools are running ({MAX_BACKGROUND})." if is_full else ""
        self._tasks &= set(self._foreground.active_ids)
        is_full = self._foreground.active_count - len(self._tasks) >= MAX_CONCURRENT
        return f"Too many tools are running ({MAX_CONCURRENT})." if is_full else ""

    def continue_as_task(self, call_id: str) -> bool:
        """Note that a call goes on after its answer; return False when too many do."""
        self._tasks &= set(self._foreground.active_ids)
        if len(self._tasks) >= MAX_TASKS:
            return False
        self._tasks.add(call_id)
        return True

    def continue_as_call(self, call_id: str) -> None:
        """Take back `continue_as_task`: the model waits for the call."""
        self._tasks.discard(call_id)

    def suspend_limit(self, call_id: str) -> None:
        """Let the time limit of a call rest: it waits for a person."""
        self._foreground.suspend_limit(call_id)
        self.background.suspend_limit(call_id)

    def renew_limit(self, call_id: str) -> None:
        """Give a call its time limit anew."""
        self._foreground.renew_limit(call_id)
        self.background.renew_limit(call_id)

    def cancel(self, call_id: str) -> bool:
        """Cancel a running call and its tool; return False when it is not running."""
        return bool(self._foreground.cancel([call_id]) or self.background.cancel([call_id]))

    async def close(self) -> None:
        """Cancel every call and wait for the tools to end, at most `GRACE_S`.

        Later calls are cancelled at once.
        """
        self._closed = True
        await asyncio.gather(self._foreground.close(), self.background.close())

    async def _run(self, declared: Tool, checked: Mapping[str, Any], running: RunningCall, checkpoint: Any) -> Outcome:
        call = running.call
        context = self.make_context(
            call,
            _to_loop(partial(self._on_notify, declared.name)),
            state=self._state,
            cancelled=running.cancelled,
            agents=self._agents,
            memory=self._memory,
            tasks=self.session_tasks,
            notifications=self.session_notifications,
            on_progress=NewestProgress(partial(self._on_progress, call.call_id)).tell,
            checkpoint=checkpoint,
        )
        with writing_as(Origin("tool", declared.name)):
            bound = declared.bind(checked, context)
            mock = self.stand_in(declared.name)
            called = declared if mock is None else replace(declared, function=mock)
            ended, fault = await result_or_error(_call(call, called, bound))
        if isinstance(fault, asyncio.CancelledError):
            # It gave up by itself.
            return outcome(call, "cancelled", {})
        return ended if fault is None else error_outcome(call, fault)


def _to_loop(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function that calls `function` on the running loop, from any thread."""
    loop = asyncio.get_running_loop()

    def call(*args: object) -> None:
        # A thread may outlive the loop; its messages are then dropped.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(function, *args)

    return call


def _tool_context(call: ToolCall, notify: Callable[[str], None], **options: Any) -> ToolContext:
    return ToolContext(call.call_id, notify, **options)


async def _call(call: ToolCall, declared: Tool, bound: dict[str, Any]) -> Outcome:
    """Call a tool's function and return the outcome; iterators run in a thread."""
    if inspect.iscoroutinefunction(declared.function):
        return await _awaited(call, declared, declared.function(**bound))

    def run() -> Outcome | Awaitable[Any]:
        value = declared.function(**bound)
        return value if is_awaitable(value) else result_outcome(call, value)

    # In virtual time a thread takes no time; without the hold its timeout would fire first.
    with hold_time(declared.timeout_s):
        ended = await call_in_thread(run, "tool")
    return ended if isinstance(ended, Outcome) else await _awaited(call, declared, ended)


async def _awaited(call: ToolCall, declared: Tool, result: Awaitable[Any]) -> Outcome:
    value = await result
    try:
        return result_outcome(call, value, iterates=False)
    except IteratorResultError:
        with hold_time(declared.timeout_s):
            return await call_in_thread(lambda: result_outcome(call, value), "tool")
