"""A spoken yes counts only after the question was heard in its own words."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.session.harness.spoken_consent_support import ORDERED, QUESTION, Room, conversation
from tests.session.talking import SECOND_OF_SPEECH

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime import tool
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.agent.tools import voice_consent
from gemini_live_runtime.session.agent.tools.consent_queue import PATIENCE_S
from gemini_live_runtime.session.agent.tools.spoken_question import (
    BOTH_SPOKE,
    EARLY,
    MODEL_SPOKE,
    OTHER_WORDS,
    UNMARKED,
)
from gemini_live_runtime.wire.audio_frame import encode_model_audio

# -- a yes ------------------------------------------------------------------------------------------------------------


async def test_a_yes_after_the_question_runs_the_call_with_the_arguments_that_were_said() -> None:
    async with conversation() as t:
        await t.asks()
        assert (t.asked.voice, t.asked.question, t.asked.voice_reason) == (True, QUESTION, "")
        assert t.prompts == 1
        assert QUESTION in t.sent("user context")[-1][1]
        await t.model(QUESTION)
        assert t.voice_states == [("listening", "")]
        await t.passes(1.0)
        await t.user("Yes, please.")
        assert ORDERED == []
        await t.settles()
        assert (ORDERED, t.given) == (["the harbor"], [(True, "voice", "Yes, please.")])
        assert t.sent("answer") == [("answer", "c1", {"output": "ordered"})]


async def test_a_no_refuses_the_call() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(f"Sure. {QUESTION}")
        await t.passes(1.0)
        await t.user("no thanks")
        await t.settles()
        assert (ORDERED, t.given) == ([], [(False, "voice", "no thanks")])
        assert t.sent("answer")[0][2]["error"].startswith("The user refused the call of taxi")


async def test_the_model_does_not_speak_of_a_no_that_it_has_heard_itself() -> None:
    async with conversation() as t:
        await t.is_answered("no")
        (answer,) = (frame["toolResponse"] for frame in t.server.frames if "toolResponse" in frame)
        assert [one["scheduling"] for one in answer["functionResponses"]] == ["SILENT"]


async def test_the_answer_of_the_model_to_the_yes_does_not_disturb_it() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(1.0)
        await t.user("yes")
        await t.model("All right.", 0.5)
        await t.settles()
        assert ORDERED == ["the harbor"]


async def test_a_yes_is_never_remembered(tmp_path: Path) -> None:
    async with conversation(harness=HarnessWorker(tmp_path)) as t:
        for _ in range(2):
            await t.asks()
            await t.model(QUESTION)
            await t.passes(1.0)
            await t.user("yes")
            await t.settles()
            await t.model("Done.", 0.5)
            await t.passes(3.0)
        assert [(one.by, one.remembered) for one in t.all(ev.ConsentGiven)] == [("voice", False)] * 2
        assert len(t.all(ev.ConsentAsked)) == 2


async def test_the_keys_answer_while_the_question_is_spoken_and_what_waits_of_it_is_dropped() -> None:
    async with conversation() as t:
        await t.calls("taxi", place="the harbor")
        await t.commands(cmd.GiveConsent(id=t.asked.id, yes=True))
        await t.ends()
        await t.passes(5.0)
        assert (ORDERED, t.given, t.prompts) == (["the harbor"], [(True, "operator", "")], 0)


async def test_a_question_that_the_keys_have_answered_is_cut_as_soon_as_it_begins() -> None:
    async with conversation() as t:
        await t.asks()
        await t.commands(cmd.GiveConsent(id=t.asked.id, yes=False))
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.says(QUESTION)
        assert [one.heard_samples for one in t.all(ev.TurnInterrupted)] == [0]


async def test_the_proven_canceller_of_a_loudspeaker_is_as_good_as_headphones() -> None:
    async with conversation(Room("linear filter + WebRTC AEC3", "proven")) as t:
        await t.is_answered("yes")
        assert ORDERED == ["the harbor"]


async def test_a_call_that_goes_on_as_a_task_is_asked_about_as_well() -> None:
    @tool(consent="ask", spillable=True, voice_consent="Shall I build {place}?")
    async def build(place: str) -> str:
        """Build."""
        await asyncio.sleep(10.0)
        ORDERED.append(place)
        return "built"

    async with conversation(None, build) as t:
        await t.asks(name="build")
        await t.model("Shall I build the harbor?")
        await t.passes(1.0)
        await t.user("yes")
        await t.settles()
        await t.passes(1.0)
        assert "task" in t.sent("answer")[0][2]
        await t.passes(10.0)
        assert ORDERED == ["the harbor"]


# -- no yes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["yes but later", "yes no", "what?", "okay", "order it to the airport, yes"])
async def test_anything_else_leaves_the_question_to_the_keys(said: str) -> None:
    async with conversation() as t:
        await t.is_answered(said)
        assert t.voice_states[-1] == ("off", f"\u201c{said}\u201d is neither yes nor no")
        await t.user("yes")
        await t.settles()
        assert (ORDERED, t.given) == ([], [])
        await t.commands(cmd.GiveConsent(id=t.asked.id, yes=True))
        assert ORDERED == ["the harbor"]


async def test_a_yes_that_goes_on_after_a_pause_is_read_as_a_whole() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(1.0)
        await t.user("yes")
        await t.passes(0.5)
        await t.user(" but not now")
        await t.settles()
        assert ORDERED == []
        assert "neither yes nor no" in t.voice_states[-1][1]


@pytest.mark.parametrize("before_s", [0.5, 0.01])
async def test_a_yes_begun_before_the_end_of_the_question_does_not_count(before_s: float) -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION, drains=False)
        t.room.voice(True)
        await t.passes(before_s)
        t.room.consume(2.0)
        await t.passes(0.4)
        t.room.voice(False)
        await t.hears("yes")
        await t.settles()
        assert (ORDERED, t.given) == ([], [])
        assert t.voice_states[-1] == ("off", f"\u201cyes\u201d: {EARLY}")


async def test_a_yes_marked_right_after_the_end_may_have_begun_before_it() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(0.1)
        await t.user("yes")
        await t.settles()
        assert ORDERED == []
        assert EARLY in t.voice_states[-1][1]


async def test_late_words_of_an_early_voice_are_not_those_of_a_noise_after_the_question() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION, drains=False)
        t.room.voice(True)
        await t.passes(0.5)
        t.room.voice(False)
        t.room.consume(2.0)
        await t.passes(2.0)
        t.room.voice(True)
        await t.passes(0.3)
        t.room.voice(False)
        await t.hears("yes")
        await t.settles()
        assert (ORDERED, t.given) == ([], [])


async def test_words_without_a_mark_of_a_voice_do_not_count() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(10.0)
        await t.hears("yes")
        await t.settles()
        assert (ORDERED, t.voice_states[-1]) == ([], ("off", UNMARKED))


@pytest.mark.parametrize(("after_s", "counts"), [(0.3, False), (1.0, True)])
async def test_a_servers_mark_comes_later_than_a_detectors(after_s: float, counts: bool) -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(after_s)
        await t.voice(True)
        await t.passes(0.5)
        await t.voice(False)
        await t.hears("yes")
        await t.settles()
        assert bool(ORDERED) is counts


async def test_the_voice_ends_with_the_connection_that_marked_it() -> None:
    async with conversation() as t:
        await t.voice(True)
        await t.server.closes(1011, "bye")
        await t.connects_again()
        await t.passes(20.0)
        await t.is_answered("yes")
        assert ORDERED == ["the harbor"]


async def test_a_typed_yes_does_not_count() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(1.0)
        await t.types("yes")
        await t.settles()
        assert (ORDERED, t.given) == ([], [])


@pytest.mark.parametrize("transcript", [True, False])
async def test_the_models_own_yes_right_after_the_question_does_not_count(transcript: bool) -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(0.5)
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        if transcript:
            await t.says("Yes.")
        await t.rests()
        t.room.consume(0.5)
        t.room.voice(True)
        await t.passes(0.5)
        t.room.voice(False)
        await t.hears("yes")
        await t.settles()
        assert (ORDERED, t.given, t.voice_states[-1]) == ([], [], ("off", MODEL_SPOKE))


async def test_a_yes_over_the_models_voice_does_not_count() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(1.0)
        t.room.voice(True)
        await t.passes(0.3)
        await t.hears("yes")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.rests()
        t.room.consume(0.5)
        await t.passes(1.0)
        t.room.voice(False)
        await t.settles()
        assert (ORDERED, t.voice_states[-1]) == ([], ("off", BOTH_SPOKE))


async def test_words_that_come_once_the_model_speaks_again_do_not_count() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(1.0)
        t.room.voice(True)
        await t.passes(0.3)
        t.room.voice(False)
        await t.model("Yes?", 0.5)
        await t.hears("yes")
        await t.settles()
        assert (ORDERED, t.voice_states[-1]) == ([], ("off", MODEL_SPOKE))


async def test_a_yes_that_goes_on_once_the_model_speaks_again_does_not_count() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(1.0)
        await t.user("yes")
        await t.model("All right.", 0.5)
        await t.hears(" please")
        await t.settles()
        assert (ORDERED, t.voice_states[-1]) == ([], ("off", MODEL_SPOKE))


async def test_a_yes_of_the_loudspeaker_does_not_count() -> None:
    async with conversation(Room("linear filter + WebRTC AEC3", "proven")) as t:
        await t.asks()
        await t.model(QUESTION)
        await t.passes(1.0)
        t.room.voice(True)
        await t.passes(0.6)
        t.room.sample = replace(t.room.sample, heard_itself=1)
        t.room.voice(False)
        await t.hears("yes")
        await t.settles()
        assert (ORDERED, t.voice_states[-1]) == ([], ("off", voice_consent.LEAKS))


# -- the question -----------------------------------------------------------------------------------------------------


async def test_a_question_in_other_words_is_asked_again_once_and_then_left_to_the_keys() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model("Do you like music?")
        await t.passes(4.0)
        assert (t.prompts, t.voice_states) == (2, [])
        await t.model("Shall I order a taxi?")
        await t.passes(4.0)
        assert (t.prompts, t.voice_states) == (2, [("off", OTHER_WORDS)])
        await t.user("yes")
        await t.settles()
        assert (ORDERED, t.given) == ([], [])


async def test_a_question_that_was_cut_off_is_asked_again() -> None:
    async with conversation() as t:
        await t.asks()
        await t.model(QUESTION, drains=False)
        await t.commands(cmd.Interrupt())
        await t.passes(4.0)
        assert (t.prompts, t.voice_states) == (2, [])
        await t.model(QUESTION)
        assert t.voice_states == [("listening", "")]


async def test_a_question_that_nobody_could_hear_does_not_count() -> None:
    async with conversation() as t:
        await t.asks()
        await t.commands(cmd.SetSpeaker(on=False))
        await t.model(QUESTION)
        await t.passes(1.0)
        await t.user("yes")
        await t.settles()
        assert ORDERED == []
        assert t.voice_states == [("off", "the speaker is off")]


async def test_a_question_that_the_model_only_writes_does_not_count() -> None:
    async with conversation() as t:
        await t.asks()
        await t.server.sends(encode_model_audio(bytes(2 * SECOND_OF_SPEECH)))
        await t.says("Do you like tea?")
        await t.server.says(serverContent={"modelTurn": {"parts": [{"text": QUESTION}]}})
        await t.ends()
        await t.passes(0.1)
        t.room.consume(2.0)
        await t.passes(1.0)
        await t.user("yes")
        await t.settles()
        assert (ORDERED, t.given, t.voice_states) == ([], [], [])


async def test_a_call_of_the_question_itself_is_refused() -> None:
    async with conversation() as t:
        await t.asks()
        await t.calls("taxi", place="the moon")
        assert "No tool may be used in this answer" in t.sent("answer")[0][2]["error"]
        assert len(t.all(ev.ConsentAsked)) == 1


async def test_the_time_for_an_answer_begins_anew_with_the_end_of_the_question() -> None:
    async with conversation() as t:
        await t.asks()
        await t.passes(20.0)
        await t.model(QUESTION)
        await t.passes(PATIENCE_S - 1.0)
        assert t.given == []
        await t.passes(1.1)
        assert t.given == [(False, "time", "")]


async def test_the_next_question_is_asked_aloud_after_the_answer_to_the_first() -> None:
    async with conversation() as t:
        await t.calls("taxi", "taxi", place="the harbor")
        await t.ends()
        await t.model(QUESTION)
        await t.passes(1.0)
        await t.user("no")
        await t.settles()
        await t.model("As you like.", 0.5)
        await t.passes(4.0)
        await t.model(QUESTION)
        await t.passes(1.0)
        await t.user("yes")
        await t.settles()
        assert [one[:2] for one in t.given] == [(False, "voice"), (True, "voice")]
        assert ORDERED == ["the harbor"]
