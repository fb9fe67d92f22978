"""Test opening, playing and losing devices, with a fake PortAudio."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.support.patience import PATIENCE_S
from tests.unit.audio.audio_support import (
    FakePortAudio,
    FakePortAudioError,
    FakeStream,
    Recorder,
    babble,
    correlation,
    pcm,
    tone,
)

from gemini_live_runtime.audio.device_audio import DeviceAudio
from gemini_live_runtime.audio.devices import opening as device_opening
from gemini_live_runtime.audio.devices.portaudio import import_portaudio
from gemini_live_runtime.audio.devices.probe import NO_DEVICE, NO_PORTAUDIO
from gemini_live_runtime.audio.devices.selection import DeviceList
from gemini_live_runtime.audio.interface import AudioOpened
from gemini_live_runtime.audio.resample import BlockResampler
from gemini_live_runtime.errors import DeviceError

pytestmark = pytest.mark.usefixtures("no_silence_watchdog")


class Session:
    """Opens a DeviceAudio over a fake PortAudio and closes it."""

    def __init__(self, fake: FakePortAudio, **options: Any) -> None:
        self.fake = fake
        self.recorder = Recorder()
        self.changed = asyncio.Event()
        for name in ("on_mic_chunk", "on_playback_drained", "on_playback_heard", "on_device_lost"):
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

    async def keep_up(self) -> None:
        """Wait until the worker has queued speech and taken what the microphone gave."""
        worker = self.audio._worker
        assert worker is not None
        playing, microphone = worker.pipeline.playout.ring, worker.pipeline.microphone
        assert playing is not None
        assert microphone is not None
        await self.until(lambda: playing.lead >= 2 and microphone.available < 4 * 480, worker.wake)

    async def until(self, condition: Callable[[], bool], step: Callable[[], Any] | None = None) -> None:
        """Call `step` and wait for a listener call, until `condition` is true."""
        async with asyncio.timeout(PATIENCE_S):
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
    at = np.arange(4_800) / 16_000 - BlockResampler(48_000, 16_000).delay_s
    assert correlation(got, np.sin(2 * np.pi * 440 * at)) > 0.99


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
        (FakePortAudioError("Invalid sample rate", -9997), "takes none of the usual sample rates"),
        (
            FakePortAudioError("Unanticipated host error", -9999, (3, 13, "Permission denied")),
            "may not be used by this program. Allow your terminal",
        ),
        (
            FakePortAudioError("Unanticipated host error", -9999, (2, 0, "AUDCLNT_E_EXCLUSIVE_MODE_ONLY")),
            "is used exclusively by another program",
        ),
        (
            FakePortAudioError("Unanticipated host error", -9999, (2, 0, "AUDCLNT_E_DEVICE_IN_USE")),
            "is in use by another program",
        ),
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


@pytest.mark.parametrize(
    ("listed", "taken"),
    [(0, 48_000), (48_000, 44_100), (11_025, 11_025), (192_000, 44_100), (44_101, 48_000)],
)
async def test_a_device_with_an_odd_rate_is_opened_at_one_that_it_takes_and_plays_everything(
    listed: int, taken: int
) -> None:
    class Odd(FakePortAudio):
        def found(self) -> DeviceList:
            return DeviceList(tuple(replace(device, rate=listed) for device in super().found().devices))

        def query_devices(self) -> list[dict[str, Any]]:
            return [{**device, "default_samplerate": float(listed)} for device in super().query_devices()]

        def _make(self, direction: str, options: dict[str, Any]) -> FakeStream:
            if options["samplerate"] != taken:
                raise FakePortAudioError("Invalid sample rate", -9997)
            return super()._make(direction, options)

    async with Session(Odd()) as session:
        assert session.opened is not None
        assert session.opened.input is not None
        assert session.opened.output is not None
        assert session.opened.problems == ()
        assert (session.opened.input.rate, session.opened.output.rate) == (taken, taken)
        assert len([stream for stream in session.fake.streams if not stream.closed]) == 2
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


def test_a_sounddevice_without_its_exit_handler_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    newer = ModuleType("sounddevice")
    newer.__version__ = "9.0"
    monkeypatch.setitem(sys.modules, "sounddevice", newer)
    with pytest.raises(DeviceError, match=r"sounddevice 9\.0 cannot be used.*Install a tested version"):
        import_portaudio()


async def test_a_stream_whose_opening_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    class Hanging(FakePortAudio):
        def RawInputStream(self, **options: Any) -> Any:
            gate.wait(PATIENCE_S)
            return super().RawInputStream(**options)

    monkeypatch.setattr(device_opening, "OPEN_TIMEOUT_S", 0.2)
    fake = Hanging()
    async with Session(fake) as session:
        assert session.opened is not None
        assert "did not open within" in session.opened.problems[0]
        gate.set()
        await session.until(lambda: any(s.direction == "input" and s.closed for s in fake.streams))


async def test_a_device_that_vanishes_is_told_once_and_its_stream_is_closed() -> None:
    async with Session(FakePortAudio(), reopen=False) as session:
        microphone = session.fake.stream("input")
        microphone.end()
        await session.until(lambda: bool(session.recorder.of("lost")) and microphone.closed)
        assert session.recorder.of("lost") == [("lost", "input", "The microphone 'Desk Microphone' was disconnected.")]
        assert session.audio.finished


async def test_a_speaker_that_does_not_keep_up_is_named_with_the_blocks_that_it_plays_from_now_on() -> None:
    async with Session(FakePortAudio()) as session:
        first = session.fake.stream("output")
        for _ in range(3):
            first.call(output_underflow=True)
        await session.until(lambda: bool(session.recorder.of("opened")))
        assert session.recorder.of("opened") == [
            (
                "opened",
                "Desk Microphone",
                "Desk Speakers",
                ("The speaker did not keep up: it plays 20 ms at a time from now on.",),
            )
        ]
        assert session.audio.levels().xruns == 3


async def test_with_headphones_a_person_is_let_through_from_the_models_first_word_on() -> None:
    model, person = babble(24_000, 2.0, 1, 0.2), babble(48_000, 1.0, 2, 0.2)
    heard = {}
    for headphones in (False, True):
        async with Session(FakePortAudio(), headphones=headphones) as session:
            assert session.opened is not None
            assert (session.opened.echo_canceller == "none needed") is headphones
            speaker, microphone = session.fake.stream("output"), session.fake.stream("input")
            session.audio.play(1, pcm(model * 32_767))
            for at in range(0, 48_000, 480):
                # The loudspeaker never runs dry and no microphone is lost, however late the worker's thread comes.
                await session.keep_up()
                speaker.call()
                microphone.call(person[at : at + 480])
            await session.until(lambda got=session.recorder.chunks: len(got) >= 25)
            # Without headphones a sound has to last for 40 ms before it is taken for a person's.
            heard[headphones] = (session.recorder.microphone[:480].astype(float) ** 2).mean()
    assert heard[False] < heard[True] / 10
    assert heard[True] > 0.5 * (person[:1_440] ** 2).mean() * 32_768**2


async def test_noise_suppression_takes_steady_noise_out() -> None:
    noise = np.random.default_rng(0).normal(0, 0.01, 48_000).astype(np.float32)
    levels = {}
    for suppress in (False, True):
        async with Session(FakePortAudio(), echo=False, noise_suppression=suppress) as session:
            speaker, microphone = session.fake.stream("output"), session.fake.stream("input")
            sent = 0

            def device(speaker: FakeStream = speaker, microphone: FakeStream = microphone) -> None:
                nonlocal sent
                for _ in range(2):
                    speaker.call()
                    microphone.call(noise[sent * 480 % 48_000 :][:480])
                    sent += 1

            await session.until(lambda got=session.recorder.chunks: len(got) >= 150, device)
            end = session.recorder.microphone[-8_000:].astype(float)
            levels[suppress] = 10 * np.log10((end**2).mean())
    assert levels[True] < levels[False] - 6
