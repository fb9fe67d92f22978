"""Restarts are limited within a time."""

from __future__ import annotations

from gemini_live_runtime.restarts import MAX_RESTARTS, WITHIN_S, RestartLimit


def test_five_failures_in_a_minute_are_followed_by_a_restart_and_the_sixth_is_not() -> None:
    limit = RestartLimit()
    assert [limit.allows(float(second)) for second in range(MAX_RESTARTS + 1)] == [True] * MAX_RESTARTS + [False]


def test_failures_of_more_than_a_minute_ago_do_not_count() -> None:
    limit = RestartLimit()
    assert all(limit.allows(attempt * WITHIN_S / MAX_RESTARTS) for attempt in range(50))


def test_what_was_cleared_does_not_count() -> None:
    limit = RestartLimit()
    for _ in range(MAX_RESTARTS):
        limit.allows(0.0)
    limit.clear()
    assert limit.allows(0.0)
