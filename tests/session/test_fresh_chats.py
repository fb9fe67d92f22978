"""Agents choose what their model knows of the conversation that they take over."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talking import agent, talk
from tests.session.test_handing_over import handing, hands_over

from gemini_live_runtime import Agent, AgentSession, InlineTask, Live
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError


def other(**options: Any) -> Agent:
    """Return an agent that has no tools of its own."""
    return Agent(name="specialist", instructions="You repair.", **options)


@pytest.mark.parametrize(
    "target", [other(chat="fresh"), Live.builder("specialist").instruction("You repair.").chat("fresh")]
)
async def test_an_agent_that_a_tool_returns_chooses_that_its_model_knows_nothing_of_the_talk(target: Any) -> None:
    async with talk(handing(target)) as t:
        await hands_over(t)
        (done,) = t.all(ev.AgentHandedOff)
        assert (done.chat, done.via) == ("fresh", "connection")
        assert len(AgentSession.of(t.handle).chat_ctx.messages()) == 0
        assert len(AgentSession.of(t.handle).history.messages()) > 0


async def test_by_default_it_knows_what_was_said() -> None:
    async with talk(handing(other())) as t:
        await hands_over(t)
        assert [done.chat for done in t.all(ev.AgentHandedOff)] == ["keep"]
        assert len(AgentSession.of(t.handle).chat_ctx.messages()) > 0


async def test_who_hands_over_may_choose_otherwise() -> None:
    async with talk(agent()) as t:
        await t.hears("hello")
        await t.says("Hello.")
        await t.ends()
        AgentSession.of(t.handle).update_agent(other(chat="fresh"), chat="keep")
        await t.rests()
        assert [done.chat for done in t.all(ev.AgentHandedOff)] == ["keep"]


def test_a_choice_that_there_is_not_is_refused_and_so_is_a_task_that_forgets() -> None:
    with pytest.raises(AgentError, match=r"chat.* cannot be 'new'"):
        other(chat="new")
    with pytest.raises(AgentError, match="cannot begin with a fresh chat"):
        InlineTask(instructions="Ask.", chat="fresh")
