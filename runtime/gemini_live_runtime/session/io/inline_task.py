"""Run an agent inside a tool or a hook of another one, until it has a result.

The agent that waits is paused: its phases and watchers stand still, its call stays open, and no time limit runs. The
task speaks on a server session of its own, and so does the agent that goes on after it: the session tells the model
there the result of its call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any, Generic, TypeVar, cast

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.agent.awaited_tasks import AwaitedTask
from gemini_live_runtime.session.agent.handover.lifecycle import busy_hook
from gemini_live_runtime.session.io.agent import Agent
from gemini_live_runtime.session.io.place import Place, place_of_code
from gemini_live_runtime.session.ports.loop_calls import LoopCalls

T = TypeVar("T")

_PLACES = "Await it in an async tool with a RunContext, or in on_enter"

_REFUSED = {
    "on_exit": (
        "in on_exit: another agent takes over, or the session ends",
        "Await it in the tool, before it returns the other agent",
    ),
    "on_user_turn_completed": (
        "in on_user_turn_completed: the user's turn waits there for its answer",
        "Await it in a tool that the model calls",
    ),
}
"""Hooks in which no task can be awaited, with the reason and the remedy."""


class InlineTask(Agent, Generic[T]):
    """Agent with a result: `await MyTask()` in an async tool, or in `on_enter`.

    Its tools call `complete`. Awaiting it raises the error that it was completed with, and `AgentError` when it ends
    early, with the session or because another agent took over.
    """

    def __init__(self, **options: Any) -> None:
        """Check everything, as `Agent` does; `chat` is none of its options."""
        super().__init__(**options)
        if self.plan().definition.chat != "keep":
            raise AgentError(
                f"The task {self.name} cannot begin with a chat of its own: it goes on with what was said",
                remedy="Leave chat out",
                field="chat",
                value=self.name,
            )
        self._result: asyncio.Future[T] | None = None
        self._loop_calls: LoopCalls | None = None

    @property
    def done(self) -> bool:
        """True when it has a result, or has failed."""
        return self._result is not None and self._result.done()

    def complete(self, result: T | BaseException) -> None:
        """Give the result; an exception is raised where the task is awaited.

        The agent that waits goes on once the model has finished speaking. May be called from any thread. Raises
        `AgentError` for a task that runs nowhere, and the second time.
        """
        if self._loop_calls is None:
            raise AgentError(
                f"The task {self.name} does not run", remedy="Await it in a tool or in on_enter", field="task"
            )
        if self._loop_calls.is_own_thread:
            self._complete(result)
        else:
            self._loop_calls.call(lambda: self._complete(result))

    def _complete(self, result: T | BaseException) -> None:
        assert self._result is not None
        if self._result.done():
            raise AgentError(
                f"The task {self.name} is completed already", remedy="Complete it once", field="task", value=self.name
            )
        if isinstance(result, BaseException):
            self._result.set_exception(result)
        else:
            self._result.set_result(result)

    def __await__(self) -> Generator[Any, None, T]:
        return self._run().__await__()

    async def _run(self) -> T:
        place = place_of_code.get()
        if busy_hook.get():
            where, remedy = _REFUSED[busy_hook.get()]
        elif place is None:
            where, remedy = "outside of an agent's tools and on_enter", _PLACES
        elif not place.is_open():
            where, remedy = "in a tool or hook that has ended", _PLACES
        else:
            return await self._run_in(place)
        raise AgentError(f"The task {self.name} is awaited {where}", remedy=remedy, field="task", value=self.name)

    async def _run_in(self, place: Place) -> T:
        if self._result is not None:
            raise AgentError(
                f"The task {self.name} was awaited already", remedy="Make another one", field="task", value=self.name
            )
        loop = asyncio.get_running_loop()
        self._result, self._loop_calls = loop.create_future(), LoopCalls(loop)
        # Of a task that fails after it was given up, nobody asks.
        self._result.add_done_callback(lambda future: future.cancelled() or future.exception())
        return await self._speak(place, self._result)

    async def _speak(self, place: Place, result: asyncio.Future[T]) -> T:
        task = AwaitedTask(self.plan(), self._on_ended_early, place, place.is_open, place.is_call)
        place.suspend()
        try:
            await place.handoff.begin_task(task)
            return cast("T", await asyncio.shield(result))
        finally:
            if not result.done():
                # Given up by who waits: a late result has no place to go.
                result.cancel()
            try:
                await place.handoff.end_task(task)
            finally:
                place.resume()

    def _on_ended_early(self, problem: str) -> None:
        if self._result is not None and not self._result.done():
            self._result.set_exception(AgentError(f"The task {self.name} ended early: {problem}", field="task"))
