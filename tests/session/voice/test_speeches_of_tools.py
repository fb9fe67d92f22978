"""Tools have the handles of speeches: they wait, interrupt, protect and ask."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talking import agent, talk
from tests.session.voice.speech_support import session_of, told

from gemini_live_runtime import (
    Live,
    RunContext,
    SpeechHandle,
    tool,
)
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev


async def test_the_rounds_of_a_tool_are_steps_of_one_speech() -> None:
    seen: list[Any] = []

    @tool
    async def look(context: RunContext) -> str:
        """Look."""
        assert context.speech_handle is not None
        seen.extend((context.speech_handle, context.function_call.name, context.userdata, context.session))
        return "seen"

    async with talk(agent().tools(look)) as t:
        await t.hears("look")
        await t.says("Let me look.")
        await t.calls("look")
        await t.server.says(serverContent={"generationComplete": True})
        await t.says("I see.")
        await t.ends()
        handle, name, userdata, session = seen
        assert isinstance(handle, SpeechHandle)
        assert (handle.status, handle.step_index) == ("done", 2)
        assert (name, userdata, session) == ("look", t.state, session_of(t))


async def test_a_tool_cannot_wait_for_the_end_of_its_own_speech() -> None:
    @tool
    async def look(context: RunContext) -> str:
        """Look."""
        assert context.speech_handle is not None
        await context.speech_handle
        return "never"

    async with talk(agent().tools(look)) as t:
        await t.hears("look")
        await t.says("Let me look.")
        await t.calls("look")
        assert "cannot wait for the end" in str(t.sent("answer"))


async def test_a_tool_cannot_wait_for_a_speech_that_begins_after_its_answer() -> None:
    @tool
    async def announce(context: RunContext) -> str:
        """Announce."""
        await context.session.generate_reply(instructions="Sing.")
        return "never"

    async with talk(agent().tools(announce)) as t:
        await t.hears("sing")
        await t.says("Let me see.")
        await t.calls("announce")
        assert "cannot wait for the end of speech-2, which begins only after" in str(t.sent("answer"))


@pytest.mark.parametrize("options", [{"background": True}, {"blocking": False}], ids=str)
async def test_a_tool_that_the_model_does_not_wait_for_waits_for_another_speech(options: dict[str, bool]) -> None:
    @tool(**options)  # type: ignore[call-overload]
    async def announce(context: RunContext) -> str:
        """Announce."""
        speech = await context.session.generate_reply(instructions="Sing.")
        return speech.status

    async with talk(agent().tools(announce)) as t:
        await t.hears("sing")
        await t.calls("announce")
        await t.says("Let me see.")
        await t.ends()
        await t.says("La la.")
        await t.ends()
        assert "done" in str(t.sent("answer"))


async def test_what_a_tool_leaves_behind_waits_for_another_speech() -> None:
    sung = []

    @tool
    async def announce(context: RunContext) -> str:
        """Announce."""

        async def sing() -> None:
            sung.append((await context.session.generate_reply(instructions="Sing.")).status)

        sung_later.append(asyncio.create_task(sing()))
        return "soon"

    sung_later: list[asyncio.Task[None]] = []
    async with talk(agent().tools(announce)) as t:
        await t.hears("sing")
        await t.calls("announce")
        await t.says("Let me see.")
        await t.ends()
        await t.says("La la.")
        await t.ends()
        assert (str(t.sent("answer")).count("soon"), sung) == (1, ["done"])


async def test_a_plain_tool_asks_for_a_reply_and_interrupts_from_its_thread() -> None:
    called: list[str] = []

    @tool
    def announce(context: RunContext) -> str:
        """Announce."""
        speech = context.session.generate_reply(instructions="Sing.")
        context.session.generate_reply(instructions="Dance.").interrupt()
        speech.add_done_callback(lambda handle: called.append(handle.status))
        return " ".join(waiting.id for waiting in context.session.waiting_speeches)

    async with talk(agent().tools(announce)) as t:
        await t.hears("sing")
        await t.says("Let me see.")
        await t.calls("announce")
        assert t.sent("answer") == [("answer", "c1", {"output": "speech-2"})]
        await t.says("Well.")
        await t.ends()
        await t.says("La la.")
        await t.ends()
        assert (told(t, "speech-2")[-1], told(t, "speech-3")[-1], called) == ("done", "dropped", ["done"])


async def test_a_plain_tool_hands_over_from_its_thread() -> None:
    @tool
    def transfer(context: RunContext) -> str:
        """Transfer."""
        context.session.update_agent(Live.builder("other").instruction("Repair."))
        return "soon"

    async with talk(agent().tools(transfer)) as t:
        await t.hears("transfer")
        await t.calls("transfer")
        assert t.sent("answer") == [("answer", "c1", {"output": "soon"})]
        await t.says("One moment.")
        await t.ends()
        await t.passes(1)
        assert [event.agent for event in t.all(ev.AgentHandedOff)] == ["other"]


async def test_a_tool_waits_until_what_the_model_said_before_was_heard_and_protects_its_speech() -> None:
    @tool
    async def pay(context: RunContext) -> str:
        """Pay."""
        context.disallow_interruptions()
        await context.wait_for_playout()
        return "paid"

    async with talk(agent().tools(pay)) as t:
        await t.hears("pay")
        await t.says("I am paying.")
        await t.calls("pay")
        assert t.sent("answer") == [("answer", "c1", {"output": "paid"})]
        assert await t.commands(cmd.Interrupt()) == "This answer may not be interrupted"


async def test_an_answer_without_tools_has_its_calls_refused() -> None:
    @tool
    def look() -> str:
        """Look."""
        return "seen"

    async with talk(agent().tools(look)) as t:
        session_of(t).generate_reply(instructions="Sum up.", tool_choice="none")
        await t.rests()
        await t.says("Well,")
        await t.calls("look")
        assert "No tool may be used in this answer" in str(t.sent("answer"))
        await t.ends()
        await t.hears("look again")
        await t.calls("look")
        assert t.sent("answer")[-1] == ("answer", "c2", {"output": "seen"})


async def test_a_tool_that_the_model_calls_before_its_first_word_has_the_handle_of_what_it_says_then() -> None:
    handles: list[SpeechHandle] = []

    @tool
    async def look_up(context: RunContext) -> str:
        """Look up."""
        assert context.speech_handle is not None
        handles.append(context.speech_handle)
        context.disallow_interruptions()
        return "found"

    async with talk(agent().tools(look_up)) as t:
        await t.hears("look it up")
        await t.calls("look_up")
        await t.says("I found it.")
        assert [(handle.done, handle.allow_interruptions) for handle in handles] == [(False, False)]
        await t.ends()
        assert [(handle.done, handle.interrupted) for handle in handles] == [(True, False)]
    (spoken,) = {item.id for item in t.all(ev.SpeechChanged) if item.status == "speaking"}
    assert handles[0].id == spoken


async def test_a_call_after_which_the_model_says_nothing_leaves_no_handle_for_the_next_answer() -> None:
    @tool
    def note() -> str:
        """Note."""
        return "noted"

    async with talk(agent().tools(note)) as t:
        await t.calls("note")
        await t.ends()
        await t.turn()
    told = [(item.id, item.status) for item in t.all(ev.SpeechChanged)]
    assert [status for ident, status in told if ident == told[0][0]] in (["asked", "done"], ["asked", "dropped"])
    assert len({ident for ident, _ in told}) == 2


async def test_a_speech_ends_with_its_turn_when_the_model_says_nothing_after_a_call() -> None:
    async with talk(agent()) as t:
        await t.hears("hello")
        await t.says("One moment.")
        await t.server.says(serverContent={"generationComplete": True})
        await t.calls("nothing")
        await t.passes(25)
        assert [turn.reason for turn in t.all(ev.TurnCompleted)] == ["no answer"]
        assert told(t, "speech-1") == ["speaking", "done"]
