"""Speeches of the model, from their request to their last sample."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.session.talking import SECOND_OF_SPEECH, agent, talk, two_phases
from tests.session.voice.speech_support import session_of, told
from tests.simulation.device import ScriptedDevice
from tests.simulation.timeline import Timeline

from gemini_live_runtime import (
    Agent,
    AgentSession,
    ReactorRule,
    RunResult,
    SpeechHandle,
    SpeechPriority,
    State,
    tool,
)
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.wire.audio_frame import encode_model_audio


async def test_a_reply_is_asked_for_at_once_when_nobody_speaks_and_its_handle_follows_it() -> None:
    async with talk(agent()) as t:
        speech = session_of(t).generate_reply(instructions="Thank them.")
        await t.rests()
        assert t.wire == [("user context", "[Context] Thank them."), ("prompt",)]
        assert (speech.status, speech.done, session_of(t).current_speech) == ("asked", False, speech)
        await t.says("Thank you.")
        assert speech.status == "speaking"
        await t.ends()
        assert (speech.status, speech.done, speech.interrupted) == ("done", True, False)
        assert await speech is speech
        assert told(t, speech.id) == ["queued", "asked", "speaking", "done"]


async def test_a_reply_to_what_a_program_says_for_the_user_is_sent_as_the_users_text() -> None:
    async with talk(agent()) as t:
        speech = session_of(t).generate_reply("what is for dinner?")
        await t.rests()
        assert t.wire == [("text", "what is for dinner?")]
        await t.says("Soup.")
        await t.ends()
        assert speech.done


async def test_speeches_wait_for_each_other_and_the_higher_priority_goes_first() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        first = session.generate_reply(instructions="one")
        low = session.generate_reply(instructions="two", priority=SpeechPriority.LOW)
        high = session.generate_reply(instructions="three", priority=SpeechPriority.HIGH)
        normal = session.generate_reply(instructions="four")
        assert [item.id for item in session.waiting_speeches] == [high.id, normal.id, low.id]
        for speech in (first, high, normal, low):
            await t.rests()
            assert session.current_speech is speech
            await t.says("There.")
            await t.ends()
            assert speech.done
        instructions = [item[1].removeprefix("[Context] ") for item in t.sent("user context")]
        assert instructions == ["one", "three", "four", "two"]


async def test_the_answer_to_the_user_is_a_speech_of_its_own_and_a_reply_waits_behind_it() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        await t.hears("hello")
        await t.says("Hello,")
        answer = session.current_speech
        assert answer is not None
        later = session.generate_reply(instructions="Ask for the name.")
        await t.says(" you.")
        assert (answer.source, answer.status, later.status, later.parent) == ("user", "speaking", "queued", answer.id)
        await t.ends()
        assert (answer.status, later.status) == ("done", "asked")


async def test_the_user_who_types_is_answered_first_and_a_reply_goes_on_waiting() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        await t.hears("hello")
        await t.says("Hello")
        waiting = session.generate_reply(instructions="Ask for the name.")
        await t.types("wait")
        await t.server.says(serverContent={"interrupted": True})
        assert waiting.status == "queued"
        await t.says("Yes?")
        await t.ends()
        assert waiting.status == "asked"


async def test_a_speech_that_the_user_cuts_is_interrupted_and_one_that_waits_is_spoken_after() -> None:
    async with talk(agent(), mode="voice") as t:
        session = session_of(t)
        cut = session.generate_reply(instructions="Tell a story.")
        await t.rests()
        await t.says("Once upon a time")
        await t.server.says(serverContent={"interrupted": True})
        await t.rests()
        assert (cut.status, cut.interrupted, cut.done) == ("interrupted", True, True)


async def test_what_was_interrupted_before_it_began_is_not_heard() -> None:
    async with talk(agent()) as t:
        speech = session_of(t).generate_reply(instructions="Sing.")
        await t.rests()
        speech.interrupt()
        await t.says("La la")
        await t.ends()
        assert speech.status == "interrupted"
        assert [cut.heard_text for cut in t.all(ev.TurnInterrupted)] == ["La la"]


async def test_interrupting_stops_the_present_speech_and_drops_what_waits_up_to_a_protected_one() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        one = session.generate_reply(instructions="one")
        two = session.generate_reply(instructions="two")
        protected = session.generate_reply(instructions="three", allow_interruptions=False)
        four = session.generate_reply(instructions="four")
        await t.rests()
        await t.says("One")
        await session.interrupt()
        assert [item.status for item in (one, two)] == ["interrupted", "dropped"]
        assert [item.status for item in (protected, four)] == ["asked", "queued"]


async def test_a_protected_speech_is_interrupted_by_force_only() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        speech = session.generate_reply(instructions="The terms.", allow_interruptions=False)
        await t.rests()
        await t.says("The terms are")
        with pytest.raises(AgentError, match="may not be interrupted"):
            session.interrupt()
        assert await t.commands(cmd.Interrupt()) == "This answer may not be interrupted"
        await session.interrupt(force=True)
        assert speech.interrupted


async def test_a_speech_that_was_interrupted_cannot_be_protected_any_more() -> None:
    async with talk(agent()) as t:
        speech = session_of(t).generate_reply(instructions="Sing.")
        await t.rests()
        await t.says("La")
        speech.interrupt()
        with pytest.raises(AgentError, match="was interrupted already"):
            speech.allow_interruptions = False


async def test_callbacks_and_waiters_of_a_speech_are_told_once_also_when_it_is_over() -> None:
    ended: list[str] = []
    async with talk(agent()) as t:
        speech = session_of(t).generate_reply(instructions="Hello.")
        speech.add_done_callback(lambda handle: ended.append(handle.id))
        await t.rests()
        await t.turn(user="", model="Hello.")
        assert ended == [speech.id]
        speech.add_done_callback(lambda handle: ended.append(handle.status))
        await t.rests()
        assert ended == [speech.id, "done"]


async def test_waiting_for_other_things_ends_when_the_speech_is_interrupted() -> None:
    async with talk(agent()) as t:
        speech = session_of(t).generate_reply(instructions="Hello.")
        await t.rests()
        await t.says("Hello")

        async def quick() -> str:
            return "quick"

        async def slow() -> str:
            await t.passes(100)
            return "slow"

        assert await speech.wait_if_not_interrupted(quick()) == ["quick"]
        waiting = asyncio.ensure_future(speech.wait_if_not_interrupted(quick(), slow()))
        await t.rests()
        speech.interrupt()
        assert await waiting == ["quick", None]


async def test_a_gap_between_speeches_is_kept(tmp_path: Path) -> None:
    async with talk(agent().speech_gap(3.0), audio=lambda: FileAudio(None, tmp_path / "out.wav")) as t:
        session = session_of(t)
        session.generate_reply(instructions="one")
        second = session.generate_reply(instructions="two")
        await t.rests()
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.ends()
        await t.passes(1.5)
        assert second.status == "queued"
        await t.passes(3.0)
        assert second.status == "asked"


async def test_what_the_live_api_cannot_do_is_refused_by_name() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        with pytest.raises(AgentError, match="cannot say a given text"):
            session.say("hello")
        with pytest.raises(AgentError, match="cannot make a model call a tool"):
            session.generate_reply(tool_choice="required")  # type: ignore[arg-type]
        with pytest.raises(AgentError, match="priority cannot be"):
            session.generate_reply(priority="soon")


async def test_more_than_a_hundred_waiting_speeches_are_refused() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        for _ in range(101):
            session.generate_reply(instructions="again")
        with pytest.raises(AgentError, match="100 speeches wait already"):
            session.generate_reply(instructions="again")


async def test_speeches_end_with_the_session() -> None:
    async with talk(agent()) as t:
        first = session_of(t).generate_reply(instructions="one")
        second = session_of(t).generate_reply(instructions="two")
        await t.rests()
    assert [first.status, second.status] == ["dropped", "dropped"]
    assert first.done
    assert second.done


async def test_the_microphone_is_silent_while_a_protected_speech_is_spoken(tmp_path: Path) -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        for protected in (True, False):
            session_of(t).generate_reply(instructions="The terms.", allow_interruptions=not protected)
            await t.rests()
            await t.says("The terms are")
            before = len(t.sound_sent())
            t.handle.send_audio(b"\x10\x10" * 320)
            await t.rests()
            sent = t.sound_sent()[before:]
            assert len(sent) == 640
            assert (set(sent) == {0}) is protected
            await t.ends()


def test_what_followed_a_text_is_told_for_tests_of_agents() -> None:
    class Weather(Agent):
        """Tell the weather."""

        def __init__(self) -> None:
            super().__init__(instructions="Tell the weather.")

        @tool
        def get_weather(self, city: str) -> str:
            """Get the weather in a city."""
            return f"Sunny in {city}."

    async def main() -> RunResult:
        async with Weather().connect(backend="local", fast=True) as handle:
            return await AgentSession.of(handle).run("get weather in Rome")

    result = run_virtual(main())
    (called,) = result.tool_calls
    assert (called.name, called.status, called.result) == (
        "get_weather",
        "ok",
        {"output": f"Sunny in {called.args['city']}."},
    )
    assert "Sunny" in result.messages[-1]
    assert result.handoffs == ()


async def test_a_speech_is_told_to_be_over_before_the_next_one_is_asked_for() -> None:
    # With a rule of its own, the rules are asked about each event at once.
    ruled = agent().rule(ReactorRule("nothing", lambda event, voice, state: None))
    async with talk(ruled) as t:
        await t.says("Well,")
        await t.server.says(serverContent={"generationComplete": True})
        await t.rests()
        second = session_of(t).generate_reply(instructions="two")
        await t.server.says(serverContent={"turnComplete": True})
        await t.rests()
        changes = [event.status for event in t.all(ev.SpeechChanged)]
        assert changes == ["speaking", "queued", "done", "asked"]
        assert second.status == "asked"


async def test_an_answer_in_the_message_that_cuts_another_one_is_told_before_the_next_is_asked_for() -> None:
    async with talk(agent(), audio=lambda: ScriptedDevice(Timeline(), microphone=False)) as t:
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.ends()
        session_of(t).generate_reply(instructions="three")
        t.stage.session._perform(t.stage.core.interruptions.on_voice_over(t.now, 0.8))
        await t.server.says(serverContent={"outputTranscription": {"text": "Yes?"}, "turnComplete": True})
        await t.rests()
        changes = [(event.id, event.status) for event in t.all(ev.SpeechChanged)]
        assert changes == [
            ("speech-1", "speaking"),
            ("speech-2", "queued"),
            ("speech-1", "interrupted"),
            ("speech-3", "speaking"),
            ("speech-3", "done"),
            ("speech-2", "asked"),
        ]


async def test_a_speech_that_crossed_a_text_ends_with_the_connection_that_it_came_by() -> None:
    async with talk(agent()) as t:
        await t.hears("hello")
        await t.types("what time is it")
        await t.says("Good morn")
        await t.server.closes(1006)
        await t.connects_again()
        await t.says("Noon.")
        await t.ends()
        changes = [(event.id, event.status) for event in t.all(ev.SpeechChanged)]
        assert changes == [
            ("speech-1", "speaking"),
            ("speech-1", "done"),
            ("speech-2", "speaking"),
            ("speech-2", "done"),
        ]


async def test_the_handle_of_a_speech_that_begins_and_ends_in_one_message_is_done() -> None:
    handles: list[SpeechHandle] = []
    async with talk(agent()) as t:
        session_of(t).on("speech_created", lambda created: handles.append(created.speech_handle))
        await t.server.says(serverContent={"outputTranscription": {"text": "Hello."}, "turnComplete": True})
        await t.rests()
        (handle,) = handles
        assert (handle.status, handle.step_index) == ("done", 1)
        async with asyncio.timeout(1):
            await handle


async def test_once_the_session_ends_no_speech_begins() -> None:
    async def linger() -> None:
        await asyncio.sleep(2)

    async with talk(agent().on_exit(linger)) as t:
        t.stage.session.hang_up("goodbye")
        await t.rests()
        await t.says("One more thing.")
        await t.calls("nothing")
        t.handle.prompt()
        with pytest.raises(GeminiLiveError, match="The session is over"):
            session_of(t).generate_reply(instructions="one")
        await t.passes(5)
    assert t.all(ev.SpeechChanged) == []


async def test_a_speech_whose_last_sample_was_heard_is_done_though_the_device_has_yet_to_say_so() -> None:
    device = ScriptedDevice(Timeline(), microphone=False)
    async with talk(agent(), audio=lambda: device) as t:
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.rests()
        device.consume(1.0)
        device.end_of_turn = lambda gen: None  # type: ignore[method-assign]
        await t.server.says(serverContent={"turnComplete": True})
        await t.types("thank you")
        assert [(event.id, event.status) for event in t.all(ev.SpeechChanged)] == [
            ("speech-1", "speaking"),
            ("speech-1", "done"),
        ]
        assert [event.of for event in t.all(ev.PlaybackDrained)] == [1]
        t.stage.session.audio_input.on_playback_drained(1)
        assert [event.of for event in t.all(ev.PlaybackDrained)] == [1]


async def test_a_prompt_waits_for_a_reply_whose_text_is_about_to_be_sent() -> None:
    async def amend(state: State) -> str:
        await asyncio.sleep(0)
        return "Be kind."

    slow = agent().phase(*two_phases(prompt_on_enter=True)).on("instruction_amendment", amend)
    async with talk(slow, begins=False, audio=lambda: ScriptedDevice(Timeline(), microphone=False)) as t:
        reply = session_of(t).generate_reply("what is for dinner?")
        t.handle.transition_to("second")
        await t.server.accepts()
        # The floor is free before the model knows what it has to know, so the text is kept for a moment.
        await t.server.says(serverContent={"generationComplete": True})
        await t.rests()
        assert told(t, reply.id) == ["queued", "asked"]
        assert [text.text for text in t.all(ev.TextSent)] == ["what is for dinner?"]


async def test_a_reply_to_a_text_that_waits_when_a_drain_begins_is_still_spoken() -> None:
    async with talk(agent()) as t:
        await t.says("Well,")
        reply = session_of(t).generate_reply("what is for dinner?")
        session_of(t).shutdown()
        await t.ends()
        assert t.sent("text") == [("text", "what is for dinner?")]
        await t.says("Soup.")
        await t.ends()
        assert reply.status == "done"
    assert t.all(ev.SessionEnded)[-1].by == "drain"


async def test_what_was_asked_for_is_dropped_when_the_link_is_given_up() -> None:
    async with talk(agent()) as t:
        reply = session_of(t).generate_reply(instructions="Thank them.")
        await t.rests()
        assert reply.status == "asked"
        await t.server.closes(1008, "API key expired.")
        await t.rests()
        assert reply.status == "dropped"


async def test_a_speech_that_was_interrupted_before_it_began_cannot_be_protected_either() -> None:
    async with talk(agent()) as t:
        speech = session_of(t).generate_reply(instructions="one")
        await t.rests()
        speech.interrupt()
        assert speech.status == "asked"
        with pytest.raises(AgentError, match="was interrupted already"):
            speech.allow_interruptions = False
