"""A background call is acknowledged at once; its result comes when it is there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talking import agent, talk
from tests.session.tools.slow_tool import slow

from gemini_live_runtime import (
    BackgroundAgentDispatcher,
    BackgroundToolTracker,
    DefaultResultFormatter,
    ResultFormatter,
    State,
    ToolCallSummary,
    ToolContext,
    ToolExecutionMode,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.tools.dispatch import Outcome, ToolCall


@tool(background=True)
async def search(words: str = "") -> dict[str, str]:
    """Search for a while.

    Args:
        words: What for.
    """
    await asyncio.sleep(5)
    return {"found": words}


async def test_a_background_call_is_acknowledged_at_once_and_its_result_carries_the_scheduling() -> None:
    async with talk(agent().tools(search)) as t:
        await t.calls("search", words="x")
        (ack,) = t.server.frames[-1]["toolResponse"]["functionResponses"]
        assert ack["response"] == {"status": "running", "tool": "search"}
        assert ("scheduling" in ack, ack["willContinue"]) == (False, True)
        await t.passes(5.1)
        (result,) = t.server.frames[-1]["toolResponse"]["functionResponses"]
        assert result["response"]["result"] == {"found": "x"}
        assert (result["scheduling"], result["willContinue"]) == ("WHEN_IDLE", False)
    assert [acknowledged.call_id for acknowledged in t.all(ev.ToolAcknowledged)] == ["c1"]


async def test_the_conversation_goes_on_while_a_background_tool_runs() -> None:
    async with talk(agent().tools(search)) as t:
        await t.calls("search", words="x")
        assert isinstance(t.stage.orchestrator.tools.dispatcher.background, BackgroundToolTracker)
        assert t.stage.orchestrator.tools.dispatcher.background.active_ids == ["c1"]
        await t.turn()
        assert len(t.all(ev.TurnCompleted)) == 1
        await t.passes(5.1)
    assert [finished.result for finished in t.all(ev.ToolFinished)] == [{"found": "x"}]


async def test_a_background_result_is_in_the_transcript() -> None:
    async with talk(agent().tools(search)) as t:
        await t.hears("search it")
        await t.calls("search", words="x")
        await t.says("I am searching.")
        await t.ends()
        await t.passes(5.1)
        calls = [call for turn in t.stage.agent.transcript.window_with_current(5).turns for call in turn.tool_calls]
        assert calls == [ToolCallSummary("c1", "search", '{"words": "x"}', '{"found": "x"}', "ok")]


async def test_a_formatter_words_what_the_model_is_told_of_a_background_call() -> None:
    class Mine(DefaultResultFormatter):
        def format_result(self, call: ToolCall, outcome: Outcome) -> dict[str, Any]:
            return {"news": outcome.result}

    mine: ResultFormatter = Mine()
    own = search.with_mode(ToolExecutionMode.background(mine, "SILENT"))

    async with talk(agent().tools(own)) as t:
        await t.calls("search", words="x")
        await t.passes(5.1)
        (result,) = t.server.frames[-1]["toolResponse"]["functionResponses"]
        assert (result["response"], result["scheduling"]) == ({"news": {"found": "x"}}, "SILENT")


async def test_a_formatter_words_that_a_background_call_was_given_up() -> None:
    @tool(background=True)
    async def gives_up() -> None:
        """Give up."""
        await asyncio.sleep(1)
        raise asyncio.CancelledError

    async with talk(agent().tools(gives_up)) as t:
        await t.calls("gives_up")
        await t.passes(1.1)
        assert t.sent("answer")[-1] == ("answer", "c1", {"status": "cancelled", "call_id": "c1"})


async def test_a_model_without_async_tools_gets_one_answer_without_scheduling() -> None:
    async with talk(agent().tools(search).model("gemini-3.1-flash-live-preview")) as t:
        await t.calls("search", words="x")
        await t.passes(5.1)
        (answer,) = [frame for frame in t.server.frames if "toolResponse" in frame]
        assert "scheduling" not in answer["toolResponse"]["functionResponses"][0]


async def test_every_call_has_its_end_when_the_session_is_hung_up() -> None:
    async with talk(agent().tools(slow, search)) as t:
        await t.calls("slow", "search")
    assert sorted(finished.call_id for finished in t.all(ev.ToolFinished)) == ["c1", "c2"]


async def test_a_background_agent_leaves_its_result_in_the_state() -> None:
    class Reader:
        async def run(self, state: State) -> str:
            await asyncio.sleep(2)
            return f"read {state.get('app:book')}"

    async with talk(agent()) as t:
        assert isinstance(t.handle.agents, BackgroundAgentDispatcher)
        await t.writes(book="Emma")
        t.handle.agents.dispatch("reader", Reader(), t.state)
        await t.passes(2.1)
        assert t.state["bg:reader:result"] == "read Emma"
    assert [(ended.name, ended.ok) for ended in t.all(ev.AgentFinished)] == [("reader", True)]


async def test_a_tool_may_set_a_background_agent_to_work() -> None:
    class Clerk:
        async def run(self, state: State) -> str:
            return f"{state.get('user:name')} is on the list"

    def look_up(context: ToolContext, state: State) -> str:
        """Look the caller up."""
        assert context.agents is not None
        context.agents.dispatch("clerk", Clerk(), state)
        return "looking"

    async with talk(agent().tools(look_up).state(values={"user:name": "Ada"})) as t:
        await t.calls("look_up")
        assert t.state["bg:clerk:result"] == "Ada is on the list"
    assert [done.ok for done in t.all(ev.AgentFinished)] == [True]


@pytest.mark.parametrize("by", ["program", "thread"])
async def test_a_background_agent_is_refused_once_the_session_has_ended(by: str) -> None:
    kept: list[ToolContext] = []

    def keep(context: ToolContext) -> str:
        """Keep the session's agents."""
        kept.append(context)
        return "kept"

    async with talk(agent().tools(keep)) as t:
        await t.calls("keep")
    agents: Any = t.handle.agents if by == "program" else kept[0].agents

    async def dispatch() -> None:
        if by == "thread":
            await asyncio.to_thread(agents.dispatch, "late", object(), t.state)
        else:
            agents.dispatch("late", object(), t.state)

    with pytest.raises(AgentError, match="Background agent late cannot be started: the session has ended"):
        await dispatch()
    assert not t.handle.agents.is_running("late")


async def test_a_missing_key_reaches_the_model_without_quotes() -> None:
    def book(day: str) -> str:
        """Book a day.

        Args:
            day: The day.
        """
        raise KeyError("There is no room on monday")

    async with talk(agent().tools(book)) as t:
        await t.calls("book", day="monday")
        assert t.sent("answer")[0][2] == {"error": "There is no room on monday"}
