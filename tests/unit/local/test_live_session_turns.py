"""Test turns over the Live protocol: text, speech, transcripts, pacing, barge-in."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from live_support import (
    LONG,
    WORD_S,
    TestParts,
    Tone,
    Turn,
    answer,
    hiss,
    join,
    server,
    session,
    tools,
    virtual,
    voice,
)

from gemini_live_runtime.local.parts import SpeechChunk
from gemini_live_runtime.local.protocol.turns import MAX_WAITING
from gemini_live_runtime.local.protocol.utterance import CHUNK_MS, MAX_LEAD_S
from gemini_live_runtime.session.core.unanswered import UnansweredInput, note_of

MANUAL = {"automaticActivityDetection": {"disabled": True}}


# -- an answer -------------------------------------------------------------------------------------------------------


@virtual
async def test_typed_text_is_answered_in_speech_with_its_transcript() -> None:
    async with session() as client:
        await client.text("good evening")
        turn = await client.turn()
    assert turn.output == "You typed good evening."
    assert len(turn.pcm) == 4 * WORD_S * 48_000


@virtual
async def test_a_turn_ends_with_generation_complete_then_turn_complete_and_usage() -> None:
    async with session() as client:
        await client.text("hi")
        turn = await client.turn()
    assert turn.marks[-3:] == ["generationComplete", "turnComplete", "usageMetadata"]


@virtual
async def test_every_word_of_the_transcript_comes_before_its_own_sound_and_after_the_sound_before() -> None:
    async with session() as client:
        await client.text("one two three four five six")
        turn = await client.turn()
    sound = 0
    for message in turn.messages:
        content = message.get("serverContent", {})
        sound += len(Turn([message]).pcm)
        if "outputTranscription" in content:
            words = turn.output[: turn.output.index(content["outputTranscription"]["text"])].split()
            begins = int(len(words) * WORD_S * 48_000)
            assert begins - 48 * CHUNK_MS <= sound <= begins


@virtual
async def test_transcript_deltas_carry_their_leading_space() -> None:
    async with session() as client:
        await client.text("hi there")
        deltas = [item["text"] for item in (await client.turn()).contents("outputTranscription")]
    assert not deltas[0].startswith(" ")
    assert all(delta.startswith(" ") for delta in deltas[1:])


@virtual
async def test_without_output_transcription_in_the_setup_there_is_sound_only() -> None:
    async with session(outputAudioTranscription=None) as client:
        await client.text("hi")
        turn = await client.turn()
    assert turn.output == ""
    assert turn.pcm


@virtual
async def test_speech_comes_faster_than_real_time_and_turn_complete_waits_for_its_playback() -> None:
    async with session() as client:
        await client.text(" ".join(["word"] * 14))
        turn = await client.turn()
        times = {kind: t for t, m in client.log for kind in m.get("serverContent", {})}
    seconds = len(turn.pcm) / 48_000
    assert times["generationComplete"] < seconds / 3
    assert times["turnComplete"] == pytest.approx(seconds, abs=0.1)


@virtual
async def test_speech_is_never_further_ahead_of_playback_than_the_stated_lead() -> None:
    async with session() as client:
        await client.text("long")
        turn = await client.turn()
        sent = 0.0
        worst = 0.0
        for t, message in client.log:
            sent += len(Turn([message]).pcm) / 48_000
            worst = max(worst, sent - t)
    assert len(turn.pcm) / 48_000 == pytest.approx(80 * WORD_S)
    assert MAX_LEAD_S - 1 < worst <= MAX_LEAD_S + 2 * CHUNK_MS / 1000


@virtual
async def test_text_modality_answers_in_text_parts_at_once() -> None:
    async with session(generationConfig={"responseModalities": ["TEXT"]}) as client:
        await client.text("hello out there")
        turn = await client.turn()
    assert turn.written == "You typed hello out there."
    assert turn.pcm == b""
    assert turn.usage["responseTokensDetails"][0]["modality"] == "TEXT"


@virtual
async def test_the_model_speaks_first_when_a_turn_is_completed_that_was_never_begun() -> None:
    async with session() as client:
        await client.send({"clientContent": {"turnComplete": True}})
        assert (await client.turn()).output == "Welcome."


@virtual
async def test_client_content_waits_until_the_turn_is_complete() -> None:
    async with session() as client:
        await client.send({"clientContent": {"turns": [{"role": "user", "parts": [{"text": "good"}]}]}})
        await client.send(
            {"clientContent": {"turns": [{"role": "user", "parts": [{"text": "day"}]}], "turnComplete": True}}
        )
        assert (await client.turn()).output == "You typed good day."


@virtual
async def test_initial_history_is_swallowed_without_an_answer_and_counted() -> None:
    history = [
        {"role": "user", "parts": [{"text": "x" * 400}]},
        {"role": "model", "parts": [{"text": "y" * 400}]},
    ]
    async with session(historyConfig={"initialHistoryInClientContent": True}) as client:
        await client.send({"clientContent": {"turns": history, "turnComplete": True}})
        await client.text("hi")
        turn = await client.turn()
    assert turn.output == "You typed hi."
    assert turn.usage["promptTokenCount"] == 201


# -- speech ----------------------------------------------------------------------------------------------------------


@virtual
async def test_a_spoken_question_is_transcribed_and_answered() -> None:
    async with session(TestParts("what time is it")) as client:
        await client.audio(hiss(0.5) + voice(1) + hiss(1))
        turn = await client.turn()
    assert turn.input == "what time is it"
    assert turn.output == "You said what time is it."
    assert turn.marks[0] == "inputTranscription"


@virtual
async def test_without_input_transcription_in_the_setup_speech_is_answered_all_the_same() -> None:
    async with session(TestParts("hello"), inputAudioTranscription=None) as client:
        await client.audio(hiss(0.5) + voice(1) + hiss(1))
        turn = await client.turn()
    assert turn.input == ""
    assert turn.output == "You said hello."


@virtual
async def test_speech_that_was_not_understood_is_answered_and_not_transcribed() -> None:
    async with session(TestParts("")) as client:
        await client.audio(hiss(0.5) + voice(1) + hiss(1))
        turn = await client.turn()
    assert turn.input == ""
    assert turn.output == "I didn't catch that."


@virtual
async def test_a_cough_is_not_answered() -> None:
    async with session(TestParts("", "hello")) as client:
        await client.audio(hiss(0.5) + voice(0.6) + hiss(1))
        turn = await client.turn()
        assert (turn.input, turn.output, turn.pcm) == ("", "", b"")
        await client.audio(voice(1) + hiss(1))
        assert (await client.turn()).output == "You said hello."


@virtual
async def test_a_short_sound_is_answered_where_an_answer_was_asked_for() -> None:
    parts = TestParts("")
    async with session(parts) as client:
        parts.parrots[0].is_asking = True
        await client.audio(hiss(0.5) + voice(0.6) + hiss(1))
        assert (await client.turn()).output == "I didn't catch that."


@virtual
async def test_a_proactive_model_stays_silent_at_what_it_did_not_understand() -> None:
    async with session(TestParts(""), proactivity={"proactiveAudio": True}) as client:
        await client.audio(hiss(0.5) + voice(1) + hiss(1))
        turn = await client.turn()
    assert turn.output == ""
    assert turn.pcm == b""


@virtual
async def test_a_short_noise_gets_no_answer() -> None:
    async with session(TestParts("never")) as client:
        await client.audio(hiss(0.5) + voice(0.14) + hiss(1.5))
        await client.text("hi")
        assert (await client.turn()).output == "You typed hi."


@pytest.mark.parametrize("rate", [8_000, 24_000, 44_100, 48_000])
@virtual
async def test_speech_at_another_rate_is_resampled(rate: int) -> None:
    parts = TestParts("hello")
    async with session(parts) as client:
        await client.audio(
            hiss(0.5, rate=rate) + voice(1, rate=rate) + hiss(1, rate=rate), f"audio/pcm;rate={rate}", chunk_ms=20
        )
        assert (await client.turn()).input == "hello"
    assert 1.0 < len(parts.ear.heard[0]) / 32_000 < 2.2


@pytest.mark.parametrize("mime_type", ["audio/pcm", "audio/l16"])
@virtual
async def test_speech_that_names_no_rate_is_taken_as_16_khz(mime_type: str) -> None:
    parts = TestParts("hello")
    async with session(parts) as client:
        await client.audio(hiss(0.5) + voice(1) + hiss(1), mime_type)
        await client.turn()
        await client.audio(hiss(0.5) + voice(1) + hiss(1), "audio/pcm;rate=16000")
        await client.turn()
    assert parts.ear.heard[0] == parts.ear.heard[1]


@virtual
async def test_the_end_of_the_audio_stream_ends_speech_at_once() -> None:
    async with session(TestParts("hello")) as client:
        await client.audio(hiss(0.5) + voice(1))
        await client.send({"realtimeInput": {"audioStreamEnd": True}})
        ended = asyncio.get_running_loop().time()
        await client.until("inputTranscription")
        assert client.log[-1][0] - ended < 0.2


@virtual
async def test_an_interruption_without_words_gets_no_answer_and_the_next_needs_more_voice() -> None:
    # What cut the model off was its own echo, or a cough.
    parts = TestParts("", "stop it")
    async with session(parts) as client:
        await client.text(" ".join(["word"] * 40))
        await client.until("modelTurn")
        await client.audio(hiss(0.2) + voice(0.3) + hiss(1))
        cut, empty = await client.turn(), await client.turn()
        await client.text(" ".join(["word"] * 40))
        await client.until("modelTurn")
        await client.audio(hiss(0.2) + voice(0.3) + hiss(1))
        assert len(parts.ear.heard) == 1
        await client.audio(voice(0.8) + hiss(1))
        stopped, answer = await client.turn(), await client.turn()
    assert "interrupted" in cut.marks
    assert (empty.output, empty.pcm) == ("", b"")
    assert "interrupted" in stopped.marks
    assert "stop it" in answer.output


@virtual
async def test_speech_ends_when_a_client_stops_sending() -> None:
    async with session(TestParts("hello")) as client:
        await client.audio(hiss(0.5) + voice(1))
        assert (await client.turn()).input == "hello"


@virtual
async def test_marked_activity_is_one_utterance_whatever_it_sounds_like() -> None:
    parts = TestParts("hello")
    async with session(parts, realtimeInputConfig=MANUAL) as client:
        await client.audio(hiss(1))
        await client.send({"realtimeInput": {"activityStart": {}}})
        await client.audio(hiss(2))
        await client.send({"realtimeInput": {"activityEnd": {}}})
        assert (await client.turn()).output == "You said hello."
    assert [len(pcm) for pcm in parts.ear.heard] == [64_000]


@virtual
async def test_edges_of_speech_are_reported_only_when_asked_for() -> None:
    for asked in (True, False):
        async with session(TestParts("hello"), explicitVadSignal=asked) as client:
            await client.audio(hiss(0.5) + voice(1) + hiss(1))
            await client.turn()
            seen = [m["voiceActivity"]["type"] for _, m in client.log if "voiceActivity" in m]
        assert seen == (["ACTIVITY_START", "ACTIVITY_END"] if asked else [])


@virtual
async def test_without_a_recogniser_speech_gets_one_line_that_says_so() -> None:
    async with session(TestParts(ear=False)) as client:
        await client.audio(hiss(0.5) + voice(1) + hiss(1))
        first = await client.turn()
        await client.audio(voice(1) + hiss(1))
        second = await client.turn()
        await client.text("hi")
        third = await client.turn()
    assert "no speech recogniser" in first.output
    assert "Install the extra local" in first.output
    assert second.output == ""
    assert third.output == "You typed hi."


@virtual
async def test_without_a_voice_answers_come_as_transcript_with_one_line_that_says_so() -> None:
    async with session(TestParts(voice=None), outputAudioTranscription=None) as client:
        await client.text("one two")
        first = await client.turn()
        await client.text("three")
        second = await client.turn()
    assert "no voice" in first.output
    assert first.output.replace("]", "").split()[-1] == "two."
    assert second.output == "You typed three."
    assert second.pcm == b""


# -- barge-in --------------------------------------------------------------------------------------------------------


@virtual
async def test_speech_interrupts_the_answer_and_is_answered_itself() -> None:
    async with session(TestParts("stop")) as client:
        await client.text("long")
        await client.until("modelTurn")
        await client.audio(hiss(0.3) + voice(1) + hiss(1))
        cut = await client.turn()
        answer = await client.turn()
    assert cut.marks[-3:] == ["interrupted", "turnComplete", "usageMetadata"]
    assert cut.contents("generationComplete") == []
    assert cut.output in LONG
    assert answer.output == "You said stop."


@virtual
async def test_nothing_of_an_interrupted_answer_comes_after_interrupted() -> None:
    async with session() as client:
        await client.text("long")
        await client.until("modelTurn")
        await client.send({"clientContent": {"turns": [{"parts": [{"text": "hi"}]}], "turnComplete": True}})
        await client.until("interrupted")
        after = await client.next()
    assert set(after["serverContent"]) == {"turnComplete"}


@virtual
async def test_typed_text_interrupts_while_the_answer_is_still_playing() -> None:
    async with session() as client:
        await client.text("long")
        await client.until("generationComplete")
        await client.text("hi")
        cut = await client.turn()
        assert cut.marks[-3:] == ["interrupted", "turnComplete", "usageMetadata"]
        assert (await client.turn()).output == "You typed hi."


class Hesitating(Tone):
    """Voice that needs a moment for its first word."""

    async def speak(self, text: str, voice: str) -> AsyncIterator[SpeechChunk]:
        await asyncio.sleep(2)
        async for chunk in super().speak(text, voice):
            yield chunk


@pytest.mark.parametrize("is_prompted", [True, False])
@virtual
async def test_what_an_unsaid_answer_was_to_is_answered_with_what_cut_it_off(is_prompted: bool) -> None:
    async with session(TestParts("hi", voice=Hesitating)) as client:
        lost = f"[Context] {note_of([UnansweredInput('text', 1, 'hello')])}"
        await client.send({"clientContent": {"turns": [{"role": "user", "parts": [{"text": lost}]}]}})
        if is_prompted:
            await client.send({"clientContent": {"turnComplete": True}})
        else:
            await client.text("good morning")
        await client.audio(voice(1) + hiss(1))
        cut, answer = await client.turn(), await client.turn()
    assert (cut.output, cut.pcm) == ("", b"")
    assert answer.output == f"You typed hello. {'' if is_prompted else 'You typed good morning. '}You said hi."


@pytest.mark.parametrize("pause_s", [0, 0.5])
@virtual
async def test_texts_one_right_after_the_other_are_all_answered_in_the_last_turn(pause_s: float) -> None:
    async with session(TestParts(voice=Hesitating)) as client:
        for text in ("hello", "good morning", "hi"):
            await client.text(text)
            await asyncio.sleep(pause_s)
        outputs = [(await client.turn()).output for _ in range(3)]
        await client.text("you")
        assert (await client.turn()).output == "You typed you."
    assert outputs == ["", "", "You typed hello. You typed good morning. You typed hi."]


@pytest.mark.parametrize("pause_s", [0, 0.02])
@virtual
async def test_a_text_right_after_one_that_calls_a_tool_does_not_keep_it_from_the_call(pause_s: float) -> None:
    async with session(tools=tools("clock")) as client:
        await client.text("call clock")
        await asyncio.sleep(pause_s)
        await client.text("hi")
        assert (await client.turn()).marks[:1] == ["interrupted"]
        (call,) = (await client.until("toolCall"))["toolCall"]["functionCalls"]
        await client.send(answer(call, "noon"))
        await client.turn()
        spoken = Turn([message for _, message in client.log]).output
        calls = [message for _, message in client.log if "toolCall" in message]
    assert spoken == "You typed hi. clock says noon."
    assert len(calls) == 1


@virtual
async def test_a_text_whose_answer_had_begun_is_not_answered_again() -> None:
    async with session() as client:
        await client.text("long")
        await client.until("modelTurn")
        await client.text("hi")
        _, answer = await client.turn(), await client.turn()
    assert answer.output == "You typed hi."


@virtual
async def test_after_the_turn_is_complete_there_is_nothing_to_interrupt() -> None:
    async with session() as client:
        await client.text("hi")
        await client.turn()
        await client.text("you")
        assert (await client.turn()).contents("interrupted") == []


@virtual
async def test_with_no_interruption_speech_waits_for_the_answer_to_end() -> None:
    async with session(TestParts("and you"), realtimeInputConfig={"activityHandling": "NO_INTERRUPTION"}) as client:
        await client.text(" ".join(["word"] * 16))
        await client.until("modelTurn")
        await client.audio(hiss(0.3) + voice(1) + hiss(1))
        first = await client.turn()
        second = await client.turn()
    assert first.contents("interrupted") == []
    assert first.contents("generationComplete") == [True]
    assert second.output == "You said and you."


@virtual
async def test_of_requests_without_end_behind_an_answer_the_newest_are_answered() -> None:
    async with session(realtimeInputConfig={"activityHandling": "NO_INTERRUPTION"}) as client:
        await client.text("long")
        await client.until("modelTurn")
        for number in range(MAX_WAITING + 3):
            await client.text(f"hi {number}")
        await client.turn()
        answered = [(await client.turn()).output for _ in range(MAX_WAITING)]
    assert answered == [f"You typed hi {number}." for number in range(3, MAX_WAITING + 3)]


@virtual
async def test_with_no_interruption_words_over_an_answer_come_at_once_and_are_answered_before_it_was_played() -> None:
    config = {"automaticActivityDetection": {"disabled": True}, "activityHandling": "NO_INTERRUPTION"}
    async with session(TestParts("and you"), realtimeInputConfig=config) as client:
        await client.text("long")
        await client.until("generationComplete")
        began = asyncio.get_running_loop().time()
        await client.send({"realtimeInput": {"activityStart": {}}})
        await client.audio(voice(1))
        await client.send({"realtimeInput": {"activityEnd": {}}})
        rest = await client.turn()
        assert rest.contents("inputTranscription") == [{"text": "and you"}]
        second = await client.turn()
        assert second.output == "You said and you."
        assert second.contents("inputTranscription") == []
        assert asyncio.get_running_loop().time() - began < 3


@virtual
async def test_marked_activity_interrupts_at_its_start() -> None:
    async with session(TestParts("stop"), realtimeInputConfig=MANUAL) as client:
        await client.text("long")
        await client.until("modelTurn")
        await client.send({"realtimeInput": {"activityStart": {}}})
        assert (await client.turn()).contents("interrupted") == [True]


@virtual
async def test_text_within_marked_activity_belongs_to_the_same_turn() -> None:
    async with session(TestParts("there"), realtimeInputConfig=MANUAL) as client:
        await client.send({"realtimeInput": {"activityStart": {}}})
        await client.text("hello")
        await client.audio(voice(1))
        await client.send({"realtimeInput": {"activityEnd": {}}})
        assert (await client.turn()).output == "You said hello there."


@virtual
async def test_two_connections_do_not_hear_each_other() -> None:
    async with server() as running:
        one, two = await join(running), await join(running)
        await one.text("long")
        await two.text("hi")
        assert (await two.turn()).output == "You typed hi."
        assert (await one.turn()).output == LONG


@virtual
async def test_a_client_that_goes_in_any_instant_after_an_answer_leaves_no_error_behind() -> None:
    left: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: left.append(context))
    for steps in range(4):
        async with server(TestParts()) as running:
            client = await join(running, sessionResumption={})
            await client.text("hi")
            await client.until("turnComplete")
            for _ in range(steps):
                await asyncio.sleep(0)
            await client.transport.close(1000, "")
            await asyncio.sleep(5)
        gc.collect()
    assert left == []
