"""Check that hand-offs outlive the engine that made them."""

from __future__ import annotations

import pytest
from tests.session.agents.test_handing_over import handing, hands_over, specialist
from tests.session.link.test_an_engine_that_died import first_engine, gives_a_handle, next_engine
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import AgentHandoff, ChatMessage, Live, tool
from gemini_live_runtime import events as ev


def reception() -> Live:
    """Return an agent that knows the specialist."""
    return handing().hands_over_to(specialist)


def history(t: Talk) -> list[object]:
    """Return hand-offs, and the texts of messages."""
    items = t.stage.session.agent_session.history
    return [item.text if isinstance(item, ChatMessage) else item for item in items]


@pytest.mark.parametrize("is_saved", [True, False])
async def test_the_history_has_the_hand_offs_of_the_engine_before(is_saved: bool) -> None:
    store = first_engine()
    async with talk(reception(), own_store=store) as t:
        await t.turn("one", "two")
        t.stage.session.agent_session.update_agent(specialist())
        await t.connects_again()
        if is_saved:
            await t.turn("three", "four")
        before = history(t)
        found = next_engine(t, store)
    assert before[:4] == [AgentHandoff("", "test"), "one", "two", AgentHandoff("test", "specialist")]
    async with talk(reception(), own_store=found) as t:
        assert history(t) == before


async def test_a_hand_off_in_the_middle_of_a_turn_is_in_the_history_once() -> None:
    store = first_engine()
    async with talk(reception(), own_store=store) as t:
        await t.turn("one", "two")
        await t.types("three")
        t.stage.session.agent_session.update_agent(specialist())
        await t.says("four")
        await t.ends()
        await t.connects_again()
        await t.types("five")
        await gives_a_handle(t)
        before = history(t)
        found = next_engine(t, store)
    async with talk(reception(), own_store=found) as t:
        assert history(t) == before


@pytest.mark.parametrize("is_saved", [True, False])
async def test_an_agent_that_began_anew_is_not_told_what_was_said_before(is_saved: bool) -> None:
    store = first_engine()
    async with talk(reception(), own_store=store) as t:
        await t.turn("my name is Ada", "Hello Ada.")
        await gives_a_handle(t)
        t.stage.session.agent_session.update_agent(specialist(), chat="fresh")
        await t.connects_again()
        if is_saved:
            await t.turn("It is broken", "What is?")
        found = next_engine(t, store)
    async with talk(reception(), own_store=found) as t:
        assert t.setup["systemInstruction"]["parts"][0]["text"] == "You repair."
        assert "handle" not in t.setup["sessionResumption"]
        assert "Ada" not in str(t.wire)
        assert ("It is broken" in str(t.wire)) == is_saved


async def test_a_hand_off_that_waited_is_made_by_the_next_engine() -> None:
    store = first_engine()
    left: list[str] = []
    first = reception().on_exit(lambda: left.append("test"))
    async with talk(first, own_store=store) as t:
        await t.types("I need a specialist")
        t.stage.session.agent_session.update_agent(specialist(), chat="fresh")
        found = next_engine(t, store)
    left.clear()
    async with talk(first, own_store=found) as t:
        # The question is asked again, and answered first.
        assert (left, t.sent("text")) == ([], [("text", "I need a specialist")])
        await t.says("One moment.")
        await t.ends()
        await t.connects_again()
        (handed,) = t.all(ev.AgentHandedOff)
        assert (handed.agent, handed.by, handed.reason, handed.chat) == (
            "specialist",
            "program",
            "update_agent",
            "fresh",
        )
        assert left == ["test"]


@pytest.mark.parametrize("is_saved", [True, False])
@pytest.mark.parametrize("how", ["update_chat_ctx", "update_agent", "waits"])
async def test_messages_that_a_program_chose_are_all_that_the_next_engine_knows(how: str, is_saved: bool) -> None:
    store, chosen = first_engine(), [ChatMessage("user", "My line is dead."), ChatMessage("assistant", "Since?")]
    async with talk(reception(), own_store=store) as t:
        session = t.stage.session.agent_session
        await t.turn("my name is Ada", "Hello Ada.")
        await gives_a_handle(t)
        if how == "waits":
            await t.types("I need a specialist")
            session.update_agent(specialist(), chat=chosen)
        else:
            session.update_chat_ctx(chosen) if how == "update_chat_ctx" else session.update_agent(
                specialist(), chat=chosen
            )
            await t.connects_again()
        if is_saved:
            await gives_a_handle(t)
            if how != "waits":
                await t.turn("It is broken", "What is?")
        found = next_engine(t, store)
    async with talk(reception(), own_store=found) as t:
        if how == "waits":
            await t.says("One moment.")
            await t.ends()
            await t.connects_again()
        texts = [message.text for message in t.stage.session.agent_session.chat_ctx.messages()]
        assert texts[:2] == ["My line is dead.", "Since?"]
        assert len(texts) == (4 if is_saved and how != "waits" else 2)
        if how == "waits" or not is_saved:
            assert "My line is dead." in str(t.wire)
        assert "Ada" not in str(t.wire)


async def test_a_hand_off_to_an_agent_that_is_not_known_is_given_up_with_a_notice() -> None:
    store = first_engine()
    async with talk(agent(), own_store=store) as t:
        await t.hears("I need a specialist")
        await t.says("One")
        t.stage.session.agent_session.update_agent(specialist())
        found = next_engine(t, store)
    async with talk(agent(), own_store=found) as t:
        assert "test knows no agent specialist" in [item.text for item in t.all(ev.Notice)]
        assert [item.problem for item in t.all(ev.HandoffRequested)] == ["test knows no agent specialist"]


async def test_a_hand_off_that_was_made_or_refused_is_not_made_again() -> None:
    store = first_engine()
    async with talk(reception(), own_store=store) as t:
        await hands_over(t)
        found = next_engine(t, store)
    async with talk(reception(), own_store=found) as t:
        assert t.all(ev.HandoffRequested) == []


def ordering() -> Live:
    """Return an agent with a background tool, which hands over to the specialist."""

    @tool(background=True)
    async def order() -> str:
        """Order a part."""
        return "it comes tomorrow"

    return reception().tools(order)


async def refuses_order(t: Talk) -> None:
    """Let the model call a tool of the agent that has handed over."""
    await t.calls("order")
    assert [answer for _, _, answer in t.sent("answer")] == [
        {"status": "error", "tool": "order", "error": "There is no tool order. Tools: reset."}
    ]
    assert t.all(ev.ToolAcknowledged) == []


async def test_a_background_tool_of_the_agent_before_is_refused_and_not_acknowledged() -> None:
    async with talk(ordering()) as t:
        await hands_over(t)
        await refuses_order(t)


async def test_the_next_engine_refuses_a_background_tool_of_the_agent_before_without_acknowledging_it() -> None:
    store = first_engine()
    async with talk(ordering(), own_store=store) as t:
        t.stage.session.agent_session.update_agent(specialist())
        await t.connects_again()
        await t.turn("It is broken", "What is?")
        found = next_engine(t, store)
    async with talk(ordering(), own_store=found) as t:
        await refuses_order(t)


async def test_a_background_tool_runs_in_the_next_engine() -> None:
    store = first_engine()
    async with talk(ordering(), own_store=store) as t:
        await t.turn("hello", "Good day.")
        await gives_a_handle(t)
        found = next_engine(t, store)
    async with talk(ordering(), own_store=found) as t:
        await t.calls("order")
        assert [answer["status"] for _, _, answer in t.sent("answer")] == ["running", "completed"]
