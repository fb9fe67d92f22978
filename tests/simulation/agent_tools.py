"""The simulated agent's tools, and the luck that its code has."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from tests.simulation.timeline import Timeline

from gemini_live_runtime.session.io.run_context import RunContext
from gemini_live_runtime.state.store import State
from gemini_live_runtime.tools.declaration import ToolContext, tool

ON_PURPOSE = "on purpose"


class Current:
    """The world whose session runs now."""

    timeline = Timeline()
    chance = random.Random()
    faulty = 0.0
    """Current world, and how likely a call of a callback fails or is slow."""
    first: Any = None
    """Agent that begins."""


async def mood() -> None:
    """Do nothing, fail, or wait."""
    dice = Current.chance.random()
    if dice < Current.faulty / 2:
        raise RuntimeError(ON_PURPOSE)
    if dice < Current.faulty:
        await asyncio.sleep(Current.chance.choice((0.0, 0.01, 0.2, 1.5, 7.0)))


def ran(context: ToolContext, name: str) -> None:
    """Note that a tool runs."""
    Current.timeline.note("ran", call=context.call_id, name=name)


@tool
async def note(name: str, context: ToolContext, state: State) -> dict[str, Any]:
    """Note the caller's name."""
    ran(context, "note")
    state.set("user:name", name)
    state.set("turn:noted", True)
    return {"noted": name}


@tool
async def add(count: int, context: ToolContext, state: State) -> int:
    """Add items to the order."""
    ran(context, "add")
    await asyncio.sleep(0.05)
    return int(state.modify("app:items", 0, lambda items: items + count))


@tool
async def search(seconds: float, context: ToolContext, state: State) -> str:
    """Look something up, slowly."""
    ran(context, "search")
    state.set("turn:searching", True)
    await asyncio.sleep(seconds)
    state.set("turn:found", True)
    return "found"


@tool
async def broken(context: ToolContext) -> str:
    """Fail."""
    ran(context, "broken")
    await asyncio.sleep(0)
    raise ValueError(ON_PURPOSE)


@tool(timeout_s=3.0)
async def never(context: ToolContext) -> str:
    """Never come back."""
    ran(context, "never")
    try:
        await asyncio.Event().wait()
    finally:
        Current.timeline.note("stopped", call=context.call_id, t=asyncio.get_running_loop().time())
    return ""


@tool(timeout_s=4.0)
async def stubborn(context: ToolContext) -> str:
    """Take its time to be cancelled, longer than is waited for."""
    ran(context, "stubborn")
    try:
        await asyncio.sleep(2.0)
    except asyncio.CancelledError:
        await asyncio.sleep(2.5)
        raise
    return "done"


@tool(background=True)
async def ticket(seconds: float, context: ToolContext, state: State) -> str:
    """Open a ticket, in the background."""
    ran(context, "ticket")
    await asyncio.sleep(seconds)
    state.set("bg:ticket", "T-1")
    return "T-1"


@tool(blocking=False, scheduling="SILENT")
async def log(context: ToolContext) -> str:
    """Write a line, without result."""
    ran(context, "log")
    await asyncio.sleep(0.5)
    return "logged"


@tool
async def pay(fail: bool, context: ToolContext) -> str:
    """Take the money."""
    ran(context, "pay")
    await asyncio.sleep(0.3)
    if fail:
        raise RuntimeError(ON_PURPOSE)
    return "paid"


@tool
async def protect(context: RunContext) -> str:
    """Say something that must be heard to its end."""
    ran(context, "protect")
    context.disallow_interruptions()
    await asyncio.sleep(0.1)
    return "protected"


TOOLS = (note, add, search, broken, never, stubborn, ticket, log, pay, protect)
