"""Tools of the technical support: the test of a line, and the restart of a router."""

from __future__ import annotations

import asyncio
from typing import Literal

from gemini_live_runtime import State, StateKey, tool

Problem = Literal["no internet", "slow internet", "no telephone"]
PROBLEM = StateKey("app:problem", Problem, description="what does not work")
LINE = StateKey("bg:line", Literal["good", "broken"], description="what the test of the line has shown")


@tool(background=True, scheduling="WHEN_IDLE")
async def check_line(state: State) -> dict[str, str]:
    """Test the caller's line, which takes a few seconds. Go on talking meanwhile."""
    await asyncio.sleep(4)
    state[LINE] = "broken" if state.get(PROBLEM) == "no telephone" else "good"
    return {"line": state[LINE]}


@tool
async def restart_router(state: State) -> dict[str, str]:
    """Restart the caller's router from afar. It can be tried again when it fails."""
    await asyncio.sleep(1)
    if state.get(PROBLEM) == "no internet":
        still = " still" if state.get("bg:restart_router_failed") else ""
        raise ConnectionError(f"the router{still} does not answer")  # the router is not reachable without internet
    return {"router": "restarted"}
