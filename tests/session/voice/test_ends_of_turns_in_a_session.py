"""A turn ends also when the server takes back the call that was its only answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import events as ev
from gemini_live_runtime import tool

CANCEL = {"toolCallCancellation": {"ids": ["c1"]}}
INTERRUPT = {"serverContent": {"interrupted": True}}
COMPLETE = {"serverContent": {"turnComplete": True}}


@tool
async def look_up() -> str:
    """Take long."""
    await asyncio.sleep(100)
    return "found"


def outcomes(t: Talk) -> list[str]:
    """Return the outcomes of the turns that ended."""
    return [completed.outcome for completed in t.all(ev.TurnCompleted)]


@pytest.mark.parametrize("is_typed", [False, True])
@pytest.mark.parametrize(
    ("frames", "seconds"),
    [((CANCEL, INTERRUPT, COMPLETE), 1), ((INTERRUPT, COMPLETE, CANCEL), 1), ((CANCEL,), 21)],
)
async def test_a_call_that_is_cancelled_before_the_model_spoke_ends_its_turn(
    frames: tuple[dict[str, Any], ...], seconds: float, is_typed: bool
) -> None:
    async with talk(agent().tools(look_up)) as t:
        await (t.types("look it up") if is_typed else t.hears("look it up"))
        await t.calls("look_up")
        for frame in frames:
            await t.server.says(**frame)
        async with asyncio.timeout(seconds):
            await t.handle.until_quiet()
        assert outcomes(t) == ["empty"]
        await t.turn("never mind, the weather", "sunny")
        assert outcomes(t) == ["empty", "complete"]


async def test_a_cancelled_call_for_an_earlier_text_leaves_the_turn_of_the_newest_open() -> None:
    async with talk(agent().tools(look_up), mode="text") as t:
        await t.types("look it up")
        await t.types("never mind, the weather")
        await t.calls("look_up")
        for frame in (CANCEL, INTERRUPT, COMPLETE):
            await t.server.says(**frame)
        await t.says("sunny")
        await t.ends()
        assert outcomes(t) == ["empty", "complete"]
