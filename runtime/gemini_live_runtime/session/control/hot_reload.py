"""Reload an edited agent between two turns, whole or not at all.

State is kept.

Reading runs the author's module in a thread, with a time limit. What was read is adopted as a step of the task queue,
so that no decision sees half of the old agent and half of the new one; `_prepare` builds and checks everything first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import error_text
from gemini_live_runtime.clock import hold_time
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.definition.diff import NEXT_SESSION, differences, fingerprint, parts_of
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.threads import call_in_thread

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.handover.adoption import AgentAdoption
    from gemini_live_runtime.session.agent.settle_engine import SettleEngine
    from gemini_live_runtime.session.agent.turn_pipeline import TurnPipeline
    from gemini_live_runtime.session.control.command_router import CommandRouter
    from gemini_live_runtime.session.ports.agent_source import Source
    from gemini_live_runtime.state.temporal import TemporalPattern

READING_S = 10.0
"""Seconds that reading an agent may take."""

LOOK_S = 1.0
"""Seconds between two looks at an agent's files while no turn is open."""


class HotReload:
    """Reloader of one session's agent."""

    def __init__(
        self,
        agent: AgentContext,
        source: Source[SessionPlan] | None,
        *,
        adoption: AgentAdoption,
        settle: SettleEngine,
        pipeline: TurnPipeline,
    ) -> None:
        self._agent = agent
        self._source = source
        self._settle = settle
        self._pipeline = pipeline
        self._adoption = adoption
        self._last = agent.plan
        """Agent as it was read last, without what the operator has changed since."""
        self._parts = {} if source is None else parts_of(agent.plan)
        self._is_wanted = False
        self._ready: SessionPlan | None = None
        """Agent that was read while a turn was open."""
        self._task: asyncio.Task[None] | None = None
        self._is_reading = False
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def register(self, router: CommandRouter) -> None:
        """Register the commands that belong here."""
        router.register(cmd.ReloadAgent, self._reload)

    # -- when to read ------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Look at the agent's files at intervals, from now on."""
        if self._source is not None and self._source.auto_reload and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _look(self) -> None:
        # First, so that a fault in this look does not stop the next.
        self.begin()
        if not self._agent.host.turn_open:
            self._read_if_changed()

    def _read_if_changed(self) -> None:
        if self._source is not None and not self._is_reading and self._source.changed():
            self._read()

    def _reload(self, order: cmd.ReloadAgent, command_id: str) -> None:
        if self._source is None:
            name = self._agent.plan.name
            raise AgentError(f"Agent {name} was not read from a file", remedy="Talk to your own: run FILE.py:ATTR")
        if self._agent.host.turn_open or self._is_reading:
            self._is_wanted = True
        else:
            self._read()

    def on_turn_ended(self) -> None:
        """Adopt or read what had to wait for the turn's end, behind the steps of that end."""
        if self._ready is not None:
            ready, self._ready = self._ready, None
            self._queue_adoption(ready)
        elif self._is_wanted:
            self._read()
        elif self._source is not None and self._source.auto_reload:
            self._read_if_changed()

    # -- reading -----------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        if not self._is_reading and not self._closed:
            self._is_wanted, self._is_reading = False, True
            self._task = asyncio.create_task(self._read_in_thread(), name="reload")

    async def _read_in_thread(self) -> None:
        source = self._source
        assert source is not None
        with hold_time(READING_S):
            thread = call_in_thread(source.load, "reload")
            thread.add_done_callback(self._on_read)
            await asyncio.wait((thread,), timeout=READING_S)
        if not thread.done():
            self._publish(f"Reading it takes longer than {READING_S:g} s")
            return
        fault = thread.exception()
        if fault is not None:
            self._publish(str(fault) if isinstance(fault, GeminiLiveError) else error_text(fault))
        elif self._agent.host.turn_open:
            self._ready = thread.result()
        else:
            self._queue_adoption(thread.result())

    def _on_read(self, thread: asyncio.Future[SessionPlan]) -> None:
        self._is_reading = False
        if not thread.cancelled():
            # Retrieved here too, for a thread that ends after its time limit.
            thread.exception()

    # -- adopting ----------------------------------------------------------------------------------------------------

    def _queue_adoption(self, plan: SessionPlan) -> None:
        self._agent.queue.put("reload", lambda: self._adopt(plan))

    async def _adopt(self, plan: SessionPlan) -> None:
        await self._settle.settle()
        speaking = self._agent.plan.name
        if speaking != self._last.name:
            assert self._source is not None
            self._source.roll_back()
            self._publish(f"Agent {speaking} speaks now, which this file does not make: reload when {plan.name} does")
            return
        try:
            # The operator may have changed them since the session began.
            plan = plan.with_profile(self._agent.plan.profile_tools)
            adopt = self._prepare(plan)
        except GeminiLiveError as error:
            assert self._source is not None
            self._source.roll_back()
            self._publish(str(error))
            return
        parts = parts_of(plan)
        changed = differences(self._parts, parts)
        adopt()
        self._last, self._parts = plan, parts
        self._publish("", changed)
        # Transitions may be due now, and the model must hear of changed instructions.
        await self._pipeline.reevaluate(True)
        if self._is_wanted and not self._agent.host.turn_open:
            self._read()

    def _prepare(self, read: SessionPlan) -> Callable[[], None]:
        """Return what puts `read` in place.

        Raises `AgentError` when it cannot be used; nothing has changed then.
        """
        agent, last = self._agent, self._last
        parts = self._adoption.continue_with(self._merge(read), _unchanged_patterns(last, read))

        def adopt() -> None:
            if self._adoption.adopt(parts, known=last.definition.initial_state, reason="reloaded"):
                # Tools are declared when a connection is set up.
                agent.host.reconnect()

        return adopt

    def _merge(self, read: SessionPlan) -> SessionPlan:
        """Return `read` with what a session keeps from its beginning.

        The operator's instruction stays too, unless the file's own was edited.
        """
        running = self._agent.plan.definition
        kept = {name: getattr(running, name) for name in NEXT_SESSION}
        if read.definition.instruction == self._last.definition.instruction:
            kept["instruction"] = running.instruction
        return replace(read, definition=replace(read.definition, **kept))

    def _publish(self, problem: str, changed: tuple[str, ...] = ()) -> None:
        assert self._source is not None
        self._agent.emit(ev.AgentReloaded(path=self._source.path, problem=redactor.text(problem), changed=changed))

    async def close(self) -> None:
        """Read no more."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def _unchanged_patterns(last: SessionPlan, read: SessionPlan) -> frozenset[str]:
    def fingerprints(patterns: tuple[TemporalPattern, ...]) -> dict[str, object]:
        return {pattern.name: fingerprint(pattern.detector) for pattern in patterns}

    before, after = fingerprints(last.definition.patterns), fingerprints(read.definition.patterns)
    return frozenset(name for name, found in after.items() if before.get(name) == found)
