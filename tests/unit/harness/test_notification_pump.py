"""The pump announces one or a digest at a time, and each source in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gemini_live_runtime.harness.notifications import HarnessNotification, NotificationKind, NotificationStatus
from gemini_live_runtime.harness.pump import (
    ANSWER_S,
    BACKLOG,
    MAX_ATTEMPTS,
    MAX_DIGEST,
    MAX_OF_LANE,
    MAX_WAITING,
    RETRY_S,
    Acknowledge,
    Deliver,
    Expire,
    GiveUp,
    PassiveNotificationPump,
    PumpStep,
    Requeue,
)

WALL = 1_700_000_000_000
ONE_BY_ONE = 1_000
"""Backlog above that of each test: the pump tells each notification alone."""


def notice(
    name: str, at: int = 0, *, source: str | None = None, expires: int | None = None, due: int | None = None
) -> HarnessNotification:
    return HarnessNotification(
        id=name,
        kind=NotificationKind.GENERIC,
        created_at_ms=at,
        updated_at_ms=at,
        status=NotificationStatus.QUEUED,
        title=name,
        source=source,
        expires_at_ms=expires,
        due_at_ms=due,
    )


def pump_with(*records: HarnessNotification) -> PassiveNotificationPump:
    pump = PassiveNotificationPump(backlog=ONE_BY_ONE)
    pump.on_records(records)
    return pump


def told(pump: PassiveNotificationPump, now: float = 0.0) -> str:
    """Tell the next notification to its end; return its id."""
    step = pump.next_step(now, WALL)
    assert isinstance(step, Deliver)
    pump.on_heard()
    return delivered(step)


def delivered(step: PumpStep | None) -> str:
    return " ".join(one.id for one in step.notifications) if isinstance(step, Deliver) else ""


def test_the_oldest_is_told_first() -> None:
    pump = pump_with(notice("c", 3), notice("a", 1), notice("b", 2))
    assert [told(pump) for _ in range(3)] == ["a", "b", "c"]


def test_nothing_is_told_while_something_is_in_the_way() -> None:
    pump = pump_with(notice("a"))
    assert pump.next_step(0.0, WALL, "the user is speaking") is None
    assert pump.why_waiting("a", 0.0, "the user is speaking") == "the user is speaking"
    assert delivered(pump.next_step(0.0, WALL)) == "a"


def test_a_second_one_waits_until_the_first_was_heard() -> None:
    pump = pump_with(notice("a", 1), notice("b", 2))
    assert delivered(pump.next_step(0.0, WALL)) == "a"
    assert pump.next_step(0.0, WALL) is None
    assert pump.why_waiting("b", 0.0) == "another notification is being announced"
    assert pump.on_heard() == [Acknowledge("a")]
    assert delivered(pump.next_step(0.0, WALL)) == "b"


def test_a_busy_source_does_not_keep_another_waiting() -> None:
    pump = pump_with(*(notice(f"noise{at}", at, source="noise") for at in range(100)), notice("oven", 1000))
    assert "oven" in [told(pump) for _ in range(2)]


def test_new_sources_do_not_keep_a_known_one_waiting() -> None:
    waiting = [notice("b0", 0, source="backup"), notice("b1", 1, source="backup")]
    pump = pump_with(*waiting)
    heard = [told(pump)]
    for number in range(5):
        waiting.append(notice(f"new{number}", 10 + number, source=f"source{number}"))
        pump.on_records(waiting)
        heard.append(told(pump))
    assert heard[:2] == ["b0", "b1"]


def test_reading_the_files_again_changes_no_turn() -> None:
    records = [notice(f"a{at}", at, source="a") for at in range(9)] + [notice("b", 99, source="b")]
    pump = PassiveNotificationPump(backlog=ONE_BY_ONE)
    heard = []
    for _ in range(2):
        pump.on_records(records)
        heard.append(told(pump))
    assert heard == ["a0", "b"]


@pytest.mark.parametrize("attempt", range(1, MAX_ATTEMPTS))
def test_one_that_was_not_heard_waits_longer_each_time(attempt: int) -> None:
    pump = pump_with(replace(notice("a"), attempts=attempt - 1))
    assert delivered(pump.next_step(0.0, WALL)) == "a"
    assert pump.on_not_heard(0.0, "the link was lost") == [Requeue("a", "the link was lost")]
    delay = RETRY_S[attempt - 1]
    assert pump.next_step(delay - 0.01, WALL) is None
    assert pump.wait_s(0.0, WALL) == delay
    assert pump.why_waiting("a", 0.0) == f"waits for its retry in {delay:.0f} s, since the link was lost"
    assert delivered(pump.next_step(delay, WALL)) == "a"


def test_one_that_is_never_heard_is_given_up_with_its_reason() -> None:
    pump = pump_with(replace(notice("a"), attempts=MAX_ATTEMPTS - 1))
    pump.next_step(0.0, WALL)
    (step,) = pump.on_not_heard(0.0, "the link was lost")
    assert isinstance(step, GiveUp)
    assert step.reason == f"begun {MAX_ATTEMPTS} times and never heard to its end: the link was lost"
    assert pump.next_step(1e9, WALL) is None


def test_one_that_was_begun_too_often_before_a_restart_is_not_begun_again() -> None:
    pump = pump_with(replace(notice("a"), attempts=MAX_ATTEMPTS, reason="the engine that announced it has ended"))
    step = pump.next_step(0.0, WALL, "the user is speaking")
    assert isinstance(step, GiveUp)
    assert "the engine that announced it has ended" in step.reason


def test_after_an_interruption_nothing_is_told_until_the_user_was_answered() -> None:
    pump = pump_with(notice("a", 1), notice("b", 2))
    pump.next_step(0.0, WALL)
    assert pump.on_not_heard(0.0, "the user spoke over it", by_user=True) == [Requeue("a", "the user spoke over it")]
    assert pump.next_step(5.0, WALL) is None
    assert pump.why_waiting("a", 5.0) == "the user is to be answered first"
    pump.on_answered()
    assert delivered(pump.next_step(5.0, WALL)) == "a"


def test_an_interruption_that_is_never_answered_holds_back_for_a_limited_time() -> None:
    pump = pump_with(notice("a"))
    pump.next_step(0.0, WALL)
    pump.on_not_heard(0.0, "the user spoke over it", by_user=True)
    assert delivered(pump.next_step(ANSWER_S, WALL)) == "a"


def test_one_whose_time_is_over_expires_also_while_somebody_speaks() -> None:
    pump = pump_with(notice("a", expires=WALL + 5_000))
    assert pump.wait_s(0.0, WALL) == 5.0
    assert pump.next_step(0.0, WALL + 4_999, "the user is speaking") is None
    assert isinstance(pump.next_step(0.0, WALL + 5_000, "the user is speaking"), Expire)
    assert pump.next_step(0.0, WALL + 5_000) is None


def test_an_older_reading_of_the_files_brings_nothing_back() -> None:
    pump = pump_with(notice("a"))
    told(pump)
    pump.on_records([notice("a")])
    assert pump.next_step(0.0, WALL) is None


def test_one_that_another_program_has_dismissed_is_not_told() -> None:
    pump = pump_with(notice("a", 1), notice("b", 2))
    pump.on_records([notice("b", 2)])
    assert delivered(pump.next_step(0.0, WALL)) == "b"


def test_one_that_waits_behind_another_says_so() -> None:
    pump = pump_with(notice("oven", 1), notice("wash", 2))
    assert pump.why_waiting("oven", 0.0) == ""
    assert pump.why_waiting("wash", 0.0) == "others are before it"
    assert pump.why_waiting("unknown", 0.0) == ""


def test_one_that_the_model_could_not_be_asked_for_waits_and_keeps_its_attempts() -> None:
    pump = pump_with(notice("a"))
    pump.next_step(0.0, WALL)
    pump.on_postponed(0.0, 0.5)
    assert pump.next_step(0.4, WALL) is None
    step = pump.next_step(0.5, WALL)
    assert isinstance(step, Deliver)
    assert step.notifications[0].attempts == 0


def test_a_flood_of_one_source_leaves_room_for_others() -> None:
    pump = pump_with(*(notice(f"n{at}", at, source="noise") for at in range(5000)), notice("oven", 9000))
    assert len(pump.waiting) <= 1000
    assert "oven" in [one.id for one in pump.waiting]


def test_of_many_sources_so_many_notifications_wait_in_turn_and_the_rest_in_their_files() -> None:
    pump = pump_with(*(notice(f"n{at}", at, source=f"source{at % 40}") for at in range(2000)))
    assert [one.id for one in pump.waiting] == [f"n{at}" for at in range(MAX_WAITING)]


def test_one_with_a_time_takes_no_part_before_it() -> None:
    pump = pump_with(notice("tea", due=WALL + 60_000))
    assert pump.next_step(0.0, WALL + 59_999) is None
    assert not pump.has_waiting
    assert not pump.is_due(0.0)
    assert [one.id for one in pump.waiting] == ["tea"]
    assert pump.why_waiting("tea", 0.0).startswith("it is due at ")
    assert delivered(pump.next_step(0.0, WALL + 60_000)) == "tea"


def test_its_time_is_waited_for_exactly() -> None:
    pump = pump_with(notice("tea", due=WALL + 60_000), notice("egg", due=WALL + 4_500))
    assert pump.wait_s(0.0, WALL) == 4.5
    assert not pump.has_come_due(WALL + 4_499)
    assert pump.has_come_due(WALL + 4_500)


def test_many_that_are_not_due_hide_none_that_is() -> None:
    later = [notice(f"later{n}", n, source="timer", due=WALL + 60_000 + n) for n in range(MAX_OF_LANE)]
    pump = pump_with(*later, notice("now", 999, source="timer", due=WALL))
    assert told(pump) == "now"


def test_one_that_comes_due_has_no_claim_to_the_turns_of_others() -> None:
    waiting = [notice(f"a{n}", n, source="a") for n in range(9)]
    waiting += [notice(f"t{n}", n, source="timer", due=WALL + 1000) for n in range(3)]
    pump = pump_with(*waiting)
    assert [told(pump) for _ in range(4)] == ["a0", "a1", "a2", "a3"]
    order = []
    for _ in range(4):
        step = pump.next_step(0.0, WALL + 1000)
        assert isinstance(step, Deliver)
        pump.on_heard()
        order.append(delivered(step))
    assert order == ["a4", "t0", "a5", "t1"]


def test_one_that_expires_before_its_time_is_closed() -> None:
    pump = pump_with(notice("tea", due=WALL + 60_000, expires=WALL + 1000))
    assert isinstance(pump.next_step(0.0, WALL + 1000), Expire)


def test_a_clock_that_is_set_back_does_not_make_a_due_one_wait() -> None:
    tea = notice("tea", due=WALL)
    pump = pump_with(tea)
    assert pump.next_step(0.0, WALL, "the user is speaking") is None
    pump.on_records([tea])
    assert delivered(pump.next_step(0.0, WALL - 3_600_000)) == "tea"


def test_a_time_beyond_all_calendars_is_waited_for() -> None:
    pump = pump_with(notice("never", due=10**400))
    assert pump.next_step(0.0, WALL) is None
    assert (pump.wait_s(0.0, WALL) or 0.0) > 86_400
    assert "no calendar" in pump.why_waiting("never", 0.0)


def backlog(count: int, **fields: int) -> PassiveNotificationPump:
    """Return a pump with so many notifications, "n0" and so on."""
    pump = PassiveNotificationPump()
    pump.on_records([replace(notice(f"n{n}", n), **fields) for n in range(count)])
    return pump


def test_a_backlog_is_told_as_a_digest_oldest_first() -> None:
    pump = backlog(BACKLOG)
    assert delivered(pump.next_step(0.0, WALL)) == "n0 n1 n2 n3"
    assert pump.on_heard() == [Acknowledge(f"n{n}") for n in range(BACKLOG)]
    assert pump.next_step(0.0, WALL) is None


def test_fewer_are_told_one_by_one() -> None:
    pump = backlog(BACKLOG - 1)
    assert [told(pump) for _ in range(BACKLOG - 1)] == ["n0", "n1", "n2"]


def test_a_digest_has_a_limit_and_the_rest_follows() -> None:
    pump = backlog(MAX_DIGEST + BACKLOG)
    assert [len(told(pump).split()) for _ in range(2)] == [MAX_DIGEST, BACKLOG]


def test_in_a_digest_each_source_has_its_part() -> None:
    pump = PassiveNotificationPump()
    pump.on_records([notice(f"a{n}", n, source="a") for n in range(40)] + [notice("b", 99, source="b")])
    assert "b" in delivered(pump.next_step(0.0, WALL)).split()


def test_a_digest_that_was_not_heard_waits_and_is_told_again() -> None:
    pump = backlog(BACKLOG)
    pump.next_step(0.0, WALL)
    assert pump.on_not_heard(0.0, "lost") == [Requeue(f"n{n}", "lost") for n in range(BACKLOG)]
    assert pump.next_step(RETRY_S[0] - 0.1, WALL) is None
    assert delivered(pump.next_step(RETRY_S[0], WALL)) == "n0 n1 n2 n3"


def test_files_that_are_behind_do_not_shorten_the_wait_of_what_was_not_heard() -> None:
    pump = backlog(BACKLOG)
    step = pump.next_step(0.0, WALL)
    assert isinstance(step, Deliver)
    pump.on_not_heard(0.0, "lost")
    written = [replace(one, status=NotificationStatus.DELIVERED) for one in step.notifications]
    pump.on_records([replace(written[0], status=NotificationStatus.QUEUED), *written[1:]])
    pump.on_records([replace(one, status=NotificationStatus.QUEUED) for one in written])
    assert pump.next_step(RETRY_S[0] - 0.1, WALL) is None
    assert len(delivered(pump.next_step(RETRY_S[0], WALL)).split()) == BACKLOG


def test_the_last_attempt_of_each_is_its_own() -> None:
    pump = backlog(BACKLOG, attempts=MAX_ATTEMPTS - 1)
    assert delivered(pump.next_step(0.0, WALL)) == "n0"


def test_a_digest_that_the_model_could_not_be_asked_for_keeps_the_attempts_of_all() -> None:
    pump = backlog(BACKLOG)
    pump.next_step(0.0, WALL)
    pump.on_postponed(0.0, 1.0)
    step = pump.next_step(1.0, WALL)
    assert isinstance(step, Deliver)
    assert [one.attempts for one in step.notifications] == [0] * BACKLOG


@pytest.mark.parametrize("options", [{"max_attempts": 0}, {"retry_s": ()}, {"backlog": 1}])
def test_a_pump_that_cannot_be_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        PassiveNotificationPump(**options)
