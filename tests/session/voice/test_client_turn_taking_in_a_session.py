"""Sessions in which our own voice activity detector decides when the user speaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, silence, talk

from gemini_live_runtime import InputVad, InputVadSnapshot, Live
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.interface import AudioListener, AudioOpened, MicChunk
from gemini_live_runtime.audio.wav import WavReader
from gemini_live_runtime.wire.audio_frame import encode_model_audio

SPOKEN = Path(__file__).parents[2] / "data" / "speech" / "please_stop_talking.wav"


def client(preset: str = "responsive") -> Live:
    """Return an agent whose turns our own detector decides."""
    return agent().turn_taking("client", preset)  # type: ignore[arg-type]


def kinds(t: Talk) -> list[str]:
    """Return the kinds of sent messages, repeated ones once."""
    told = [one[0] for one in t.wire]
    return [kind for at, kind in enumerate(told) if at == 0 or told[at - 1] != kind]


async def test_what_the_user_says_is_marked_and_nothing_else_is_sent() -> None:
    async with talk(client(), audio=lambda: FileAudio(SPOKEN, None)) as t:
        setup = t.setup
        assert setup["realtimeInputConfig"]["automaticActivityDetection"]["disabled"] is True
        await t.passes(8)
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]


async def test_in_silence_nothing_is_sent(tmp_path: Path) -> None:
    async with talk(client(), audio=lambda: FileAudio(silence(tmp_path / "mic.wav"), None)) as t:
        await t.passes(5)
        assert t.wire == []


async def test_the_audio_that_led_to_the_decision_is_sent_too() -> None:
    async with talk(client(), audio=lambda: FileAudio(SPOKEN, None)) as t:
        await t.passes(8)
    first = next(frame for frame in t.server.frames if "audio" in frame.get("realtimeInput", {}))
    # More than one chunk of 20 ms: the pre-roll comes with it.
    assert len(first["realtimeInput"]["audio"]["data"]) * 3 // 4 > 2 * 16_000 * 0.02


async def test_a_back_channel_over_the_model_is_not_an_interruption_and_speech_that_lasts_is(tmp_path: Path) -> None:
    async with talk(client("conversational"), audio=lambda: FileAudio(SPOKEN, tmp_path / "out.wav")) as t:
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH * 12)))
        await t.passes(0.35)
        early = kinds(t)
        await t.passes(8)
        assert early == []
        assert kinds(t)[0] == "activityStart"


class OnlyEcho(FileAudio):
    """Devices whose canceller takes all that it leaves for echo."""

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Open, and mark each chunk."""
        return await super().open(_Marked(listener))


class _Marked:
    def __init__(self, listener: AudioListener) -> None:
        self._listener = listener

    def on_mic_chunk(self, chunk: MicChunk) -> None:
        self._listener.on_mic_chunk(replace(chunk, near_end=False))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._listener, name)


async def test_an_echo_that_leaks_does_not_interrupt_the_model(tmp_path: Path) -> None:
    for device, marks in ((OnlyEcho, 0), (FileAudio, 1)):
        async with talk(client(), audio=lambda device=device: device(SPOKEN, tmp_path / "out.wav")) as t:
            await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH * 12)))
            await t.passes(8)
            assert kinds(t).count("activityStart") == marks


async def test_the_patience_is_that_of_the_preset() -> None:
    lengths = {}
    for preset in ("immediate", "conversational"):
        async with talk(client(preset), audio=lambda: FileAudio(SPOKEN, None)) as t:
            await t.passes(8)
        lengths[preset] = len(t.sent("audio"))
    # 800 ms of silence are 40 chunks of 20 ms.
    assert lengths["conversational"] - lengths["immediate"] >= 30


async def test_closing_the_microphone_ends_what_was_being_said() -> None:
    from gemini_live_runtime import commands as cmd

    async with talk(client(), audio=lambda: FileAudio(SPOKEN, None)) as t:
        await t.passes(0.8)
        assert kinds(t) == ["activityStart", "audio"]
        await t.stage.session.command(cmd.Command("m", cmd.SetMicrophone(on=False)))
        await t.rests()
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]


async def test_the_detector_can_be_looked_at_and_there_is_none_while_the_server_decides() -> None:
    async with talk(client(), audio=lambda: FileAudio(SPOKEN, None)) as t:
        await t.passes(1)
        snapshot = t.handle.input_vad_state()
        assert isinstance(snapshot, InputVadSnapshot)
        assert snapshot.frames_processed > 0
    async with talk(agent()) as t:
        await t.passes(1)
        assert t.handle.input_vad_state() is None


async def test_our_own_detector_gives_the_prompt_that_waits_its_moment() -> None:
    async with talk(client(), audio=lambda: FileAudio(SPOKEN, None)) as t:
        await t.passes(0.8)
        assert t.handle.voice_state().user_speaking
        t.handle.prompt()
        await t.passes(8)
        assert kinds(t) == ["activityStart", "audio", "activityEnd", "prompt"]


async def test_what_was_committed_is_the_beginning_of_the_latency(tmp_path: Path) -> None:
    async with talk(client(), audio=lambda: FileAudio(SPOKEN, tmp_path / "out.wav")) as t:
        while "activityEnd" not in kinds(t):
            await t.passes(0.1)
        await t.hears("please stop talking")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH // 2)))
        await t.ends()
        await t.passes(2)
    (measured,) = t.all(ev.TurnMeasured)
    assert measured.latency_ms is not None
    assert measured.stages["hang_over"] is not None


def test_a_detector_finds_the_same_edges_in_any_chunking() -> None:
    reader = WavReader(SPOKEN)
    samples = np.concatenate([reader.read(reader.rate) for _ in range(5) if reader.frames_left])
    assert reader.rate == 16_000
    pcm = (samples * 32767).astype("<i2").tobytes()

    def edges(size: int) -> list[tuple[str, float]]:
        vad = InputVad()
        return [(edge.kind, edge.at_s) for at in range(0, len(pcm), size) for edge in vad.add(pcm[at : at + size])]

    assert edges(641) == edges(3200) != []
