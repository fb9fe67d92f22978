"""Measure a known room, refuse useless recordings, and store what was found."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import soxr
from tests.unit.audio.audio_support import FakePortAudio, Recorder

from gemini_live_runtime.audio.checks.calibration import (
    ROOM_S,
    FrameRecorder,
    calibrate,
    calibration_sound,
    describe,
    measure,
)
from gemini_live_runtime.audio.device_audio import DeviceAudio
from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.audio.echo.cancellers import EchoCanceller
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.echo.echo_path import (
    MAX_FILE_BYTES,
    MAX_PAIRS,
    MAX_RESPONSE,
    RESPONSE_LEAD_MS,
    EchoPath,
    remember_echo_path,
    store_echo_path,
    stored_echo_path,
)
from gemini_live_runtime.audio.interface import AudioListener, AudioOpened, MicChunk, OpenDevice
from gemini_live_runtime.audio.process.process_host import make_devices
from gemini_live_runtime.audio.processing.pipeline import PipelineAudio
from gemini_live_runtime.audio.samples import FRAME, MIC_RATE, Float32, Int16
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import DeviceError

pytestmark = pytest.mark.usefixtures("no_silence_watchdog")

RATE = 16_000


def played() -> Float32:
    sound = soxr.resample(calibration_sound().astype(np.float32) / 32_768, 24_000, RATE)
    whole: Float32 = np.concatenate((np.zeros(RATE), sound, np.zeros(RATE))).astype(np.float32)
    return whole


def room(far: Float32, *, delay: int, level: float = 0.25, noise: float = 0.0005, seed: int = 1) -> Float32:
    """Return the microphone's signal: a direct sound, reflections of it, and noise."""
    rng = np.random.default_rng(seed)
    response = np.zeros(delay + 2400)
    response[delay] = 1.0
    tail = np.arange(1, 2400)
    response[delay + 1 :] = 0.05 * rng.standard_normal(len(tail)) * np.exp(-tail / 400)
    size = 1 << (len(far) + len(response)).bit_length()
    echo = np.fft.irfft(np.fft.rfft(far, size) * np.fft.rfft(response, size), size)[: len(far)]
    near: Float32 = (level * echo + noise * rng.standard_normal(len(far))).astype(np.float32)
    return near


def int16(sound: Float32) -> np.ndarray:
    return np.clip(np.rint(sound * 32_768), -32_768, 32_767).astype(np.int16)


@pytest.mark.parametrize(("delay", "level"), [(37, 0.25), (1200, 0.9), (4801, 0.05), (9000, 0.02)])
def test_the_delay_the_level_and_the_response_of_a_known_room_are_found(delay: int, level: float) -> None:
    far = played()
    found = measure(int16(far), int16(room(far, delay=delay, level=level)))
    assert found.delay_ms == pytest.approx(delay / 16, abs=0.13)
    # The reflections add a fifth to the power of the direct sound, more or less by frequency.
    assert found.level_db == pytest.approx(20 * np.log10(level) + 1, abs=2)
    assert found.room_db == pytest.approx(-66, abs=7)
    direct = round(RESPONSE_LEAD_MS * 16)
    assert int(np.argmax(np.abs(found.response))) == pytest.approx(direct, abs=2)
    assert max(found.response) == pytest.approx(level, rel=0.3)
    assert "comes" in describe(found)


def test_with_headphones_there_is_a_room_and_no_echo() -> None:
    far = played()
    found = measure(int16(far), int16(room(far, delay=100, level=0.0, noise=0.003)))
    assert (found.delay_ms, found.level_db, found.response) == (None, None, ())
    assert found.room_db == pytest.approx(-50.5, abs=1)
    assert "nothing of the speaker comes back" in describe(found)


def test_a_voice_or_a_loud_room_beside_the_sound_does_not_move_the_delay() -> None:
    far = played()
    found = measure(int16(far), int16(room(far, delay=640, level=0.2, noise=0.03)))
    assert found.delay_ms == pytest.approx(40, abs=0.13)


