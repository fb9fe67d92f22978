"""Calls, texts and speech outlive a connection, which can be asked for."""

from __future__ import annotations

import asyncio
import base64

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Live, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.errors import CredentialError

CHUNK = b"\x01\x00" * 320
"""20 ms of microphone sound."""


async def resumable(t: Talk) -> None:
    """Send a resumption handle as the server."""
    await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
    await t.rests()


def slow(seconds: float) -> Live:
    """Return an agent whose only tool takes so long."""

    @tool
    async def search() -> str:
        """Search."""
        await asyncio.sleep(seconds)
        return "found"

    return agent().tools(search)


def settled(t: Talk) -> list[tuple[str, str]]:
    """Return kind and outcome of what a lost connection left open."""
    return [(event.kind, event.outcome) for event in t.all(ev.SendSettled)]


# -- calls -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [1006, 1011])
async def test_a_call_that_the_resumed_session_knows_is_answered(code: int) -> None:
    async with talk(slow(5)) as t:
        await t.hears("look it up")
        await t.calls("search")
        await resumable(t)
        await t.server.closes(code)
        await t.connects_again()
        await t.passes(5)
        assert t.sent("answer") == [("answer", "c1", {"output": "found"})]
    assert [(call.status, call.delivered) for call in t.all(ev.ToolFinished)] == [("ok", True)]


@pytest.mark.parametrize("handle", [True, False])
async def test_a_call_that_the_server_does_not_know_any_more_is_told_with_the_question(handle: bool) -> None:
    async with talk(slow(5)) as t:
        if handle:
            await resumable(t)
        await t.hears("look it up")
        await t.calls("search")
        await t.server.closes(1006)
        await t.connects_again()
        await t.passes(6)
        told = [said for kind, *said in t.wire if kind == "model context"]
        assert "User: look it up" in told[0][0]
        assert told[1] == ['[Result of search] {"output": "found"}']
        assert t.wire[-1] == ("prompt",)
        await t.says("It was found.")
        await t.ends()
    assert settled(t) == [("speech", "told"), ("answer", "told")]
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["complete"]


async def test_a_text_that_was_typed_meanwhile_asks_for_what_the_model_is_told_of_a_call() -> None:
    # Behind a prompt it would cut off the answer that it asks for.
    async with talk(slow(5), mode="text") as t:
        await resumable(t)
        await t.types("look it up")
        await t.calls("search")
        await t.passes(6)
        await t.server.closes(1006)
        await t.rests()
        await t.types("and hello")
        await t.connects_again()
        assert [kind for kind, *_ in t.wire] == ["model context", "text"]
        assert "found" in t.wire[0][1]
    assert settled(t) == [("text", "told")]


async def test_a_question_that_was_told_and_answered_is_not_sent_again_after_another_loss() -> None:
    async with talk(slow(5), mode="text") as t:
        await t.types("look it up")
        await t.calls("search")
        await t.server.closes(1006)
        await t.connects_again()
        await t.passes(6)
        await t.says("It was found.")
        await t.ends()
        await t.server.closes(1006)
        await t.connects_again()
        assert t.sent("text") == []
    assert settled(t) == [("text", "told"), ("answer", "told")]


async def test_a_call_that_ends_while_there_is_no_connection_is_answered_on_the_next() -> None:
    async with talk(slow(1)) as t:
        await t.calls("search")
        await resumable(t)
        await t.server.closes(1006)
        server = await t.stage.next_server()
        await t.passes(3)
        t.server = server
        await server.accepts()
        await t.rests()
        assert (await server.hears_a("toolResponse"))["functionResponses"][0]["id"] == "c1"
    assert settled(t) == [("answer", "sent")]


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_nothing_comes_between_a_call_and_its_answer_on_the_next_connection(moment: str) -> None:
    async with talk(slow(1)) as t:
        t.handle.send_context("The room is 12.")
        await t.hears("look it up")
        await t.calls("search")
        await resumable(t)
        if moment == "after":
            await t.passes(2)
        t.stage.refuses_until(3)
        await t.server.closes(1006)
        t.handle.send_context("The sun shines.")
        await t.connects_again()
        assert [kind for kind, *_ in t.wire][:1] == ["answer"]


async def test_an_answer_that_the_model_has_said_nothing_of_is_sent_again() -> None:
    async with talk(slow(1)) as t:
        await t.hears("look it up")
        await t.calls("search")
        await t.server.says(serverContent={"turnComplete": True})
        await resumable(t)
        await t.passes(2)
        assert t.sent("answer") != []
        await t.server.closes(1006)
        await t.connects_again()
        assert t.wire == [("answer", "c1", {"output": "found"})]
        await t.says("It was found.")
        await t.ends()
        await t.server.closes(1006)
        await t.connects_again()
        assert t.sent("answer") == []
    assert ("answer", "resent") in settled(t)


