"""Speech that was said while a connection was lost, or just before."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk

from gemini_live_runtime import Live
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.session.link.kept_audio import CROSSING_S
from gemini_live_runtime.wire.audio_frame import encode_model_audio

SPOKEN = Path(__file__).parents[2] / "data" / "speech" / "please_stop_talking.wav"
CHUNK = b"\x01\x00" * 320


def push_to_talk() -> Live:
    """Return an agent whose turns the microphone switch decides."""
    return agent().turn_taking("push-to-talk")


def kinds(t: Talk) -> list[str]:
    """Return the kinds of sent messages, repeated ones once."""
    told = [one[0] for one in t.wire]
    return [kind for at, kind in enumerate(told) if at == 0 or told[at - 1] != kind]


async def speak(t: Talk, *, chunks: int = 40) -> None:
    """Let the program send sound, with a voice in it."""
    t.stage.session.audio_input.on_voice(True)
    for _ in range(chunks):
        t.handle.send_audio(CHUNK)
    t.stage.session.audio_input.on_voice(False)
    await t.rests()


async def loses(t: Talk) -> None:
    """Lose the connection, and get no other for a while."""
    t.stage.refuses_until(2)
    await t.server.closes(1006)
    await t.rests()


async def test_an_utterance_by_the_switch_is_sent_with_the_next_connection() -> None:
    async with talk(push_to_talk(), audio=ProgramAudio) as t:
        await loses(t)
        await t.commands(cmd.SetMicrophone(on=True))
        await speak(t)
        await t.commands(cmd.SetMicrophone(on=False))
        await t.connects_again()
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]
        assert t.all(ev.OutboxChanged)[-1].queued == 0


async def test_an_utterance_by_the_switch_that_had_no_answer_is_sent_again() -> None:
    async with talk(push_to_talk(), audio=ProgramAudio) as t:
        await t.commands(cmd.SetMicrophone(on=True))
        await speak(t)
        await t.commands(cmd.SetMicrophone(on=False))
        await loses(t)
        await t.connects_again()
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]


async def test_an_utterance_whose_next_connection_is_lost_too_is_sent_whole_again() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await loses(t)
        t.stage.session.audio_input.on_voice(True)
        said = [bytes([number + 1, 1]) * 320 for number in range(150)]
        for chunk in said:
            t.handle.send_audio(chunk)
        t.stage.session.audio_input.on_voice(False)
        for _ in range(3):
            await t.connects_again()
            assert t.sound_sent() == b"".join(said)
            await t.server.closes(1006)
            await t.rests()
        assert t.stage.session.sample().mic_dropped == 0


async def test_after_an_utterance_of_an_outage_the_session_waits_for_its_answer() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await loses(t)
        await speak(t)
        await t.connects_again()
        assert t.all(ev.SessionState)[-1].word == "thinking"
        assert not t.stage.core.is_quiet


@pytest.mark.parametrize("order", [cmd.SetMicrophone(on=False), cmd.SetMode(mode="text")])
async def test_what_was_said_before_the_microphone_was_closed_is_sent(order: cmd.Order) -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await loses(t)
        await speak(t)
        await t.commands(order)
        await t.connects_again()
        assert kinds(t) == ["audio", "audioStreamEnd"]


async def test_an_utterance_that_we_mark_and_the_loss_cut_begins_anew() -> None:
    live = agent().turn_taking("client", "responsive")
    async with talk(live, audio=lambda: FileAudio(SPOKEN, None)) as t:
        await t.passes(0.8)
        assert kinds(t) == ["activityStart", "audio"]
        await t.server.closes(1006)
        await t.connects_again()
        await t.passes(8)
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]


@pytest.mark.parametrize("seconds", [0.4, 5])
async def test_words_that_an_answer_to_earlier_ones_has_crossed_are_sent_again_from_the_first(seconds: float) -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.hears("hello")
        said = [bytes([number % 250 + 1, 1]) * 320 for number in range(round(seconds * 50) + 10)]
        t.stage.session.audio_input.on_voice(True)
        for chunk in said[:-10]:
            t.handle.send_audio(chunk)
        await t.rests()
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH // 10)))
        await t.rests()
        for chunk in said[-10:]:
            t.handle.send_audio(chunk)
        await t.rests()
        await t.server.closes(1006)
        await t.connects_again()
        # Older sound of a voice that goes on and on would have reached the server before it answered.
        kept = said[-round(CROSSING_S * 50) - 10 :]
        assert t.sound_sent() == b"".join(kept)


@pytest.mark.parametrize("marked", [True, False], ids=["its end is marked late", "its end was marked"])
async def test_an_utterance_that_was_answered_is_not_sent_again(marked: bool) -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        t.stage.session.audio_input.on_voice(True)
        for _ in range(40):
            t.handle.send_audio(CHUNK)
        t.stage.session.audio_input.on_voice(marked)
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH // 10)))
        await t.rests()
        t.stage.session.audio_input.on_voice(False)
        await t.ends()
        await t.server.closes(1006)
        await t.connects_again()
        assert t.sound_sent() == b""


async def test_speech_and_texts_of_an_outage_are_sent_in_their_order() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await loses(t)
        await speak(t, chunks=10)
        await t.types("one")
        await speak(t, chunks=5)
        await t.types("two")
        await t.connects_again()
        assert kinds(t) == ["audio", "text", "audio", "text"]


async def test_a_noise_that_had_no_answer_is_not_sent_again_a_minute_later() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await speak(t)
        await t.passes(60)
        await t.server.closes(1006)
        await t.connects_again()
        assert kinds(t) == []


async def test_nothing_is_sent_again_of_a_microphone_that_was_closed_long_ago() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        t.handle.send_audio(CHUNK)
        await t.commands(cmd.SetMicrophone(on=False))
        await t.passes(60)
        await t.server.closes(1006)
        await t.connects_again()
        assert kinds(t) == []


async def test_an_interruption_while_there_is_no_connection_marks_no_activity() -> None:
    async with talk(push_to_talk(), audio=ProgramAudio) as t:
        await t.hears("tell me")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH * 12)))
        await t.rests()
        await t.server.closes(1006)
        t.server = await t.stage.next_server()
        assert await t.commands(cmd.Interrupt()) == ""
        await t.server.accepts()
        await t.rests()
        await t.commands(cmd.SetMicrophone(on=True))
        await speak(t, chunks=1)
        assert [kind for kind in await sent(t, 3) if kind != "clientContent"] == ["activityStart", "audio"]


async def test_a_text_after_an_interruption_does_not_wait_for_the_switch() -> None:
    async with talk(push_to_talk(), audio=ProgramAudio) as t:
        await t.hears("tell me")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH * 12)))
        await t.rests()
        await t.commands(cmd.Interrupt())
        await t.types("no")
        assert t.wire == [("activityStart",), ("activityEnd",), ("text", "no")]


async def sent(t: Talk, count: int) -> list[str]:
    """Return the kinds of the next messages."""
    frames = [await t.server.hears() for _ in range(count)]
    return [next(iter(frame.get("realtimeInput", frame))) for frame in frames]


async def test_a_voice_whose_end_the_server_would_have_marked_ends_with_its_connection() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.voice(True)
        await t.server.closes(1006)
        await t.connects_again()
        assert t.all(ev.SessionState)[-1].word == "listening"
        await t.handle.until_quiet(1)
