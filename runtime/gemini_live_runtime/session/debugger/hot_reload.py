"""Reading an edited agent again between two turns: state is kept, and one that cannot be used changes nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import hold_time
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.debugger.replacing import replacement
from gemini_live_runtime.session.definition.diff import differences, parts_of
from gemini_live_runtime.text import redactor
from gemini_live_runtime.threads import call_in_thread

if TYPE_CHECKING:
    from gemini_live_runtime.session.debugger.command_router import CommandRouter
    from gemini_live_runtime.session.definition.plan import SessionPlan
    from gemini_live_runtime.session.orchestrator import Orchestrator

READING_S = 10.0
"""Seconds that reading an agent may take."""

LOOK_S = 1.0
"""Seconds between two looks at its files while nobody talks."""


class Source(Protocol):
    """Where an agent is read from."""

    watched: bool
    """Whether it is to be read again by itself when it has changed."""

    @property
    def path(self) -> str:
        """For people."""
        ...

    def changed(self) -> bool:
        """Whether it is another than when it was read last."""
        ...

    def load(self) -> SessionPlan:
        """Read it, in whatever thread; raises `GeminiLiveError` when that fails, and nothing has changed then."""
        ...

    def roll_back(self) -> None:
        """What was read last is not used after all."""
        ...


class HotReload:
    """Reads the agent of one session again."""

    def __init__(self, mind: Orchestrator, source: Source | None) -> None:
        self._mind = mind
        self._source = source
        self._last = mind.plan
        """The agent as it was read last, without what the operator has changed since."""
        self._parts = {} if source is None else parts_of(mind.plan)
        self._wanted = False
        self._ready: SessionPlan | None = None
        self._task: asyncio.Task[None] | None = None
        self._reading = False
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def take_orders(self, orders: CommandRouter) -> None:
        """Take on the orders that belong here."""
        orders.take(cmd.ReloadAgent, self._ordered)

    def begin(self) -> None:
        """Time begins to count: files that are watched are looked at now and then."""
        if self._source is not None and self._source.watched and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _look(self) -> None:
        if not self._mind.body.turn_open:
            self._if_changed()
        self.begin()

    def _if_changed(self) -> None:
        if self._source is not None and not self._reading and self._source.changed():
            self._read()

    def _ordered(self, order: cmd.ReloadAgent, command_id: str) -> None:
        if self._source is None:
            raise AgentError(
                f"Agent {self._mind.plan.name} was not read from a file", remedy="Talk to your own: run FILE.py:ATTR"
            )
        if self._mind.body.turn_open or self._reading:
            self._wanted = True
        else:
            self._read()

    def turn_ended(self) -> None:
        """The turn has ended, and what follows from that is on the control lane."""
        if self._ready is not None:
            ready, self._ready = self._ready, None
            self._adopt_soon(ready)
        elif self._wanted:
            self._read()
        elif self._source is not None and self._source.watched:
            self._if_changed()

    def _read(self) -> None:
        if not self._reading and not self._closed:
            self._wanted, self._reading = False, True
            self._task = asyncio.create_task(self._reading_it(), name="reload")

    async def _reading_it(self) -> None:
        source = self._source
        assert source is not None
        with hold_time(READING_S):
            thread = call_in_thread(source.load, "reload")
            thread.add_done_callback(self._has_read)
            await asyncio.wait((thread,), timeout=READING_S)
        if not thread.done():
            self._tell(f"Reading it takes longer than {READING_S:g} s")
            return
        fault = thread.exception()
        if fault is not None:
            self._tell(str(fault) if isinstance(fault, GeminiLiveError) else f"{type(fault).__name__}: {fault}")
            return
        if self._mind.body.turn_open:
            self._ready = thread.result()
        else:
            self._adopt_soon(thread.result())

    def _has_read(self, thread: asyncio.Future[SessionPlan]) -> None:
        self._reading = False
        if not thread.cancelled():
            thread.exception()  # told by who waited for it, if somebody did

    def _adopt_soon(self, plan: SessionPlan) -> None:
        self._mind.lane.put("reload", lambda: self._adopt(plan))

    async def _adopt(self, plan: SessionPlan) -> None:
        mind = self._mind
        await mind.settler.settle()
        try:
            adopt = replacement(mind, self._last, plan)
        except GeminiLiveError as error:
            assert self._source is not None
            self._source.roll_back()
            self._tell(str(error))
            return
        parts = parts_of(plan)
        changed = differences(self._parts, parts)
        self._last, self._parts = plan, parts
        adopt()
        self._tell("", changed)
        # Ways may have opened, and the model has to hear of what it is told otherwise now.
        await mind.pipeline.between(True)
        if self._wanted and not mind.body.turn_open:
            self._read()

    def _tell(self, problem: str, changed: tuple[str, ...] = ()) -> None:
        assert self._source is not None
        self._mind.body.emit(ev.AgentReloaded(path=self._source.path, problem=redactor.text(problem), changed=changed))

    async def close(self) -> None:
        """Read no more."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
