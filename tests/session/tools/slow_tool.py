"""Provide a tool that takes a while."""

from __future__ import annotations

import asyncio

from gemini_live_runtime import (
    tool,
)


@tool
async def slow(seconds: float = 5.0) -> dict[str, str]:
    """Take a while.

    Args:
        seconds: How long.
    """
    await asyncio.sleep(seconds)
    return {"it": "is done"}
