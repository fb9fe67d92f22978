"""Run an agent inside a tool or a hook of another one, until it has a result.

The agent that waits is paused: its phases and watchers stand still, its call stays open, and no time limit runs. The
task speaks on a server session of its own, and so does the agent that goes on after it: the session tells the model
there the result of its call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.io.agent import Agent
from gemini_live_runtime.session.io.place import Place, place_of_code

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.handoff import HandoffRunner, SpokenBefore

T = TypeVar("T")


class InlineTask(Agent, Generic[T]):
    """Agent with a result: `await MyTask()` in an async tool, or in `on_enter`.

    Its tools call `complete`. Awaiting it raises the error that it was completed with, and `AgentError` when it ends
    early, with the session or because another agent took over.
    """

    def __init__(self, **options: Any) -> None:
        """Check everything, as `Agent` does."""
        super().__init__(**options)
        self._result: asyncio.Future[T] | None = None

    @property
    def done(self) -> bool:
        """True when it has a result, or has failed."""
        return self._result is not None and self._result.done()

    def complete(self, result: T | BaseException) -> None:
        """Give the result; an exception is raised where the task is awaited.

        The agent that waits goes on once the model has finished speaking. Raises `AgentError` for a task that runs
        nowhere, and the second time.
        """
        if self._result is None:
            raise AgentError(
                f"The task {self.name} does not run", remedy="Await it in a tool or in on_enter", field="task"
            )
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
        if place is None:
            raise AgentError(
                f"The task {self.name} is awaited outside of an agent's tools and hooks",
                remedy="Await it in an async tool with a RunContext, or in on_enter",
                field="task",
                value=self.name,
            )
        if self._result is not None:
            raise AgentError(
                f"The task {self.name} was awaited already", remedy="Make another one", field="task", value=self.name
            )
        self._result = asyncio.get_running_loop().create_future()
        # Of a task that fails after it was given up, nobody asks.
        self._result.add_done_callback(lambda future: future.cancelled() or future.exception())
        return await self._speak(place, place.handoff, self._result)

    async def _speak(self, place: Place, handoff: HandoffRunner, result: asyncio.Future[T]) -> T:
        ended = handoff.on_replaced(self.plan(), self._on_ended_early)
        place.suspend()
        paused: SpokenBefore | None = None
        try:
            paused = await handoff.pause_for(self)
            return cast("T", await asyncio.shield(result))
        finally:
            ended()
            if not result.done():
                # Given up by who waits: a late result has no place to go.
                result.cancel()
            if paused is not None:
                await handoff.go_on(paused, after=self.plan())
            place.resume()

    def _on_ended_early(self, problem: str) -> None:
        if self._result is not None and not self._result.done():
            self._result.set_exception(AgentError(f"The task {self.name} ended early: {problem}", field="task"))
