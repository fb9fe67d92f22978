"""A running session: server, tools, sound files and journal."""

from __future__ import annotations

import asyncio
import wave
from pathlib import Path

import numpy as np
from tests.unit.session.session_support import stage

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.session.io.agent import Agent
from gemini_live_runtime.tools.declaration import ToolContext, tool
from gemini_live_runtime.wire.audio_frame import encode_model_audio
from gemini_live_runtime.wire.connection import MAX_UNREADABLE

SECOND = 24_000


def tone(path: Path, seconds: float, rate: int = 16_000) -> Path:
    samples = (8000 * np.sin(np.arange(int(seconds * rate)) * 440 * 2 * np.pi / rate)).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return path


async def test_a_session_begins_and_ends_with_its_own_events() -> None:
    async with stage() as s:
        await s.server.accepts()
        await s.sink.until(ev.ConnectionReady)
    assert s.exit_code == 0
    assert isinstance(s.sink.events[0].payload, ev.SessionStarted)
    assert isinstance(s.sink.events[-1].payload, ev.SessionEnded)
    assert s.sink.all(ev.SessionEnded)[0].reason == "the test is over"
    assert s.closed


async def test_the_setup_carries_instruction_and_tools() -> None:
    @tool
    def get_time(zone: str = "UTC") -> str:
        """Tell the time."""
        return zone

    async with stage(agent=Agent(name="a", instruction="Be brief.", tools=[get_time])) as s:
        setup = await s.server.accepts()
        assert setup["systemInstruction"]["parts"] == [{"text": "Be brief."}]
        declaration = setup["tools"][0]["functionDeclarations"][0]
        assert (declaration["name"], declaration["description"]) == ("get_time", "Tell the time.")
        assert declaration["parametersJsonSchema"]["properties"]["zone"]["default"] == "UTC"
        assert setup["inputAudioTranscription"] == {}


async def test_a_typed_text_reaches_the_server_and_its_answer_the_transcript() -> None:
    async with stage(mode="text") as s:
        await s.server.accepts()
        await s.types("hello")
        content = await s.server.hears_a("clientContent")
        assert content["turns"][0]["parts"] == [{"text": "hello"}]
        await s.server.says(serverContent={"outputTranscription": {"text": "Hi!"}})
        await s.server.says(serverContent={"generationComplete": True})
        await s.server.says(serverContent={"turnComplete": True})
        completed = await s.sink.until(ev.TurnCompleted)
        assert completed.outcome == "complete"
    assert [d.text for d in s.sink.all(ev.TranscriptDelta)] == ["Hi!"]


async def test_the_microphone_file_reaches_the_server_and_the_track_sample_by_sample(tmp_path: Path) -> None:
    async with stage(audio=lambda: FileAudio(tone(tmp_path / "mic.wav", 1.0), None)) as s:
        await s.server.accepts()
        reading = asyncio.create_task(s.server.drinks())
        await asyncio.sleep(3)
        reading.cancel()
    spans = [span for span in s.sink.all(ev.WireAudio) if span.direction == "sent"]
    assert sum(span.count for span in spans) * 2 == len(s.sink.tracks["user"])
    assert [span.first for span in spans] == [sum(span.count for span in spans[:n]) for n in range(len(spans))]
    frames = [frame for frame in s.server.frames if "audio" in frame.get("realtimeInput", {})]
    assert sum(count for span in spans for _, count in span.frames) >= len(frames) >= 100
    heard = np.frombuffer(s.sink.tracks["user"], "<i2")
    assert np.abs(heard[:16_000]).max() > 7000


