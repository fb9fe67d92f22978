"""A program's tests run whole sessions without a socket and without the protocol."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gemini_live_runtime import AgentSession, Live, ScriptedAdapter, tool
from gemini_live_runtime.errors import EngineError, GeminiLiveError, SetupRejectedError, UnreachableError
from gemini_live_runtime.session.io.handle import LiveHandle

SECOND = b"\x01\x00" * 16_000


@tool
def weather(city: str) -> str:
    """Say what the weather is like.

    Args:
        city: Name of the city.
    """
    return f"rain in {city}"


def agent() -> Live:
    return Live.builder("test").instruction("Be brief.").tools(weather)


async def answers(session: LiveHandle, model: ScriptedAdapter, text: str) -> None:
    """Let the model say something, and wait until it was taken in."""
    model.says(text)
    model.completes()
    await session.until_quiet(0.1)


async def test_a_typed_question_and_its_answer_need_no_server() -> None:
    model, said = ScriptedAdapter(), []
    live = agent().on("output_transcript", lambda text, final: said.append(text) if final else None)
    async with live.connect(adapter=model) as session:
        await session.send_text("hello")
        await answers(session, model, "Hi.")
    assert said == ["Hi."]
    assert model.instructions == ["Be brief."]
    assert [operation for operation in model.operations if operation != "receive"] == ["connect", "post", "close"]


async def test_who_finds_the_turns_is_up_to_the_adapter_that_makes_the_setup() -> None:
    model = ScriptedAdapter()
    async with agent().connect(adapter=model) as session:
        with pytest.raises(GeminiLiveError, match="cannot become client in this session: the program's own adapter"):
            await session.update_options(turn_detection="client")


async def test_a_tool_runs_and_its_answer_is_posted() -> None:
    model = ScriptedAdapter()
    async with agent().connect(adapter=model) as session:
        await session.send_text("what's it like in Bergen?")
        call_id = model.calls("weather", {"city": "Bergen"})
        await answers(session, model, "It rains.")
        (answer,) = [message.tool_response for message in model.posted if message.tool_response is not None]
        assert [(one.id, one.response) for one in answer.function_responses] == [
            (call_id, {"output": "rain in Bergen"})
        ]


async def test_a_link_tells_where_it_is_over_all_its_connections() -> None:
    model = ScriptedAdapter()
    async with agent().connect(adapter=model, audio="program", mode="voice") as session:
        begun = session.link
        assert (begun.session, begun.connection, begun.restarts) == ("scripted-1", 1, 0)
        await session.send_text("hello")
        session.send_audio(SECOND)
        await answers(session, model, "Hi.")
        before = session.link
        assert (before.sent - begun.sent, before.samples_sent, before.received) == (1, 16_000, 3)
        assert before.response == begun.response + 1
        model.loses()
        await session.until_quiet(5)
        after = session.link
    assert (after.session, after.connection, after.restarts) == ("scripted-2", 2, 1)
    assert (after.samples_sent, after.received) == (before.samples_sent, before.received)


async def test_a_lost_connection_is_made_again_with_the_handle_and_the_text_goes_out_once() -> None:
    model = ScriptedAdapter()
    async with agent().connect(adapter=model) as session:
        model.gives_handle("a-handle-of-the-model")
        await session.until_quiet(0.1)
        model.refuses(UnreachableError("The network is gone"))
        model.loses()
        await session.until_quiet(5)
        await session.send_text("still there?")
        await answers(session, model, "Yes.")
    assert model.operations.count("connect") == 3
    assert model.handles == ["", "a-handle-of-the-model", "a-handle-of-the-model"]
    texts = [message.client_content for message in model.posted if message.client_content is not None]
    assert len(texts) == 1


async def test_what_is_said_into_the_microphone_reaches_the_model_and_its_voice_the_program() -> None:
    model, heard = ScriptedAdapter(), bytearray()
    live = agent().on("audio", heard.extend)
    async with live.connect(adapter=model, audio="program", mode="voice") as session:
        session.send_audio(SECOND)
        model.hears("hello")
        model.speaks(SECOND)
        model.completes()
        await session.until_quiet(0.1)
    assert model.audio == SECOND
    assert bytes(heard) == SECOND


async def test_a_provider_that_refuses_the_first_connection_is_an_error_of_the_program() -> None:
    model = ScriptedAdapter()
    model.refuses(SetupRejectedError("The model does not exist"))
    with pytest.raises(SetupRejectedError, match="does not exist"):
        async with agent().connect(adapter=model):
            pass


async def ask(session: LiveHandle, model: ScriptedAdapter, by: str) -> None:
    """Ask for an answer that never comes: by a text, or by a call of the model."""
    if by == "text":
        await session.send_text("hello?")
    else:
        model.calls("weather", {"city": "Bergen"})
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("before_s", [0.1, 100.0])
@pytest.mark.parametrize("by", ["text", "call"])
async def test_a_session_drains_although_the_model_never_answers(by: str, before_s: float) -> None:
    model = ScriptedAdapter()
    async with agent().connect(adapter=model) as session:
        await ask(session, model, by)
        await asyncio.sleep(before_s)
        assert await asyncio.wait_for(AgentSession.of(session).drain(), 100) == 0


@pytest.mark.parametrize("by", ["text", "call"])
async def test_a_session_is_quiet_once_an_answer_was_given_up_and_takes_it_late(by: str) -> None:
    model, said = ScriptedAdapter(), []
    live = agent().on("output_transcript", lambda text, final: said.append(text) if final else None)
    async with live.connect(adapter=model) as session:
        await ask(session, model, by)
        await asyncio.wait_for(session.until_quiet(), 100)
        await answers(session, model, "Late.")
    assert said == ["Late."]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"adapter": "gemini"}, "adapter is 'gemini', which makes no connections"),
        ({"adapter": ScriptedAdapter(), "backend": "local"}, "backend is of no use with an adapter"),
        ({"adapter": ScriptedAdapter(), "fast": True}, "fast is of no use with an adapter"),
    ],
)
def test_an_adapter_that_cannot_be_used_is_refused_by_name(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(EngineError, match=sentence):
        agent().connect(**options)
