"""Interruptions that our own rules decide, false ones among them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk

from gemini_live_runtime import Agent, Live, RunContext, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.interface import MODEL_RATE
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.audio.ring import FADE_MS
from gemini_live_runtime.audio.wav import WavReader, WavWriter
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.wire.audio_frame import encode_model_audio

SPOKEN = Path(__file__).parents[2] / "data" / "speech" / "please_stop_talking.wav"

COUNTED = (np.arange(5 * MODEL_RATE) % 20_000 + 1).astype("<i2").tobytes()
"""Five seconds of the model's sound whose samples are numbered, from 1 to 20,000 again and again."""


def ours(**rules: Any) -> Live:
    """Return an agent whose interruptions are ours to decide."""
    return agent().turn_taking("client", "responsive").interruptions("client", **rules)


def samples(path: Path) -> np.ndarray:
    """Return the samples of a WAV file."""
    reader = WavReader(path)
    read = [reader.read(reader.rate) for _ in range(60) if reader.frames_left]
    return np.concatenate(read)


def voice(folder: Path, *, begins_s: float, seconds: float) -> Path:
    """Write a microphone's file with a voice of so many seconds."""
    spoken = samples(SPOKEN)
    path = folder / "mic.wav"
    writer = WavWriter(path, 16_000)
    # The words begin after 0.2 s of the file.
    said = spoken[int(0.2 * 16_000) : int((0.2 + seconds) * 16_000)]
    whole = np.concatenate((np.zeros(int(begins_s * 16_000), np.float32), said, np.zeros(16_000, np.float32)))
    writer.write((whole * 32_767).astype(np.int16))
    writer.close()
    return path


async def story(t: Talk) -> None:
    """Let the model tell a story of five seconds, all of which has arrived."""
    await t.hears("tell me a story")
    await t.server.sends(encode_model_audio(COUNTED))
    await t.says("One two three four five six seven eight nine ten.")
    await t.ends()


async def until_paused(t: Talk) -> ev.PlaybackPaused:
    """Wait for the pause."""
    while not t.all(ev.PlaybackPaused):
        await t.passes(0.05)
    return t.all(ev.PlaybackPaused)[-1]


def rules(t: Talk) -> list[str]:
    """Return the rules of all cuts, and of voices that did not cut, in order."""
    return [
        event.payload.rule
        for event in t.stage.sink.events
        if isinstance(event.payload, ev.TurnInterrupted | ev.InterruptionIgnored)
    ]


