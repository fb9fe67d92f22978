"""Rounds of calls in an answer, and their limit."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Agent, Live, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError


async def look() -> str:
    """Look."""
    return "nothing"


@tool(background=True)
async def search() -> str:
    """Search."""
    return "found"


def looking() -> Live:
    """Return an agent with a tool that is quick, and one that runs in the background."""
    return agent().tools(look, search)


def statuses(t: Talk) -> list[str]:
    """Return the ends of all calls, in order."""
    return [event.status for event in t.all(ev.ToolFinished)]


async def test_the_call_after_the_third_round_is_answered_with_an_error_and_the_model_speaks() -> None:
    async with talk(looking()) as t:
        await t.hears("where is it?")
        for _ in range(4):
            await t.calls("look")
        assert statuses(t) == ["ok", "ok", "ok", "refused"]
        assert t.sent("answer")[-1] == (
            "answer",
            "c4",
            {"error": "This answer has used its 3 rounds of tools (max_tool_steps). Answer without a tool."},
        )
        await t.says("I cannot find it.")
        await t.ends()
        assert [event.outcome for event in t.all(ev.TurnCompleted)] == ["complete"]


async def test_calls_of_one_round_count_once_however_many_messages_they_come_in() -> None:
    async with talk(looking().max_tool_steps(1)) as t:
        await t.hears("look everywhere")
        await t.server.says(toolCall={"functionCalls": [{"id": "a", "name": "look"}, {"id": "b", "name": "look"}]})
        await t.server.says(toolCall={"functionCalls": [{"id": "c", "name": "look"}]})
        await t.rests()
        assert statuses(t) == ["ok", "ok", "ok"]
        await t.calls("look")
        assert statuses(t) == ["ok", "ok", "ok", "refused"]


async def test_the_user_begins_the_count_anew_spoken_or_typed() -> None:
    async with talk(looking().max_tool_steps(1)) as t:
        await t.hears("look")
        await t.calls("look")
        await t.says("Nothing.")
        await t.ends()
        await t.hears("again")
        await t.calls("look")
        await t.says("Nothing.")
        await t.ends()
        await t.types("again")
        await t.calls("look")
        assert statuses(t) == ["ok"] * 3


async def test_a_turn_that_the_server_splits_at_its_calls_is_one_answer() -> None:
    async with talk(looking().max_tool_steps(2)) as t:
        await t.hears("look")
        for _ in range(3):
            await t.calls("look")
            await t.server.says(serverContent={"turnComplete": True})
            await t.rests()
        assert statuses(t) == ["ok", "ok", "refused"]


async def test_a_prompt_of_the_agent_begins_the_count_anew() -> None:
    async with talk(looking().max_tool_steps(1)) as t:
        await t.hears("look")
        await t.calls("look")
        await t.says("Nothing.")
        await t.ends()
        t.handle.prompt()
        await t.rests()
        await t.calls("look")
        assert statuses(t) == ["ok", "ok"]


async def test_background_calls_are_rounds_too() -> None:
    async with talk(looking().max_tool_steps(1)) as t:
        await t.hears("search")
        await t.calls("search")
        await t.calls("search")
        assert statuses(t) == ["ok", "refused"]


async def test_without_a_limit_the_model_may_go_on() -> None:
    for of in (looking().max_tool_steps(None), Agent(name="a", instructions="x", tools=[look], max_tool_steps=None)):
        async with talk(of) as t:  # type: ignore[arg-type]
            await t.hears("look")
            for _ in range(8):
                await t.calls("look")
            assert statuses(t) == ["ok"] * 8


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3"])
def test_a_limit_that_cannot_be_is_refused_by_name(value: Any) -> None:
    with pytest.raises(AgentError, match="max_tool_steps cannot be"):
        looking().max_tool_steps(value).plan()
