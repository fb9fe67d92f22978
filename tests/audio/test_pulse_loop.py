"""Test streams on the PulseAudio loop: echo, interruptions and lost devices.

These tests take real time: a device has its own clock.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from tests.support.patience import PATIENCE_S
from tests.unit.audio.audio_support import Recorder, correlation

from gemini_live_runtime.audio.device_audio import DeviceAudio
from gemini_live_runtime.audio.devices.probe import list_devices
from gemini_live_runtime.audio.interface import MicChunk
from gemini_live_runtime.audio.resample import Resampler
from gemini_live_runtime.audio.samples import to_int16
from gemini_live_runtime.audio.wav import WavReader

pytestmark = [pytest.mark.pulse]

HERE = Path(__file__).parent
SOUNDS = HERE.parent / "data" / "audio"
MODEL, PERSON = SOUNDS / "model_speech.wav", SOUNDS / "barge_in.wav"
ATTEMPTS = 3
SPOKEN = "wait stop please what is the weather in london"
GRAMMAR = """#JSGF V1.0;
grammar loop;
public <said> = <phrase>+ ;
<phrase> = wait | stop please | what is the weather in ( london | paris | berlin | tokyo ) | what can you do
         | set a timer for ( one | two | five | ten ) minutes | delete the last note | goodbye ;
