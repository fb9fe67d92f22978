"""Join agents with the engine: the classes that programs begin with.

Below, sessions know nothing of engines and engines nothing of builders. This module lies above both.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.definition.builder import AgentBuilder
from gemini_live_runtime.session.definition.known_agents import plan_of
from gemini_live_runtime.session.io import agent, agent_session
from gemini_live_runtime.session.io.place import place_of_code

if TYPE_CHECKING:
    from gemini_live_runtime.engine.embed import Connecting


class Live(AgentBuilder):
    """Agent builder that can also run its agent, in the calling process."""

    __slots__ = ()

    def connect(self, **options: Any) -> Connecting:
        """Return a context manager that runs the agent, for `async with`.

        `options` are those of `engine.embed.connect`. Raises `AgentError` for an agent that cannot be used.
        """
        # Imported on use: an agent can be defined and checked without the engine.
        from gemini_live_runtime.engine.embed import connect

        return connect(self.plan(), **options)


class AgentSession(agent_session.AgentSession):
    """Session of agents that hand a conversation over to each other.

    `await session.start(agent)` begins it in the calling process, `await session.aclose()` ends it; it can be started
    again. Use it on one event loop, also as `async with`. A program that has a `LiveHandle` gets its session from
    `AgentSession.of(handle)`.
    """

    def __init__(self, **options: Any) -> None:
        """`options` are those of `engine.embed.connect`, such as `backend` and `mode`.

        Raises `GeminiLiveError` for those that cannot be used.
        """
        from gemini_live_runtime.engine.embed import check_options

        check_options(options)
        super().__init__()
        self._given = options
        self._ending: asyncio.Task[None] | None = None

    async def start(self, agent: Any, **options: Any) -> AgentSession:
        """Begin to talk with `agent`; return once the connection is made.

        `options` go ahead of those given before. Raises `AgentError` while it runs, and for what is no agent, and
        `GeminiLiveError` when the session cannot be started or its connection is refused.
        """
        from gemini_live_runtime.engine.embed import connect

        if self._ending is not None and not self._ending.done():
            raise AgentError("The session runs already", remedy="Await aclose() first", field="session")
        context = connect(plan_of(agent), agent_session=self, **{**self._given, **options})
        entered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Of a task that was cancelled with the program, nobody asks.
        entered.add_done_callback(lambda future: future.cancelled() or future.exception())
        # One task enters and leaves the context, whoever ends the session.
        self._ending = asyncio.create_task(_hold(context, entered), name="session")
        try:
            await entered
        except asyncio.CancelledError:
            self._ending.cancel()
            raise
        return self

    async def aclose(self) -> int:
        """End the session in an orderly way and return its exit code; again, do nothing."""
        code = await super().aclose()
        ending = self._ending
        if ending is not None and place_of_code.get() is None and not ending.done():
            waits = asyncio.wait((ending,))
            await (waits if ending.get_loop() is asyncio.get_running_loop() else self.loop_calls.run(waits))
        return code

    async def __aenter__(self) -> AgentSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


async def _hold(context: Connecting, entered: asyncio.Future[None]) -> None:
    """Run a session to its end; tell `entered` when it has begun, or could not."""
    try:
        async with context as handle:
            if not entered.done():
                entered.set_result(None)
            await handle.done
    except Exception as error:
        if entered.done():
            raise
        entered.set_exception(error)


class Agent(agent.Agent):
    """Agent of a class of its own that can also run itself, in the calling process.

    A derived class may have tools among its methods, each with `@tool`, and override `on_enter` and `on_exit`. What the
    arguments cannot say, `define` adds with the builder.
    """

    def connect(self, **options: Any) -> Connecting:
        """Return a context manager that runs the agent, for `async with`.

        `options` are those of `engine.embed.connect`.
        """
        # Imported on use: an agent can be defined and checked without the engine.
        from gemini_live_runtime.engine.embed import connect

        return connect(self.plan(), **options)
