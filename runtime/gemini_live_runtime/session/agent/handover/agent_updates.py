"""Change the agent that speaks while it does: its tools, and what its model knows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.chat import ChatMessage
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.harness.paths import DEFAULT_PROFILE
from gemini_live_runtime.harness.profile import profile_of
from gemini_live_runtime.session.definition.plan import make_plan

if TYPE_CHECKING:
    from gemini_live_runtime.commands import SetProfileTools
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.handover.adoption import AgentAdoption
    from gemini_live_runtime.session.definition.definition import Definition
    from gemini_live_runtime.session.definition.plan import SessionPlan


class AgentUpdates:
    """Changes of one session's agent, each a step of the task queue."""

    def __init__(self, agent: AgentContext, adoption: AgentAdoption) -> None:
        self._agent = agent
        self._adoption = adoption
        self._waiting: set[asyncio.Task[None]] = set()
        self._open: set[asyncio.Future[None]] = set()
        """Futures of changes that were not made yet."""

    def replace_tools(self, tools: Sequence[Any]) -> asyncio.Future[None]:
        """Put `tools` in place of the agent's; return a future of that.

        Raises `AgentError` for tools that cannot be used; nothing has changed then. The model learns of them with
        another connection, which is made in the next pause.
        """
        agent, name = self._agent, self._agent.plan.name
        definition = with_tools(agent.plan.before_profile or agent.plan.definition, tools)
        # What was given may be an iterator, which has them once.
        given = definition.tools
        self._adoption.prepare(make_plan(definition).with_profile(agent.plan.profile_tools))

        async def adopt() -> None:
            if agent.plan.name != name:
                raise AgentError(
                    f"Agent {agent.plan.name} took over before the tools of {name} were replaced",
                    remedy="Give that agent its tools",
                    field="tools",
                    value=name,
                )
            before = agent.plan.before_profile or agent.plan.definition
            plan = make_plan(with_tools(before, given)).with_profile(agent.plan.profile_tools)
            self._adopt(plan, "its tools were replaced")

        return self._queue("update tools", adopt)

    def set_profile_tools(self, order: SetProfileTools, command_id: str) -> None:
        """Give the agent the tools that the profile enables now.

        Raises `ConfigError` for what cannot be. The model learns of them as in `replace_tools`.
        """
        agent = self._agent
        table = {"enabled": order.enabled, "folders": order.folders, "programs": order.programs}
        tools = profile_of({"tools": table}, name=DEFAULT_PROFILE, where="the order").tools
        self._adoption.prepare(agent.plan.with_profile(tools))

        async def adopt() -> None:
            plan = agent.plan.with_profile(tools)
            self._adopt(plan, "the profile enables other tools")
            for text in plan.left_out:
                agent.emit(ev.Notice(level="warning", code="profile", text=text))

        self._queue("update the profile's tools", adopt)

    def _adopt(self, plan: SessionPlan, reason: str) -> None:
        agent = self._agent
        parts = self._adoption.continue_with(plan, frozenset(item.name for item in plan.definition.patterns))
        if self._adoption.adopt(parts, known=agent.plan.definition.initial_state, reason=reason):
            # Tools are declared when a connection is set up.
            agent.host.reconnect()

    def replace_chat(self, messages: Sequence[ChatMessage]) -> asyncio.Future[None]:
        """Let `messages` be all that was said, once no answer is pending.

        Another connection, to a server session of its own, tells the model. Returns a future of that.
        """
        agent = self._agent
        done = self._future()

        async def tell_anew() -> None:
            if agent.host.is_answer_pending():
                # The model has begun to speak since.
                start()
                return
            agent.replace_chat(messages)
            text = f"The model is told another conversation: {len(messages)} messages"
            agent.emit(ev.Notice(level="info", code="chat-context", text=text))
            agent.host.move(fresh=True)
            if not done.done():
                done.set_result(None)

        async def wait() -> None:
            await agent.host.until(lambda: agent.closed or not agent.host.is_answer_pending())
            if agent.closed or not agent.queue.put("update chat context", tell_anew):
                _fail(done, _is_over())

        def start() -> None:
            task = asyncio.create_task(wait(), name="update chat context")
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)

        start()
        return done

    def _queue(self, name: str, step: Callable[[], Any]) -> asyncio.Future[None]:
        done = self._future()

        async def run() -> None:
            try:
                await step()
            except GeminiLiveError as error:
                _fail(done, error)
            else:
                if not done.done():
                    done.set_result(None)

        if not self._agent.queue.put(name, run):
            _fail(done, _is_over())
        return done

    def _future(self) -> asyncio.Future[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open.add(done)
        done.add_done_callback(self._open.discard)
        # Whoever asked may not wait for it.
        done.add_done_callback(lambda future: future.cancelled() or future.exception())
        return done

    def close(self) -> None:
        """Make no change any more; those that wait fail."""
        for task in self._waiting:
            task.cancel()
        for done in tuple(self._open):
            _fail(done, _is_over())


def with_tools(definition: Definition, tools: Any) -> Definition:
    """Return a definition with other tools; raise `AgentError` for what holds none."""
    if isinstance(tools, str | bytes) or not isinstance(tools, Iterable):
        raise AgentError(
            f"Tools cannot be {tools!r:.60}",
            remedy="Give all tools of the agent, for example [*agent.tools, another]",
            field="tools",
            value=type(tools).__name__,
        )
    return replace(definition, tools=tuple(tools))


def _is_over() -> GeminiLiveError:
    return GeminiLiveError("The session is over", remedy="Start a new one")


def _fail(done: asyncio.Future[None], error: GeminiLiveError) -> None:
    if not done.done():
        done.set_exception(error)
