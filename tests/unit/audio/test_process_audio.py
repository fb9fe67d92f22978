"""Test the audio process, a real child process with fake devices."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.patience import PATIENCE_S
from tests.unit.audio.audio_support import Recorder, pcm, tone

from gemini_live_runtime.audio.interface import AudioListener, AudioOpened
from gemini_live_runtime.audio.playback import kept_speech
from gemini_live_runtime.audio.process import process_audio, process_link
from gemini_live_runtime.audio.process.process_audio import ProcessAudio
from gemini_live_runtime.audio.process.process_host import EngineListener
from gemini_live_runtime.audio.process.process_link import environment
from gemini_live_runtime.audio.process.shared_rings import SpeechRing
from gemini_live_runtime.errors import DeviceError

FAKE = Path(__file__).with_name("fake_audio_process.py")
ROOT = FAKE.parents[3]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


class Scene:
    """Audio process on fake devices, with its listener."""

    def __init__(self, folder: Path, mode: str = "loop") -> None:
        self.recorder = Recorder()
        self.changed = asyncio.Event()
        for name in [name for name in vars(AudioListener) if name.startswith("on_") and hasattr(self.recorder, name)]:
            setattr(self.recorder, name, self._noting(getattr(self.recorder, name)))
        self.blocks_file = folder / "blocks"
        self.blocks_file.write_bytes(bytes(8))
        program = (sys.executable, "-P", str(FAKE), str(self.blocks_file), mode)
        self.audio = ProcessAudio({"input": None, "output": None, "echo": False}, program=program)
        self.opened: AudioOpened | None = None

    def _noting(self, call: Callable[..., None]) -> Callable[..., None]:
        def noted(*arguments: Any) -> None:
            call(*arguments)
            self.changed.set()

        return noted

    @property
    def blocks(self) -> int:
        """Blocks of 10 ms that the devices have recorded."""
        return int(struct.unpack("<q", self.blocks_file.read_bytes())[0])

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once `condition` is true, looking at every call of the listener."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self.changed.clear()
                try:
                    await asyncio.wait_for(self.changed.wait(), 0.05)
                except TimeoutError:
                    continue

    async def chunks(self, count: int) -> None:
        """Return after `count` more chunks."""
        target = len(self.recorder.chunks) + count
        await self.until(lambda: len(self.recorder.chunks) >= target)


@asynccontextmanager
async def opened(folder: Path, mode: str = "loop") -> AsyncIterator[Scene]:
    scene = Scene(folder, mode)
    scene.opened = await scene.audio.open(scene.recorder)
    try:
        yield scene
    finally:
        await scene.audio.close()


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with opened(tmp_path) as scene:
        yield scene


@pytest.mark.parametrize("memory", ["anonymous", "file"])
async def test_speech_is_played_there_and_the_microphone_comes_back(
    memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "a key of another kind")
    if memory == "file":
        monkeypatch.delattr(os, "memfd_create", raising=False)
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with opened(tmp_path) as scene:
        assert scene.opened is not None
        assert scene.opened.problems == ()
        assert scene.opened.input is not None
        assert scene.opened.output is not None
        assert (scene.opened.input.name, scene.opened.output.name) == ("Desk Microphone", "Desk Speakers")
        assert [path.name for path in tmp_path.iterdir()] == ["blocks"]
        if Path("/proc/self/environ").exists():
            assert b"SERVICE_API_KEY" not in Path(f"/proc/{scene.audio.process_id}/environ").read_bytes()
        sound = pcm(tone(24_000, 0.4) * 32_767)
        scene.audio.play(1, sound[: len(sound) // 2])
        scene.audio.play(1, sound[len(sound) // 2 :])
        assert scene.audio.playing
        scene.audio.end_of_turn(1)
        await scene.until(lambda: ("drained", 1) in scene.recorder.calls and not scene.audio.playing)
        assert scene.recorder.heard(1) == scene.audio.played_samples(1) == 9_600
        await scene.chunks(3)
        # A busy machine may leave gaps in the tone, which does not change its pitch.
        heard = np.abs(np.fft.rfft(scene.recorder.microphone))
        assert heard.argmax() * 8_000 / (len(heard) - 1) == pytest.approx(440, abs=10)
        times = [chunk.captured_at for chunk in scene.recorder.chunks]
        assert times == sorted(times)
        heard_at = scene.recorder.heard_at[-1]
        assert heard_at is not None
        assert times[0] < heard_at < asyncio.get_running_loop().time()
        levels = scene.audio.levels()
        assert levels.mic_db is not None
        assert levels.audio_priority in ("real-time", "raised", "normal")
        process = scene.audio.process_id
    assert process is not None
    assert not _is_alive(process)


async def test_a_cut_drops_what_is_queued_and_what_comes_late(scene: Scene) -> None:
    # More than the shared memory holds: the rest waits in the engine.
    scene.audio.play(1, pcm(np.full(24_000 * 30, 9_000)))
    await scene.until(lambda: scene.audio.played_samples(1) > 2_400)
    scene.audio.cut(2)
    scene.audio.play(1, pcm(np.full(24_000, 9_000)))
    heard = scene.audio.played_samples(1)
    await scene.until(lambda: not scene.audio.playing)
    assert 2_400 < heard <= scene.recorder.heard(1) < 24_000 * 30
    scene.audio.play(2, pcm(np.full(2_400, 9_000)))
    scene.audio.end_of_turn(2)
    await scene.until(lambda: ("drained", 2) in scene.recorder.calls)
    assert scene.recorder.heard(2) == 2_400


async def test_a_pause_holds_the_speech_there_until_it_goes_on(scene: Scene) -> None:
    scene.audio.play(1, pcm(np.full(24_000, 9_000)))
    scene.audio.end_of_turn(1)
    await scene.until(lambda: scene.audio.played_samples(1) > 2_400)
    scene.audio.set_paused(True)
    await scene.until(lambda: scene.audio._ordered == scene.audio._obeyed)
    blocks = scene.blocks
    await scene.until(lambda: scene.blocks > blocks + 10)
    held, blocks = scene.audio.played_samples(1), scene.blocks
    await scene.until(lambda: scene.blocks > blocks + 10)
    assert scene.audio.played_samples(1) == held < 24_000
    assert scene.audio.playing
    scene.audio.set_paused(False)
    await scene.until(lambda: ("drained", 1) in scene.recorder.calls)
    assert scene.recorder.heard(1) == 24_000


async def test_speech_that_does_not_fit_in_the_ring_waits_and_arrives_whole(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SpeechRing, "room", property(lambda ring: 1_000 - (ring.written - ring.taken)))
    scene.audio.play(1, pcm(np.full(4_800, 9_000)))
    scene.audio.end_of_turn(1)
    await scene.until(lambda: ("drained", 1) in scene.recorder.calls)
    assert scene.recorder.heard(1) == 4_800


async def test_beyond_the_limit_the_oldest_speech_is_not_kept_for_another_process_and_is_played_all_the_same(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_speech, "MAX_SAMPLES", 2_400)
    scene.audio.play(1, pcm(np.full(9_600, 9_000)))
    assert len(scene.audio._speech[1].kept) == 2 * 2_400
    scene.audio.end_of_turn(1)
    await scene.until(lambda: ("drained", 1) in scene.recorder.calls)
    assert scene.recorder.heard(1) == 9_600


async def test_other_devices_are_opened_or_refused_with_a_sentence(scene: Scene) -> None:
    with pytest.raises(DeviceError, match=r"no microphone 'banjo'.*Give one of these names"):
        await scene.audio.change("banjo", None)
    changed = await scene.audio.change("Desk Microphone", "Desk Speakers")
    assert changed.input is not None
    before = len(scene.recorder.chunks)
    await scene.chunks(2)
    assert len(scene.recorder.chunks) > before


async def test_a_microphone_that_vanishes_there_is_told_here(tmp_path: Path) -> None:
    async with opened(tmp_path, "vanish") as scene:
        await scene.until(lambda: bool(scene.recorder.of("lost")))
        assert scene.recorder.of("lost")[0] == ("lost", "input", "The microphone 'Desk Microphone' was disconnected.")


async def test_a_muted_microphone_delivers_nothing_until_it_is_opened_again(scene: Scene) -> None:
    await scene.chunks(1)
    scene.audio.set_microphone(False)
    await scene.until(lambda: scene.audio._ordered == scene.audio._obeyed)
    await scene.until(lambda: scene.audio.levels().mic_db is None)
    before, blocks = len(scene.recorder.chunks), scene.blocks
    await scene.until(lambda: scene.blocks > blocks + 10)
    assert len(scene.recorder.chunks) == before
    scene.audio.set_microphone(True)
    await scene.chunks(1)


async def test_speech_goes_on_where_a_killed_audio_process_stopped(scene: Scene) -> None:
    scene.audio.play(1, pcm(tone(24_000, 1.5) * 20_000))
    await scene.until(lambda: scene.audio.played_samples(1) > 4_800)
    first = scene.audio.process_id
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await scene.until(lambda: scene.audio.restarts == 1)
    assert scene.audio.process_id != first
    # It arrives while the process is being replaced, or after.
    scene.audio.play(1, pcm(tone(24_000, 0.5) * 20_000))
    scene.audio.end_of_turn(1)
    await scene.chunks(1)
    await scene.until(lambda: ("drained", 1) in scene.recorder.calls)
    assert scene.recorder.heard(1) == 48_000
    assert scene.recorder.of("started") == [("started", 1)]
    assert scene.recorder.of("lost") == []
    assert [call[-1] for call in scene.recorder.of("opened")] == [("The audio process ended: SIGKILL.",)]
    assert scene.audio.levels().audio_restarts == 1


async def test_an_audio_process_that_does_not_respond_is_replaced(scene: Scene) -> None:
    link, first = scene.audio._link, scene.audio.process_id
    assert link is not None
    assert first is not None
    os.kill(first, signal.SIGSTOP)
    for _ in range(process_link.SILENT_BEATS + 1):
        link._beat()
    await scene.until(lambda: scene.audio.restarts == 1)
    assert scene.audio.process_id != first
    await scene.chunks(1)


async def test_an_audio_process_that_keeps_ending_is_given_up_until_devices_are_chosen(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.audio._limit.most = 0
    scene.audio.play(1, pcm(np.full(48_000, 9_000)))
    process = scene.audio.process_id
    assert process is not None
    os.kill(process, signal.SIGKILL)
    await scene.until(lambda: len(scene.recorder.of("lost")) == 2)
    assert scene.recorder.of("lost")[0] == (
        "lost",
        "input",
        "The audio process ended: SIGKILL.",
    )
    assert scene.audio.finished
    scene.audio.end_of_turn(1)
    await scene.until(lambda: ("drained", 1) in scene.recorder.calls and not scene.audio.playing)
    scene.audio.play(2, pcm(np.full(1_200, 9_000)))
    changed = await scene.audio.change(None, None)
    assert changed.input is not None
    await scene.chunks(1)
    scene.audio.play(2, pcm(np.full(2_400, 9_000)))
    scene.audio.end_of_turn(2)
    await scene.until(lambda: ("drained", 2) in scene.recorder.calls)
    # What came meanwhile is lost, and keeps its place.
    assert scene.recorder.of("heard")[-1] == ("heard", 2, 1_200, 2_400)


async def test_after_a_process_was_given_up_another_is_tried_now_and_then(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.audio._limit.most = 0
    monkeypatch.setattr(process_audio, "RETRY_S", 0.01)
    process = scene.audio.process_id
    assert process is not None
    os.kill(process, signal.SIGKILL)
    await scene.until(lambda: bool(scene.recorder.of("opened")))
    assert [call[:2] for call in scene.recorder.of("lost")] == [("lost", "input"), ("lost", "output")]
    assert scene.recorder.of("opened") == [("opened", "Desk Microphone", "Desk Speakers", ())]
    await scene.chunks(1)


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [("refuse", "The audio process ended: exit status 7."), ("abort", "aborts programs that ask it for devices")],
)
async def test_a_process_that_ends_while_it_opens_the_devices_is_a_problem(
    mode: str, sentence: str, tmp_path: Path
) -> None:
    async with opened(tmp_path, mode) as scene:
        assert scene.opened is not None
        assert scene.opened.input is None
        assert sentence in scene.opened.problems[0]
        scene.audio.play(1, pcm(np.full(2_400, 9_000)))
        scene.audio.end_of_turn(1)
        await scene.until(lambda: scene.recorder.calls == [("drained", 1)])


async def test_a_program_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    audio = ProcessAudio({}, program=(str(tmp_path / "python"),))
    result = await audio.open(Recorder())
    assert result.problems == ("The audio process cannot be started: No such file or directory.",)
    await audio.close()


async def test_no_block_is_lost_while_the_agents_code_holds_the_interpreter(tmp_path: Path) -> None:
    interval = sys.getswitchinterval()
    async with opened(tmp_path) as scene:
        await scene.chunks(1)
        blocks, before = scene.blocks, len(scene.recorder.chunks)
        # No other thread of this process runs until the devices have recorded a second: in this process nothing would.
        sys.setswitchinterval(1000)
        try:
            while scene.blocks < blocks + 100:
                sum(range(10_000))
        finally:
            sys.setswitchinterval(interval)
        await scene.until(lambda: len(scene.recorder.chunks) >= before + 49)
        assert scene.audio.levels().mic_dropped == 0


ENGINE = """
import asyncio, os, sys
from tests.unit.audio.audio_support import Recorder
from gemini_live_runtime.audio.process.process_audio import ProcessAudio