def bad_recordings() -> dict[str, tuple[np.ndarray, np.ndarray, str]]:
    far = played()
    near = room(far, delay=500)
    jumped = near.copy()
    jumped[3 * RATE :] = np.roll(near, 800)[3 * RATE :]
    return {
        "nothing was played": (int16(far * 0), int16(near), "was not played"),
        "only zeros came": (int16(far), int16(near * 0), "only silence"),
        "it clips": (int16(far), int16(near * 50), "clips"),
        "the delay jumps": (int16(far), int16(jumped), "delay changed"),
        "half of it is missing": (int16(far), int16(np.where(np.arange(len(far)) < 3.4 * RATE, 1e-4, near)), "delay"),
    }


@pytest.mark.parametrize("case", list(bad_recordings()))
def test_a_recording_that_says_nothing_is_refused_with_a_remedy(case: str) -> None:
    far, near, words = bad_recordings()[case]
    with pytest.raises(DeviceError, match=words) as refusal:
        measure(far, near)
    assert refusal.value.remedy


class RoomAudio(PipelineAudio):
    """Devices in a room, in virtual time: what is played comes back, later and softer."""

    def __init__(self, canceller: EchoCanceller, *, opened: AudioOpened | None = None, voice: bool = False) -> None:
        self.canceller = canceller
        self.opened = opened or AudioOpened(
            OpenDevice("input", "mic", RATE, 0.0), OpenDevice("output", "speaker", RATE, 0.0), (), ""
        )
        self.listener: AudioListener | None = None
        self.voice = voice
        self.closed = False

    async def open(self, listener: AudioListener) -> AudioOpened:
        self.listener = listener
        return self.opened

    def play(self, gen: int, pcm: bytes) -> None:
        assert pcm == calibration_sound().tobytes()
        far = played()
        near = room(far, delay=800)
        for at in range(0, len(far) - FRAME, FRAME):
            self.canceller.render(int16(far[at : at + FRAME]))
            self.canceller.capture(int16(near[at : at + FRAME]))

    def end_of_turn(self, gen: int) -> None:
        assert self.listener is not None
        if self.voice:
            self.listener.on_voice(True)

    async def close(self) -> None:
        self.closed = True


def run(audio: RoomAudio, **options: Any) -> tuple[EchoPath, list[tuple[str, float]]]:
    steps: list[tuple[str, float]] = []
    recorder = audio.canceller
    assert isinstance(recorder, FrameRecorder)
    found = run_virtual(
        calibrate(audio, recorder, on_step=lambda *step: steps.append(step), **{"voice": False, **options})
    )
    return found, steps


def test_a_calibration_tells_its_steps_and_closes_the_devices() -> None:
    audio = RoomAudio(FrameRecorder())
    found, steps = run(audio)
    assert [name for name, _ in steps] == ["room", "sound"]
    assert steps[0][1] == ROOM_S
    assert found.delay_ms == pytest.approx(50, abs=0.13)
    assert found.voice_db is None
    assert audio.closed


def test_the_level_of_the_users_voice_is_measured_when_they_speak() -> None:
    audio = RoomAudio(FrameRecorder(), voice=True)
    chunk = MicChunk(np.full(320, 3277, np.int16).tobytes(), 0.0)

    def speak(step: str, seconds: float) -> None:
        if step == "voice":
            import asyncio

            assert audio.listener is not None
            asyncio.get_running_loop().call_later(1, audio.listener.on_mic_chunk, chunk)

    recorder = audio.canceller
    assert isinstance(recorder, FrameRecorder)
    found = run_virtual(calibrate(audio, recorder, voice=True, on_step=speak))
    assert found.voice_db == pytest.approx(-20, abs=0.1)


