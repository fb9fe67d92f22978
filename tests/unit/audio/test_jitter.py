"""Test the jitter buffer's target: from the lateness of frames, over all turns."""

from __future__ import annotations

from gemini_live_runtime.audio.playback.jitter import MARGIN_MS, MAX_TARGET_MS, START_MS, JitterEstimator

FRAME_MS = 80.0


def arrive(jitter: JitterEstimator, gen: int, delays: list[float], *, begin: float = 0.0, speed: float = 1.0) -> None:
    """Let frames of 80 ms arrive at `speed` times real time, each late by its delay."""
    for number, delay in enumerate(delays):
        jitter.add(gen, FRAME_MS, begin + number * FRAME_MS / 1000 / speed + delay)


def test_the_target_is_what_the_latest_frame_needed() -> None:
    jitter = JitterEstimator()
    assert jitter.target_ms == START_MS
    arrive(jitter, 1, [0, 0, 0.12, 0, 0.05, 0])
    assert round(jitter.target_ms) == 130


def test_the_target_is_kept_for_the_next_turn() -> None:
    jitter = JitterEstimator()
    arrive(jitter, 1, [0, 0.1, 0])
    before = jitter.target_ms
    arrive(jitter, 2, [0, 0, 0], begin=60.0)
    assert jitter.target_ms == before


def test_frames_ahead_of_playback_are_not_late_and_the_target_falls_to_nothing() -> None:
    jitter = JitterEstimator()
    arrive(jitter, 1, [0.02 * (number % 3) for number in range(600)], speed=4.0)
    assert jitter.target_ms == 0


def test_frames_that_come_unevenly_but_seconds_ahead_are_not_late() -> None:
    jitter = JitterEstimator()
    arrive(jitter, 1, [0.0] * 100, speed=4.0)
    for number in range(400):
        jitter.add(1, FRAME_MS, 2.0 + number * FRAME_MS / 1000 + 0.07 * (number % 2))
    assert jitter.target_ms < MARGIN_MS


def test_a_target_that_is_still_needed_does_not_fall() -> None:
    jitter = JitterEstimator()
    arrive(jitter, 1, [0.1 if number % 40 == 39 else 0 for number in range(800)])
    assert round(jitter.target_ms) == 110


def test_a_pause_of_the_model_is_no_jitter_and_the_target_has_a_limit() -> None:
    jitter = JitterEstimator()
    arrive(jitter, 1, [0, 0, 5.0])
    assert jitter.target_ms == START_MS
    arrive(jitter, 2, [0, 0, 0.35], begin=100.0)
    assert jitter.target_ms == MAX_TARGET_MS