async def test_model_audio_reaches_the_speaker_file_and_the_track(tmp_path: Path) -> None:
    pcm = (np.ones(SECOND // 2) * 5000).astype("<i2").tobytes()

    async with stage(audio=lambda: FileAudio(None, tmp_path / "out.wav")) as s:
        await s.server.accepts()
        await s.server.sends(encode_model_audio(pcm))
        await s.server.says(serverContent={"generationComplete": True})
        await s.sink.until(ev.PlaybackDrained)
        await s.server.says(serverContent={"turnComplete": True})
        await s.sink.until(ev.TurnCompleted)
    assert s.sink.tracks["model"] == pcm
    assert sum(heard.count for heard in s.sink.all(ev.PlaybackHeard)) == SECOND // 2
    with wave.open(str(tmp_path / "out.wav")) as file:
        out = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert np.count_nonzero(np.abs(out) > 2500) >= SECOND // 2 - 1000


async def test_speech_at_another_rate_is_converted(tmp_path: Path) -> None:
    import base64

    pcm = (np.ones(48_000) * 5000).astype("<i2").tobytes()

    async with stage(audio=lambda: FileAudio(None, tmp_path / "out.wav")) as s:
        await s.server.accepts()
        data = base64.b64encode(pcm).decode()
        part = {"inlineData": {"mimeType": "audio/pcm;rate=48000", "data": data}}
        await s.server.says(serverContent={"modelTurn": {"parts": [part]}})
        await s.server.says(serverContent={"generationComplete": True})
        await s.sink.until(ev.PlaybackDrained)
    heard = sum(span.count for span in s.sink.all(ev.PlaybackHeard))
    assert abs(heard - SECOND) < SECOND * 0.03


async def test_an_interruption_stops_the_speaker_and_says_what_was_heard(tmp_path: Path) -> None:
    pcm = (np.ones(SECOND * 10) * 5000).astype("<i2").tobytes()

    async with stage(audio=lambda: FileAudio(None, tmp_path / "out.wav")) as s:
        await s.server.accepts()
        await s.server.sends(encode_model_audio(pcm))
        await s.sink.until(ev.PlaybackStarted)
        await asyncio.sleep(2.0)
        await s.session.command(cmd.Command("c", cmd.Interrupt()))
        await s.sink.until(ev.TurnInterrupted)
        await s.server.sends(encode_model_audio(pcm))
        await asyncio.sleep(1.0)
    cut = s.sink.all(ev.TurnInterrupted)[0]
    assert abs(cut.heard_samples - 2 * SECOND) < SECOND * 0.05
    with wave.open(str(tmp_path / "out.wav")) as file:
        out = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert np.count_nonzero(out) <= cut.heard_samples + SECOND // 50


async def test_a_tool_runs_and_its_answer_goes_back() -> None:
    notes: list[str] = []

    @tool
    async def ring(room: int, ctx: ToolContext) -> dict[str, int]:
        """Ring a room."""
        ctx.notify(f"Ringing {room}.")
        return {"rang": room}

    async with stage(agent=Agent(name="a", instruction="x", tools=[ring])) as s:
        await s.server.accepts()
        await s.server.says(toolCall={"functionCalls": [{"id": "c1", "name": "ring", "args": {"room": 12}}]})
        response = await s.server.hears_a("toolResponse")
        assert response["functionResponses"] == [{"id": "c1", "name": "ring", "response": {"rang": 12}}]
        notes.extend(notice.text for notice in s.sink.all(ev.Notice))
    assert notes == ["Ringing 12."]
    assert s.sink.all(ev.ToolFinished)[0].status == "ok"


async def test_a_failing_tool_ends_as_an_error_and_the_call_goes_on() -> None:
    def fail() -> None:
        """Fail."""
        raise RuntimeError("boom")

    async with stage(agent=Agent(name="a", instruction="x", tools=[fail]), mode="text") as s:
        await s.server.accepts()
        await s.server.says(toolCall={"functionCalls": [{"id": "c1", "name": "fail", "args": {}}]})
        response = await s.server.hears_a("toolResponse")
        assert response["functionResponses"][0]["response"] == {"error": "boom"}
        await s.types("still there?")
        await s.server.hears_a("clientContent")


async def test_a_garbled_frame_is_reported_and_the_call_goes_on() -> None:
    async with stage() as s:
        await s.server.accepts()
        await s.server.sends(b"not json")
        await s.server.says(serverContent={"outputTranscription": {"text": "fine"}})
        await s.sink.until(ev.TranscriptDelta)
    assert s.sink.all(ev.Notice)[0].code == "protocol"


async def test_a_server_that_closes_leaves_an_error_and_a_session_that_waits_to_be_hung_up() -> None:
    async with stage() as s:
        await s.server.accepts()
        await s.server.closes(1008, "API key expired.")
        closed = await s.sink.until(ev.ConnectionClosed)
        assert (closed.close_code, closed.reason) == (1008, "API key expired.")
        assert closed.remedy
        assert s.sink.all(ev.SessionState)[-1].word == "error"
    assert s.exit_code == 0


async def test_a_refused_setup_names_the_servers_reason() -> None:
    async with stage() as s:
        await s.server.hears_a("setup")
        await s.server.closes(1008, "models/x is not found for API version v1beta")
        closed = await s.sink.until(ev.ConnectionClosed)
        assert "models/x is not found" in closed.sentence


async def test_the_time_limit_ends_the_session_by_itself() -> None:
    async with stage(max_minutes=0.5, hang_up=False) as s:
        await s.server.accepts()
        await s.server.drinks()
    assert s.exit_code == 0
    assert s.sink.all(ev.SessionEnded)[0].reason == "the minutes limit was reached"


async def test_every_message_is_an_event_without_its_audio_and_without_secrets(tmp_path: Path) -> None:
    async with stage() as s:
        await s.server.accepts()
        await s.server.says(sessionResumptionUpdate={"newHandle": "handle-that-is-secret", "resumable": True})
        await s.server.says(serverContent={"turnComplete": True}, usageMetadata={"totalTokenCount": 3})
        await s.sink.until(ev.UsageReported)
    kinds = [(message.direction, message.kinds) for message in s.sink.all(ev.WireMessage)]
    assert kinds == [
        ("sent", ("setup",)),
        ("received", ("setupComplete",)),
        ("received", ("sessionResumptionUpdate",)),
        ("received", ("serverContent", "usageMetadata")),
    ]
    assert "handle-that-is-secret" not in "".join(event.to_line() for event in s.sink.events)
    assert s.core.state.link.handle == "handle-that-is-secret"


async def test_a_microphone_file_begins_when_the_server_is_ready(tmp_path: Path) -> None:
    async with stage(audio=lambda: FileAudio(tone(tmp_path / "mic.wav", 1.0), None)) as s:
        await asyncio.sleep(5)
        await s.server.accepts()
        reading = asyncio.create_task(s.server.drinks())
        await asyncio.sleep(2)
        reading.cancel()
    heard = np.frombuffer(s.sink.tracks["user"], "<i2")
    assert np.abs(heard[:1600]).max() > 7000
    assert np.count_nonzero(np.abs(heard) > 100) > 15_000


async def test_a_display_of_the_interruption_ends_in_virtual_time(tmp_path: Path) -> None:
    async with stage(audio=lambda: FileAudio(None, tmp_path / "out.wav")) as s:
        await s.server.accepts()
        for _ in range(5):
            await s.server.sends(encode_model_audio(bytes(SECOND)))
            await asyncio.sleep(0.0131)
            await s.session.command(cmd.Command("c", cmd.Interrupt()))
            await asyncio.sleep(3.0007)
            await s.server.says(serverContent={"turnComplete": True})
    assert "interrupted" in [state.word for state in s.sink.all(ev.SessionState)]


async def test_a_server_that_sends_nothing_but_garbage_is_given_up() -> None:
    async with stage() as s:
        await s.server.accepts()
        for _ in range(MAX_UNREADABLE):
            await s.server.sends(b"\xff\x00 garbage")
        closed = await s.sink.until(ev.ConnectionClosed)
        assert "unreadable frames in a row" in closed.sentence
    assert len(s.sink.all(ev.Notice)) == MAX_UNREADABLE - 1


async def test_quiet_is_found_although_a_speaker_drops_what_it_had_without_a_word() -> None:
    class Silent(NoAudio):
        has_sound = True

        @property
        def playing(self) -> bool:
            return self.has_sound

    audio = Silent()
    async with stage(audio=lambda: audio, mode="text") as s:
        await s.begins()
        waiting = asyncio.create_task(s.session.until_quiet(0.0))
        await asyncio.sleep(10)
        assert not waiting.done()
        audio.has_sound = False
        await asyncio.wait_for(waiting, 1)
