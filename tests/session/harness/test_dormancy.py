"""A session sleeps while nothing goes on, and wakes without losing a word."""

from __future__ import annotations

import contextlib
from base64 import b64decode
from collections.abc import AsyncIterator
from typing import Any

from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Live
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.session.link.kept_audio import CHUNK_S, ONSET_S

VOICE, SILENCE = b"\x01\x00" * 320, bytes(640)
"""Chunks of 20 ms."""


@contextlib.asynccontextmanager
async def sleepy(of: Live | None = None, **options: Any) -> AsyncIterator[Talk]:
    """Run a session that sleeps after 60 s of quiet."""
    async with talk(of or agent(), dormant_after_s=60.0, **options) as t:
        yield t


def words(t: Talk) -> list[str]:
    return [event.word for event in t.all(ev.SessionState)]


async def test_after_its_time_of_quiet_the_connection_is_closed() -> None:
    async with sleepy() as t:
        await t.turn()
        await t.passes(50.0)
        assert words(t)[-1] == "text"
        await t.passes(20.0)
        assert words(t)[-1] == "dormant"
        assert t.all(ev.SessionState)[-1].reason == "the microphone is off"
        (closed,) = t.all(ev.ConnectionClosed)
        assert (closed.close_code, closed.requested) == (1000, True)
        assert not t.all(ev.LinkGivenUp)
        assert not t.all(ev.LinkRestarting)


async def test_it_stays_dormant_for_hours_without_a_word() -> None:
    async with sleepy() as t:
        await t.passes(10 * 3600.0)
        assert words(t)[-1] == "dormant"
        assert len(t.all(ev.ConnectionOpening)) == 1


async def test_quiet_is_counted_from_the_last_turn() -> None:
    async with sleepy() as t:
        for _ in range(5):
            await t.passes(50.0)
            await t.turn()
        assert "dormant" not in words(t)


async def test_a_typed_text_wakes_it_and_is_sent_once() -> None:
    async with sleepy() as t:
        await t.passes(70.0)
        await t.types("are you there?")
        await t.connects_again()
        assert t.sent("text") == [("text", "are you there?")]
        assert [event.text for event in t.all(ev.TextSent)] == ["are you there?"]
        assert [event.reason for event in t.all(ev.LinkRestarting)] == ["woken"]
        assert ("connecting", "woken by a text") in [(one.word, one.reason) for one in t.all(ev.SessionState)]


async def test_it_resumes_by_its_handle() -> None:
    async with sleepy() as t:
        await t.server.says(sessionResumptionUpdate={"newHandle": "h1", "resumable": True})
        await t.passes(70.0)
        await t.types("hello")
        setup = await t.connects_again()
        assert setup["sessionResumption"] == {"handle": "h1"}
        assert t.all(ev.ConnectionReady)[-1].resumed


async def test_after_two_hours_it_begins_a_fresh_session_with_the_conversation_so_far() -> None:
    async with sleepy() as t:
        await t.turn("I am Ada", "Hello Ada")
        await t.server.says(sessionResumptionUpdate={"newHandle": "h1", "resumable": True})
        await t.passes(70.0 + 2 * 3600.0)
        await t.types("who am I?")
        setup = await t.connects_again()
        assert "handle" not in setup["sessionResumption"]
        assert "I am Ada" in str(t.wire)


def sent_sound(t: Talk) -> bytes:
    """Return the microphone's sound that went out on the present connection."""
    inputs = [frame["realtimeInput"] for frame in t.server.frames if "realtimeInput" in frame]
    return b"".join(b64decode(one["audio"]["data"]) for one in inputs if "audio" in one)


def speak(t: Talk, pcm: bytes, *, chunks: int) -> None:
    """Let a voice begin, and go on."""
    t.stage.session.audio_input.on_voice(True)
    for _ in range(chunks):
        t.handle.send_audio(pcm)


async def test_a_word_wakes_it_and_is_sent_from_its_beginning() -> None:
    async with sleepy(audio=ProgramAudio) as t:
        await t.passes(70.0)
        assert t.all(ev.SessionState)[-1].reason == "listening locally"
        for _ in range(500):
            t.handle.send_audio(SILENCE)
        speak(t, VOICE, chunks=100)
        await t.connects_again()
        before_the_mark = round(ONSET_S / CHUNK_S) * SILENCE
        assert sent_sound(t) == before_the_mark + 100 * VOICE
        assert ("connecting", "woken by your voice") in [(one.word, one.reason) for one in t.all(ev.SessionState)]
    assert not any(event.dropped for event in t.all(ev.OutboxChanged))


async def test_a_muted_microphone_does_not_wake_it() -> None:
    async with sleepy(audio=ProgramAudio) as t:
        await t.commands(cmd.SetMicrophone(on=False))
        await t.passes(70.0)
        assert t.all(ev.SessionState)[-1].reason == "the microphone is off"
        speak(t, VOICE, chunks=0)
        await t.passes(10.0)
        assert words(t)[-1] == "dormant"


async def test_muting_the_microphone_while_dormant_is_shown() -> None:
    async with sleepy(audio=ProgramAudio) as t:
        await t.passes(70.0)
        await t.commands(cmd.SetMicrophone(on=False))
        assert t.all(ev.SessionState)[-1].reason == "the microphone is off"
        await t.commands(cmd.SetMicrophone(on=True))
        assert t.all(ev.SessionState)[-1].reason == "listening locally"


async def test_a_program_that_lets_the_model_speak_wakes_it() -> None:
    async with sleepy() as t:
        await t.passes(70.0)
        assert words(t)[-1] == "dormant"
        t.stage.session.agent_session.generate_reply(instructions="Say that the oven is ready.")
        await t.connects_again()
        assert "the oven is ready" in str(t.wire)


async def test_the_operator_closes_and_opens_the_connection() -> None:
    async with talk(agent()) as t:
        assert await t.commands(cmd.Sleep()) == ""
        assert words(t)[-1] == "dormant"
        assert "no connection to close" in await t.commands(cmd.Sleep())
        assert await t.commands(cmd.Connect()) == ""
        await t.connects_again()
        assert words(t)[-1] == "text"


async def test_it_sleeps_again_after_it_was_woken() -> None:
    async with sleepy() as t:
        await t.passes(70.0)
        await t.types("hello")
        await t.connects_again()
        await t.says("hi")
        await t.ends()
        await t.passes(70.0)
        assert words(t).count("dormant") == 2


async def test_a_session_that_is_held_does_not_sleep() -> None:
    async with sleepy() as t:
        await t.commands(cmd.HoldAgent())
        await t.passes(300.0)
        assert "dormant" not in words(t)


async def test_without_a_time_it_never_sleeps() -> None:
    async with talk(agent()) as t:
        await t.passes(3600.0)
        assert "dormant" not in words(t)


async def test_it_can_be_hung_up_while_it_is_dormant() -> None:
    async with sleepy() as t:
        await t.passes(70.0)
    assert t.all(ev.SessionEnded)[-1].exit_code == 0
