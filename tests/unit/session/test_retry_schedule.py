"""Decisions about reconnecting: whether, when, and with which handle."""

from __future__ import annotations

import random

import pytest

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.session.link.ends import LinkEnd
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.session.link.retry import (
    FREE_REPLACEMENTS,
    FRESH_STARTS,
    RESUMES,
    Retry,
    RetrySchedule,
)

PASSING = (LinkEnd.NETWORK, LinkEnd.PASSING, LinkEnd.ORDERLY)


def survives(seconds: float, *, attached: bool, seed: int) -> bool:
    """Return True when an outage of so many seconds ends with an attempt."""
    schedule, now = RetrySchedule(jitter=random.Random(seed)), 0.0
    while now <= seconds:
        delay = schedule.after(LinkEnd.NETWORK, now, attached=attached).delay_s
        if delay is None:
            return False
        now += delay + 0.01
    return True


@pytest.mark.parametrize("seconds", [8, 15, 55])
@pytest.mark.parametrize("attached", [True, False])
def test_an_outage_of_less_than_a_minute_is_always_survived(seconds: float, attached: bool) -> None:
    assert all(survives(seconds, attached=attached, seed=seed) for seed in range(100))


def test_with_a_console_an_outage_of_a_day_is_survived_and_without_one_it_is_not() -> None:
    assert survives(86_400, attached=True, seed=1)
    assert not survives(86_400, attached=False, seed=1)


@pytest.mark.parametrize("end", PASSING)
def test_the_first_attempt_is_made_at_once_and_the_others_below_a_doubling_bound(end: LinkEnd) -> None:
    schedule = RetrySchedule(jitter=random.Random(1))
    delays = [schedule.after(end, 0.0, attached=True).delay_s for _ in range(20)]
    assert delays[0] == 0
    for number, delay in enumerate(delays[1:], start=1):
        assert delay is not None
        assert 0 <= delay <= min(30.0, 0.5 * 2**number)


def test_the_last_attempt_without_a_console_comes_at_the_end_of_the_time() -> None:
    schedule = RetrySchedule(LinkPolicy(reconnect_for_s=10, longest_delay_s=100), random.Random(1))
    schedule.after(LinkEnd.NETWORK, 0.0)
    schedule.attempts = 10
    assert schedule.after(LinkEnd.NETWORK, 9.0).delay_s == pytest.approx(1.0)
    assert schedule.after(LinkEnd.NETWORK, 10.0) == Retry(None)


def test_what_was_refused_is_not_tried_again() -> None:
    assert RetrySchedule().after(LinkEnd.REFUSED, 0.0, attached=True) == Retry(None)


def test_a_refused_message_leads_to_one_attempt_then_to_a_fresh_session_and_then_to_none() -> None:
    schedule = RetrySchedule(jitter=random.Random(1))
    first, second, third = (schedule.after(LinkEnd.MESSAGE, 0.0, code=1007, attached=True) for _ in range(3))
    assert (first.delay_s, first.fresh) == (0.0, False)
    assert second.fresh
    assert third == Retry(None)


def test_refused_messages_of_different_codes_are_counted_apart() -> None:
    schedule = RetrySchedule()
    assert not schedule.after(LinkEnd.MESSAGE, 0.0, code=1007).fresh
    assert not schedule.after(LinkEnd.MESSAGE, 0.0, code=1009).fresh


def test_a_handle_is_not_brought_again_after_connections_that_ended_soon_with_it() -> None:
    schedule = RetrySchedule()
    fresh = []
    for _ in range(RESUMES + 1):
        fresh.append(schedule.after(LinkEnd.PASSING, 0.0, attached=True).fresh)
        schedule.connected(1.0, resumed=True)
    assert fresh == [False] * RESUMES + [True]


def test_a_server_that_cannot_be_reached_says_nothing_about_the_handle() -> None:
    schedule = RetrySchedule()
    assert not any(schedule.after(LinkEnd.NETWORK, 0.0, attached=True).fresh for _ in range(50))


def test_a_refused_handle_leads_to_a_fresh_session_but_not_for_ever() -> None:
    schedule = RetrySchedule()
    assert schedule.after(LinkEnd.HANDLE, 0.0) == Retry(0.0, fresh=True)
    for _ in range(FRESH_STARTS - 1):
        assert schedule.after(LinkEnd.CONTEXT, 0.0, attached=True).fresh
    assert schedule.after(LinkEnd.CONTEXT, 0.0, attached=True).delay_s is None


def test_a_connection_that_lasted_begins_the_count_anew_and_a_short_one_does_not() -> None:
    schedule = RetrySchedule()
    for _ in range(3):
        schedule.after(LinkEnd.NETWORK, 0.0, attached=True)
    schedule.connected(29.0, resumed=False)
    assert schedule.attempts == 3
    schedule.connected(30.0, resumed=False)
    assert schedule.attempts == 0


def test_moves_of_our_own_use_up_no_attempts_and_are_never_given_up_but_slow_down() -> None:
    schedule = RetrySchedule()
    moves = (schedule.after(LinkEnd.MOVED, 0.0) for _ in range(2000))
    delays = [move.delay_s for move in moves if move.delay_s is not None and not move.fresh]
    assert len(delays) == 2000
    assert delays[:FREE_REPLACEMENTS] == [0.0] * FREE_REPLACEMENTS
    assert delays[FREE_REPLACEMENTS:] == sorted(delays[FREE_REPLACEMENTS:])
    assert 0 < delays[FREE_REPLACEMENTS] < delays[-1] == 30.0
    assert schedule.attempts == 0
    schedule.connected(30.0, resumed=True)
    assert schedule.after(LinkEnd.MOVED, 0.0).delay_s == 0


@pytest.mark.parametrize(("field", "value"), [("reconnect_for_s", -1), ("max_texts", 0), ("audio_kept_s", "long")])
def test_a_policy_names_the_field_that_cannot_be_used(field: str, value: object) -> None:
    with pytest.raises(UsageError) as raised:
        LinkPolicy(**{field: value})  # type: ignore[arg-type]
    assert raised.value.field == field
