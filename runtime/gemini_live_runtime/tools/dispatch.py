"""Running tools: each call ends exactly once, in a result, an error, a timeout or a cancellation."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gemini_live_runtime.clock import Clock, hold_time
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.threads import call_in_thread
from gemini_live_runtime.tools.background import STANDARD, BackgroundToolTracker, ToolExecutionMode
from gemini_live_runtime.tools.context import Agents
from gemini_live_runtime.tools.declaration import BadArguments, Tool, ToolContext
from gemini_live_runtime.tools.results import Outcome, Status, ToolCall, as_object, fault, outcome
from gemini_live_runtime.tools.running import RunningCall, RunningCalls

__all__ = ["MAX_BACKGROUND", "MAX_CONCURRENT", "Outcome", "Status", "ToolCall", "ToolDispatcher"]

MAX_CONCURRENT = 32
"""Calls running at once; one more is refused, so that a looping model cannot exhaust the machine."""
MAX_BACKGROUND = 32
"""Background calls running at once, besides the others."""


class ToolDispatcher:
    """Runs the tools of one session, concurrently, each with its own timeout."""

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        clock: Clock,
        on_finished: Callable[[Outcome], None],
        on_notify: Callable[[str, str], None],
        state: State | None = None,
        agents: Agents | None = None,
    ) -> None:
        """`on_finished` gets each outcome; `on_notify(tool, text)` what a tool tells the operator.

        `state` is the session's; what tools write there is written as theirs. Raises `AgentError` when two tools have
        one name, or when a tool wants a state and there is none.
        """
        self._on_finished = on_finished
        self._on_notify = on_notify
        self._state = state
        self._agents = agents
        self._made = 0
        self._closed = False
        self._answering = RunningCalls(clock=clock)
        self.background = BackgroundToolTracker(clock=clock)
        self.tools: Mapping[str, Tool] = _by_name(tools)
        for declared in self.tools.values():
            if declared.wants_state and state is None:
                raise AgentError(
                    f"Tool {declared.name} ({declared.defined_at}) wants a State, and this session has none",
                    field="state",
                )

    def replace(self, tools: Iterable[Tool]) -> None:
        """Run these from now on; calls under way go on. Raises `AgentError` when two have one name."""
        self.tools = _by_name(tools)

    @property
    def open_calls(self) -> int:
        """Calls that have not ended, background ones too."""
        return self._answering.active_count + self.background.active_count

    @property
    def active_ids(self) -> list[str]:
        """Ids of the calls that have not ended."""
        return [*self._answering.active_ids, *self.background.active_ids]

    def mode_of(self, name: str) -> ToolExecutionMode:
        """How calls of tool `name` are answered; an unknown one is refused in the standard way."""
        declared = self.tools.get(name)
        return STANDARD if declared is None else declared.mode

    def start(self, call_id: str, name: str, args: Mapping[str, Any]) -> str:
        """Run a call; its outcome arrives through `on_finished`. Its id, made up when `call_id` is empty.

        A call that is refused ends before this returns. Raises `ValueError` when a call of this id is running.
        """
        if not call_id:
            self._made += 1
            call_id = f"unnumbered-{self._made}"
        call = ToolCall(call_id, name, dict(args))
        if self._closed:
            self._on_finished(outcome(call, "cancelled", {}))
            return call_id
        declared = self.tools.get(name)
        if declared is None:
            known = ", ".join(self.tools) or "none"
            return self._refuse(call, f"There is no tool {name}. Tools: {known}.")
        in_background = declared.mode.is_background
        where, most = (self.background, MAX_BACKGROUND) if in_background else (self._answering, MAX_CONCURRENT)
        if where.active_count >= most:
            return self._refuse(call, f"Too many {'background ' if in_background else ''}tools are running ({most}).")
        return where.spawn(
            call,
            lambda running: self._run(declared, running),
            timeout_s=declared.timeout_s,
            on_ended=self._on_finished,
        )

    def cancel(self, call_id: str) -> bool:
        """Cancel a running call; False when it is not running. The cancellation reaches the tool."""
        return bool(self._answering.cancel([call_id]) or self.background.cancel([call_id]))

    async def close(self) -> None:
        """Cancel everything and wait for it to end; a tool that does not is left behind. Nothing is begun any more."""
        self._closed = True
        await asyncio.gather(self._answering.close(), self.background.close())

    def _refuse(self, call: ToolCall, reason: str) -> str:
        self._on_finished(outcome(call, "refused", {"error": reason}, reason))
        return call.call_id

    async def _run(self, declared: Tool, running: RunningCall) -> Outcome:
        call = running.call
        context = ToolContext(
            call.call_id,
            self._notifier(declared.name),
            state=self._state,
            cancelled=running.cancelled,
            agents=None if self._agents is None else _FromAnyThread(self._agents),
        )
        try:
            with writing_as(Origin("tool", declared.name)):
                bound = declared.bind(call.args, context)
                result = as_object(await _call(declared.function, bound, declared.timeout_s))
        except BadArguments as error:
            return outcome(call, "refused", {"error": str(error)}, str(error))
        except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # whatever a tool raises, the call has its one answer
            return fault(call, error)
        # An object with an error in it is how a tool says that it did not succeed, to the protocol as well.
        return outcome(call, "error" if result.get("error") else "ok", result)

    def _notifier(self, name: str) -> Callable[[str], None]:
        """What passes a tool's words on, from the loop or from the thread that a plain function runs in."""
        loop = asyncio.get_running_loop()

        def notify(text: str) -> None:
            # Once the loop has ended there is nobody left to tell.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._on_notify, name, text)

        return notify


class _FromAnyThread:
    """Background agents for a tool, which may run in a thread of its own: they belong to the loop."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents
        self._loop = asyncio.get_running_loop()

    def dispatch(self, name: str, agent: Any, state: State, *, timeout_s: float | None = None) -> None:
        """As `Agents.dispatch`."""

        async def begin() -> None:
            self._agents.dispatch(name, agent, state, timeout_s=timeout_s)

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run_coroutine_threadsafe(begin(), self._loop).result()
        else:
            self._agents.dispatch(name, agent, state, timeout_s=timeout_s)


def _by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    table: dict[str, Tool] = {}
    for declared in tools:
        earlier = table.get(declared.name)
        if earlier is not None:
            raise AgentError(
                f"Two tools are named {declared.name} ({earlier.defined_at} and {declared.defined_at})",
                remedy="Give one another name",
                field="tools",
                value=declared.name,
            )
        table[declared.name] = declared
    return table


async def _call(function: Callable[..., Any], bound: dict[str, Any], timeout_s: float) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**bound)
    # A plain function may block; the conversation must not.
    with hold_time(timeout_s):
        result = await call_in_thread(lambda: function(**bound), "tool")
    return await result if inspect.isawaitable(result) else result
