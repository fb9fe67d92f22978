"""Agents choose what their model knows of the conversation that they take over."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.agents.test_handing_over import handing, hands_over
from tests.session.talking import agent, talk

from gemini_live_runtime import Agent, AgentSession, ChatMessage, FunctionCall, InlineTask, Live, MemoryPersistence
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError

CHOSEN = (ChatMessage("user", "My line is dead."), FunctionCall("c", "look", "{}"), ChatMessage("assistant", "Since?"))


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
    with pytest.raises(AgentError, match="A chat context cannot be 42"):
        other(chat=42)
    for chosen in ("fresh", CHOSEN):
        with pytest.raises(AgentError, match="cannot begin with a chat of its own"):
            InlineTask(instructions="Ask.", chat=chosen)


@pytest.mark.parametrize("by", ["Agent", "Live", "update_agent"])
async def test_an_agent_that_takes_over_is_told_the_messages_that_were_chosen(by: str) -> None:
    target: Any = other(chat=CHOSEN) if by == "Agent" else Live.builder("specialist").instruction("You repair.")
    if by == "Live":
        target = target.chat(iter(CHOSEN))
    async with talk(agent()) as t:
        session = AgentSession.of(t.handle)
        await t.turn("my name is Ada", "Hello Ada.")
        session.update_agent(target, **({"chat": CHOSEN} if by == "update_agent" else {}))
        setup = await t.connects_again()
        assert "handle" not in setup["sessionResumption"]
        assert ("My line is dead." in str(t.wire), "Since?" in str(t.wire), "Ada" in str(t.wire)) == (True, True, False)
        assert [message.text for message in session.chat_ctx.messages()] == ["My line is dead.", "Since?"]
        assert [done.chat for done in t.all(ev.AgentHandedOff)] == ["given"]


@pytest.mark.parametrize("chat", ["fresh", CHOSEN])
async def test_a_later_session_of_a_kept_agent_is_not_told_what_that_agent_did_not_know(chat: Any) -> None:
    kept = MemoryPersistence()
    first = agent().persistence(kept).hands_over_to(other())
    async with talk(first) as t:
        await t.turn("my name is Ada", "Hello Ada.")
        AgentSession.of(t.handle).update_agent(other(), chat=chat)
        await t.connects_again()
        await t.turn("It is broken", "What is?")
    async with talk(first) as t:
        assert t.setup["systemInstruction"]["parts"][0]["text"] == "You repair."
        assert "Ada" not in str(t.wire)
        assert "It is broken" in str(t.wire)
        assert ("My line is dead." in str(t.wire)) == (chat == CHOSEN)
