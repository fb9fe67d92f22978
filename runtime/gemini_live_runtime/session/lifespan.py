"""Begin and close the parts of one agent, each in its order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from gemini_live_runtime import events as ev

if TYPE_CHECKING:
    from gemini_live_runtime.session.orchestrator import Orchestrator

T = TypeVar("T")

ENDING_S = 1.0
"""Seconds that each part has to finish when the session ends."""

TEARDOWN_S = 2.0
"""Seconds that `on_teardown` listeners, and then the last snapshot, may take."""


class Lifespan:
    """Life of one agent in one session, from before its first connection to its end."""

    def __init__(self, parts: Orchestrator) -> None:
        self._parts = parts

    async def begin(self) -> None:
        """Restore an earlier session or enter the initial phase.

        Before any connection is made. A part that fails is reported, and the rest begins: what the user says is
        answered all the same.
        """
        parts = self._parts
        is_restored = await self._begin("its kept state", parts.autosave.restore())
        await self._begin("its memory", parts.memory.load())
        await self._begin("the policies of its profile", parts.consent.load())
        parts.settle.begin()
        if parts.agent.phases is not None and not is_restored:
            await self._begin("its first phase", parts.lifecycle.enter_first_phase(parts.agent.phases))
        await self._begin("what follows from its state", parts.settle.settle())
        await self._begin("its instruction", parts.steering.prepare_setup())
        parts.timers.begin()
        parts.hot_reload.begin()
        parts.checkpoints.gate.begin()
        parts.agent.queue.begin()
        parts.notifications.begin()
        parts.tools.tasks.begin(lambda name: parts.consent.policy(name)[0] == "allow")

    async def _begin(self, part: str, work: Awaitable[T]) -> T | None:
        """Return the result of `work`, or None when it failed, which is reported."""
        try:
            return await work
        except Exception as error:
            self._parts.faults.internal(f"The agent begins without {part}", error)
            return None

    async def close(self) -> None:
        """Finish what is under way, save the session, cancel the rest."""
        parts = self._parts
        agent, gate = parts.agent, parts.checkpoints.gate
        agent.closed = True
        parts.updates.close()
        parts.timers.close()
        parts.pipeline.close()
        parts.observer.close()
        parts.withheld.close()
        parts.steering.close()
        if agent.guards is not None:
            agent.guards.close()
        is_blocked = gate.has_waiting
        if gate.end():
            # Held steps are not let loose at the end: no console is there to hear or to stop them.
            agent.queue.drop()
        await self._close(parts.pipeline.extraction.runner.close())
        await self._close(agent.queue.close(0.0 if is_blocked else ENDING_S), 2 * ENDING_S)
        parts.tools.give_rest()
        await self._close(parts.background_agents.close())
        await self._close(parts.operator.close())
        await self._close(parts.hot_reload.close())
        for plan in parts.leave_taking.leaving(*self._present, *reversed(parts.handoff.paused)):
            await self._close(parts.lifecycle.leave(plan), TEARDOWN_S)
        if not await self._close(parts.callbacks.control("on_teardown"), TEARDOWN_S):
            error = f"it took longer than {TEARDOWN_S:g} s; the session ended without it"
            agent.emit(ev.CodeFailed(where="on_teardown", name="on_teardown", error=error))
        agent.bus.publish_state()
        await self._close(parts.autosave.close(), TEARDOWN_S)
        rest = (parts.callbacks.close(ENDING_S / 2), parts.executor.close(), parts.code.close())
        await self._close(asyncio.gather(*rest, return_exceptions=True))
        agent.bus.publish_state()

    def take_leave(self) -> None:
        """Queue the present agent's `on_exit`, which may ask for last words."""
        self._parts.agent.queue.put("take leave", lambda: self._parts.leave_taking.leave(*self._present))

    @property
    def _present(self) -> tuple[None, ...]:
        # One that has yet to begin has nothing to end.
        return (None,) if self._parts.lifecycle.has_entered else ()

    async def _close(self, part: Awaitable[Any], within_s: float = ENDING_S) -> bool:
        """Close a part within its own time.

        One that hangs or fails must not cost the others theirs.
        """
        try:
            async with asyncio.timeout(within_s):
                await part
        except TimeoutError:
            return False
        except Exception as error:
            self._parts.code.failed("end of the session", "", error)
        return True

    @property
    def is_quiet(self) -> bool:
        """True when no step, tool, extraction or action runs or is owed."""
        parts, agent = self._parts, self._parts.agent
        return (
            agent.queue.idle
            # A task waits for the user, and what awaits it waits for the task.
            and parts.tools.open_calls + parts.code.active == parts.handoff.waiting_places
            and not parts.pipeline.extraction.runner.running
            and not parts.pipeline.awaits_reevaluation
            and not parts.observer.awaits_reaction
            and not parts.steering.is_waiting
            and not parts.handoff.is_waiting
            and not parts.background_agents.active_count
            # Without a connection an armed prompt waits for one.
            and not (agent.context_queue.has_prompt and agent.writer.live)
        )
