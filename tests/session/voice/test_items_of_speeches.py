"""Messages, calls and faults of one speech, by its handle."""

from __future__ import annotations

from tests.session.link.test_error_budget import fails
from tests.session.talking import agent, talk
from tests.session.voice.speech_support import session_of

from gemini_live_runtime import ChatMessage, FunctionCall, FunctionCallOutput, RunContext, tool
from gemini_live_runtime.session.io.speech_handle import SpeechHandle


async def test_a_handle_has_the_messages_and_calls_of_its_speech() -> None:
    handles: list[SpeechHandle | None] = []

    @tool
    async def look_up(context: RunContext) -> str:
        """Look up."""
        handles.append(context.speech_handle)
        return "found"

    async with talk(agent().tools(look_up)) as t:
        await t.hears("look it up")
        await t.says("One moment.")
        await t.calls("look_up")
        await t.says("I found it.")
        await t.ends()
        later = session_of(t).generate_reply(instructions="Go on.")
        assert list(later.chat_items) == []
        await t.rests()
        await t.says("Anything else?")
        await t.ends()
        (handle,) = handles
        assert handle is not None
        first, call, answer, last = handle.chat_items
        assert (first, last) == (ChatMessage("assistant", "One moment."), ChatMessage("assistant", "I found it."))
        assert isinstance(call, FunctionCall)
        assert isinstance(answer, FunctionCallOutput)
        assert list(later.chat_items) == [ChatMessage("assistant", "Anything else?")]
        assert (handle.exception(), later.exception()) == (None, None)


async def test_a_speech_that_was_dropped_with_the_connection_has_a_fault_and_an_interrupted_one_has_none() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        session.generate_reply(instructions="one")
        dropped = session.generate_reply(instructions="two")
        dropped.interrupt()
        asked = session.current_speech
        assert asked is not None
        await t.rests()
        assert asked.exception() is None
        await fails(t, 4)
        assert (asked.status, dropped.status) == ("dropped", "dropped")
        assert str(asked.exception()).startswith(f"{asked.id} was dropped: The connection was given up")
        assert dropped.exception() is None
        await asked