"""


def load(path: Path, rate: int) -> np.ndarray:
    reader = WavReader(path)
    sound = Resampler(reader.rate, rate, "VHQ").process(reader.read(10_000_000), last=True)
    reader.close()
    return sound


@dataclass
class Waiting(Recorder):
    """A recorder that one can wait for."""

    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def on_mic_chunk(self, chunk: MicChunk) -> None:
        super().on_mic_chunk(chunk)
        self.arrived.set()

    async def until(self, count: int) -> None:
        """Return once `count` chunks were delivered."""
        while len(self.chunks) < count:
            self.arrived.clear()
            await self.arrived.wait()


@dataclass
class Scene:
    """Record of one conversation with the loop."""

    recorder: Waiting = field(default_factory=Waiting)
    canceller: str = ""
    erle: list[float] = field(default_factory=list)
    clean_levels: list[float] = field(default_factory=list)
    marks: dict[str, int] = field(default_factory=dict)
    """Chunks delivered until then."""
    lost: int = 0
    """Frames and blocks that the machine was too busy for."""

    def mark(self, name: str) -> None:
        self.marks[name] = len(self.recorder.chunks)

    def microphone(self, start: str, end: str) -> np.ndarray:
        return np.frombuffer(
            b"".join(chunk.pcm for chunk in self.recorder.chunks[self.marks[start] : self.marks[end]]), np.int16
        )


@asynccontextmanager
async def opened(scene: Scene, *, echo: bool = True) -> AsyncIterator[DeviceAudio]:
    audio = DeviceAudio(echo=echo)
    result = await audio.open(scene.recorder)
    assert result.problems == ()
    scene.canceller = result.echo_canceller
    try:
        await chunks(scene, 10)
        # Streams that start one after the other miss a frame or two of each other.
        before = _lost(audio)
        yield audio
        scene.lost = _lost(audio) - before
    finally:
        await audio.close()


def _lost(audio: DeviceAudio) -> int:
    """Return how much sound the canceller and the streams missed so far."""
    pipeline, worker = audio._pipeline, audio._worker
    if pipeline is None or worker is None:
        return 0
    streams = [stream for stream in (worker.microphone, worker.loudspeaker) if stream is not None]
    late = pipeline.capture.far_missing + pipeline.capture.far_dropped + pipeline.overflowed_chunks
    return late + sum(stream.xruns for stream in streams)


async def chunks(scene: Scene, count: int) -> None:
    """Wait until `count` more chunks arrived: time as the microphone counts it."""
    target = len(scene.recorder.chunks) + count
    async with asyncio.timeout(PATIENCE_S + count * 0.04):
        await scene.recorder.until(target)


async def converse(scene: Scene) -> None:
    """Play the model's speech for 11 s, and after 5 s the user's into the same sink."""
    async with opened(scene) as audio:
        pcm = to_int16(load(MODEL, 24_000)).tobytes()
        scene.mark("start")
        for at in range(0, len(pcm), 9600):
            audio.play(1, pcm[at : at + 9600])
        audio.end_of_turn(1)

        async def watch(count: int) -> None:
            for _ in range(count // 10):
                await chunks(scene, 10)
                levels = audio.levels()
                if levels.erle_db is not None:
                    scene.erle.append(levels.erle_db)
                if levels.clean_db is not None:
                    scene.clean_levels.append(levels.clean_db)

        await watch(100)
        scene.mark("learned")
        await watch(140)
        scene.mark("person")
        person = await asyncio.create_subprocess_exec("paplay", str(PERSON))
        await chunks(scene, 190)
        assert await person.wait() == 0
        scene.mark("person done")
        while audio.playing:
            await chunks(scene, 5)
        await chunks(scene, 10)
        scene.mark("end")


@pytest.fixture(scope="module")
def scene(pulse_loop: None) -> Scene:
    # A canceller that misses frames has to learn again: a run on a busy machine says nothing of it.
    for attempt in range(1, ATTEMPTS + 1):
        scene = Scene()
        asyncio.run(converse(scene))
        if not scene.lost:
            break
        print(f"attempt {attempt} of {ATTEMPTS}: {scene.lost} frames were lost")
    return scene


def test_the_loop_is_listed_as_a_device_for_both_directions(pulse_loop: None) -> None:
    found = list_devices()
    assert found.problem == ""
    assert any(device.is_default_input and device.input_channels for device in found.devices)
    assert any(device.is_default_output and device.output_channels for device in found.devices)


def test_the_microphone_keeps_sending_all_through_the_models_speech(scene: Scene) -> None:
    spoken = sum(call[3] for call in scene.recorder.of("heard")) / 24_000
    sent = scene.marks["end"] - scene.marks["start"]
    assert spoken == pytest.approx(len(load(MODEL, 24_000)) / 24_000, abs=0.001)
    assert sent * 0.02 >= spoken
    times = [chunk.captured_at for chunk in scene.recorder.chunks]
    assert max(np.diff(times)) < 0.2


def test_the_turn_is_drained_once_and_heard_in_full(scene: Scene) -> None:
    assert scene.recorder.of("started") == [("started", 1)]
    assert scene.recorder.of("drained") == [("drained", 1)]
    assert scene.recorder.heard(1) == len(load(MODEL, 24_000))


def test_echo_is_reduced_by_far_more_than_ten_decibels(scene: Scene) -> None:
    assert "AEC3" in scene.canceller
    assert np.median(scene.erle[-10:]) > 20
    assert min(scene.erle[-10:]) > 10
    assert not scene.recorder.of("echo")


def test_the_models_own_voice_is_not_taken_for_a_person(scene: Scene) -> None:
    alone = scene.microphone("learned", "person").astype(float)
    assert 10 * np.log10((alone**2).mean() / 32_768**2 + 1e-12) < -50


def test_a_person_who_speaks_into_the_models_speech_is_still_in_the_cleaned_microphone(scene: Scene) -> None:
    assert ("voice", True) in scene.recorder.calls
    heard = scene.microphone("person", "person done").astype(float)
    person = load(PERSON, 16_000) * 32_768
    envelope = np.sqrt((heard[: len(heard) // 160 * 160].reshape(-1, 160) ** 2).mean(axis=1))
    expected = np.sqrt((person[: len(person) // 160 * 160].reshape(-1, 160) ** 2).mean(axis=1))
    best = max(
        correlation(envelope[lag : lag + len(expected)], expected) for lag in range(len(envelope) - len(expected))
    )
    # Without the person it is about 0.2; a busy machine that drops samples costs a syllable.
    assert best > 0.55


def test_the_words_of_the_person_are_recognised_after_cancelling(scene: Scene, tmp_path: Path) -> None:
    grammar = tmp_path / "loop.gram"
    grammar.write_text(GRAMMAR)
    said: list[list[str]] = []
    # With the echo still in it none is recognised. A busy machine that drops samples costs a word or two; one that
    # lets the player of the person's voice starve, which nobody counts, costs more, and another take tells.
    for _ in range(ATTEMPTS):
        said.append(words(scene.microphone("person", "person done"), grammar))
        if sum(word in said[-1] for word in SPOKEN.split()) >= 6:
            return
        scene = Scene()
        asyncio.run(converse(scene))
    pytest.fail(f"too few words are recognised: {said}")


def words(sound: np.ndarray, grammar: Path) -> list[str]:
    """Return what a recogniser understands of `sound` (16 kHz)."""
    pocketsphinx = pytest.importorskip("pocketsphinx", reason="the recogniser is not installed (extra: local)")
    models = Path(pocketsphinx.get_model_path()) / "en-us"
    decoder = pocketsphinx.Decoder(
        hmm=str(models / "en-us"),
        dict=str(models / "cmudict-en-us.dict"),
        jsgf=str(grammar),
        logfn=os.devnull,
    )
    dither = np.random.default_rng(0).normal(0, 20, len(sound))
    decoder.start_utt()
    decoder.process_raw(np.clip(sound + dither, -32_768, 32_767).astype("<i2").tobytes(), full_utt=True)
    decoder.end_utt()
    hypothesis = decoder.hyp()
    return hypothesis.hypstr.split() if hypothesis else []


async def test_a_cut_silences_the_loop_within_two_hundred_milliseconds_of_samples(pulse_loop: None) -> None:
    scene = Scene()
    async with opened(scene, echo=False) as audio:
        audio.play(1, np.full(24_000 * 5, 8_000, np.int16).tobytes())
        await chunks(scene, 75)
        scene.mark("before")
        audio.cut(2)
        audio.play(1, np.full(24_000, 8_000, np.int16).tobytes())
        await chunks(scene, 50)
        scene.mark("after")
        assert not audio.playing
    assert (scene.recorder.microphone[-16_000 - 8_000 : -16_000] > 1000).any()
    rest = scene.microphone("before", "after")
    sounding = np.flatnonzero(np.abs(rest.astype(int)) > 100)
    assert (len(sounding) and sounding[-1]) < 16_000 * 0.2
    assert 24_000 < scene.recorder.heard(1) < 48_000


async def test_an_echo_was_captured_at_the_moment_at_which_it_was_heard(pulse_loop: None) -> None:
    for _ in range(ATTEMPTS):
        scene = Scene()
        async with opened(scene, echo=False) as audio:
            audio.play(1, to_int16(load(MODEL, 24_000)[:24_000]).tobytes())
            audio.end_of_turn(1)
            while audio.playing:
                await chunks(scene, 5)
            await chunks(scene, 5)
        if not scene.lost:
            break
    echo, spoken = scene.recorder.microphone.astype(float), load(MODEL, 16_000)[:16_000]
    after = len(echo) - len(spoken) - int(np.abs(np.correlate(echo, spoken, "valid")).argmax())
    # On a busy machine a sound server tells single times a block too early or too late; the median does not follow.
    began = np.median([one.captured_at - number / 50 for number, one in enumerate(scene.recorder.chunks, 1)])
    captured_at = began + (len(echo) - after) / 16_000
    told = [(call[2] + call[3]) / 24_000 for call in scene.recorder.calls if call[0] == "heard"]
    heard_at = np.median([at - end for at, end in zip(scene.recorder.heard_at, told, strict=True) if at]) + told[-1]
    assert captured_at == pytest.approx(heard_at, abs=0.005)


@pytest.mark.parametrize(
    ("blow", "reasons"),
    [
        # ALSA sometimes leaves a reader waiting when the server dies, instead of ending the stream.
        (signal.SIGKILL, ("was disconnected", "stopped responding")),
        (signal.SIGSTOP, ("stopped responding",)),
    ],
    ids=["killed", "frozen"],
)
def test_a_sound_server_that_dies_or_freezes_is_noticed_and_closing_does_not_hang(
    own_loop: dict[str, str], blow: signal.Signals, reasons: tuple[str, ...]
) -> None:
    server = int(own_loop["PULSE_PID"])
    child = subprocess.Popen(
        [sys.executable, str(HERE / "lose_device.py"), f"{PATIENCE_S}"],
        env=own_loop,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        for expected in ({"problems": []}, {"capturing": True}):
            line = child.stdout.readline()
            assert line, f"the child ended: {child.communicate(timeout=PATIENCE_S)[1]}"
            assert json.loads(line) == expected
        os.kill(server, blow)
        out, printed = child.communicate(timeout=PATIENCE_S)
    finally:
        child.kill()
        if blow is signal.SIGSTOP:
            os.kill(server, signal.SIGCONT)
    assert out, printed
    report = json.loads(out)
    assert sorted(direction for direction, _ in report["lost"]) == ["input", "output"]
    assert all(any(words in reason for words in reasons) for _, reason in report["lost"]), report
    assert printed == ""
    assert child.returncode == 0


def test_an_empty_alsa_configuration_is_a_sentence_and_not_an_abort(
    pulse_loop: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.conf"
    empty.write_text("")
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(empty))
    assert "aborts" in list_devices().problem
    assert capfd.readouterr() == ("", "")
