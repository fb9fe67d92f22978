"""Events of an `AgentSession` by the names of the field, and its history."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk

from gemini_live_runtime import (
    AgentHandoff,
    AgentStateChangedEvent,
    ChatMessage,
    CloseEvent,
    CloseReason,
    ConversationItemAddedEvent,
    ErrorEvent,
    FunctionCall,
    FunctionCallOutput,
    FunctionToolsExecutedEvent,
    Live,
    MetricsCollectedEvent,
    SpeechCreatedEvent,
    SpeechHandle,
    UserInputTranscribedEvent,
    UserStateChangedEvent,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.agent.listeners.session_events import EVENT_NAMES
from gemini_live_runtime.session.io.listeners import MAX_WAITING
from gemini_live_runtime.wire.audio_frame import encode_model_audio


def heard(t: Talk, *names: str) -> list[Any]:
    """Return a list that gets the events of these names, all without any."""
    found: list[Any] = []
    for name in names or EVENT_NAMES:
        t.stage.session.agent_session.on(name, found.append)
    return found


@tool
def look(where: str) -> str:
    """Look."""
    return f"nothing {where}"


@tool
def fail() -> str:
    """Fail."""
    raise ValueError("no")


def texts(found: list[Any]) -> list[Any]:
    """Return each event in short."""
    told: list[Any] = []
    for event in found:
        match event:
            case AgentStateChangedEvent():
                told.append(event.new_state)
            case ConversationItemAddedEvent(item=ChatMessage() as item):
                told.append((item.role, item.text))
            case UserInputTranscribedEvent(is_final=True):
                told.append(f"final: {event.transcript}")
    return told


async def test_events_of_a_typed_turn_come_in_the_order_of_the_field() -> None:
    async with talk(agent()) as t:
        found = heard(t, "agent_state_changed", "user_input_transcribed", "conversation_item_added")
        await t.types("hello")
        await t.says("Hi there.")
        await t.ends()
        assert texts(found) == [
            "final: hello",
            ("user", "hello"),
            "thinking",
            "speaking",
            "listening",
            ("assistant", "Hi there."),
        ]


async def test_words_of_the_user_are_told_as_they_come_and_once_as_final() -> None:
    async with talk(agent()) as t:
        found = heard(t, "user_input_transcribed")
        await t.hears(" hel")
        await t.hears("lo")
        await t.says("Hi.")
        await t.ends()
        assert [(event.transcript, event.is_final) for event in found] == [
            ("hel", False),
            ("hello", False),
            ("hello", True),
        ]


async def test_a_cut_answer_is_added_with_what_was_heard_ahead_of_the_text_that_cut_it() -> None:
    async with talk(agent()) as t:
        found = heard(t, "agent_state_changed", "conversation_item_added")
        await t.types("tell a story")
        await t.says("Once upon a time")
        await t.types("stop")
        assert texts(found) == [
            ("user", "tell a story"),
            "thinking",
            "speaking",
            ("assistant", "Once upon a time"),
            ("user", "stop"),
            "thinking",
        ]
        cut = t.stage.session.agent_session.history.messages()[1]
        assert cut.interrupted


async def test_calls_of_one_message_are_told_with_their_answers_once_all_have_ended() -> None:
    async with talk(agent().tools(look, fail)) as t:
        found = heard(t, "function_tools_executed")
        await t.hears("look")
        await t.server.says(
            toolCall={
                "functionCalls": [
                    {"id": "a", "name": "look", "args": {"where": "here"}},
                    {"id": "b", "name": "fail", "args": {}},
                ]
            }
        )
        await t.rests()
        (executed,) = found
        assert [(call.name, call.arguments, answer.is_error) for call, answer in executed.zipped()] == [
            ("look", '{"where": "here"}', False),
            ("fail", "{}", True),
        ]
        assert executed.function_call_outputs[0].output == '{"output": "nothing here"}'


def test_calls_and_answers_of_different_number_are_refused() -> None:
    with pytest.raises(AgentError, match="1 calls cannot have 0 answers"):
        FunctionToolsExecutedEvent(
            created_at=0.0, function_calls=(FunctionCall("a", "look", "{}"),), function_call_outputs=()
        )


async def test_each_speech_is_told_once_with_a_handle_and_who_asked_for_it() -> None:
    async with talk(agent()) as t:
        found = heard(t, "speech_created")
        await t.turn()
        asked = t.stage.session.agent_session.generate_reply(instructions="Ask.")
        await t.rests()
        await t.turn(user="", model="Well?")
        told = [(event.source, event.user_initiated) for event in found]
        assert told == [("user", False), ("reply", True)]
        assert all(isinstance(event, SpeechCreatedEvent) for event in found)
        assert found[1].speech_handle is asked
        assert isinstance(found[0].speech_handle, SpeechHandle)
        assert found[0].speech_handle.done


async def test_latency_and_tokens_are_metrics() -> None:
    async with talk(agent()) as t:
        found = heard(t, "metrics_collected")
        await t.server.says(usageMetadata={"promptTokenCount": 3, "responseTokenCount": 4, "totalTokenCount": 7})
        await t.turn()
        assert [type(event) for event in found] == [MetricsCollectedEvent] * 2
        assert [type(event.metrics) for event in found] == [ev.UsageReported, ev.TurnMeasured]


async def test_errors_are_told_with_their_source() -> None:
    def broken(turn: Any) -> None:
        raise ValueError("broken")

    async with talk(agent().on("turn_complete", broken)) as t:
        found = heard(t, "error")
        await t.turn()
        await t.server.closes(1011, "overloaded")
        await t.connects_again()
        assert [event.source for event in found] == ["code", "connection"]
        assert all(isinstance(event, ErrorEvent) for event in found)
        assert "broken" in found[0].error


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_listener_of_errors_that_fails_is_reported_and_not_called_for_its_own_error(is_async: bool) -> None:
    calls = []

    def fails(event: ErrorEvent) -> None:
        calls.append(event)
        # Without the rule it would be called for its own failure, without end.
        if len(calls) < 100:
            raise ValueError(f"error {len(calls)}")

    async def fails_later(event: ErrorEvent) -> None:
        fails(event)

    async with talk(agent()) as t:
        t.stage.session.agent_session.on("error", fails_later if is_async else fails)
        t.stage.agent.emit(ev.Notice(level="error", code="mine", text="Broken."))
        await t.passes(1)
        assert [event.error for event in calls] == ["Broken."]
        assert [fault.error for fault in t.failures()] == ["ValueError: error 1"]


async def test_the_close_of_a_session_is_told_once_with_its_reason() -> None:
    async with talk(agent()) as t:
        found = heard(t, "close")
        await t.stage.session.agent_session.aclose()
        await t.stage.session.agent_session.aclose()
    await asyncio.sleep(0)
    (closed,) = found
    assert isinstance(closed, CloseEvent)
    assert (closed.reason, closed.error) == (CloseReason.USER_INITIATED, "")


async def test_an_unknown_event_is_refused_with_the_nearest_name() -> None:
    async with talk(agent()) as t:
        session = t.stage.session.agent_session
        with pytest.raises(AgentError, match=r"no event 'agent_state_change'.*Did you mean 'agent_state_changed'"):
            session.on("agent_state_change")
        with pytest.raises(AgentError, match="A listener of close cannot be 42"):
            session.on("close", 42)  # type: ignore[type-var]
        with pytest.raises(AgentError, match="Use one of agent_state_changed"):
            session.events("x")


async def test_a_listener_is_added_by_a_decorator_and_taken_away() -> None:
    found: list[Any] = []
    async with talk(agent()) as t:
        session = t.stage.session.agent_session

        @session.on("conversation_item_added")
        async def note(event: ConversationItemAddedEvent) -> None:
            found.append(event.item)

        await t.types("one")
        session.off("conversation_item_added", note)
        await t.types("two")
        assert found == [ChatMessage("user", "one")]
        with pytest.raises(AgentError, match="note does not listen"):
            session.off("conversation_item_added", note)


async def test_a_fault_of_a_listener_is_reported_and_the_others_are_called() -> None:
    async with talk(agent()) as t:
        session = t.stage.session.agent_session

        @session.on("conversation_item_added")
        def broken(event: ConversationItemAddedEvent) -> None:
            raise ValueError("broken")

        found = heard(t, "conversation_item_added")
        await t.types("hello")
        assert len(found) == 1
        (fault,) = t.failures()
        assert (fault.where, fault.name) == ("listener of conversation_item_added", "broken")
        assert fault.defined_at.startswith("test_session_events.py:")


async def test_events_are_read_by_iteration_until_the_session_ends() -> None:
    async with talk(agent()) as t:
        events = t.stage.session.agent_session.events("conversation_item_added", "close")
        left = t.stage.session.agent_session.events()
        left.close()
        await t.turn()
    assert [event.type for event in [event async for event in events]] == [
        "conversation_item_added",
        "conversation_item_added",
        "close",
    ]
    assert [event async for event in left] == []


async def test_a_program_that_reads_slowly_loses_the_oldest_events_and_finds_their_number() -> None:
    async with talk(agent()) as t:
        slow = t.stage.session.agent_session.events("user_input_transcribed")
        for number in range(MAX_WAITING + 2):
            await t.hears(f"{number},")
    waiting = [event.transcript async for event in slow]
    assert (slow.dropped, len(waiting), waiting[0]) == (2, MAX_WAITING, "0,1,2,")


async def test_a_listener_may_act_on_the_session() -> None:
    async with talk(agent()) as t:
        session = t.stage.session.agent_session

        @session.on("agent_state_changed")
        def stop(event: AgentStateChangedEvent) -> None:
            if event.new_state == "speaking":
                session.interrupt()

        await t.types("hello")
        await t.says("Well")
        assert [cut.by for cut in t.all(ev.TurnInterrupted)] == ["operator"]


async def test_the_agent_is_initializing_until_it_is_connected_and_idle_without_a_connection() -> None:
    async with talk(agent(), begins=False) as t:
        session = t.stage.session.agent_session
        found = heard(t, "agent_state_changed")
        assert session.agent_state == "initializing"
        await t.begins()
        assert session.agent_state == "listening"
        await t.server.closes(1011)
        await t.connects_again()
    assert [event.new_state for event in found] == ["listening", "idle", "listening", "idle"]


async def test_the_state_of_the_user_is_told_and_can_be_asked_for() -> None:
    async with talk(agent()) as t:
        session = t.stage.session.agent_session
        found = heard(t, "user_state_changed")
        assert session.user_state == "listening"
        await t.voice(True)
        assert session.user_state == "speaking"
        await t.voice(False)
        assert all(isinstance(event, UserStateChangedEvent) for event in found)
        assert [(event.old_state, event.new_state) for event in found] == [
            ("listening", "speaking"),
            ("speaking", "listening"),
        ]


async def test_the_history_has_what_was_said_around_the_calls_and_their_answers() -> None:
    async with talk(agent().tools(look)) as t:
        await t.hears("look")
        await t.says("Let me look.")
        await t.calls("look", where="here")
        await t.says(" Nothing.")
        await t.ends()
        history = t.stage.session.agent_session.history
        assert history.items == (
            AgentHandoff("", "test"),
            ChatMessage("user", "look"),
            ChatMessage("assistant", "Let me look."),
            FunctionCall("c1", "look", '{"where": "here"}'),
            FunctionCallOutput("c1", "look", '{"output": "nothing here"}'),
            ChatMessage("assistant", "Nothing."),
        )
        assert history[1] == history.messages()[0]
        assert len(history[1:3]) == 2


async def test_the_history_has_hand_offs_where_they_happened() -> None:
    other = Live.builder("other").instruction("Be kind.")
    async with talk(agent()) as t:
        session = t.stage.session.agent_session
        found = heard(t, "conversation_item_added")
        await t.turn("one", "two")
        await session.update_agent(other)
        await t.turn("three", "four")
        assert [item.text if isinstance(item, ChatMessage) else item for item in session.history] == [
            AgentHandoff("", "test"),
            "one",
            "two",
            AgentHandoff("test", "other"),
            "three",
            "four",
        ]
        # The first one came before the listener.
        assert [event.item for event in found] == list(session.history)[1:]


async def test_what_an_agent_that_began_anew_knows_begins_with_it() -> None:
    async with talk(agent()) as t:
        session = t.stage.session.agent_session
        await t.turn("one", "two")
        session.update_agent(Live.builder("other").instruction("Be kind."), chat="fresh")
        await t.connects_again()
        await t.turn("three", "four")
        assert [message.text for message in session.chat_ctx.messages()] == ["three", "four"]
        assert len(session.history.messages()) == 4


async def test_sound_that_plays_after_its_turn_is_told_when_it_was_heard() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        found = heard(t, "conversation_item_added")
        await t.hears("hello")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.says("Good evening.")
        await t.ends()
        assert [event.item.role for event in found] == ["user"]
        await t.passes(2.0)
        assert [event.item.role for event in found] == ["user", "assistant"]


async def test_an_answer_that_is_cut_after_its_turn_is_added_with_what_was_heard() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        found = heard(t, "conversation_item_added")
        await t.hears("hello")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.says("Good evening to you.")
        await t.ends()
        await t.passes(0.5)
        await t.stage.session.agent_session.interrupt()
        await t.rests()
        answer = found[-1].item
        assert answer.interrupted
        assert f"{answer.text} {answer.unheard}" == "Good evening to you."
        assert answer.text