async def test_without_words_the_speech_goes_on_with_the_sample_after_the_last_one(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await story(t)
        paused = await until_paused(t)
        await t.passes(12)
        (ignored,) = t.all(ev.InterruptionIgnored)
        assert (ignored.rule, ignored.words, ignored.of) == ("false", 0, paused.of)
        assert ignored.voice_s == pytest.approx(1.2, abs=0.2)
        (resumed,) = t.all(ev.PlaybackResumed)
        assert 0 < resumed.at - paused.at <= 240
        assert t.all(ev.TurnInterrupted) == []
        assert t.all(ev.PlaybackDrained)
    heard = np.round(samples(tmp_path / "out.wav") * 32_767).astype(int)
    sent, first, at = np.frombuffer(COUNTED, "<i2"), int(np.flatnonzero(heard)[0]), resumed.at
    # But for a slot on each side of the pause, which is faded, each sample is heard once and in order. Of the slot in
    # which the pause begins only the fade is played.
    assert np.abs(heard[first : first + at - 240] - sent[: at - 240]).max() <= 1
    silent = first + at + int(np.flatnonzero(heard[first + at :])[0]) - (first + at)
    silent -= (silent + FADE_MS * MODEL_RATE // 1000) % 240
    assert silent > 2 * MODEL_RATE
    rest = heard[first + silent + at + 240 : first + silent + len(sent)]
    assert np.abs(rest - sent[at + 240 :]).max() <= 1


async def test_words_interrupt_what_is_paused_and_only_what_was_heard_is_kept(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await story(t)
        paused = await until_paused(t)
        await t.hears("wait")
        (cut,) = t.all(ev.TurnInterrupted)
        assert (cut.by, cut.rule) == ("voice", "duration")
        assert paused.at <= cut.heard_samples <= paused.at + 240
        assert cut.heard_text == "One two"
        await t.says("Yes?")
        await t.ends()
        await t.passes(10)
        assert t.all(ev.PlaybackResumed) == []
        assert [event.outcome for event in t.all(ev.TurnCompleted)] == ["complete", "complete"]


async def test_what_the_server_still_sends_of_a_speech_that_words_have_cut_is_dropped(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await t.hears("tell me a story")
        await t.server.sends(encode_model_audio(COUNTED))
        await until_paused(t)
        await t.hears("wait")
        await t.server.sends(encode_model_audio(COUNTED))
        await t.ends()
        assert [event.outcome for event in t.all(ev.TurnCompleted)] == ["interrupted"]
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.ends()
        await t.passes(10)
        assert [event.outcome for event in t.all(ev.TurnCompleted)] == ["interrupted", "complete"]
        assert [event.of for event in t.all(ev.PlaybackDrained)] == [2]


async def test_fewer_words_than_the_agent_wants_leave_the_speech_going_and_enough_stop_it(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    for said in ("stop", "ok please stop"):
        async with talk(ours(min_words=3), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
            await story(t)
            await until_paused(t)
            await t.hears(said)
            await t.passes(10)
            assert rules(t) == ["words"]
            assert [(event.words, event.needed) for event in t.all(ev.InterruptionIgnored)] == (
                [(1, 3)] if said == "stop" else []
            )
            assert bool(t.all(ev.TurnInterrupted)) == (said != "stop")


async def test_words_that_come_in_pieces_are_counted_whole(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(min_words=2), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await story(t)
        await until_paused(t)
        for piece in (" sto", "pp", "ing"):
            await t.hears(piece)
        assert t.all(ev.TurnInterrupted) == []
        await t.hears(" now")
        assert rules(t) == ["words"]


async def test_words_alone_stop_a_speech_that_is_never_paused(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    patient = ours(min_words=2, false_timeout_s=None)
    async with talk(patient, audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await story(t)
        await t.passes(3)
        assert t.all(ev.PlaybackPaused) == []
        await t.hears("please stop")
        assert rules(t) == ["words"]


async def test_after_the_servers_interrupted_nothing_goes_on(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    servers = agent().turn_taking("client", "responsive")
    async with talk(servers, audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        assert "activityHandling" not in t.setup["realtimeInputConfig"]
        await t.server.sends(encode_model_audio(COUNTED))
        await until_paused(t)
        await t.server.says(serverContent={"interrupted": True})
        await t.passes(10)
        (cut,) = t.all(ev.TurnInterrupted)
        assert (cut.by, cut.rule) == ("server", "duration")
        assert t.all(ev.PlaybackResumed) == []


async def test_only_where_our_rules_decide_the_server_is_told_not_to_interrupt() -> None:
    async with talk(ours()) as t:
        assert t.setup["realtimeInputConfig"]["activityHandling"] == "NO_INTERRUPTION"


async def test_when_another_answer_begins_the_paused_one_is_over(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await story(t)
        await until_paused(t)
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.ends()
        assert rules(t) == ["duration"]
        await t.passes(10)
        assert t.all(ev.PlaybackResumed) == []
        assert [event.of for event in t.all(ev.PlaybackDrained)] == [2]


async def test_an_answer_to_too_few_words_waits_until_the_present_one_was_heard(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(min_words=3), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await story(t)
        await until_paused(t)
        await t.hears("stop")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.ends()
        await t.passes(10)
        assert rules(t) == ["words"]
        assert [event.of for event in t.all(ev.PlaybackDrained)] == [1, 2]


async def test_what_comes_in_the_pause_is_played_after_it(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await t.hears("tell me a story")
        await t.server.sends(encode_model_audio(COUNTED))
        await until_paused(t)
        await t.server.sends(encode_model_audio(COUNTED))
        await t.ends()
        await t.passes(20)
        assert rules(t) == ["false"]
        (drained,) = t.all(ev.PlaybackDrained)
        assert sum(event.count for event in t.all(ev.PlaybackHeard) if event.of == drained.of) == len(COUNTED)


async def test_a_voice_that_is_too_short_pauses_nothing_and_the_event_says_what_it_lacked(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=0.6)
    long = agent().turn_taking("client").interruptions("server", min_duration_s=1.5)
    async with talk(long, audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await story(t)
        await t.passes(8)
        assert t.all(ev.PlaybackPaused) == []
        ignored = t.all(ev.InterruptionIgnored)
        assert {event.rule for event in ignored} == {"duration"}
        assert ignored[0].needed == 1.5
        assert 0 < (ignored[0].voice_s or 0) < 1.5


async def test_a_pause_is_over_when_the_session_is_and_nothing_goes_on(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await story(t)
        await until_paused(t)
    assert t.all(ev.PlaybackResumed) == []
    assert t.all(ev.SessionEnded)


async def test_without_a_connection_no_words_can_come_and_the_speech_goes_on(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await story(t)
        await until_paused(t)
        t.stage.refuses_until(t.now + 30)
        await t.server.closes(1011)
        await t.passes(12)
        assert rules(t) == ["false"]
        assert t.all(ev.PlaybackDrained)


async def test_in_the_pause_the_session_listens_and_the_meters_say_so(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await story(t)
        assert t.stage.session.sample().answer == ""
        await until_paused(t)
        assert t.all(ev.SessionState)[-1].word == "hearing"
        assert t.stage.session.sample().answer == "paused"
        await t.passes(4)
        assert t.all(ev.SessionState)[-1].word == "speaking"
        assert t.stage.session.sample().answer == ""


async def test_a_typed_text_a_key_and_the_server_each_are_a_rule_of_their_own() -> None:
    async with talk(agent()) as t:
        await t.hears("tell me")
        await t.says("Once upon")
        await t.types("wait")
        await t.server.says(serverContent={"interrupted": True})
        await t.says("Yes")
        assert await t.commands(cmd.Interrupt()) == ""
        await t.server.says(serverContent={"interrupted": True})
        await t.hears("more")
        await t.says("Well")
        await t.server.says(serverContent={"interrupted": True})
        await t.rests()
        assert rules(t) == ["typed", "key", "server"]


async def test_a_voice_over_a_protected_speech_is_told_once_for_each_voice() -> None:
    @tool
    async def protect(context: RunContext) -> str:
        """Say something that must be heard."""
        context.disallow_interruptions()
        return "ok"

    async with talk(agent().tools(protect)) as t:
        await t.hears("go")
        await t.says("Listen:")
        await t.calls("protect")
        assert t.stage.session.sample().answer == "protected"
        for _ in range(2):
            await t.voice(True)
            await t.voice(False)
        assert rules(t) == ["protected", "protected"]
        await t.says("Fire exits are left.")
        await t.ends()
        assert t.stage.session.sample().answer == ""


async def test_the_arguments_of_an_agent_are_those_of_the_builder(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    own = Agent(
        name="test",
        instructions="Be brief.",
        turn_detection="client",
        interruptions_by="client",
        min_interruption_duration=0.4,
        min_interruption_words=2,
        false_interruption_timeout=0.5,
    )
    built = agent().turn_taking("client").interruptions(min_duration_s=0.4, min_words=2, false_timeout_s=0.5)
    assert own.plan().definition.turn_rules == built.plan().definition.turn_rules
    async with talk(own, audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:  # type: ignore[arg-type]
        await story(t)
        await until_paused(t)
        await t.passes(3)
        assert rules(t) == ["false"]


@pytest.mark.parametrize(
    ("of", "says"),
    [
        (agent().turn_taking("server").interruptions(), "decided by the client: with 'server' turn detection"),
        (agent().turn_taking("manual").interruptions(), "decided by the client: with 'manual' turn detection"),
        (agent().turn_taking("server").interruptions("server", min_duration_s=1), "min_interruption_duration cannot"),
        (agent().turn_taking("client").interruptions("server", min_words=2), "min_interruption_words cannot be 2"),
        (agent().turn_taking("client").interruptions(min_words=-1), "min_interruption_words cannot be -1"),
        (agent().turn_taking("client").interruptions(min_duration_s=-1), "min_interruption_duration cannot be -1"),
        (agent().turn_taking("client").interruptions(false_timeout_s=0), "false_interruption_timeout cannot be 0"),
        (agent().turn_taking("client").interruptions("me"), "interruptions by 'me' cannot be"),  # type: ignore[arg-type]
    ],
)
def test_rules_that_cannot_be_kept_are_refused_by_name_when_the_plan_is_made(of: Live, says: str) -> None:
    with pytest.raises(AgentError, match=re.escape(says)):
        of.plan()


def test_an_agent_with_rules_of_its_own_gets_our_detector_by_itself() -> None:
    assert agent().turn_taking("auto").interruptions().plan().turn_options.detection == "client"


async def test_rules_change_in_the_session_and_what_cannot_be_is_refused_with_a_reason(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        session = t.stage.session.agent_session
        await session.update_options(min_interruption_words=2, false_interruption_timeout=0.5, user_away_timeout=None)
        (changed,) = t.all(ev.RulesChanged)
        assert changed.rules["min_interruption_words"] == 2
        assert changed.rules["user_away_timeout"] is None
        await story(t)
        await until_paused(t)
        await t.hears("stop")
        await t.passes(4)
        assert rules(t) == ["words"]
        for wrong, says in (
            ({"false_interruption_timeout": 0}, "false_interruption_timeout cannot be 0"),
            ({"min_interruption_words": -1}, "min_interruption_words cannot be -1"),
            ({"max_tool_steps": 0}, "max_tool_steps cannot be 0"),
        ):
            with pytest.raises(GeminiLiveError, match=says):
                await session.update_options(**wrong)  # type: ignore[arg-type]
        assert len(t.all(ev.RulesChanged)) == 1


async def test_a_longer_least_duration_holds_from_the_next_voice_on(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=0.8)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await t.stage.session.agent_session.update_options(min_interruption_duration=3.0)
        await story(t)
        await t.passes(8)
        assert set(rules(t)) == {"duration"}
        assert t.all(ev.PlaybackPaused) == []


async def test_without_our_detector_its_rules_cannot_be_changed() -> None:
    async with talk(agent()) as t:
        with pytest.raises(GeminiLiveError, match="min_interruption_words has no effect"):
            await t.stage.session.agent_session.update_options(min_interruption_words=2)
        assert await t.commands(cmd.SetRules(changes={"colour": 1})) != ""
        assert await t.commands(cmd.SetRules(changes={})) != ""
        assert await t.commands(cmd.SetRules(changes={"max_tool_steps": 5})) == ""


async def test_words_of_both_sides_in_one_message_are_told_once(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await t.hears("tell me a story")
        await t.server.sends(encode_model_audio(COUNTED))
        await until_paused(t)
        both = {"inputTranscription": {"text": "wait"}, "outputTranscription": {"text": " Once"}}
        await t.server.says(serverContent=both)
        await t.rests()
        (cut,) = t.all(ev.TurnInterrupted)
        assert (cut.heard_text, cut.unheard_text) == ("", "")
        assert [event.text for event in t.all(ev.TranscriptDelta) if event.side == "model"] == [" Once"]


async def test_what_comes_after_words_have_cut_a_speech_answers_those_words() -> None:
    spoken = (samples(SPOKEN) * 32_767).astype("<i2").tobytes()
    # A program brings sound without marks of voices.
    async with talk(ours(), audio=ProgramAudio) as t:
        await t.hears("hello")
        # The sound that comes next may still be the answer to the greeting.
        await t.types("what time is it")
        await t.server.sends(encode_model_audio(COUNTED))
        await t.passes(0.5)
        for at in range(0, len(spoken), 640):
            t.handle.send_audio(spoken[at : at + 640])
            await t.passes(0.02)
        assert t.all(ev.PlaybackPaused)
        await t.hears("never mind")
        await t.ends()
        await t.says("Fine.")
        await t.server.closes(1006)
        await t.rests()
        assert [event.outcome for event in t.all(ev.TurnCompleted)] == ["empty", "interrupted", "interrupted"]
        await t.connects_again()
        assert t.sent("text") == []


async def test_words_do_not_cut_a_speech_that_was_protected_in_the_pause_and_it_goes_on(tmp_path: Path) -> None:
    mic = voice(tmp_path, begins_s=1.0, seconds=1.2)
    async with talk(ours(), audio=lambda: FileAudio(mic, tmp_path / "out.wav")) as t:
        await t.hears("tell me a story")
        await t.server.sends(encode_model_audio(COUNTED))
        await until_paused(t)
        speech = t.stage.session.agent_session.current_speech
        assert speech is not None
        speech.allow_interruptions = False
        await t.hears("wait")
        await t.passes(0.1)
        assert rules(t) == ["protected"]
        assert t.all(ev.PlaybackResumed)
