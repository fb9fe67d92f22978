"""A session that goes on for hours keeps no memory, task or descriptor of them.

Twenty-four simulated hours in `make soak`, a few minutes otherwise.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from tests.support.told_by_process import told_by

SOAK = bool(os.environ.get("SOAK"))
HOURS, READINGS = (24.0, 24) if SOAK else (0.1, 3)

WARM_UP_HOURS = 12
"""Hours after which all that is bounded has been filled: the transcript in memory is, after nine."""

MOST_KB_AN_HOUR = 1024.0
"""Growth of the memory that an hour may leave."""


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """Hold the session in a process of its own; what that tells."""
    return told_by("tests.faults.long_session", "--hours", str(HOURS), "--readings", str(READINGS))


def test_every_turn_of_a_long_session_is_answered_over_all_its_connections(
    told: dict[str, Any], record_property: Callable[[str, object], None]
) -> None:
    first, last = told["readings"][0], told["readings"][-1]
    record_property(
        "summary",
        f"{HOURS:g} simulated hours in {told['seconds']:.0f} s ({HOURS * 3600 / told['seconds']:.0f}x): "
        f"{told['turns']:,} turns, {told['connections']} connections, {told['captured']:,} chunks of sound; "
        f"memory {first['rss_kb'] / 1024:.1f} MB, then {last['rss_kb'] / 1024:.1f} MB; {last['tasks']} tasks, "
        f"{last['descriptors']} descriptors",
    )
    assert told["exit_code"] == 0
    assert told["unanswered"] == 0
    assert told["turns"] >= HOURS * 300
    assert told["connections"] >= HOURS * 25


def test_all_sound_of_a_long_session_arrives(told: dict[str, Any]) -> None:
    assert told["chunks"] >= told["captured"] > HOURS * 3600 * 45


def test_tasks_and_descriptors_of_a_long_session_stay_as_many(told: dict[str, Any]) -> None:
    for name in ("tasks", "descriptors"):
        numbers = [reading[name] for reading in told["readings"][1:]]
        assert max(numbers) == min(numbers), (name, numbers)


def test_the_journal_of_a_long_session_grows_by_as_much_each_hour(told: dict[str, Any]) -> None:
    sizes = [reading["journal_kb"] for reading in told["readings"]]
    grown = [later - earlier for earlier, later in pairwise(sizes)]
    assert max(grown) <= 1.3 * min(grown), grown


if SOAK:

    def test_memory_does_not_grow_once_all_that_is_bounded_is_full(told: dict[str, Any]) -> None:
        late = [reading for reading in told["readings"] if reading["hours"] >= WARM_UP_HOURS]
        hours, sizes = ([reading[name] for reading in late] for name in ("hours", "rss_kb"))
        assert statistics.linear_regression(hours, sizes).slope < MOST_KB_AN_HOUR, sizes