def test_without_devices_and_after_losing_one_it_says_which() -> None:
    missing = AudioOpened(None, OpenDevice("output", "speaker", RATE, 0.0), ("No microphone was found.",), "")
    audio = RoomAudio(FrameRecorder(), opened=missing)
    with pytest.raises(DeviceError, match="No microphone was found"):
        run(audio)
    assert audio.closed
    lost = RoomAudio(FrameRecorder())
    lost.end_of_turn = lambda gen: lost.listener.on_device_lost("input", "It was unplugged.")  # type: ignore
    with pytest.raises(DeviceError, match="It was unplugged"):
        run(lost)
    assert lost.closed


MIC = SoundDevice(0, "Desk Microphone", "Fake API", 2, 0, 48_000)
SPEAKERS = SoundDevice(1, "Desk Speakers", "Fake API", 0, 2, 48_000)
HEADSET = SoundDevice(2, "Headset", "Fake API", 0, 2, 48_000)
FOUND = EchoPath(measured_at=1e9, room_db=-55.0, delay_ms=41.5, level_db=-12.0, response=(0.1, 0.5), voice_db=-30.0)
LEARNED = EchoPath(measured_at=3e9, room_db=-55.0, delay_ms=42.0, level_db=-12.5, response=(0.1,), is_learned=True)
NOW = 3e9
NO_ECHO = EchoPath(measured_at=2e9, room_db=-60.0)


def test_each_pair_of_devices_has_its_measurement_readable_by_its_user_alone() -> None:
    assert stored_echo_path(MIC, SPEAKERS) is None
    file = store_echo_path(MIC, SPEAKERS, FOUND)
    store_echo_path(MIC, HEADSET, NO_ECHO)
    assert stored_echo_path(MIC, SPEAKERS) == FOUND
    assert stored_echo_path(MIC, HEADSET) == NO_ECHO
    assert stored_echo_path(HEADSET, SPEAKERS) is None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    store_echo_path(MIC, SPEAKERS, NO_ECHO)
    assert stored_echo_path(MIC, SPEAKERS) == NO_ECHO
    assert len(json.loads(file.read_text())["pairs"]) == 2


def test_only_so_many_pairs_are_kept() -> None:
    for number in range(MAX_PAIRS + 3):
        name = SoundDevice(number, f"mic {number}", "Fake API", 1, 0, 48_000)
        file = store_echo_path(name, SPEAKERS, NO_ECHO)
    kept = [pair["pair"][1] for pair in json.loads(file.read_text())["pairs"]]
    assert kept == [f"mic {number}" for number in range(3, MAX_PAIRS + 3)]


DEEP = "[" * 100_000
DAMAGED = (
    "",
    "[]",
    "[" * 100_000,
    "{",
    '{"pairs": 3}',
    '{"pairs": [{}, 7, {"pair": ["a"]}]}',
    "null",
    '{"pairs": ["x"]}',
    "NaN",
)


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_file_is_no_measurement_and_is_written_anew(text: str) -> None:
    file = store_echo_path(MIC, SPEAKERS, FOUND)
    file.write_text(text)
    assert stored_echo_path(MIC, SPEAKERS) is None
    store_echo_path(MIC, SPEAKERS, FOUND)
    assert stored_echo_path(MIC, SPEAKERS) == FOUND


@pytest.mark.parametrize(
    ("name", "value"), [("delay_ms", "NaN"), ("room_db", "Infinity"), ("response", ["x"]), ("level_db", {})]
)
def test_a_value_that_is_no_number_makes_no_measurement(name: str, value: object) -> None:
    file = store_echo_path(MIC, SPEAKERS, FOUND)
    content = json.loads(file.read_text())
    content["pairs"][0][name] = float(value) if isinstance(value, str) else value
    file.write_text(json.dumps(content))
    assert stored_echo_path(MIC, SPEAKERS) is None


def test_a_file_or_a_response_without_end_is_no_measurement() -> None:
    file = store_echo_path(MIC, SPEAKERS, FOUND)
    file.write_text(file.read_text() + " " * MAX_FILE_BYTES)
    assert stored_echo_path(MIC, SPEAKERS) is None
    store_echo_path(MIC, SPEAKERS, replace(FOUND, response=(0.1,) * MAX_RESPONSE))
    assert stored_echo_path(MIC, SPEAKERS) is not None
    store_echo_path(MIC, SPEAKERS, replace(FOUND, response=(0.1,) * (MAX_RESPONSE + 1)))
    assert stored_echo_path(MIC, SPEAKERS) is None


