"""Choosing, probing, opening and losing real devices, with a double of PortAudio."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.audio.audio_support import FakePortAudio, FakePortAudioError, Recorder, correlation, pcm, tone

from gemini_live_runtime.audio import device_audio
from gemini_live_runtime.audio.device_audio import DeviceAudio
from gemini_live_runtime.audio.devices import DeviceList, SoundDevice, select_device
from gemini_live_runtime.audio.echo import NoCanceller
from gemini_live_runtime.audio.interface import AudioOpened, MicChunk
from gemini_live_runtime.audio.pipeline import AudioPipeline
from gemini_live_runtime.audio.probe import NO_DEVICE, NO_PORTAUDIO, list_devices, read_answer
from gemini_live_runtime.audio.relay import CHUNK_LIMIT, LoopRelay
from gemini_live_runtime.audio.streams import LoudspeakerStream, MicrophoneStream
from gemini_live_runtime.audio.worker import AudioWorker
from gemini_live_runtime.errors import DeviceError

RUNTIME = Path(__file__).resolve().parents[3] / "runtime"

DEVICES = (
    SoundDevice(0, "Built-in Audio", "ALSA", 2, 2, 48_000),
    SoundDevice(3, "USB Headset", "ALSA", 1, 2, 48_000, True, False),
    SoundDevice(4, "USB Webcam", "ALSA", 1, 0, 16_000),
    SoundDevice(5, "HDMI", "ALSA", 0, 8, 48_000, False, True),
    SoundDevice(6, "USB Headset", "JACK", 1, 2, 48_000),
)


@pytest.mark.parametrize(
    ("wanted", "direction", "index"),
    [
        (None, "input", 3),
        (None, "output", 5),
        ("", "output", 5),
        ("0", "input", 0),
        ("webcam", "input", 4),
        ("BUILT", "output", 0),
        ("usb headset", "input", 3),
        ("hdmi", "output", 5),
    ],
)
def test_a_device_is_chosen_by_number_name_or_part_of_a_name(wanted: str | None, direction: Any, index: int) -> None:
    assert select_device(DEVICES, wanted, direction).index == index


@pytest.mark.parametrize(
    ("wanted", "direction", "words"),
    [
        ("usb", "input", ["More than one microphone", "3 'USB Headset'", "4 'USB Webcam'", "more of the name"]),
        ("banjo", "output", ["no loudspeaker 'banjo'", "0 'Built-in Audio'", "5 'HDMI'"]),
        ("webcam", "output", ["no loudspeaker 'webcam'"]),
        ("5", "input", ["no microphone '5'"]),
        ("99", "output", ["no loudspeaker '99'"]),
    ],
)
def test_a_device_that_is_unknown_or_ambiguous_is_refused_with_what_there_is(
    wanted: str, direction: Any, words: list[str]
) -> None:
    with pytest.raises(DeviceError) as refusal:
        select_device(DEVICES, wanted, direction)
    for word in words:
        assert word in str(refusal.value)


def test_no_microphone_at_all_is_said_so() -> None:
    with pytest.raises(DeviceError, match="No microphone was found"):
        select_device(DEVICES[3:4], None, "input")


def test_device_names_with_escape_sequences_are_listed_without_them() -> None:
    hostile = (SoundDevice(0, "\x1b]0;owned\x07Mic", "ALSA", 1, 0, 48_000),)
    with pytest.raises(DeviceError) as refusal:
        select_device(hostile, "banjo\x1b[2J", "input")
    assert "\x1b" not in str(refusal.value)


def test_a_child_that_aborts_is_a_sentence() -> None:
    found = read_answer(-6, b"")
    assert found.devices == ()
    assert "aborts" in found.problem
    assert "SIGABRT" in found.problem


@pytest.mark.parametrize(
    "output", [b"", b"[]", b"nonsense", b'{"devices": 3, "problem": ""}', b'{"devices": [{"a": 1}], "problem": ""}']
)
def test_a_child_that_prints_nonsense_is_a_sentence(output: bytes) -> None:
    assert "could not be listed" in read_answer(1, output).problem


def test_a_child_that_finds_nothing_is_a_sentence() -> None:
    assert read_answer(0, b'{"devices": [], "problem": ""}') == DeviceList((), NO_DEVICE)


def test_a_missing_portaudio_is_a_sentence_from_a_real_child(tmp_path: Path) -> None:
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")
    child = subprocess.run(
        [sys.executable, "-m", "gemini_live_runtime.audio.probe"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{RUNTIME}"},
        capture_output=True,
        check=True,
    )
    assert json.loads(child.stdout) == {"devices": [], "problem": NO_PORTAUDIO}


def test_what_c_libraries_print_in_the_child_does_not_reach_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sounddevice.py").write_text(
        "import os\nos.write(1, b'ALSA says hello')\nos.write(2, b'Expression failed')\nos.abort()"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = list_devices()
    assert "aborts" in found.problem
    assert capfd.readouterr() == ("", "")


def test_a_child_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sounddevice.py").write_text("import time\ntime.sleep(30)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "did not list its devices" in list_devices(timeout=0.4).problem


def quiet_script(body: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(RUNTIME)}
    return subprocess.run([sys.executable, "-c", body], env=environment, capture_output=True, text=True, check=True)


def test_while_c_libraries_are_hushed_python_still_has_its_standard_error() -> None:
    ran = quiet_script(
        "import os, sys\n"
        "from gemini_live_runtime.audio.quiet import quiet_c_libraries\n"
        "with quiet_c_libraries():\n"
        "    with quiet_c_libraries():\n"
        "        os.write(2, b'C inner ')\n"
        "    os.write(2, b'C outer ')\n"
        "    print('python', file=sys.stderr)\n"
        "os.write(2, b'C after ')\n"
        "print('end', file=sys.stderr)\n"
    )
    assert ran.stderr == "python\nC after end\n"


def test_hushing_works_where_there_is_no_standard_error_at_all() -> None:
    ran = quiet_script(
        "import os, sys\n"
        "os.close(2); sys.stderr = None\n"
        "from gemini_live_runtime.audio.quiet import quiet_c_libraries\n"
        "with quiet_c_libraries():\n"
        "    print('fine')\n"
    )
    assert ran.stdout == "fine\n"


def test_the_factory_and_the_interface_import_no_heavy_library() -> None:
    ran = quiet_script(
        "import sys\n"
        "import gemini_live_runtime.audio.factory\n"
        "print([name for name in ('numpy', 'sounddevice', 'soxr', 'pydantic', 'webrtcvad') if name in sys.modules])\n"
    )
    assert ran.stdout == "[]\n"


class Session:
    """Opens a DeviceAudio over a fake PortAudio and closes it."""

    def __init__(self, fake: FakePortAudio, **options: Any) -> None:
        self.fake = fake
        self.recorder = Recorder()
        self.changed = asyncio.Event()
        for name in ("mic_chunk", "playback_drained", "playback_heard", "device_lost"):
            setattr(self.recorder, name, self._noting(getattr(self.recorder, name)))
        options = {"probe": fake.found, "load": lambda: fake, **options}
        self.audio = DeviceAudio(**options)
        self.opened: AudioOpened | None = None

    def _noting(self, call: Callable[..., None]) -> Callable[..., None]:
        def noted(*arguments: Any) -> None:
            call(*arguments)
            self.changed.set()

        return noted

    async def __aenter__(self) -> Session:
        self.opened = await self.audio.open(self.recorder)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.audio.close()

    async def until(self, condition: Callable[[], bool], step: Callable[[], Any] | None = None) -> None:
        """Wait for a call to the listener that makes `condition` true; `step` is done before every look."""
        async with asyncio.timeout(10):
            while not condition():
                if step is not None:
                    step()
                self.changed.clear()
                try:
                    await asyncio.wait_for(self.changed.wait(), 0.005)
                except TimeoutError:
                    continue


async def test_opening_names_the_devices_and_the_canceller() -> None:
    async with Session(FakePortAudio()) as session:
        opened = session.opened
        assert opened is not None
        assert opened.input is not None
        assert opened.output is not None
        assert (opened.input.name, opened.input.rate) == ("Desk Microphone", 48_000)
        assert (opened.output.name, opened.output.latency_ms) == ("Desk Speakers", 20.0)
        assert opened.problems == ()
        assert "AEC3" in opened.echo_canceller
        options = session.fake.stream("output").options
        assert (options["samplerate"], options["blocksize"], options["channels"]) == (48_000, 480, 1)
        assert not session.audio.finished
    assert all(stream.closed for stream in session.fake.streams)


async def test_what_is_played_comes_out_of_the_callback_and_what_is_heard_goes_to_the_listener() -> None:
    sound = tone(48_000, 0.4)
    async with Session(FakePortAudio(), echo=False) as session:
        speaker, microphone = session.fake.stream("output"), session.fake.stream("input")
        session.audio.play(1, pcm(tone(24_000, 0.4) * 32_767))
        session.audio.end_of_turn(1)
        played: list[np.ndarray] = []
        sent = 0

        def device() -> None:
            nonlocal sent
            played.append(speaker.call()[:, 0])
            microphone.call(sound[sent * 480 % 19_200 :][:480])
            sent += 1

        await session.until(lambda: ("drained", 1) in session.recorder.calls, device)
        assert session.recorder.heard(1) == 9_600
        await session.until(lambda: len(session.recorder.chunks) >= 15, device)
    out = np.concatenate(played)
    assert np.sqrt((out**2).sum() / 19_200) == pytest.approx(0.354, abs=0.02)
    got = session.recorder.microphone[:4_800]
    assert correlation(got, tone(16_000, 0.3)) > 0.99


async def test_a_cut_silences_the_very_next_callback_after_its_fade() -> None:
    async with Session(FakePortAudio()) as session:
        speaker = session.fake.stream("output")
        session.audio.play(1, pcm(np.full(48_000, 10_000)))
        heard: list[np.ndarray] = []

        def device() -> None:
            heard.append(speaker.call()[:, 0])

        await session.until(lambda: len(heard) > 20 and abs(heard[-1][-1]) > 0.2, device)
        session.audio.cut(2)
        fade, after = speaker.call()[:, 0], speaker.call()[:, 0]
        assert (np.diff(fade) <= 1e-3).all()
        assert abs(fade[-1]) < 1e-3
        assert not after.any()


async def test_a_device_that_only_opens_in_stereo_is_opened_in_stereo() -> None:
    async with Session(FakePortAudio(stereo_only=True)) as session:
        assert session.opened is not None
        assert session.opened.problems == ()
        speaker = session.fake.stream("output")
        session.audio.play(1, pcm(np.full(48_000, 10_000)))
        blocks: list[np.ndarray] = []
        await session.until(
            lambda: bool(blocks) and abs(float(blocks[-1][-1, 0])) > 0.2, lambda: blocks.append(speaker.call())
        )
        assert np.array_equal(blocks[-1][:, 0], blocks[-1][:, 1])


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (FakePortAudioError("Device unavailable", -9985), "is in use by another program"),
        (FakePortAudioError("Invalid sample rate", -9997), "could not be opened: Invalid sample rate"),
        (ValueError("No input device matching 'x'"), "could not be opened: No input device"),
    ],
)
async def test_a_microphone_that_does_not_open_is_a_sentence_and_the_speaker_still_plays(
    error: Exception, expected: str
) -> None:
    async with Session(FakePortAudio(refuse={"input": error})) as session:
        assert session.opened is not None
        assert session.opened.input is None
        assert session.opened.output is not None
        assert len(session.opened.problems) == 1
        assert expected in session.opened.problems[0]
        assert "'Desk Microphone'" in session.opened.problems[0]
        assert session.opened.echo_canceller == ""
        assert session.audio.finished
        speaker = session.fake.stream("output")
        session.audio.play(1, pcm(np.full(4_800, 100)))
        session.audio.end_of_turn(1)
        await session.until(lambda: ("drained", 1) in session.recorder.calls, speaker.call)
        assert session.recorder.heard(1) == 4_800


async def test_when_nothing_opens_turns_still_end_unheard() -> None:
    busy = FakePortAudioError("Device unavailable", -9985)
    async with Session(FakePortAudio(refuse={"input": busy, "output": busy})) as session:
        assert session.opened is not None
        assert len(session.opened.problems) == 2
        session.audio.play(1, pcm(np.full(4_800, 100)))
        session.audio.end_of_turn(1)
        await session.until(lambda: bool(session.recorder.calls))
        assert session.recorder.calls == [("drained", 1)]
        assert not session.audio.playing


async def test_an_unknown_device_is_a_problem_and_not_replaced_by_another() -> None:
    async with Session(FakePortAudio(), input="banjo") as session:
        assert session.opened is not None
        assert session.opened.input is None
        assert "no microphone 'banjo'" in session.opened.problems[0]


@pytest.mark.parametrize("problem", [NO_PORTAUDIO, NO_DEVICE])
async def test_a_probe_that_fails_is_the_only_problem_and_portaudio_is_never_loaded(problem: str) -> None:
    def load() -> Any:
        raise AssertionError("loaded")

    async with Session(FakePortAudio(), probe=lambda: DeviceList((), problem), load=load) as session:
        assert session.opened == AudioOpened(None, None, (problem,), "")
        session.audio.play(1, pcm(np.full(4_800, 100)))
        session.audio.end_of_turn(1)
        await session.until(lambda: bool(session.recorder.calls))
        assert session.recorder.calls == [("drained", 1)]


async def test_portaudio_missing_only_here_is_a_sentence() -> None:
    def load() -> Any:
        raise DeviceError(NO_PORTAUDIO)

    async with Session(FakePortAudio(), load=load) as session:
        assert session.opened is not None
        assert "PortAudio is not installed" in session.opened.problems[0]


async def test_a_stream_whose_opening_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    class Hanging(FakePortAudio):
        def InputStream(self, **options: Any) -> Any:
            gate.wait(10)
            return super().InputStream(**options)

    monkeypatch.setattr(device_audio, "OPEN_TIMEOUT_S", 0.2)
    fake = Hanging()
    async with Session(fake) as session:
        assert session.opened is not None
        assert "did not open within" in session.opened.problems[0]
        gate.set()
        await session.until(lambda: any(s.direction == "input" and s.closed for s in fake.streams))


async def test_a_device_that_vanishes_is_told_once_and_its_stream_is_closed() -> None:
    async with Session(FakePortAudio()) as session:
        microphone = session.fake.stream("input")
        microphone.end()
        await session.until(lambda: bool(session.recorder.of("lost")) and microphone.closed)
        assert session.recorder.of("lost") == [("lost", "input", "The microphone 'Desk Microphone' went away.")]
        assert session.audio.finished


class Watched:
    """A worker with two fake streams whose thread does not run: the test is its clock."""

    def __init__(self) -> None:
        self.fake = FakePortAudio()
        self.recorder = Recorder()
        self.pipeline = AudioPipeline(self.recorder, NoCanceller(), mic_rate=48_000, out_rate=48_000)
        devices = self.fake.found().devices
        assert self.pipeline.microphone is not None
        assert self.pipeline.playout.ring is not None
        assert self.pipeline.played is not None
        self.microphone = MicrophoneStream(devices[0], self.pipeline.microphone)
        self.speaker = LoudspeakerStream(devices[1], self.pipeline.playout.ring, self.pipeline.played)
        self.microphone.open(self.fake)
        self.speaker.open(self.fake)
        self.worker = AudioWorker(self.pipeline, self.recorder, self.fake, self.microphone, self.speaker)
        self.start = time.monotonic()


def test_callbacks_that_just_stop_are_noticed_after_one_second() -> None:
    watched = Watched()
    watched.fake.stream("input").call(np.zeros(480, np.float32))
    watched.fake.stream("output").call()
    last = watched.microphone.last_callback
    watched.worker.check_streams(last + 0.9)
    assert watched.recorder.calls == []
    watched.speaker.last_callback = last + 1
    watched.worker.check_streams(last + 1.1)
    assert watched.recorder.calls == [("lost", "input", "The microphone 'Desk Microphone' stopped responding.")]
    watched.worker.check_streams(last + 2.2)
    assert watched.recorder.of("lost")[1] == ("lost", "output", "The loudspeaker 'Desk Speakers' stopped responding.")


def test_the_first_callback_may_take_three_seconds() -> None:
    watched = Watched()
    watched.worker.check_streams(watched.start + 2.9)
    assert watched.recorder.calls == []
    watched.worker.check_streams(watched.start + 4)
    assert [call[1] for call in watched.recorder.of("lost")] == ["input", "output"]


def test_after_three_underflows_the_speaker_is_opened_anew_with_larger_blocks() -> None:
    watched = Watched()
    for _ in range(3):
        watched.fake.stream("output").call(output_underflow=True)
    watched.worker.check_streams(watched.start)
    reopening = watched.worker._reopening
    assert reopening is not None
    reopening.join(5)
    watched.worker.check_streams(watched.start)
    stream = watched.fake.stream("output")
    assert (stream.options["blocksize"], stream.options["latency"]) == (960, 0.08)
    assert watched.pipeline.playout.lead == 5
    assert watched.recorder.calls == []
    for _ in range(3):
        stream.call(output_underflow=True)
    watched.worker.check_streams(watched.start)
    assert watched.worker.restarts == 1


def test_a_speaker_that_cannot_be_opened_anew_is_lost_with_its_reason() -> None:
    watched = Watched()
    for _ in range(3):
        watched.fake.stream("output").call(output_underflow=True)
    watched.fake.refuse["output"] = FakePortAudioError("Device unavailable", -9985)
    watched.worker.check_streams(watched.start)
    assert watched.worker._reopening is not None
    watched.worker._reopening.join(5)
    watched.worker.check_streams(watched.start)
    assert "in use by another program" in watched.recorder.of("lost")[0][2]


def test_a_fault_in_a_callback_gives_the_device_silence_and_is_the_reason_when_it_stops() -> None:
    watched = Watched()

    def broken(out: np.ndarray) -> None:
        out.fill(0.5)
        raise RuntimeError("broken")

    watched.speaker._ring = type("Broken", (), {"read": staticmethod(broken)})()  # type: ignore[assignment]
    assert not watched.fake.stream("output").call().any()
    assert watched.speaker.faults == 1
    watched.worker.check_streams(watched.start + 4)
    assert watched.recorder.of("lost")[1][2] == "The loudspeaker 'Desk Speakers' stopped: RuntimeError: broken."


async def test_chunks_wait_for_a_stalled_loop_up_to_a_limit_then_the_oldest_are_dropped_and_counted() -> None:
    recorder = Recorder()
    relay = LoopRelay(asyncio.get_running_loop(), recorder)
    for number in range(CHUNK_LIMIT + 7):
        relay.mic_chunk(MicChunk(b"", float(number)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert relay.dropped_chunks == 7
    assert [chunk.captured_at for chunk in recorder.chunks] == [float(number) for number in range(7, CHUNK_LIMIT + 7)]


async def test_a_batch_costs_one_wake_up(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    wakes: list[Awaitable[None] | None] = []
    real = loop.call_soon_threadsafe
    monkeypatch.setattr(loop, "call_soon_threadsafe", lambda *call: (wakes.append(None), real(*call))[1])
    relay = LoopRelay(loop, Recorder())
    for number in range(50):
        relay.mic_chunk(MicChunk(b"", float(number)))
        relay.voice(True)
    await asyncio.sleep(0)
    assert len(wakes) == 1


async def test_after_closing_a_relay_tells_nothing_more() -> None:
    recorder = Recorder()
    relay = LoopRelay(asyncio.get_running_loop(), recorder)
    relay.voice(True)
    relay.close()
    relay.voice(False)
    await asyncio.sleep(0)
    assert recorder.calls == [("voice", True)]
