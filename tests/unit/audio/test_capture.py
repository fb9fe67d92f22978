"""Test capture: echo, voice detection, meters, alignment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.unit.audio.audio_support import Recorder, Shifts, babble, correlation, pcm, tone

from gemini_live_runtime.audio.echo.cancellers import Aec3, DualCanceller, EchoCanceller, NoCanceller
from gemini_live_runtime.audio.echo.echo_path import EchoPath
from gemini_live_runtime.audio.echo.erle import ErleMeter
from gemini_live_runtime.audio.echo.linear_echo import LinearEchoFilter
from gemini_live_runtime.audio.echo.near_end import NearEndShare
from gemini_live_runtime.audio.echo.warm_up import make_canceller
from gemini_live_runtime.audio.levels import LevelMeter, mean_square
from gemini_live_runtime.audio.processing.capture import FAR_SLACK_FRAMES, WAIT_FRAMES
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline
from gemini_live_runtime.audio.processing.voice_detector import VoiceDetector
from gemini_live_runtime.audio.resample import BlockResampler, Resampler
from gemini_live_runtime.audio.wav import WavReader

RATE = 16_000
DATA = Path(__file__).resolve().parents[2] / "data" / "audio"


def room(far: np.ndarray, delay_ms: int = 60, level: float = 0.5, seed: int = 7) -> np.ndarray:
    """Return the echo of `far`: a delayed direct path and a decaying tail of 150 ms."""
    rng = np.random.default_rng(seed)
    tail = rng.standard_normal(2400) * np.exp(-np.arange(2400) / 500)
    response = np.concatenate([np.zeros(RATE * delay_ms // 1000), [1.0], 0.1 * tail])
    return (level * np.convolve(far, response)[: len(far)]).astype(np.float32)


def int16(sound: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(sound * 32_768), -32_768, 32_767).astype(np.int16)


def cancel(canceller: EchoCanceller, far: np.ndarray, mic: np.ndarray) -> np.ndarray:
    out = []
    for at in range(0, len(mic) - 159, 160):
        canceller.render(int16(far[at : at + 160]))
        out.append(canceller.capture(int16(mic[at : at + 160])))
    return np.concatenate(out) / 32_768


def reduction(mic: np.ndarray, clean: np.ndarray, start: float, end: float) -> float:
    span = slice(int(start * RATE), int(end * RATE))
    return float(10 * np.log10((mic[span] ** 2).mean() / ((clean[span] ** 2).mean() + 1e-12)))


def noise(count: int, seed: int = 1) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(count) * 0.0005).astype(np.float32)


def spoken(name: str, seconds: float, level: float) -> np.ndarray:
    """Return recorded speech of an RMS of `level`, repeated to `seconds`."""
    reader = WavReader(DATA / name)
    sound = Resampler(reader.rate, RATE, "VHQ").process(reader.read(10_000_000), last=True)
    reader.close()
    sound = np.tile(sound, int(seconds * RATE / len(sound)) + 1)[: int(seconds * RATE)]
    return (sound * (level / np.sqrt((sound**2).mean()))).astype(np.float32)


@pytest.fixture(scope="module")
def double_talk() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the model says, what a person says over it, and the microphone."""
    far = spoken("model_speech.wav", 10.0, 0.1)
    person = np.concatenate([np.zeros(5 * RATE, np.float32), spoken("barge_in.wav", 5.0, 0.05)])
    return far, person, room(far) + person + noise(len(far))


@pytest.fixture(scope="module")
def far() -> np.ndarray:
    return babble(RATE, 10.0, seed=3, level=0.1)


@pytest.mark.parametrize("make", [Aec3, DualCanceller])
def test_the_echo_of_a_room_is_reduced_by_more_than_twenty_decibels(make: type, far: np.ndarray) -> None:
    mic = room(far) + noise(len(far))
    clean = cancel(make(), far, mic)
    assert reduction(mic, clean, 4, 10) > 20


