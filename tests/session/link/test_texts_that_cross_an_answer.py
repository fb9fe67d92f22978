"""Sound that was on its way when a text was sent answers something earlier.

Frames carry no number. What tells them apart is `interrupted`: a server that gets a text breaks off the answer that it
is giving, and the answer to the text comes after that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.wire.audio_frame import encode_model_audio

POLICY = LinkPolicy()


async def sound(t: Talk) -> None:
    """Send a tenth of a second of the model's voice."""
    await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH // 10)))
    await t.rests()


async def breaks_off(t: Talk) -> None:
    """Interrupt the answer, as a server does that gets a text."""
    await t.server.says(serverContent={"interrupted": True})
    await t.server.says(serverContent={"turnComplete": True})
    await t.rests()


async def speech_with_words(t: Talk) -> None:
    """Let the user speak, and the server understand it."""
    await t.hears("hello")


async def speech_without_words(t: Talk) -> None:
    """Let the user speak, and the server say nothing of it so far."""
    await t.voice(True)
    await t.passes(1)
    await t.voice(False)


async def a_prompt(t: Talk) -> None:
    """Let the program have the model speak."""
    t.handle.prompt()
    await t.rests()
    assert t.sent("prompt")


EARLIER = (speech_with_words, speech_without_words, a_prompt)


@pytest.mark.parametrize("asks", EARLIER)
async def test_the_latency_of_a_text_is_that_of_its_own_answer(asks: Callable[[Talk], Awaitable[None]]) -> None:
    async with talk(agent()) as t:
        await asks(t)
        await t.types("what time is it")
        number = t.stage.core.state.turns.number
        await sound(t)
        await breaks_off(t)
        await t.passes(2)
        await t.says("Noon.")
        await t.ends()
    assert t.stage.core.state.turns.number == number
    assert t.all(ev.TurnCompleted)[-1].outcome == "complete"
    assert (t.all(ev.TurnMeasured)[-1].first_byte_ms or 0) > 2000


@pytest.mark.parametrize("asks", EARLIER)
async def test_a_server_that_keeps_silent_about_the_text_is_noticed(asks: Callable[[Talk], Awaitable[None]]) -> None:
    async with talk(agent()) as t:
        await asks(t)
        await t.types("what time is it")
        await sound(t)
        await breaks_off(t)
        await t.passes(POLICY.no_answer_s + 0.1)
        await t.connects_again()
        assert t.sent("text") == [("text", "what time is it")]
    assert "answer-late" in [notice.code for notice in t.all(ev.Notice)]


async def test_a_text_is_not_answered_by_what_crossed_it_when_the_link_is_lost() -> None:
    async with talk(agent()) as t:
        await speech_with_words(t)
        await t.types("what time is it")
        await sound(t)
        await t.server.closes(1006)
        await t.connects_again()
        assert t.sent("text") == [("text", "what time is it")]


async def test_a_text_whose_answer_was_heard_whole_is_not_sent_again_with_the_next_one() -> None:
    async with talk(agent()) as t:
        await speech_with_words(t)
        await t.types("what time is it")
        await t.says("Noon.")
        await t.server.says(serverContent={"generationComplete": True})
        await t.rests()
        await t.types("and where")
        assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["empty", "complete"]
        await t.server.closes(1006)
        await t.connects_again()
        assert t.sent("text") == [("text", "and where")]


async def test_each_of_two_texts_breaks_off_what_crossed_it() -> None:
    async with talk(agent()) as t:
        await speech_with_words(t)
        await t.types("one")
        await t.types("two")
        for _ in range(2):
            await sound(t)
            await breaks_off(t)
        await t.passes(2)
        await t.says("Two.")
        await t.ends()
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["empty", "empty", "complete"]
    assert (t.all(ev.TurnMeasured)[-1].first_byte_ms or 0) > 2000


async def test_a_voice_in_the_answer_to_a_text_interrupts_that_answer() -> None:
    async with talk(agent()) as t:
        await speech_with_words(t)
        await t.types("what time is it")
        await t.says("It is")
        await t.voice(True)
        await breaks_off(t)
        await t.hears("never mind")
        await t.says("Fine.")
        await t.ends()
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["empty", "interrupted", "complete"]


async def test_a_whole_answer_that_crosses_a_text_cannot_be_told_from_the_one_to_the_text() -> None:
    async with talk(agent()) as t:
        await speech_with_words(t)
        await t.types("what time is it")
        await t.says("Hello!")
        await t.ends()
        await t.says("Noon.")
        await t.ends()
    assert [started.by for started in t.all(ev.TurnStarted)] == ["voice", "typed", "model"]
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["empty", "complete", "complete"]


async def test_a_text_whose_turn_had_no_answer_is_not_complete_when_the_next_one_is_typed(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(None, tmp_path / "out.wav")) as t:
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.server.says(serverContent={"generationComplete": True})
        await t.rests()
        await t.types("one")
        await t.types("two")
        assert [event.outcome for event in t.all(ev.TurnCompleted)] == ["interrupted", "empty"]


async def test_what_comes_after_the_operator_has_interrupted_is_no_overtaken_answer() -> None:
    async with talk(agent()) as t:
        await speech_with_words(t)
        await t.types("what time is it")
        await t.says("Good morn")
        assert await t.commands(cmd.Interrupt()) == ""
        await breaks_off(t)
        await t.says("Noon.")
        await t.server.closes(1006)
        await t.rests()
        assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["empty", "interrupted", "interrupted"]


async def test_the_speech_that_a_text_has_overtaken_ends_when_the_server_breaks_it_off() -> None:
    async with talk(agent()) as t:
        await speech_with_words(t)
        await t.types("what time is it")
        await t.says("Good morning.")
        await t.server.says(serverContent={"generationComplete": True})
        await t.rests()
        await breaks_off(t)
        await t.says("Noon.")
        await t.ends()
        changes = [(event.id, event.status) for event in t.all(ev.SpeechChanged)]
        assert changes == [
            ("speech-1", "speaking"),
            ("speech-1", "done"),
            ("speech-2", "speaking"),
            ("speech-2", "done"),
        ]


@pytest.mark.parametrize("mode", ["text", "voice"])
async def test_an_answer_that_was_broken_off_before_it_began_is_not_overtaken_by_the_next_text(mode: ev.Mode) -> None:
    async with talk(agent(), mode=mode) as t:
        await t.types("hello")
        await breaks_off(t)
        await t.types("what time is it")
        await t.server.says(serverContent={"modelTurn": {"parts": [{"text": "It is"}]}})
        await breaks_off(t)
        assert [(turn.user, turn.model) for turn in t.stage.agent.transcript.window(9).turns][-1:] == [
            ("what time is it", "It is")
        ]
        assert [event.outcome for event in t.all(ev.TurnCompleted)] == ["empty", "interrupted"]


async def test_words_that_follow_an_answer_broken_off_before_it_began_may_be_answered_when_a_text_is_sent() -> None:
    async with talk(agent()) as t:
        await t.types("hello")
        await breaks_off(t)
        await t.hears("wait")
        await t.types("what time is it")
        await t.says("Yes?")
        await breaks_off(t)
        await t.says("Noon.")
        await t.ends()
        assert t.all(ev.TurnCompleted)[-1].outcome == "complete"
