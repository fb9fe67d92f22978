"""Sessions in which our own voice activity detector decides when the user speaks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, silence, talk

from gemini_live_runtime import InputVad, InputVadSnapshot, Live
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.wav import WavReader
from gemini_live_runtime.wire.audio_frame import encode_model_audio

SPOKEN = Path(__file__).parents[1] / "data" / "speech" / "please_stop_talking.wav"


def client(preset: str = "responsive") -> Live:
    """An agent whose own detector decides."""
    return agent().turn_taking("client", preset)  # type: ignore[arg-type]


def kinds(t: Talk) -> list[str]:
    """What was sent, runs of the same told once."""
    told = [one[0] for one in t.wire]
    return [kind for at, kind in enumerate(told) if at == 0 or told[at - 1] != kind]


def test_what_the_user_says_is_marked_and_nothing_else_is_sent() -> None:
    async def scenario(t: Talk) -> None:
        setup = await t.begins()
        assert setup["realtimeInputConfig"]["automaticActivityDetection"]["disabled"] is True
        await t.passes(8)
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]

    talk(client(), scenario, audio=lambda: FileAudio(SPOKEN, None))


def test_in_silence_nothing_is_sent(tmp_path: Path) -> None:
    async def scenario(t: Talk) -> None:
        await t.begins()
        await t.passes(5)
        assert t.wire == []

    talk(client(), scenario, audio=lambda: FileAudio(silence(tmp_path / "mic.wav"), None))


def test_the_audio_that_led_to_the_decision_is_sent_too() -> None:
    async def scenario(t: Talk) -> None:
        await t.begins()
        await t.passes(8)

    t = talk(client(), scenario, audio=lambda: FileAudio(SPOKEN, None))
    first = next(frame for frame in t.server.frames if "audio" in frame.get("realtimeInput", {}))
    # More than one chunk of 20 ms: the pre-roll comes with it.
    assert len(first["realtimeInput"]["audio"]["data"]) * 3 // 4 > 2 * 16_000 * 0.02


def test_a_back_channel_over_the_model_is_not_an_interruption_and_speech_that_lasts_is(tmp_path: Path) -> None:
    async def scenario(t: Talk) -> None:
        await t.begins()
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH * 12)))
        await t.passes(0.35)
        early = kinds(t)
        await t.passes(8)
        assert early == []
        assert kinds(t)[0] == "activityStart"

    talk(client("conversational"), scenario, audio=lambda: FileAudio(SPOKEN, tmp_path / "out.wav"))


def test_the_patience_is_that_of_the_preset() -> None:
    lengths = {}

    def measured(preset: str) -> int:
        async def scenario(t: Talk) -> None:
            await t.begins()
            await t.passes(8)

        t = talk(client(preset), scenario, audio=lambda: FileAudio(SPOKEN, None))
        return len([told for told in t.wire if told[0] == "audio"])

    for preset in ("immediate", "conversational"):
        lengths[preset] = measured(preset)
    # 800 ms of silence are 40 chunks of 20 ms.
    assert lengths["conversational"] - lengths["immediate"] >= 30


def test_closing_the_microphone_ends_what_was_being_said() -> None:
    from gemini_live_runtime import commands as cmd

    async def scenario(t: Talk) -> None:
        await t.begins()
        await t.passes(0.8)
        assert kinds(t) == ["activityStart", "audio"]
        await t.stage.session.command(cmd.Command("m", cmd.SetMicrophone(on=False)))
        await t.rests()
        assert kinds(t) == ["activityStart", "audio", "activityEnd"]

    talk(client(), scenario, audio=lambda: FileAudio(SPOKEN, None))


def test_the_detector_can_be_looked_at_and_there_is_none_while_the_server_decides() -> None:
    seen: list[InputVadSnapshot | None] = []

    async def scenario(t: Talk) -> None:
        await t.begins()
        await t.passes(1)
        seen.append(t.handle.input_vad_state())

    talk(client(), scenario, audio=lambda: FileAudio(SPOKEN, None))
    talk(agent(), scenario)
    assert isinstance(seen[0], InputVadSnapshot)
    assert seen[0].frames_processed > 0
    assert seen[1] is None


def test_our_own_detector_gives_the_prompt_that_waits_its_moment() -> None:
    async def scenario(t: Talk) -> None:
        await t.begins()
        await t.passes(0.8)
        assert t.handle.voice_state().user_speaking
        t.handle.prompt()
        await t.passes(8)
        assert kinds(t) == ["activityStart", "audio", "activityEnd", "prompt"]

    talk(client(), scenario, audio=lambda: FileAudio(SPOKEN, None))


def test_what_was_committed_is_the_beginning_of_the_latency(tmp_path: Path) -> None:
    async def scenario(t: Talk) -> None:
        await t.begins()
        while "activityEnd" not in kinds(t):
            await t.passes(0.1)
        await t.hears("please stop talking")
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH // 2)))
        await t.ends()
        await t.passes(2)

    t = talk(client(), scenario, audio=lambda: FileAudio(SPOKEN, tmp_path / "out.wav"))
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