async def main():
    audio = ProcessAudio({"echo": False}, program=tuple(sys.argv[1:]))
    await audio.open(Recorder())
    # A child that agent code forked holds the pipe open beyond the engine's end.
    if os.fork() == 0:
        os.read(0, 1)
        os._exit(0)
    print(audio.process_id, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_a_killed_engine_takes_its_audio_process_with_it(tmp_path: Path) -> None:
    if not hasattr(os, "pidfd_open"):
        pytest.skip("this system does not tell the end of another process")
    counter = tmp_path / "blocks"
    counter.write_bytes(bytes(8))
    engine = subprocess.Popen(
        [sys.executable, "-c", ENGINE, sys.executable, "-P", str(FAKE), str(counter), "loop"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "runtime")])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert engine.stdout is not None
        ended = os.pidfd_open(int(engine.stdout.readline()))
        engine.kill()
        readable, _, _ = select.select([ended], [], [], PATIENCE_S)
        assert readable
        os.close(ended)
    finally:
        engine.kill()
        engine.communicate()


async def test_a_process_whose_engine_is_silent_ends_and_is_replaced_when_the_engine_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_link, "BEAT_S", 1000)
    async with opened(tmp_path, "impatient") as scene:
        first = scene.audio.process_id
        await scene.until(lambda: scene.audio.restarts == 1)
        assert scene.audio.process_id != first


def test_the_environment_of_the_process_is_what_sound_systems_need() -> None:
    given = {
        "HOME": "/person",
        "PULSE_SERVER": "unix:/run/pulse",
        "XDG_RUNTIME_DIR": "/run/user/1000",
        "GEMINI_API_KEY": "secret",
        "GOOGLE_API_KEY": "secret",
        "CLOUDSDK_AUTH_ACCESS_TOKEN": "secret",
        "ACME_TOKEN": "secret",
        "PYTHONSTARTUP": "mine.py",
    }
    kept = environment(given)
    assert "secret" not in kept.values()
    assert {name: kept[name] for name in ("HOME", "PULSE_SERVER", "XDG_RUNTIME_DIR")} == {
        name: given[name] for name in ("HOME", "PULSE_SERVER", "XDG_RUNTIME_DIR")
    }
    assert "PYTHONSTARTUP" not in kept


def test_every_call_of_a_listener_reaches_the_engine() -> None:
    missing = [name for name in vars(AudioListener) if name.startswith("on_") and not hasattr(EngineListener, name)]
    assert missing == []


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
