"""Check that a speech which was interrupted before it began is over in time."""

from __future__ import annotations

import asyncio

from tests.session.talking import agent, talk

from gemini_live_runtime import RunContext, SpeechHandle, tool
from gemini_live_runtime import events as ev


async def test_a_cancelled_speech_that_the_model_never_begins_is_over_after_five_seconds() -> None:
    async with talk(agent()) as t:
        session = t.stage.session.agent_session
        reply = session.generate_reply(instructions="One.")
        await t.passes(2)
        interrupted = session.interrupt()
        began = t.now
        await interrupted
        assert 5.0 <= t.now - began < 5.1
        assert (reply.status, session.agent_state) == ("dropped", "listening")


async def test_what_the_model_says_after_that_is_cut_and_the_next_reply_is_heard() -> None:
    async with talk(agent()) as t:
        session = t.stage.session.agent_session
        session.generate_reply(instructions="One.").interrupt()
        await t.passes(6)
        await t.says("One.")
        await t.ends()
        assert [item.by for item in t.all(ev.TurnInterrupted)] == ["operator"]
        reply = session.generate_reply(instructions="Two.")
        await t.rests()
        await t.says("Two.")
        await t.ends()
        assert reply.status == "done"


async def test_the_user_who_types_after_an_interruption_is_answered() -> None:
    async with talk(agent()) as t:
        session = t.stage.session.agent_session
        reply = session.generate_reply(instructions="One.")
        await t.rests()
        reply.interrupt()
        await t.types("Wait")
        assert reply.status == "dropped"
        await t.says("Yes?")
        await t.ends()
        assert t.all(ev.TurnInterrupted) == []


async def test_the_user_who_speaks_after_a_speech_was_given_up_is_answered() -> None:
    async with talk(agent()) as t:
        t.stage.session.agent_session.generate_reply(instructions="One.").interrupt()
        await t.passes(6)
        await t.turn("Hello?", "Yes?")
        assert t.all(ev.TurnInterrupted) == []


async def test_a_turn_without_a_word_is_the_answer_to_a_speech_that_was_given_up() -> None:
    async with talk(agent()) as t:
        t.stage.session.agent_session.generate_reply(instructions="One.").interrupt()
        await t.passes(6)
        await t.ends()
        # The model speaks of itself.
        await t.says("By the way")
        await t.ends()
        assert t.all(ev.TurnInterrupted) == []


async def test_no_other_connection_is_asked_for_a_cancelled_speech() -> None:
    async with talk(agent()) as t:
        session = t.stage.session.agent_session
        replies = [session.generate_reply(instructions="One."), session.generate_reply("Two?")]
        await t.rests()
        for reply in replies:
            reply.interrupt()
            await t.server.closes(1011)
            await t.connects_again()
        assert [reply.status for reply in replies] == ["dropped", "dropped"]
        assert ("prompt",) not in t.wire


async def test_the_turn_of_a_reply_to_a_text_ends_with_it() -> None:
    async with talk(agent()) as t:
        reply = t.stage.session.agent_session.generate_reply("Hi")
        await t.rests()
        reply.interrupt()
        await t.passes(6)
        assert ([item.outcome for item in t.all(ev.TurnCompleted)], reply.status) == (["interrupted"], "dropped")
        async with asyncio.timeout(1):
            await t.handle.until_quiet()


async def test_a_cancelled_speech_waits_for_its_tools() -> None:
    handles: list[SpeechHandle] = []

    @tool
    async def look(context: RunContext) -> str:
        """Look."""
        assert context.speech_handle is not None
        handles.append(context.speech_handle.interrupt())
        await asyncio.sleep(8)
        return "found"

    async with talk(agent().tools(look)) as t:
        await t.hears("Look")
        await t.calls("look")
        await t.passes(9)
        assert handles[0].status == "asked"
        await t.says("Found.")
        assert handles[0].status == "interrupted"
