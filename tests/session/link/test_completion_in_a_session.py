"""Running sessions are complete at rest, and say what the end has cut off."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Live, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.journal.completion.completion_gate import RealtimeCompletionGate

SECOND = base64.b64encode(bytes(48_000)).decode()


def missing(t: Talk) -> str:
    """Return what the session lacks so far; it is not recorded."""
    gate = RealtimeCompletionGate()
    for event in t.stage.sink.events:
        gate.apply(event)
    return gate.completion().words


def slow(*, background: bool = False) -> Live:
    """Return an agent whose only tool takes five seconds."""

    @tool(background=background)
    async def search() -> str:
        """Search."""
        await asyncio.sleep(5)
        return "found"

    return agent().tools(search)


async def asks(t: Talk) -> None:
    """Type a text that the model answers."""
    await t.types("hello")
    await t.says("Good day.")
    await t.ends()


async def test_a_talk_that_came_to_rest_is_complete() -> None:
    async with talk(agent(), mode="text") as t:
        await asks(t)
        assert missing(t) == "ending (the session has not ended), links (the connection was not closed)"
    assert missing(t) == ""


async def test_a_text_that_is_not_answered_before_the_end_is_missing() -> None:
    async with talk(agent(), mode="text") as t:
        await asks(t)
        await t.types("and now?")
    assert missing(t) == "deliveries (1 text has no answer)"


async def test_a_text_that_waits_for_a_connection_at_the_end_is_missing() -> None:
    async with talk(agent(), mode="text") as t:
        await asks(t)
        t.stage.refuses_until(1000.0)
        await t.server.closes(1006)
        await t.rests()
        await t.types("and now?")
        assert "1 text was not delivered" in missing(t)
    assert missing(t) in (
        "links (the connection was lost), deliveries (1 text was not delivered)",
        "links (the connection was not made), deliveries (1 text was not delivered)",
    )


@pytest.mark.parametrize("background", [False, True])
async def test_a_call_that_the_end_cuts_off_is_missing(background: bool) -> None:
    async with talk(slow(background=background)) as t:
        await t.turn("hello", "Good day.")
        await t.hears("look it up")
        await t.calls("search")
        await t.says("I am looking.")
        await t.ends()
    assert "1 tool call was cut off by the end" in missing(t)


async def test_a_call_that_the_server_takes_back_is_settled() -> None:
    async with talk(slow()) as t:
        await t.turn("hello", "Good day.")
        await t.hears("look it up")
        await t.calls("search")
        await t.server.says(toolCallCancellation={"ids": ["c1"]})
        await t.server.says(serverContent={"interrupted": True})
        await t.passes(60)
    assert missing(t) == ""


async def test_an_answer_that_the_end_cuts_off_is_missing() -> None:
    async with talk(agent()) as t:
        await t.turn("hello", "Good day.")
        await t.hears("tell me a story")
        await t.says("Once upon")
    assert missing(t) == "deliveries (turn 2 was not finished)"


async def test_sound_that_is_still_played_is_missing(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(None, tmp_path / "speaker.wav")) as t:
        await t.hears("hello")
        sound = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": SECOND}}
        await t.server.says(serverContent={"modelTurn": {"parts": [sound]}})
        await t.ends()
        await t.passes(0.3)
        assert "the answer was not played to its end" in missing(t)
        await t.passes(2)
        assert "deliveries" not in missing(t)
    assert missing(t) == ""


async def test_an_interruption_is_settled_with_its_turn() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.hears("tell me a story")
        sound = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": SECOND}}
        await t.server.says(serverContent={"modelTurn": {"parts": [sound]}})
        await t.says("Once upon")
        assert await t.commands(cmd.Interrupt()) == ""
    assert missing(t) == ""


async def test_an_agent_that_is_held_at_the_end_is_missing() -> None:
    async with talk(agent()) as t:
        await t.turn("hello", "Good day.")
        assert await t.commands(cmd.HoldAgent()) == ""
    assert missing(t).startswith("interventions (the agent was held at ")


async def test_a_link_that_was_given_up_is_missing_until_it_is_asked_for() -> None:
    async with talk(agent(), mode="text") as t:
        await asks(t)
        await t.server.closes(1008, "API key not valid")
        await t.rests()
        assert "links (the connection was given up)" in missing(t)
        assert await t.commands(cmd.Connect()) == ""
        await t.connects_again()
    assert missing(t) == ""


async def test_a_text_that_a_lost_connection_took_is_complete_once_it_is_answered_on_the_next() -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("hello")
        await t.server.closes(1006)
        await t.connects_again()
        assert "1 text has no answer" in missing(t)
        await t.says("Good day.")
        await t.ends()
    assert missing(t) == ""


async def test_words_that_the_model_passes_over_are_no_open_delivery() -> None:
    async with talk(agent()) as t:
        await t.turn("hello", "Good day.")
        await t.hears("hm")
        await t.passes(120)
    assert missing(t) == ""


async def test_words_that_come_after_their_answer_are_no_open_delivery() -> None:
    async with talk(agent()) as t:
        await t.voice(True)
        await t.voice(False)
        await t.says("Good day.")
        await t.ends()
        await t.hears("hello")
        await t.passes(120)
    assert missing(t) == ""