async def test_a_result_that_the_server_got_and_had_not_told_is_asked_for() -> None:
    async with talk(slow(1)) as t:
        await t.hears("look it up")
        await t.calls("search")
        await t.server.says(serverContent={"turnComplete": True})
        await t.passes(2)
        await resumable(t)
        await t.server.closes(1006)
        await t.connects_again()
        assert t.wire == [("prompt",)]


async def test_a_background_result_that_was_lost_on_its_way_is_sent_again() -> None:
    @tool(background=True)
    async def search() -> str:
        """Search."""
        await asyncio.sleep(5)
        return "found"

    async with talk(agent().tools(search)) as t:
        await t.calls("search")
        await t.says("I am looking. ")
        await resumable(t)
        await t.passes(6)
        await t.says("Meanwhile")
        await t.server.closes(1006)
        await t.connects_again()
        assert [ident for _, ident, _ in t.sent("answer")] == ["c1"]


async def test_calls_made_together_are_told_and_taken_up_once() -> None:
    async with talk(slow(5)) as t:
        await t.hears("look both up")
        await t.calls("search", "search")
        await t.server.closes(1006)
        await t.connects_again()
        await t.passes(6)
        assert [kind for kind, *_ in t.wire].count("prompt") == 1
    assert [outcome for kind, outcome in settled(t) if kind == "answer"] == ["told", "told"]


async def test_what_is_told_of_an_open_turn_is_told_once_though_it_waits_over_two_losses() -> None:
    async with talk(slow(20)) as t:
        await t.hears("look it up")
        await t.calls("search")
        await resumable(t)
        for _ in range(3):
            await t.server.closes(1006)
            await t.connects_again()
        # The third connection begins a fresh session.
        assert t.wire == [("model context", "[Conversation so far]\nUser: look it up")]


# -- prompts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("handle", [True, False])
async def test_a_model_that_was_asked_to_speak_and_had_not_begun_is_asked_again(handle: bool) -> None:
    async with talk(agent()) as t:
        if handle:
            await resumable(t)
        t.handle.prompt()
        await t.rests()
        await t.server.closes(1006)
        await t.connects_again()
        assert t.wire == [("prompt",)]
        await t.says("Well.")
        await t.ends()
        await t.server.closes(1006)
        await t.connects_again()
        assert t.sent("prompt") == []


async def test_a_greeting_that_was_lost_is_given_again_with_one_prompt() -> None:
    async with talk(agent().greeting("Greet the guest."), begins=False) as t:
        await t.server.accepts()
        # As servers do, before anything was said.
        await resumable(t)
        await t.passes(1)
        for resumes in (True, False):
            await t.server.closes(1006)
            setup = await t.connects_again()
            assert ("handle" in setup["sessionResumption"]) is resumes
            assert t.wire == [("user context", "[Context] Greet the guest."), ("prompt",)]
            t.stage.core.state.link.handle = ""
        await t.says("Welcome.")
        await t.ends()
        await t.server.closes(1006)
        await t.connects_again()
        assert t.sent("prompt") == []


async def test_a_prompt_is_not_given_again_beside_a_text() -> None:
    async with talk(agent(), mode="text") as t:
        t.handle.prompt()
        await t.rests()
        await t.server.closes(1006)
        await t.types("hello")
        await t.connects_again()
        assert t.wire == [("text", "hello")]


# -- texts -----------------------------------------------------------------------------------------------------------


async def test_a_text_whose_answer_was_lost_is_sent_again_in_the_same_turn() -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("what time is it")
        await t.server.closes(1006)
        await t.connects_again()
        assert t.sent("text") == [("text", "what time is it")]
        await t.says("Four.")
        await t.ends()
    assert settled(t) == [("text", "resent")]
    assert len(t.all(ev.TextSent)) == 1
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["complete"]


async def test_a_text_that_was_being_answered_is_not_sent_again() -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("what time is it")
        await t.says("Fo")
        await t.server.closes(1006)
        await t.connects_again()
        assert t.sent("text") == []
    assert settled(t) == [("reply", "continued")]


async def test_words_that_were_heard_but_not_answered_are_sent_as_text() -> None:
    async with talk(agent()) as t:
        await t.hears("what time ")
        await t.hears("is it")
        await t.server.closes(1011)
        await t.connects_again()
        assert t.sent("text") == [("text", "what time is it")]
    assert settled(t) == [("speech", "resent")]


async def test_texts_typed_without_a_connection_follow_in_order_and_once() -> None:
    async with talk(agent(), mode="text") as t:
        await t.types("one")
        await t.server.closes(1006)
        await t.types("two")
        await t.types("three")
        await t.connects_again()
        assert [text for _, text in t.sent("text")] == ["one", "two", "three"]


async def test_the_gate_stays_closed_until_the_model_knows_what_it_has_to_know() -> None:
    async with talk(agent(), mode="text") as t:
        await t.turn("my name is Ada", "Hello Ada.")
        await t.server.closes(1006)
        await t.types("who am I")
        await t.connects_again()
        assert [kind for kind, *_ in t.wire] == ["model context", "text"]


# -- speech ----------------------------------------------------------------------------------------------------------


