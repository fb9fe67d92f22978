"""Define the agents that take over from the simulated one, and its tasks."""

from __future__ import annotations

from typing import Any

from tests.simulation.agent_tools import ON_PURPOSE, Current, log, mood, note, ran, search

from gemini_live_runtime.api import Live
from gemini_live_runtime.session.io.agent_session import AgentSession
from gemini_live_runtime.session.io.inline_task import InlineTask
from gemini_live_runtime.session.io.run_context import RunContext
from gemini_live_runtime.tools.context import ToolContext
from gemini_live_runtime.tools.declaration import tool


class Detail(InlineTask[str]):
    """Task that is awaited in a tool of another task."""

    def __init__(self) -> None:
        super().__init__(instructions="Ask for a detail.", tools=(note,))

    async def on_enter(self) -> None:
        Current.timeline.note("entered", agent=self.name)
        await mood()

    @tool
    async def finish(self, fail: bool, context: ToolContext) -> str:
        """Complete the task, with an error perhaps."""
        ran(context, "finish")
        self.complete(RuntimeError(ON_PURPOSE) if fail else "detail")
        return "finished"


class Survey(InlineTask[str]):
    """Task that is awaited in a tool of an agent."""

    def __init__(self) -> None:
        super().__init__(instructions="Ask how it was.", tools=(log,))

    async def on_enter(self) -> None:
        Current.timeline.note("entered", agent=self.name)
        await mood()

    @tool
    async def deepen(self, context: RunContext) -> str:
        """Ask for a detail in a task of its own."""
        ran(context, "deepen")
        return await Detail()

    @tool
    async def finish(self, fail: bool, context: ToolContext) -> str:
        """Complete the task, with an error perhaps."""
        ran(context, "finish")
        self.complete(RuntimeError(ON_PURPOSE) if fail else "survey")
        return "finished"


@tool
async def ask(context: RunContext) -> str:
    """Ask how it was in a task of its own."""
    ran(context, "ask")
    return await Survey()


@tool
async def transfer(context: ToolContext) -> Any:
    """Hand over to the desk."""
    ran(context, "transfer")
    await mood()
    return DESK


@tool
async def back(context: ToolContext) -> Any:
    """Hand back to the first agent."""
    ran(context, "back")
    return Current.first, "The first agent takes over."


async def _enter_desk() -> None:
    Current.timeline.note("entered", agent="desk")
    await mood()


async def _leave_desk(session: AgentSession) -> None:
    Current.timeline.note("left", agent="desk")
    session.generate_reply(instructions="Say goodbye.")
    await mood()


DESK = (
    Live.builder("desk")
    .instruction("You are at the desk.")
    .greeting("Say that this is the desk.")
    .tools(note, search, log, back, ask)
    .on_enter(_enter_desk)
    .on_exit(_leave_desk)
    .hands_over_to(lambda: Current.first)
)
"""Agent without phases."""