async def test_the_next_start_gives_the_canceller_what_was_measured_for_its_devices() -> None:
    store_echo_path(MIC, SPEAKERS, FOUND)
    given: list[EchoPath | None] = []

    def canceller(path: EchoPath | None) -> EchoCanceller:
        given.append(path)
        return FrameRecorder()

    fake = FakePortAudio()
    audio = DeviceAudio(echo_path=stored_echo_path, canceller=canceller, probe=fake.found, load=lambda: fake)
    await audio.open(Recorder())
    await audio.close()
    assert given == [FOUND]


def test_the_audio_process_of_a_session_takes_the_stored_measurements_and_keeps_what_it_learns() -> None:
    cancellers = make_devices()._cancellers
    assert cancellers.echo_path is stored_echo_path
    assert cancellers.keep_path is remember_echo_path


def test_what_a_call_learned_takes_the_place_of_an_earlier_call_but_not_of_a_measurement() -> None:
    for found in (LEARNED, replace(LEARNED, measured_at=5e9)):
        remember_echo_path(MIC, SPEAKERS, found)
        assert stored_echo_path(MIC, SPEAKERS) == found
    store_echo_path(MIC, SPEAKERS, FOUND)
    remember_echo_path(MIC, SPEAKERS, LEARNED)
    assert stored_echo_path(MIC, SPEAKERS) == FOUND


def played_in_a_room(seed: int, seconds: int) -> tuple[Int16, Int16]:
    """Return what is played, and its echo 30 ms later and 6 dB weaker."""
    far = np.random.default_rng(seed).normal(0, 3_000, seconds * MIC_RATE).astype(np.int16)
    return far, np.concatenate((np.zeros(480, np.int16), far[:-480] // 2))


def process(canceller: DualCanceller, far: Int16, near: Int16) -> None:
    for at in range(0, len(far), FRAME):
        canceller.render(far[at : at + FRAME])
        canceller.capture(near[at : at + FRAME])


def test_a_canceller_that_has_converged_knows_the_echo_path() -> None:
    canceller = DualCanceller()
    assert canceller.learned_path(NOW) is None
    process(canceller, *played_in_a_room(1, 4))
    path = canceller.learned_path(NOW)
    assert path is not None
    assert path.delay_ms == pytest.approx(30, abs=0.1)
    assert path.level_db == pytest.approx(-6, abs=0.5)
    assert path.is_learned
    assert path.measured_at == NOW


def test_a_louder_person_is_heard_in_the_first_words_with_a_learned_path_and_without() -> None:
    first = DualCanceller()
    process(first, *played_in_a_room(1, 4))
    heard = []
    for known in (None, first.learned_path(NOW)):
        canceller = DualCanceller(known)
        far, near = (side[: MIC_RATE // 2] for side in played_in_a_room(2, 1))
        near = near.copy()
        words = np.random.default_rng(5).normal(0, 8_000, 20 * FRAME)
        begin = 25 * FRAME
        near[begin : begin + len(words)] += words.astype(np.int16)
        until = begin + len(words)
        process(canceller, far[:until], near[:until])
        heard.append(canceller.has_near_end)
    assert heard == [True, True]


async def test_a_closed_call_keeps_the_path_that_its_canceller_learned() -> None:
    kept: list[EchoPath] = []
    learned = DualCanceller()
    process(learned, *played_in_a_room(1, 4))
    fake = FakePortAudio()
    audio = DeviceAudio(
        keep_path=lambda mic, out, path: kept.append(path),
        canceller=lambda path: learned,
        probe=fake.found,
        load=lambda: fake,
    )
    await audio.open(Recorder())
    await audio.close()
    assert [path.is_learned for path in kept] == [True]
