"""Run text agents beside the conversation and write their results to the state."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from gemini_live_runtime.author_code import result_or_error
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import record
from gemini_live_runtime.session.ports.loop_calls import LoopCalls, on_loop
from gemini_live_runtime.state.mutations import Origin, check_may_act, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.tools.results import Outcome, ToolCall, error_outcome, outcome
from gemini_live_runtime.tools.running import RunningCall, RunningCalls

DEFAULT_TIMEOUT_S = 300.0
MAX_WAITING = 64
"""Runs that may wait for a permit; a further one is refused."""
MAX_TEXT = 100_000
"""Characters that are stored of a result or an error."""


class TextAgent(Protocol):
    """Agent that does a task and returns its result as text."""

    async def run(self, state: State) -> str:
        """Do the task with the values in `state` and return its result."""
        ...


@record
class _Run:
    name: str
    agent: TextAgent
    state: State
    timeout_s: float


class BackgroundAgentDispatcher:
    """Dispatcher that runs text agents by name, at most `max_concurrent` at once.

    The result of agent NAME goes to `bg:NAME:result`, its error to `bg:NAME:error`. Dispatching clears both, so that
    only the newest run's are found there. A cancelled run writes neither. It may be used from any thread.
    """

    def __init__(
        self,
        max_concurrent: int = 4,
        *,
        clock: Clock,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        on_finished: Callable[[str, bool, str], None] | None = None,
    ) -> None:
        """Create a dispatcher; raise `AgentError` for a limit that is not above 0.

        `timeout_s` counts from the start of a run, without its wait for a permit. `on_finished(name, ok, text)` is
        called once for every run, with its result or the reason why it has none.
        """
        if max_concurrent < 1:
            raise AgentError("max_concurrent must be at least 1", field="max_concurrent", value=max_concurrent)
        self.max_concurrent = max_concurrent
        self._timeout_s = _checked_timeout(timeout_s)
        self._on_finished = on_finished
        self._running = RunningCalls(clock=clock)
        self._states: dict[str, State] = {}
        self._waiting: deque[_Run] = deque()
        self._closed = False
        self.loop_calls = LoopCalls(asyncio.get_running_loop())
        """Access to the session's event loop, on which runs begin and end."""

    @property
    def active_count(self) -> int:
        """Number of runs that have not ended, including those that wait for a permit."""
        return self._running.active_count + len(self._waiting)

    @property
    def available_permits(self) -> int:
        """Number of further runs that could start now."""
        return self.max_concurrent - self._running.active_count

    def is_running(self, name: str) -> bool:
        """Return True when the agent's run has not ended; it may still wait for a permit."""
        return name in self._running.active_ids or any(run.name == name for run in self._waiting)

    @on_loop
    def dispatch(self, name: str, agent: TextAgent, state: State, *, timeout_s: float | None = None) -> None:
        """Run `agent`, now or when a permit is free.

        Raises `AgentError` for a name that is already running or cannot be part of a key, when too many runs wait, and
        when the session has ended.
        """
        check_may_act("start a background agent")
        if self._closed:
            raise AgentError(
                f"Background agent {name} cannot be started: the session has ended",
                remedy="Dispatch it while the session lives, or start another session",
                field="name",
                value=name,
            )
        if not name or ":" in name:
            raise AgentError(f"A background agent cannot be named {name!r}", field="name", value=name)
        if self.is_running(name):
            raise AgentError(
                f"Background agent {name} is already running",
                remedy="Wait for it, cancel it, or use another name",
                field="name",
                value=name,
            )
        if not callable(getattr(agent, "run", None)):
            raise AgentError(
                f"Background agent {name} cannot be run: {agent!r:.60} has no method run",
                remedy="Give an object with `async def run(self, state)`",
                field="agent",
                value=agent,
            )
        if not isinstance(state, State):
            raise AgentError(
                f"Background agent {name} has no state to run with: {state!r:.60} is none",
                remedy="Give handle.state, or a fork of it",
                field="state",
                value=state,
            )
        limit = self._timeout_s if timeout_s is None else _checked_timeout(timeout_s)
        if self.available_permits <= 0 and len(self._waiting) >= MAX_WAITING:
            raise AgentError(f"Too many background agents are waiting ({MAX_WAITING})", field="name", value=name)
        with writing_as(Origin("agent", name)):
            state.remove(_result_key(name))
            state.remove(_error_key(name))
        self._waiting.append(_Run(name, agent, state, limit))
        self._fill()

    @on_loop
    def cancel(self, name: str) -> bool:
        """Cancel a run; return False when no run has this name."""
        check_may_act("cancel a background agent")
        for run in self._waiting:
            if run.name == name:
                self._waiting.remove(run)
                self._finished(name, False, "cancelled")
                return True
        return bool(self._running.cancel([name]))

    @on_loop
    def cancel_all(self) -> list[str]:
        """Cancel every run and return their names."""
        check_may_act("cancel background agents")
        waiting = [run.name for run in self._waiting]
        self._waiting.clear()
        for name in waiting:
            self._finished(name, False, "cancelled")
        return [*self._running.cancel_all(), *waiting]

    async def close(self) -> None:
        """Cancel every run and wait for its end; one that does not end is left running."""
        self._closed = True
        self.cancel_all()
        await self._running.close()

    def _fill(self) -> None:
        while self._waiting and self.available_permits > 0:
            run = self._waiting.popleft()
            self._states[run.name] = run.state
            self._running.spawn(
                ToolCall(run.name, run.name),
                lambda running, run=run: _work(running, run),  # type: ignore[misc]
                timeout_s=run.timeout_s,
                on_ended=self._ended,
            )

    def _ended(self, ended: Outcome) -> None:
        name, state = ended.name, self._states.pop(ended.name)
        ok = ended.status == "ok"
        text = _cut(str(ended.result.get("output" if ok else "error", ended.status)))
        # A watcher of the result may raise; the permit must be passed on all the same.
        try:
            if ended.status != "cancelled":
                with writing_as(Origin("agent", name)):
                    state.remove(_error_key(name) if ok else _result_key(name))
                    state.set(_result_key(name) if ok else _error_key(name), text)
        finally:
            self._finished(name, ok, text)
            self._fill()

    def _finished(self, name: str, ok: bool, text: str) -> None:
        if self._on_finished is not None:
            self._on_finished(name, ok, text)


async def _work(running: RunningCall, run: _Run) -> Outcome:
    async def work() -> object:
        return await run.agent.run(run.state)

    with writing_as(Origin("agent", run.name)):
        text, fault = await result_or_error(work())
    if fault is None and not isinstance(text, str):
        fault = TypeError(f"{run.name} returned {type(text).__name__}, not a string")
    return outcome(running.call, "ok", {"output": text}) if fault is None else error_outcome(running.call, fault)


def _result_key(name: str) -> str:
    return f"bg:{name}:result"


def _error_key(name: str) -> str:
    return f"bg:{name}:error"


def _cut(text: str) -> str:
    over = len(text) - MAX_TEXT
    return text if over <= 0 else f"{text[:MAX_TEXT]} ... ({over} more characters)"


def _checked_timeout(timeout_s: float) -> float:
    if not 0 < timeout_s < float("inf"):
        raise AgentError(f"timeout_s must be above 0, not {timeout_s}", field="timeout_s", value=timeout_s)
    return timeout_s
