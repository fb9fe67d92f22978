"""Cancellers remove the echo of a room and keep the words of a person."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.audio_support import Recorder, babble, correlation, tone
from tests.unit.audio.echo_support import RATE, cancel, int16, noise, reduction, room, spoken
from tests.unit.audio.test_capture import run

from gemini_live_runtime.audio.echo.cancellers import Aec3, EchoCanceller
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.echo.linear_echo import LinearEchoFilter
from gemini_live_runtime.audio.echo.near_end import NearEndShare
from gemini_live_runtime.audio.levels import mean_square
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline


@pytest.fixture(scope="module")
def double_talk() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the model says, what a person says over it, and the microphone."""
    far = spoken("model_speech.wav", 10.0, 0.1)
    person = np.concatenate([np.zeros(5 * RATE, np.float32), spoken("barge_in.wav", 5.0, 0.05)])
    return far, person, room(far) + person + noise(len(far))


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

    assert lost(DualCanceller()) < 0.5 * lost(Aec3())


def test_after_the_delay_jumps_the_linear_filter_starts_anew_and_the_echo_is_reduced_again(far: np.ndarray) -> None:
    canceller = DualCanceller()
    before, after = room(far, delay_ms=40), room(far, delay_ms=110)
    mic = np.concatenate([before[: 5 * RATE], after[5 * RATE :]]) + noise(len(far))
    clean = cancel(canceller, far, mic)
    assert canceller.restarts >= 1
    assert reduction(mic, clean, 7.5, 10) > 15


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
    clean = cancel(DualCanceller(), far, mic)
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