def chunks(t: Talk) -> float:
    """Return the sound that the present connection got, in chunks."""
    sounds = (frame.get("realtimeInput", {}).get("audio", {"data": ""})["data"] for frame in t.server.frames)
    return sum(len(base64.b64decode(sound)) for sound in sounds) / len(CHUNK)


async def test_speech_while_there_is_no_connection_is_kept_and_the_rest_is_counted() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.server.closes(1006)
        await t.rests()
        for _ in range(150):
            t.handle.send_audio(CHUNK)
        dropped = t.stage.session.sample().mic_dropped
        await t.connects_again()
        assert (chunks(t), dropped) == (50, 100)
        assert t.all(ev.OutboxChanged)[-1].dropped == pytest.approx(2.0)


async def test_an_utterance_while_there_is_no_connection_is_kept_whole() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.server.closes(1006)
        await t.rests()
        t.stage.session.audio_input.on_voice(True)
        for _ in range(200):
            t.handle.send_audio(CHUNK)
        t.stage.session.audio_input.on_voice(False)
        await t.connects_again()
        assert chunks(t) == 200
    assert t.stage.session.sample().mic_dropped == 0


async def test_an_utterance_that_the_loss_cut_in_two_is_sent_again_from_its_onset() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        t.stage.session.audio_input.on_voice(True)
        for _ in range(30):
            t.handle.send_audio(CHUNK)
        await t.server.closes(1006)
        await t.rests()
        for _ in range(20):
            t.handle.send_audio(CHUNK)
        await t.connects_again()
        assert chunks(t) == 50


async def test_an_utterance_that_begins_while_the_model_speaks_is_kept_from_its_onset() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.hears("tell me a story")
        await t.says("Once")
        t.stage.session.audio_input.on_voice(True)
        for _ in range(30):
            t.handle.send_audio(CHUNK)
        await t.says(" upon a time")
        await t.server.closes(1006)
        await t.connects_again()
        assert chunks(t) == 30


# -- the link --------------------------------------------------------------------------------------------------------


async def test_an_outage_of_fifteen_seconds_is_survived() -> None:
    async with talk(agent()) as t:
        t.stage.refuses_until(15)
        await t.server.closes(1006)
        await t.connects_again()
        assert t.all(ev.SessionState)[-1].word in ("listening", "text")
    assert not t.all(ev.LinkGivenUp)


async def test_an_unannounced_end_is_followed_by_an_attempt() -> None:
    async with talk(agent()) as t:
        await t.server.closes(1000)
        await t.connects_again()
    assert t.all(ev.LinkRestarting)[0].reason == "orderly"


async def test_what_was_refused_is_made_again_by_connect() -> None:
    async with talk(agent(), mode="text") as t:
        await t.server.closes(1008, "API key expired.")
        await t.rests()
        assert t.all(ev.LinkGivenUp)[-1].reason == "refused"
        await t.types("hello")
        assert await t.commands(cmd.Connect()) == ""
        await t.connects_again()
        assert t.sent("text") == [("text", "hello")]
        assert "There is a connection" in await t.commands(cmd.Connect())


async def test_connect_does_not_wait_for_the_next_attempt() -> None:
    async with talk(agent()) as t:
        t.stage.refuses_until(3)
        await t.server.closes(1006)
        await t.passes(3)
        attempts = len(t.all(ev.ConnectionOpening))
        await t.commands(cmd.Connect())
        assert len(t.all(ev.ConnectionOpening)) == attempts + 1
        await t.connects_again()


async def test_what_was_under_way_when_a_message_was_refused_is_set_aside_and_told() -> None:
    async with talk(slow(1), mode="text") as t:
        await t.types("look it up")
        await t.calls("search")
        await resumable(t)
        await t.passes(2)
        await t.types("again")
        await t.server.closes(1007, "Request contains an invalid argument.")
        await t.connects_again()
        assert [kind for kind, *_ in t.wire if kind != "model context"] == []
        await t.types("hello")
        assert t.sent("text") == [("text", "hello")]
    assert settled(t) == [("text", "unknown"), ("text", "unknown"), ("answer", "unknown")]


async def test_connect_makes_one_attempt_of_what_cannot_be_prepared() -> None:
    async with talk(agent(), begins=False) as t:
        t.stage.unprepared = CredentialError("No login was found")
        await t.passes(1)
        await t.commands(cmd.Connect())
        await t.passes(1)
        assert len(t.all(ev.LinkGivenUp)) == 2


async def test_the_same_refused_message_ends_the_attempts_after_a_fresh_session() -> None:
    async with talk(agent()) as t:
        await resumable(t)
        handles = []
        for _ in range(2):
            await t.server.closes(1007, "Request contains an invalid argument.")
            handles.append("handle" in (await t.connects_again())["sessionResumption"])
        await t.server.closes(1007, "Request contains an invalid argument.")
        await t.passes(60)
        assert t.all(ev.LinkGivenUp)[-1].reason == "message"
    assert len(t.all(ev.ConnectionOpening)) == 3
