"""The figures of a session and the signals it keeps in its state."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, silence, talk

from gemini_live_runtime import (
    Live,
    LiveEffect,
    ReactorEvent,
    ReactorRule,
    SendContext,
    SessionSignals,
    SessionTelemetry,
    SessionType,
    State,
    VoiceRuntimeState,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.conversation.transcript_turn import MAX_TEXT
from gemini_live_runtime.session.outbound.context_queue import MAX_NOTES
from gemini_live_runtime.session.rules import reactor
from gemini_live_runtime.wire.audio_frame import encode_model_audio


async def spoken(t: Talk, seconds: float = 0.5) -> None:
    """Run a spoken turn with the server's marks, 0.2 s before the answer.

    The answer is played to its end.
    """
    await t.voice(True)
    await t.hears("hello")
    await t.voice(False)
    await t.passes(0.2)
    await t.server.sends(encode_model_audio(bytes(int(seconds * SECOND_OF_SPEECH) // 2 * 2)))
    await t.says("Good day.")
    await t.server.says(
        usageMetadata={
            "totalTokenCount": 30,
            "promptTokenCount": 10,
            "responseTokenCount": 20,
            "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 10}],
            "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 20}],
        }
    )
    await t.ends()
    await t.passes(1)


def with_speaker(path: Path) -> AbstractAsyncContextManager[Talk]:
    """Run a session whose speaker is a WAV file in `path`."""
    return talk(agent(), audio=lambda: FileAudio(None, path / "out.wav"))


async def test_answers_turns_sound_and_tokens_are_counted(tmp_path: Path) -> None:
    async with with_speaker(tmp_path) as t:
        assert isinstance(t.stage.agent.telemetry, SessionTelemetry)
        await spoken(t)
        await spoken(t)
        figures = t.handle.telemetry()
    assert (figures["turn_count"], figures["response_count"], figures["audio_chunks_out"]) == (2, 2, 2)
    assert figures["audio_kbytes_out"] == SECOND_OF_SPEECH // 1024
    assert figures["tokens_by_modality"] == {"AUDIO": {"prompt": 20, "response": 40}}
    assert figures["total_token_count"] == 30


async def test_the_latency_is_measured_from_the_end_of_the_users_voice_to_the_speaker(tmp_path: Path) -> None:
    async with with_speaker(tmp_path) as t:
        await spoken(t)
        figures = t.handle.telemetry()
    assert 200 <= figures["last_response_latency_ms"] <= 300
    assert figures["response_latency_source"] == "server_vad"
    assert {"p50_ms", "p90_ms", "p99_ms"} <= set(figures["response_latency"])
    assert figures["stages"]["buffer"]["count"] == 1


async def test_the_latency_of_a_typed_text_is_one_of_its_own(tmp_path: Path) -> None:
    async with with_speaker(tmp_path) as t:
        await t.types("hello")
        await t.passes(0.4)
        await t.says("Good day.")
        await t.ends()
        figures = t.handle.telemetry()
    assert (figures["text_latency"]["count"], figures["response_count"]) == (1, 0)


async def test_a_turn_lasts_from_the_first_sound_of_the_users_voice(tmp_path: Path) -> None:
    async with with_speaker(tmp_path) as t:
        await t.voice(True)
        await t.passes(2)
        await t.voice(False)
        await t.turn()
        assert t.handle.telemetry()["avg_turn_duration_ms"] >= 2000


async def test_interruptions_are_counted(tmp_path: Path) -> None:
    async with with_speaker(tmp_path) as t:
        await t.says("Well")
        await t.server.says(serverContent={"interrupted": True})
        await t.rests()
        assert t.handle.telemetry()["interruptions"] == 1


async def test_every_turn_is_measured_as_a_waterfall(tmp_path: Path) -> None:
    async with with_speaker(tmp_path) as t:
        await spoken(t)
    (measured,) = t.all(ev.TurnMeasured)
    assert (measured.of_turn, measured.source, measured.prompt_tokens, measured.response_tokens) == (
        1,
        "server_vad",
        10,
        20,
    )
    assert {"hang_over", "uplink", "server", "downlink", "buffer", "speaker"} <= set(measured.stages)
    assert (measured.prompt, measured.response) == ({"AUDIO": 10}, {"AUDIO": 20})
    begun = next(event.t for event in t.stage.sink.events if isinstance(event.payload, ev.VoiceMarked))
    assert begun == 0  # the sink of these tests has no clock
    assert measured.end_of_speech_s is not None
    assert 0 < measured.end_of_speech_s < 0.2
    assert 200 <= measured.duration_ms <= 300


async def test_figures_are_reported_at_intervals_without_anybody_listening() -> None:
    async with talk(agent().telemetry(5)) as t:
        await t.turn()
        await t.passes(11)
    assert [report.figures["turn_count"] for report in t.all(ev.TelemetryReported)] == [1, 1]


def pushy(notes: int) -> Live:
    """Return an agent whose rule sends many notes when `app:x` changes.

    It has a slow tool.
    """
    many = SendContext(tuple(f"note {number}" for number in range(notes)))

    async def slow() -> None:
        """Take long."""
        await asyncio.sleep(3)

    def react(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> list[LiveEffect]:
        ours = isinstance(event, reactor.StateChanged) and any(one.key == "app:x" for one in event.mutations)
        return [many] if ours else []

    return agent().tools(slow).rule(ReactorRule("pushy", react))


def dropped_notes(t: Talk) -> list[str]:
    return [notice.text for notice in t.all(ev.Notice) if "dropped" in notice.text]


async def test_notes_that_are_dropped_for_want_of_room_are_told_once_in_a_burst_and_counted() -> None:
    async with talk(pushy(MAX_NOTES + 3)) as t:
        await t.calls("slow")
        await t.writes(x=1)
        await t.writes(x=2)
        assert t.handle.telemetry()["context_dropped"] == MAX_NOTES + 6
        await t.passes(1)
        assert dropped_notes(t) == ["206 notes for the model were dropped because more than 200 waited"]
        await t.writes(x=3)
        await t.passes(1)
        assert len(dropped_notes(t)) == 2


async def test_notes_that_were_dropped_just_now_are_told_before_the_session_ends() -> None:
    async with talk(pushy(MAX_NOTES + 1)) as t:
        await t.calls("slow")
        await t.writes(x=1)
        assert dropped_notes(t) == []
    assert dropped_notes(t) == ["1 note for the model was dropped because more than 200 waited"]
    assert t.events[-1] == "session.ended"


async def test_a_session_without_dropped_notes_says_nothing_of_it() -> None:
    async with talk(pushy(MAX_NOTES)) as t:
        await t.calls("slow")
        await t.writes(x=1)
        await t.passes(4)
        assert t.handle.telemetry()["context_dropped"] == 0
    assert dropped_notes(t) == []


async def test_what_does_not_fit_into_the_transcript_is_in_the_figures() -> None:
    async with talk(agent()) as t:
        await t.hears("x" * MAX_TEXT)
        assert t.handle.telemetry()["transcript_left_out"] == 0
        await t.hears("seven 7")
        assert t.handle.telemetry()["transcript_left_out"] == 7


async def test_a_session_without_an_interval_reports_nothing() -> None:
    async with talk(agent()) as t:
        await t.passes(60)
    assert t.all(ev.TelemetryReported) == []


# -- signals -----------------------------------------------------------------------------------------------------------


async def test_the_signals_of_a_new_connection_are_at_their_beginning() -> None:
    async with talk(agent()) as t:
        assert isinstance(t.stage.orchestrator.session_keys, SessionSignals)
        expected = {
            "interrupt_count": 0,
            "error_count": 0,
            "is_user_speaking": False,
            "is_model_speaking": False,
            "disconnected": False,
            "go_away_received": False,
            "resumable": False,
            "session_type": SessionType.AUDIO_ONLY.value,
        }
        assert {name: t.state.get(f"session:{name}") for name in expected} == expected


async def test_the_whole_of_what_was_said_in_a_turn_is_in_the_state_and_not_its_last_piece() -> None:
    async with talk(agent()) as t:
        await t.hears("my name ")
        await t.hears("is Ada")
        await t.says("Hello ")
        await t.says("Ada.")
        await t.ends()
        assert t.state["session:last_input_transcription"] == "my name is Ada"
        assert t.state["session:last_output_transcription"] == "Hello Ada."


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"goAway": {"timeLeft": "49.5s"}}, {"go_away_received": True, "go_away_time_left_ms": 49_500}),
        ({"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}, {"resumable": True}),
        ({"voiceActivity": {"voiceActivityType": "ACTIVITY_START"}}, {"is_user_speaking": True}),
        (
            {"usageMetadata": {"totalTokenCount": 9, "promptTokenCount": 4, "responseTokenCount": 5}},
            {"total_token_count": 9, "prompt_token_count": 4, "response_token_count": 5},
        ),
        ({"serverContent": {"outputTranscription": {"text": "x"}}}, {"is_model_speaking": True}),
    ],
)
async def test_what_the_server_tells_is_a_signal(message: dict[str, Any], expected: dict[str, Any]) -> None:
    async with talk(agent()) as t:
        await t.server.says(**message)
        await t.rests()
        assert {name: t.state.get(f"session:{name}") for name in expected} == expected


async def test_interruptions_and_errors_are_counted_in_the_state() -> None:
    def fails() -> None:
        raise RuntimeError("boom")

    async with talk(agent().on("interrupted", fails)) as t:
        await t.says("Well")
        await t.server.says(serverContent={"interrupted": True})
        await t.rests()
        assert (t.state["session:interrupt_count"], t.state["session:error_count"]) == (1, 1)
        assert t.state["session:last_error"] == "RuntimeError: boom"


async def test_a_lost_connection_is_a_signal() -> None:
    async with talk(agent()) as t:
        await t.server.closes(1008, "API key expired.")
        await t.rests()
        assert t.state["session:disconnected"] is True
        assert t.state["session:wire_phase"] == "disconnected"


async def test_time_since_the_last_word_and_the_budget_are_read_live_and_make_no_events() -> None:
    async with talk(agent()) as t:
        await t.hears("hello")
        before = len(t.all(ev.StateChanged))
        await t.passes(2)
        assert 2000 <= t.state.get("session:silence_ms") <= 2020
        assert t.state.get("session:elapsed_ms") >= 2000
        assert t.state.get("session:remaining_budget_ms") <= 900_000 - 2000
        assert len(t.all(ev.StateChanged)) == before


async def test_a_picture_makes_the_budget_that_of_video() -> None:
    async with talk(agent()) as t:
        t.handle.send_video(b"\xff\xd8")
        await t.rests()
        assert t.state["session:session_type"] == SessionType.AUDIO_VIDEO.value
        assert t.state.get("session:remaining_budget_ms") <= SessionType.AUDIO_VIDEO.budget_ms
        assert t.sent("video") == [("video",)]


async def test_a_tool_call_is_a_phase_of_the_wire_that_ends() -> None:
    phases: list[str] = []

    async def slow() -> None:
        """Take long."""
        import asyncio

        await asyncio.sleep(1)

    async with talk(agent().tools(slow).on("phase", phases.append)) as t:
        await t.calls("slow")
        await t.passes(2)
        await t.says("Done.")
    assert phases[-4:] == ["tool_call_executing", "active", "model_speaking", "disconnected"]


async def test_the_microphone_keeps_the_server_fed_and_the_wire_listening(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(silence(tmp_path / "mic.wav"), None)) as t:
        await t.passes(0.5)
        assert t.handle.wire_phase == "active"
        assert ("audio",) in t.wire