def test_the_linear_filter_leaves_a_person_who_talks_at_the_same_time_untouched(far: np.ndarray) -> None:
    person = np.concatenate([np.zeros(5 * RATE, np.float32), babble(RATE, 5.0, seed=9, level=0.05)])
    linear = LinearEchoFilter()
    mic = room(far) + person + noise(len(far))
    out = [linear.step(int16(far[at : at + 160]), int16(mic[at : at + 160]))[0] for at in range(0, len(mic), 160)]
    assert correlation(np.concatenate(out)[6 * RATE :], person[6 * RATE :]) > 0.9
    assert correlation(mic[6 * RATE :], person[6 * RATE :]) < 0.9


def test_with_the_linear_filter_in_front_fewer_of_a_persons_frames_are_lost(
    double_talk: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    far, person, mic = double_talk

    def lost(canceller: EchoCanceller) -> float:
        clean = cancel(canceller, far, mic)
        # AEC3 answers 8 ms later, so frames are compared over 30 ms.
        frames = range(6 * RATE, 10 * RATE - 480, 160)
        spoken = [at for at in frames if (person[at : at + 160] ** 2).mean() > 1e-4]
        return float(
            np.mean([(clean[at : at + 480] ** 2).mean() < 0.06 * (person[at : at + 160] ** 2).mean() for at in spoken])
        )

    assert lost(make_canceller()) < 0.5 * lost(Aec3())


def test_after_the_delay_jumps_the_linear_filter_starts_anew_and_the_echo_is_reduced_again(far: np.ndarray) -> None:
    canceller = DualCanceller()
    before, after = room(far, delay_ms=40), room(far, delay_ms=110)
    mic = np.concatenate([before[: 5 * RATE], after[5 * RATE :]]) + noise(len(far))
    clean = cancel(canceller, far, mic)
    assert canceller.restarts >= 1
    assert reduction(mic, clean, 7.5, 10) > 15


@pytest.mark.parametrize(("level", "restarts"), [(0.04, 0), (1.0, 1)])
def test_a_filter_is_given_up_for_a_loud_sound_that_it_predicts_wrongly_not_for_a_quiet_one(
    level: float, restarts: int
) -> None:
    canceller = DualCanceller(EchoPath(measured_at=0, room_db=-60, delay_ms=30, level_db=-10, response=(0.3,)))
    for _ in range(50):
        canceller._judge(1e6, 1e4, 1e6)
    for _ in range(25):
        canceller._judge(level * 1e6, 2 * level * 1e6, level * 1e6)
        if canceller.restarts:
            break
    assert canceller.restarts == restarts


def test_a_filter_that_has_known_no_path_yet_is_not_given_up() -> None:
    canceller = DualCanceller()
    for _ in range(50):
        canceller._judge(1e6, 2e6, 1e6)
    assert canceller.restarts == 0


class Suppressor(Aec3):
    """An AEC3 that lets nothing through."""

    def process(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        return 0 * near


def near_ends(canceller: DualCanceller, far: np.ndarray, mic: np.ndarray) -> int:
    """Return the frames of the last four seconds that may be a person's."""
    count = 0
    for at in range(0, len(mic) - 159, 160):
        canceller.render(int16(far[at : at + 160]))
        canceller.capture(int16(mic[at : at + 160]))
        count += at > 6 * RATE and canceller.has_near_end
    return count


def test_what_aec3_behind_the_filter_suppresses_is_no_person(
    double_talk: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    far, _, mic = double_talk
    canceller = DualCanceller()
    assert near_ends(canceller, far, mic) > 40
    canceller = DualCanceller()
    canceller._behind = Suppressor()
    assert near_ends(canceller, far, mic) == 0


def test_a_person_is_kept_at_full_level_where_the_filter_left_little_echo(
    double_talk: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    far, person, mic = double_talk
    clean = cancel(make_canceller(), far, mic)
    kept, said = clean[6 * RATE + 128 :], person[6 * RATE : -128]
    assert correlation(kept, said) > 0.85
    assert np.sqrt((kept**2).mean() / (said**2).mean()) == pytest.approx(1, abs=0.2)


def test_echo_that_the_filter_left_is_not_taken_for_a_person() -> None:
    share = NearEndShare()
    rng = np.random.default_rng(0)
    shares = [share.update(1e4 * rng.uniform(0.3, 2), 1e6) for _ in range(600)]
    assert max(shares[100:]) < 0.2
    assert share.update(1e6, 1e6) == 1.0


def test_an_untrained_filter_leaves_the_judgement_to_the_suppressor() -> None:
    share = NearEndShare()
    assert max(share.update(1e6, 1e5) for _ in range(20)) == 0.0


def test_silence_costs_the_linear_filter_nothing_and_changes_nothing() -> None:
    linear = LinearEchoFilter()
    quiet = np.zeros(160, np.int16)
    near = int16(tone(RATE, 0.01))
    for _ in range(60):
        error, echo = linear.step(quiet, near)
    assert np.array_equal(error, near)
    assert not echo.any()


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


def test_the_microphone_waits_a_moment_for_what_is_played_so_that_render_stays_before_capture() -> None:
    order: list[str] = []

    class Order:
        has_near_end = True
        state = ""

        def render(self, frame: np.ndarray) -> None:
            order.append("silence" if not frame.any() else "sound")

        def capture(self, frame: np.ndarray) -> np.ndarray:
            order.append("capture")
            return frame

        def on_frames_lost(self, later: int = 0) -> None:
            pass

    pipeline = AudioPipeline(Recorder(), Order(), mic_rate=RATE, out_rate=RATE)
    assert pipeline.microphone is not None
    assert pipeline.played is not None
    for _ in range(3):
        pipeline.microphone.write(tone(RATE, 0.01), 0.0)
        pipeline.step(0.0)
    assert order == []
    pipeline.played.write(tone(RATE, 0.03), 0.0)
    pipeline.step(0.0)
    assert order == ["sound", "capture"] * 3


def test_a_loudspeaker_that_stalls_does_not_hold_up_the_microphone() -> None:
    recorder = Recorder()
    pipeline = AudioPipeline(recorder, NoCanceller(), mic_rate=RATE, out_rate=RATE)
    run(pipeline, tone(RATE, 1.0))
    assert len(recorder.chunks) >= 47
    assert pipeline.capture.far_missing > 90


def test_a_microphone_that_lags_drops_old_reference_and_counts_it() -> None:
    pipeline = AudioPipeline(Recorder(), NoCanceller(), mic_rate=RATE, out_rate=RATE)
    assert pipeline.played is not None
    pipeline.played.write(tone(RATE, 0.5), 0.0)
    pipeline.step(0.0)
    assert pipeline.capture.far_dropped == 49


def test_when_microphone_samples_are_lost_render_stays_close_to_capture() -> None:
    pipeline = AudioPipeline(Recorder(), NoCanceller(), mic_rate=RATE, out_rate=RATE)
    run(pipeline, tone(RATE, 0.5), tone(RATE, 0.5))
    assert pipeline.played is not None
    assert pipeline.capture.far_dropped == 0
    pipeline.played.write(tone(RATE, 0.08), 0.5)
    run(pipeline, tone(RATE, 1.2), tone(RATE, 1.2), start=0.5)
    assert pipeline.capture.far_dropped == 8


def test_a_few_frames_too_many_are_dropped_only_when_the_model_pauses() -> None:
    pipeline = AudioPipeline(Recorder(), NoCanceller(), mic_rate=RATE, out_rate=RATE)
    run(pipeline, tone(RATE, 0.5), tone(RATE, 0.5))
    assert pipeline.played is not None
    pipeline.played.write(tone(RATE, 0.03), 0.5)
    run(pipeline, tone(RATE, 2.0), tone(RATE, 2.0), start=0.5)
    assert pipeline.capture.far_dropped == 0
    run(pipeline, tone(RATE, 0.5), np.zeros(RATE // 2, np.float32), start=2.5)
    assert pipeline.capture.far_dropped == 3


@pytest.mark.parametrize("lost", [2, 4, 6, 12])
@pytest.mark.parametrize("is_speaking", [True, False], ids=["in an answer", "in a pause"])
def test_after_the_loudspeaker_lost_samples_the_microphone_is_late_only_until_the_model_pauses(
    lost: int, is_speaking: bool
) -> None:
    recorder, shifts = Recorder(), Shifts()
    pipeline = AudioPipeline(recorder, shifts, mic_rate=RATE, out_rate=RATE)
    assert pipeline.microphone is not None
    assert pipeline.played is not None
    late = []
    for number in range(1_000):
        now = 0.01 * (number + 1)
        pipeline.microphone.write(np.zeros(160, np.float32), now)
        if not 300 <= number < 300 + lost:
            sound = tone(RATE, 0.01) if 200 <= number < 500 and is_speaking else np.zeros(160, np.float32)
            pipeline.played.write(sound, now)
        pipeline.step(now)
        late.append(round(1000 * (now - recorder.chunks[-1].captured_at)) if recorder.chunks else 0)
    assert max(late[:290]) <= 10
    assert max(late[700:]) <= 10
    assert pipeline.capture.far_missing == lost
    # Nothing was played from which the filter could have learned the longer delay in a pause.
    assert shifts.told == ([-lost] if is_speaking else [])


def aligned(shifts: Shifts, *, lost: range, side: str, speaks: range) -> AudioPipeline:
    """Run 10 s on which one side loses frames; the model speaks in those of `speaks`."""
    pipeline = AudioPipeline(Recorder(), shifts, mic_rate=RATE, out_rate=RATE)
    assert pipeline.microphone is not None
    assert pipeline.played is not None
    for number in range(1_000):
        now = 0.01 * (number + 1)
        if number not in lost or side != "microphone":
            pipeline.microphone.write(np.zeros(160, np.float32), now)
        if number not in lost or side != "loudspeaker":
            pipeline.played.write(tone(RATE, 0.01) if number in speaks else np.zeros(160, np.float32), now)
        pipeline.step(now)
    return pipeline


def test_while_the_loudspeaker_stalls_in_an_answer_the_delay_of_the_echo_is_unknown() -> None:
    shifts = Shifts()
    pipeline = aligned(shifts, lost=range(300, 330), side="loudspeaker", speaks=range(200, 500))
    assert pipeline.capture.far_missing == 30
    assert shifts.told == [0, -WAIT_FRAMES]


@pytest.mark.parametrize("lost", [range(3), range(550, 554), range(550, 558), range(550, 600)])
def test_no_echo_moves_where_the_microphone_loses_frames_in_a_pause(lost: range) -> None:
    shifts = Shifts()
    pipeline = aligned(shifts, lost=lost, side="microphone", speaks=range(200, 500))
    assert pipeline.capture.far_dropped >= len(lost) - FAR_SLACK_FRAMES
    assert shifts.told == []


@pytest.mark.parametrize("count", [3, 8])
def test_frames_of_the_microphone_that_are_lost_in_an_answer_move_the_echo_until_as_many_are_dropped(
    count: int,
) -> None:
    shifts = Shifts()
    pipeline = aligned(shifts, lost=range(300, 300 + count), side="microphone", speaks=range(200, 500))
    assert pipeline.capture.far_dropped == count
    assert shifts.told == [count]


def test_while_the_microphone_stalls_in_an_answer_the_delay_of_the_echo_is_unknown() -> None:
    shifts = Shifts()
    pipeline = aligned(shifts, lost=range(300, 325), side="microphone", speaks=range(200, 500))
    assert pipeline.capture.far_dropped >= 24
    assert shifts.told[0] == 0
    assert sum(shifts.told) == pipeline.capture.far_dropped - 20


def test_a_filter_that_is_shifted_with_its_echo_goes_on_cancelling(far: np.ndarray) -> None:
    linear = LinearEchoFilter()
    mic = room(far)
    frames = [(int16(far[at : at + 160]), int16(mic[at : at + 160])) for at in range(0, len(far), 160)]
    for played, heard in frames[:800]:
        linear.step(played, heard)
    linear.shift(3)
    left, bare = 0.0, 0.0
    for at in range(800, len(frames) - 3):
        error, _ = linear.step(frames[at + 3][0], frames[at][1])
        if at > 830:  # The filter's history has to be of one piece again.
            left, bare = left + mean_square(error), bare + mean_square(frames[at][1].astype(np.float32))
    assert 10 * np.log10(bare / left) > 15


def test_while_the_model_is_silent_the_microphone_passes_8_ms_later() -> None:
    mic = tone(RATE, 4.0) * 0.3
    clean = cancel(DualCanceller(), np.zeros(len(mic), np.float32), mic)
    late = clean[2 * RATE + 128 :]
    assert np.abs(late - mic[2 * RATE : 2 * RATE + len(late)]).max() < 1e-4


def test_frames_lost_in_a_silence_disturb_the_filter_only_for_a_moment() -> None:
    canceller = DualCanceller()
    silence = np.zeros(2 * RATE, np.float32)
    cancel(canceller, silence, silence)
    canceller.on_frames_lost(2)
    assert (canceller.state, canceller.has_near_end) == ("disturbed", True)  # No echo is to be expected.
    cancel(canceller, silence[:RATE], silence[:RATE])
    assert (canceller.state, canceller.has_near_end) == ("learning", True)


def test_an_echo_after_a_long_silence_is_cancelled_as_before_it(far: np.ndarray) -> None:
    pause = np.zeros(3 * RATE, np.float32)
    twice = np.concatenate([far, pause, far])
    mic = room(twice) + noise(len(twice))
    clean = cancel(DualCanceller(), twice, mic)
    begins = (len(far) + len(pause)) / RATE
    assert reduction(mic, clean, begins + 0.5, begins + 3) > 20


def test_the_meters_show_whether_the_filter_has_proven_itself(far: np.ndarray) -> None:
    pipeline = AudioPipeline(Recorder(), DualCanceller(), mic_rate=RATE, out_rate=RATE)
    mic = room(far)
    run(pipeline, mic[: RATE // 10], far[: RATE // 10])
    states = [pipeline.levels.echo_filter]
    run(pipeline, mic[RATE // 10 : 5 * RATE], far[RATE // 10 : 5 * RATE], start=0.1)
    states.append(pipeline.levels.echo_filter)
    pipeline.capture._canceller.on_frames_lost()
    run(pipeline, mic[5 * RATE : 5 * RATE + 160], far[5 * RATE : 5 * RATE + 160], start=5.0)
    assert [*states, pipeline.levels.echo_filter] == ["learning", "proven", "disturbed"]


def test_a_filter_that_begins_with_a_measured_path_cancels_at_once(far: np.ndarray) -> None:
    click = np.zeros(RATE, np.float32)
    click[0] = 1.0
    response = room(click)[: 160 * 20]
    linear = LinearEchoFilter()
    linear.begin_with(response, 0.0)
    mic = room(far)
    spans = range(0, RATE, 160)
    errors = [linear.step(int16(far[at : at + 160]), int16(mic[at : at + 160]))[0] for at in spans]
    left = float(np.mean([mean_square(error) for error in errors]))
    assert 10 * np.log10(mean_square(int16(mic[:RATE]).astype(np.float32)) / left) > 15


def test_what_was_played_before_the_microphone_opened_is_not_taken_for_what_is_played_now() -> None:
    pipeline = AudioPipeline(Recorder(), NoCanceller(), mic_rate=RATE, out_rate=RATE)
    assert pipeline.played is not None
    pipeline.played.write(np.zeros(RATE // 10, np.float32), 0.0)
    run(pipeline, tone(RATE, 0.15), tone(RATE, 0.15))
    assert pipeline.capture.far_dropped == 10


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


def test_what_the_canceller_hears_as_played_is_after_cut_fade_and_mute() -> None:
    rendered: list[np.ndarray] = []

    class Ears:
        has_near_end = True
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
        meter.add(frame, mean_square(frame))
    assert meter.rms == pytest.approx(-9.03, abs=0.3)
    assert meter.peak == pytest.approx(-6.02, abs=0.1)
    assert not meter.clipped
    quiet = np.zeros(160, np.int16)
    loud = np.full(160, -32_768, np.int16)
    meter.add(loud, 1.0)
    assert meter.clipped
    assert meter.peak == 0.0
    for _ in range(150):
        meter.add(quiet, 0.0)
    assert meter.peak == 0.0
    assert meter.clipped
    for _ in range(50):
        meter.add(quiet, 0.0)
    assert meter.peak == pytest.approx(-10.0, abs=0.5)
    assert not meter.clipped
    for _ in range(500):
        meter.add(quiet, 0.0)
    assert meter.peak == -60.0
    assert meter.rms == -60.0


def feed_erle(meter: ErleMeter, far: np.ndarray, mic: np.ndarray, clean: np.ndarray) -> list[tuple[float, bool]]:
    changes = []
    for number in range(len(far) // 160):
        span = slice(number * 160, (number + 1) * 160)
        if meter.add(*(float((signal[span] ** 2).mean()) for signal in (far, mic, clean))):
            changes.append((number * 0.01, meter.leaking))
    return changes


def test_an_echo_that_is_not_reduced_warns_and_one_that_is_again_takes_the_warning_back(far: np.ndarray) -> None:
    meter = ErleMeter()
    echo = room(far) + noise(len(far))
    assert [state for _, state in feed_erle(meter, far, echo, echo)] == [True]
    assert meter.erle_db == pytest.approx(0, abs=0.5)
    assert [state for _, state in feed_erle(meter, far, echo, echo * 0.03)] == [False]
    assert meter.erle_db == pytest.approx(30, abs=2)


def test_an_echo_reduced_by_twenty_decibels_does_not_warn(far: np.ndarray) -> None:
    meter = ErleMeter()
    echo = room(far) + noise(len(far))
    assert feed_erle(meter, far, echo, echo * 0.1) == []
    assert meter.erle_db == pytest.approx(20, abs=2)


def test_headphones_do_not_warn_not_even_when_the_person_talks(far: np.ndarray) -> None:
    meter = ErleMeter()
    assert feed_erle(meter, far, noise(len(far)), noise(len(far))) == []
    for seed in (11, 12, 13):
        person = babble(RATE, 10.0, seed, 0.1) + noise(len(far))
        assert feed_erle(meter, far, person, person) == []


def test_a_person_who_talks_over_a_well_cancelled_echo_does_not_warn(far: np.ndarray) -> None:
    meter = ErleMeter()
    for seed in (11, 12, 13):
        person = babble(RATE, 10.0, seed, 0.05)
        echo = room(far) + noise(len(far))
        assert feed_erle(meter, far, echo + person, echo * 0.03 + person) == []


def test_erle_is_told_only_while_something_is_played(far: np.ndarray) -> None:
    meter = ErleMeter()
    echo = room(far)
    feed_erle(meter, far, echo, echo * 0.1)
    silence = np.zeros(RATE, np.float32)
    feed_erle(meter, silence, silence, silence)
    assert meter.erle_db is None


def test_a_leaking_echo_is_told_to_the_listener(far: np.ndarray) -> None:
    recorder = Recorder()
    pipeline = AudioPipeline(recorder, NoCanceller(), mic_rate=RATE, out_rate=RATE)
    run(pipeline, room(far) + noise(len(far)), far)
    assert recorder.of("echo") == [("echo", True)]


def test_what_the_microphone_delivered_while_nobody_took_it_is_counted_in_chunks() -> None:
    pipeline = AudioPipeline(Recorder(), NoCanceller(), mic_rate=48_000, out_rate=None)
    assert pipeline.microphone is not None
    pipeline.microphone.write(np.zeros(pipeline.microphone.capacity, np.float32), 0.0)
    assert pipeline.overflowed_chunks == 0
    pipeline.microphone.write(np.zeros(1441, np.float32), 0.0)
    assert pipeline.overflowed_chunks == 2
