"""Tools, instructions and chat context that are replaced while a session runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Agent, ChatMessage, FunctionCall, Live, Phase, State, Transition, Watcher, key, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.io.agent_session import AgentSession


@tool
def look() -> str:
    """Look."""
    return "seen"


@tool
def listen() -> str:
    """Listen."""
    return "heard"


def session_of(t: Talk) -> AgentSession:
    """Return the session of a talk."""
    return t.stage.session.agent_session


def names(setup: dict[str, Any]) -> list[str]:
    """Return the names of the tools that a setup declares."""
    return [item["name"] for item in setup["tools"][0]["functionDeclarations"]]


async def test_tools_are_replaced_at_once_and_declared_by_the_next_connection() -> None:
    async with talk(agent().tools(look)) as t:
        await t.turn()
        updated = session_of(t).update_tools([look, listen])
        setup = await t.connects_again()
        assert updated.done()
        assert names(setup) == ["look", "listen"]
        assert "fine" in str(t.wire), "a server session that does not know the conversation is told of it"
        await t.calls("listen")
        assert t.sent("answer") == [("answer", "c1", {"output": "heard"})]


async def test_tools_that_are_replaced_while_a_connection_is_made_are_declared_by_the_next_one() -> None:
    async with talk(agent().tools(look), begins=False) as t:
        assert names(await t.server.hears_a("setup")) == ["look"]
        await session_of(t).update_tools([listen])
        await t.server.says(setupComplete={"sessionId": "s-1"})
        assert names(await t.connects_again()) == ["listen"]
        assert len(t.all(ev.ConnectionReady)) == 1


async def test_tools_may_come_from_an_iterator() -> None:
    one = Agent(name="one", instructions="Help.", tools=[look])
    async with talk(one) as t:
        await session_of(t).update_tools(item for item in (look, listen))
        assert names(await t.connects_again()) == ["look", "listen"]
        await one.update_tools(item for item in (listen,))
        assert names(await t.connects_again()) == ["listen"]
        assert [item.name for item in one.tools] == ["listen"]


async def test_the_same_tools_need_no_other_connection() -> None:
    async with talk(agent().tools(look)) as t:
        await session_of(t).update_tools([look])
        await t.passes(20)
        assert t.all(ev.ConnectionClosed) == []


async def test_tools_that_cannot_be_used_change_nothing() -> None:
    phase = Phase("first", "One.", tools=[look])
    async with talk(agent().tools(look).phase(phase)) as t:
        session = session_of(t)
        with pytest.raises(AgentError, match="look"):
            session.update_tools([listen])
        with pytest.raises(AgentError, match="look"):
            session.update_tools([look, look])
        with pytest.raises(AgentError, match="Tools cannot be 42"):
            session.update_tools(42)  # type: ignore[arg-type]
        await t.calls("look")
        assert t.sent("answer") == [("answer", "c1", {"output": "seen"})]
        await t.passes(20)
        assert t.all(ev.ConnectionClosed) == []


async def test_phase_state_and_watchers_go_on_when_tools_are_replaced() -> None:
    fired: list[Any] = []

    def note(state: State) -> None:
        fired.append(state["app:count"])

    phases = (
        Phase("first", "One.", transitions=Transition("second", key("app:go"))),
        Phase("second", "Two.", terminal=True),
    )
    made = agent().tools(look).phase(*phases).state(values={"app:count": 1})
    async with talk(made.watch(Watcher(key("app:count").changed(), note))) as t:
        await t.writes(go=True, count=2)
        await t.turn()
        await session_of(t).update_tools([listen])
        assert (t.handle.phase, t.state["app:count"], fired) == ("second", 2, [2])
        assert t.phases == ["first", "second"]


async def test_tools_of_an_agent_that_was_replaced_meanwhile_are_refused() -> None:
    updates: list[asyncio.Future[None]] = []

    def leave(session: AgentSession) -> None:
        updates.append(session.update_tools([listen]))

    async with talk(agent().tools(look).on_exit(leave)) as t:
        await session_of(t).update_agent(Live.builder("other").instruction("Be kind.").tools(look))
        await t.rests()
        with pytest.raises(AgentError, match="Agent other took over before the tools of test were replaced"):
            await updates[0]


async def test_another_chat_context_is_what_the_model_is_told_on_a_session_of_its_own() -> None:
    async with talk(agent()) as t:
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
        await t.turn("my name is Ada", "Hello Ada.")
        updated = session_of(t).update_chat_ctx(
            [
                ChatMessage("user", "my name is Bob"),
                FunctionCall("c", "look", "{}"),
                ChatMessage("assistant", "Hello Bob."),
            ]
        )
        setup = await t.connects_again()
        assert updated.done()
        assert "handle" not in setup["sessionResumption"]
        told = str(t.wire)
        assert "my name is Bob" in told
        assert "Hello Bob." in told
        assert "Ada" not in told
        assert [message.text for message in session_of(t).history.messages()] == ["my name is Bob", "Hello Bob."]
        assert [notice.code for notice in t.all(ev.Notice)] == ["chat-context"]


async def test_a_chat_context_waits_until_the_model_has_finished_speaking() -> None:
    async with talk(agent()) as t:
        await t.hears("hello")
        await t.says("Well,")
        updated = session_of(t).update_chat_ctx([])
        await t.rests()
        assert not updated.done()
        await t.ends()
        await t.connects_again()
        assert updated.done()
        assert session_of(t).history.items == ()


async def test_what_is_no_chat_context_is_refused() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        for wrong, said in (
            ("hello", "A chat context cannot be 'hello'"),
            ([("user", "hello")], "A chat context cannot hold"),
            ([ChatMessage("system", "x")], "A chat context cannot hold"),  # type: ignore[arg-type]
            ([ChatMessage("user", "x")] * 51, "A chat context of 51 messages is too long"),
        ):
            with pytest.raises(AgentError, match=said):
                session.update_chat_ctx(wrong)  # type: ignore[arg-type]


async def test_an_agent_that_waits_for_its_chat_context_is_told_of_the_end() -> None:
    async with talk(agent()) as t:
        await t.hears("hello")
        await t.says("Well,")
        updated = session_of(t).update_chat_ctx([])
    with pytest.raises(GeminiLiveError, match="The session is over"):
        await updated


async def test_an_agent_in_no_session_says_so() -> None:
    made = Agent(name="made", instructions="Be brief.")
    with pytest.raises(AgentError, match="Agent made is in no session"):
        _ = made.session
    async with talk(made) as t:
        assert made.session is session_of(t)


async def test_an_agent_is_changed_before_and_while_it_speaks() -> None:
    made = Agent(name="made", instructions="Be brief.")
    with pytest.raises(AgentError, match="Agent made does not speak"):
        await made.update_chat_ctx([])
    await made.update_instructions("Be kind.")
    await made.update_tools([look])
    assert made.chat_ctx.items == ()
    async with talk(made) as t:
        assert t.setup["systemInstruction"]["parts"][0]["text"] == "Be kind."
        assert names(t.setup) == ["look"]
        await t.turn("one", "two")
        await made.update_instructions("Be quick.")
        await t.rests()
        assert t.sent("instruction") == [("instruction", "Be quick.")]
        await made.update_tools([*made.tools, listen])
        assert names(await t.connects_again()) == ["look", "listen"]
        assert [item.name for item in made.tools] == ["look", "listen"]
        assert [message.text for message in made.chat_ctx.messages()] == ["one", "two"]
        await session_of(t).update_agent(Live.builder("other").instruction("Be brief.").tools(look, listen))
        await t.turn("three", "four")
        assert [message.text for message in made.chat_ctx.messages()] == ["one", "two"]
