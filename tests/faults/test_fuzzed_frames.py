"""A session survives fuzzed frames, and each costs what its size allows.

Fifty thousand fuzzed frames, a million in `make soak`. The time that frames take is printed, not asserted: it is
the machine's as well. What bounds it is: the size and the number of values of a frame (`docs/limits.md`), and here the
events and the characters of journal that follow from them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.told_by_process import told_by

FRAMES = 50_000
"""Frames of a seed."""

SEEDS = range(1, 21) if os.environ.get("SOAK") else range(1, 2)

MOST_EVENTS = 5.0
"""Events for each value of a frame, which counts for twenty more."""

MOST_CHARS = 3.0
"""Characters of the journal for each character of a batch, of which each frame counts for 500 more."""

MOST_GROWTH = 1.5
"""Factor by which the peak memory may exceed that of an idle session."""


@pytest.fixture(scope="module", params=SEEDS, ids="seed-{}".format)
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Run the sessions of a seed in a process of their own; what they tell."""
    return told_by("tests.faults.fuzzed_session", "--seed", str(request.param), "--frames", str(FRAMES))


def test_a_session_answers_after_every_batch_of_fuzzed_frames(
    told: dict[str, Any], record_property: Callable[[str, object], None]
) -> None:
    fuzzed, large = told["fuzzed"], told["large"]
    record_property(
        "summary",
        f"{fuzzed['frames']:,} fuzzed frames in {fuzzed['seconds']:.0f} s, {fuzzed['unreadable']:,} unreadable, "
        f"{fuzzed['connections']} connections, {fuzzed['turns']:,} turns, {fuzzed['calls']:,} calls; "
        f"longest step of the event loop {fuzzed['longest_step_ms']:.0f} ms of CPU, at the codec's limits "
        f"{large['longest_step_ms']:.0f} ms; memory {fuzzed['peak_kb'] / max(1, fuzzed['idle_kb']):.2f}x idle",
    )
    assert fuzzed["faults"] == []
    assert fuzzed["frames"] == FRAMES


def test_a_session_answers_after_frames_at_the_codecs_limits_and_beyond(told: dict[str, Any]) -> None:
    assert told["large"]["faults"] == []
    assert told["large"]["unreadable"]


def test_fuzzed_frames_reach_every_part_of_a_session(told: dict[str, Any]) -> None:
    fuzzed = told["fuzzed"]
    assert fuzzed["connections"] > 5
    assert fuzzed["calls"] > FRAMES / 50
    assert fuzzed["turns"] > FRAMES / 50
    assert FRAMES / 10 < fuzzed["unreadable"] < FRAMES / 3


def test_no_frame_causes_many_more_events_than_it_has_values(told: dict[str, Any]) -> None:
    work = told["fuzzed"]["most_events"]
    assert work["events"] <= MOST_EVENTS * (work["values"] + 20), work


def test_no_batch_of_frames_causes_much_more_journal_than_it_is_long(told: dict[str, Any]) -> None:
    assert told["fuzzed"]["chars_a_char"] <= MOST_CHARS


def test_fuzzed_frames_leave_the_memory_at_one_and_a_half_times_that_of_an_idle_session(told: dict[str, Any]) -> None:
    fuzzed = told["fuzzed"]
    assert fuzzed["peak_kb"] <= MOST_GROWTH * fuzzed["idle_kb"]
