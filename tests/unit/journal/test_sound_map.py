"""Sound keeps its place on the session's clock where a device's clock is off."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from gemini_live_runtime.journal.sound.sound_map import Lane

RATE = 16_000
SPAN_S = 0.2


def placed(ppm: float, *, seconds: float = 1800, jitter_s: float = 0.0, off_s: float = 0.0) -> tuple[Lane, list[float]]:
    """Return the lane of a microphone that is `ppm` too fast, and its errors (s).

    The first piece is placed `off_s` too late.
    """
    lane, errors, first, rng = Lane(RATE), [], 0, random.Random(7)
    for span in range(1, round(seconds / SPAN_S)):
        ended = 10.0 + span * SPAN_S
        total = round(span * SPAN_S * RATE * (1 + ppm * 1e-6))
        lane.add(ended + rng.uniform(0, jitter_s) + (off_s if span == 1 else 0.0), first, total - first)
        first = total
        errors.append(lane.end / RATE - ended)
    return lane, errors


@pytest.mark.parametrize("ppm", [0, 20, -20, 50, -50, 200, -200])
def test_a_clock_that_is_off_does_not_move_the_sound(ppm: int) -> None:
    lane, errors = placed(ppm)
    assert max(abs(error) for error in errors) < 0.006
    assert all(one.at + one.count <= other.at for one, other in pairwise(lane.pieces))
    assert all(one.first + one.count <= other.first for one, other in pairwise(lane.pieces))


def test_late_events_alone_cut_nothing_and_insert_nothing() -> None:
    lane, _ = placed(0, jitter_s=0.03, seconds=4)
    assert all(one.at + one.count == other.at for one, other in pairwise(lane.pieces))
    # Later, by no more than to the middle of the jitter.
    _, errors = placed(0, jitter_s=0.008)
    assert max(abs(error) for error in errors) < 0.008


def test_no_more_than_five_milliseconds_are_cut_at_once() -> None:
    lane, errors = placed(0, off_s=0.08)
    assert errors[0] > 0.07
    assert abs(errors[60]) < 0.006
    cut = [other.first - one.first - one.count for one, other in pairwise(lane.pieces)]
    assert max(cut) == 0.005 * RATE


def test_samples_that_were_lost_leave_silence() -> None:
    lane, first = Lane(RATE), 0
    for span in range(1, 200):
        lost = 960 if span > 100 else 0
        lane.add(span * SPAN_S, first, round(span * SPAN_S * RATE) - lost - first)
        first = round(span * SPAN_S * RATE) - lost
    assert lane.end == round(199 * SPAN_S * RATE)
