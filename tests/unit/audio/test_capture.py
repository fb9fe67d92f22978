"""Test capture: echo, voice detection, meters, alignment."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.audio_support import Recorder, babble, correlation, pcm, tone
from tests.unit.audio.echo_support import RATE, int16, noise

from gemini_live_runtime.audio.echo.cancellers import NoCanceller
from gemini_live_runtime.audio.echo.pause_probe import LEAD_FRAMES, PauseProbe, ProbeState
from gemini_live_runtime.audio.levels import LevelMeter, mean_square
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline
from gemini_live_runtime.audio.processing.voice_detector import VoiceDetector
from gemini_live_runtime.audio.resample import BlockResampler
from gemini_live_runtime.audio.samples import FRAME, to_int16


def run(
    pipeline: AudioPipeline, mic: np.ndarray, played: np.ndarray | None = None, rate: int = RATE, start: float = 0.0
) -> None:
    assert pipeline.microphone is not None
    frame = rate // 100
    for number in range(len(mic) // frame):
        now = start + (number + 1) * 0.01
        if played is not None and pipeline.played is not None:
            pipeline.played.write(played[number * frame : (number + 1) * frame], now)
        pipeline.microphone.write(mic[number * frame : (number + 1) * frame], now)
        pipeline.step(now)


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_a_chunk_was_captured_when_the_device_says_and_not_when_it_was_processed(rate: int) -> None:
    recorder = Recorder()
    pipeline = AudioPipeline(recorder, NoCanceller(), mic_rate=rate, out_rate=None)
    run(pipeline, tone(rate, 1.0), rate=rate)
    times = [chunk.captured_at for chunk in recorder.chunks]
    assert len(times) > 40
    # The filter that converts the rate delays by less than 1 ms.
    late = [0.02 * (number + 1) - moment for number, moment in enumerate(times)]
    assert late == pytest.approx([late[0]] * len(late))
    assert 0 <= late[0] < 0.001 * (rate != RATE) + 1e-9


def test_after_a_late_callback_the_time_of_capture_does_not_go_back() -> None:
    recorder = Recorder()
    pipeline = AudioPipeline(recorder, NoCanceller(), mic_rate=RATE, out_rate=None)
    run(pipeline, tone(RATE, 0.02), start=0.05)
    run(pipeline, tone(RATE, 0.1), start=0.02)
    times = [chunk.captured_at for chunk in recorder.chunks]
    assert times == sorted(times)
    assert times[-1] == pytest.approx(0.12)


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_a_chunk_leaves_in_the_step_that_brings_its_last_sample(rate: int) -> None:
    recorder = Recorder()
    pipeline = AudioPipeline(recorder, NoCanceller(), mic_rate=rate, out_rate=24_000)
    assert pipeline.microphone is not None
    assert pipeline.played is not None
    counts = []
    for number in range(40):
        pipeline.played.write(np.zeros(240, np.float32), 0.01 * number)
        pipeline.microphone.write(np.zeros(rate // 100, np.float32), 0.01 * number)
        pipeline.step(0.01 * number)
        counts.append(len(recorder.chunks))
    assert counts == [(number + 1) // 2 for number in range(40)]


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_every_sample_of_the_microphone_arrives_once_whatever_the_devices_rate(rate: int) -> None:
    recorder = Recorder()
    pipeline = AudioPipeline(recorder, NoCanceller(), mic_rate=rate, out_rate=None)
    run(pipeline, tone(rate, 2.0), rate=rate)
    got = recorder.microphone
    assert len(got) == 32_000
    late = 0.02 - recorder.chunks[0].captured_at
    assert correlation(got, np.sin(2 * np.pi * 440 * (np.arange(32_000) / RATE - late))) > 0.999


def test_each_chunk_tells_whether_a_person_may_be_in_it() -> None:
    class Evidence(NoCanceller):
        def __init__(self) -> None:
            self._frames = 0

        @property
        def has_near_end(self) -> bool:  # type: ignore[override]
            return self._frames in (1, 4, 7, 8)

        def capture(self, frame: np.ndarray) -> np.ndarray:
            self._frames += 1
            return frame

    recorder = Recorder()
    pipeline = AudioPipeline(recorder, Evidence(), mic_rate=RATE, out_rate=None)
    assert pipeline.microphone is not None
    pipeline.microphone.write(tone(RATE, 0.1), 0.0)
    pipeline.step(0.0)
    assert [chunk.near_end for chunk in recorder.chunks] == [True, True, False, True, False]


@pytest.mark.parametrize("verdict", ["person", ""])
def test_chunks_wait_while_it_is_decided_who_speaks_and_the_loudspeaker_is_silent(verdict: ProbeState) -> None:
    canceller, recorder = NoCanceller(), Recorder()
    probe = canceller.probe = PauseProbe()
    pipeline = AudioPipeline(recorder, canceller, mic_rate=RATE, out_rate=RATE)
    ring = pipeline.playout.ring
    assert ring is not None
    counts, held = [], []
    for number in range(20):
        if number == 4:
            probe.update(suspected=True, likely=False, heard=False, believed=False, delay=0)
        if number == 14:
            probe.state = verdict
        probe.frame = np.full(FRAME, 1000, np.int16)
        run(pipeline, tone(RATE, 0.01), np.zeros(FRAME, np.float32), start=number / 100)
        counts.append(len(recorder.chunks))
        held.append(ring.held)
    assert counts == [0, 1, 1, 2, *[2] * 10, 7, 8, 8, 9, 9, 10]
    assert held == [False] * 4 + [True] * 10 + [verdict == "person"] * 6
    assert [chunk.captured_at for chunk in recorder.chunks] == pytest.approx([0.02 * n for n in range(1, 11)])
    assert [chunk.near_end for chunk in recorder.chunks[2:7]] == [verdict == "person"] * 5
    kept = recorder.microphone[4 * FRAME : 14 * FRAME]
    assert bool((kept == 1000).all()) == (verdict == "person")


@pytest.mark.parametrize("is_listening", [True, False])
def test_an_echo_that_was_kept_is_no_voice_when_the_answer_is_over(is_listening: bool) -> None:
    class Echo(NoCanceller):
        has_near_end = False

    canceller, recorder = Echo(), Recorder()
    probe = canceller.probe = PauseProbe()
    pipeline = AudioPipeline(recorder, canceller, mic_rate=RATE, out_rate=RATE)
    quiet, echo = np.full(RATE // 2, 1e-3, np.float32), babble(RATE, 1.2, seed=3)
    mic = np.concatenate((quiet, echo, quiet[: RATE // 10]))
    played = np.concatenate((quiet, echo[:RATE], np.zeros(3 * RATE // 10, np.float32)))
    probe.is_listening = is_listening
    run(pipeline, mic, played)
    assert len(recorder.chunks) == (90 - LEAD_FRAMES // 2 if is_listening else 90)
    probe.is_listening = False
    run(pipeline, quiet, np.zeros_like(quiet), start=1.8)
    assert np.array_equal(recorder.microphone, to_int16(np.concatenate((mic, quiet))))
    assert not recorder.of("voice")


def test_a_muted_microphone_does_not_pause_the_loudspeaker() -> None:
    canceller = NoCanceller()
    probe = canceller.probe = PauseProbe()
    pipeline = AudioPipeline(Recorder(), canceller, mic_rate=RATE, out_rate=RATE)
    probe.state = "paused"
    pipeline.set_microphone(False)
    pipeline.step(0.0)
    assert pipeline.playout.ring is not None
    assert not pipeline.playout.ring.held


def test_what_the_canceller_hears_as_played_is_after_cut_fade_and_mute() -> None:
    rendered: list[np.ndarray] = []

    class Ears:
        has_near_end = True
        probe = None
        state = ""

        def render(self, frame: np.ndarray) -> None:
            rendered.append(frame)

        def capture(self, frame: np.ndarray) -> np.ndarray:
            return frame

        def on_frames_lost(self, later: int = 0) -> None:
            pass

    pipeline = AudioPipeline(Recorder(), Ears(), mic_rate=RATE, out_rate=24_000)
    ring = pipeline.playout.ring
    assert ring is not None
    assert pipeline.played is not None
    assert pipeline.microphone is not None
    device: list[np.ndarray] = []
    pipeline.playout.play(0, pcm(tone(24_000, 1.0) * 20_000))
    for number in range(60):
        if number == 20:
            pipeline.playout.cut(1)
            pipeline.playout.play(1, pcm(tone(24_000, 1.0, 880) * 20_000))
        if number == 40:
            pipeline.set_speaker(False)
        pipeline.step(number * 0.01)
        block = np.zeros(240, np.float32)
        ring.read(block, 0.0)
        device.append(block)
        pipeline.played.write(block, 0.0)
        pipeline.microphone.write(np.zeros(160, np.float32), 0.0)
    heard = np.concatenate(rendered)[:8_000] / 32_768
    late = BlockResampler(24_000, RATE).delay_s * 24_000
    sound = np.interp(np.arange(8_000) * 1.5 - late, np.arange(14_400), np.concatenate(device))
    assert correlation(heard, sound) > 0.99
    assert not np.concatenate(rendered)[7_250:].any()


def test_switching_the_microphone_off_stops_chunks_and_blanks_the_voice_mark() -> None:
    recorder = Recorder()
    pipeline = AudioPipeline(recorder, NoCanceller(), mic_rate=RATE, out_rate=None)
    run(pipeline, noise(RATE))
    run(pipeline, babble(RATE, 2.0, 5, 0.2), start=1.0)
    assert pipeline.levels.speech
    pipeline.set_microphone(False)
    count = len(recorder.chunks)
    run(pipeline, babble(RATE, 0.5, 6, 0.2), start=3.0)
    assert len(recorder.chunks) == count
    assert recorder.of("voice")[-1] == ("voice", False)
    assert not pipeline.levels.speech


def test_the_voice_mark_comes_with_speech_and_goes_a_third_of_a_second_after_it() -> None:
    mark = VoiceDetector()
    changes = []
    sound = np.concatenate([noise(RATE), babble(RATE, 1.5, 5, 0.2), noise(RATE, 2)])
    for number in range(len(sound) // 320):
        part = int16(sound[number * 320 : (number + 1) * 320])
        if mark.add(part.tobytes(), mean_square(part), playing=False):
            changes.append((round(number * 0.02, 2), mark.speaking))
    assert changes[0][1]
    assert 1.0 <= changes[0][0] <= 1.5
    assert not changes[-1][1]
    assert 2.5 <= changes[-1][0] <= 3.2


def test_steady_noise_is_no_voice() -> None:
    mark = VoiceDetector()
    sound = int16(np.random.default_rng(0).standard_normal(3 * RATE) * 0.1)
    speaking = [
        mark.add(part.tobytes(), mean_square(part), playing=False) or mark.speaking for part in sound.reshape(-1, 320)
    ]
    assert not any(speaking[50:])


def test_rms_peak_and_clip_mark_read_what_the_standards_say() -> None:
    meter = LevelMeter()
    for at in range(100):
        frame = int16(tone(RATE, 1.0, 1000.0, 0.5)[at * 160 : (at + 1) * 160])
        meter.add_frame(frame, mean_square(frame))
    assert meter.rms == pytest.approx(-9.03, abs=0.3)
    assert meter.peak == pytest.approx(-6.02, abs=0.1)
    assert not meter.clipped
    quiet = np.zeros(160, np.int16)
    loud = np.full(160, -32_768, np.int16)
    meter.add_frame(loud, 1.0)
    assert meter.clipped
    assert meter.peak == 0.0
    for _ in range(150):
        meter.add_frame(quiet, 0.0)
    assert meter.peak == 0.0
    assert meter.clipped
    for _ in range(50):
        meter.add_frame(quiet, 0.0)
    assert meter.peak == pytest.approx(-10.0, abs=0.5)
    assert not meter.clipped
    for _ in range(500):
        meter.add_frame(quiet, 0.0)
    assert meter.peak == -60.0
    assert meter.rms == -60.0


def test_what_the_microphone_delivered_while_nobody_took_it_is_counted_in_chunks() -> None:
    pipeline = AudioPipeline(Recorder(), NoCanceller(), mic_rate=48_000, out_rate=None)
    assert pipeline.microphone is not None
    pipeline.microphone.write(np.zeros(pipeline.microphone.capacity, np.float32), 0.0)
    assert pipeline.overflowed_chunks == 0
    pipeline.microphone.write(np.zeros(1441, np.float32), 0.0)
    assert pipeline.overflowed_chunks == 2
