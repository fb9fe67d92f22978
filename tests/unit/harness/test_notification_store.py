"""Notifications wait, are delivered, and end: acknowledged, expired or given up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness_support import Wall, opened

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness import notification_store
from gemini_live_runtime.harness.notification_store import NotificationStatusConflictError, UnknownNotificationError
from gemini_live_runtime.harness.notifications import NewNotification, NotificationKind, NotificationStatus
from gemini_live_runtime.harness.store import Harness

OVEN = NewNotification(title="the oven is ready")


def statuses(harness: Harness) -> list[str]:
    return [one.status.value for one in harness.notifications.find().records]


def test_delivered_and_acknowledged_have_their_times(tmp_path: Path) -> None:
    wall = Wall()
    with opened(tmp_path, wall) as harness:
        name = harness.notifications.queue(OVEN).id
        wall.now += 1
        delivered = harness.notifications.deliver(name)
        wall.now += 1
        done = harness.notifications.acknowledge(name)
        assert (delivered.attempts, done.attempts) == (1, 1)
        assert done.acknowledged_at_ms == (done.delivered_at_ms or 0) + 1000


def test_one_that_waits_can_be_acknowledged_at_once(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        done = harness.notifications.acknowledge(harness.notifications.queue(OVEN).id)
        assert done.delivered_at_ms == done.acknowledged_at_ms is not None
        assert harness.notifications.acknowledge(done.id) == done


def test_requeueing_keeps_the_attempts_and_the_reason(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        name = harness.notifications.queue(OVEN).id
        harness.notifications.deliver(name)
        again = harness.notifications.requeue(name, "the user spoke over it")
        assert (again.status, again.delivered_at_ms, again.attempts) == (NotificationStatus.QUEUED, None, 1)
        assert again.reason == "the user spoke over it"


def test_a_file_with_a_title_has_the_id_of_its_name_and_its_own_time(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        file = harness.paths.notifications / "oven.json"
        file.write_text('{"title": "the oven is ready"}')
        os.utime(file, (1_700_000_100, 1_700_000_100))
        (one,) = harness.notifications.find().records
        assert (one.id, one.created_at_ms, one.status) == ("oven", 1_700_000_100_000, NotificationStatus.QUEUED)
        assert harness.notifications.acknowledge("oven").created_at_ms == one.created_at_ms


@pytest.mark.parametrize(("name", "text"), [("my oven", '{"title": "ready"}'), ("oven", '{"body": "ready"}')])
def test_a_file_without_a_title_and_one_whose_name_is_no_id_are_problems(tmp_path: Path, name: str, text: str) -> None:
    with opened(tmp_path) as harness:
        (harness.paths.notifications / f"{name}.json").write_text(text)
        listing = harness.notifications.find()
        assert (listing.records, len(listing.problems)) == ([], 1)


@pytest.mark.parametrize("end", ["acknowledge", "expire", "give_up"])
def test_what_is_told_no_more_cannot_wait_again(tmp_path: Path, end: str) -> None:
    with opened(tmp_path) as harness:
        name = harness.notifications.queue(OVEN).id
        getattr(harness.notifications, end)(name, *(["no speaker"] if end == "give_up" else []))
        for move in (harness.notifications.deliver, harness.notifications.requeue):
            with pytest.raises(NotificationStatusConflictError, match="cannot become"):
                move(name)


def test_one_that_was_given_up_can_be_dismissed(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        name = harness.notifications.queue(OVEN).id
        harness.notifications.give_up(name, "begun 5 times")
        assert harness.notifications.acknowledge(name).reason == "begun 5 times"


def test_one_with_the_key_of_one_that_waits_replaces_its_text_and_keeps_its_place(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        first = harness.notifications.queue(NewNotification(title="80 %", dedupe_key="disk"))
        second = harness.notifications.queue(NewNotification(title="90 %", dedupe_key="disk"))
        (kept,) = harness.notifications.find().records
        assert (kept.id, kept.title, kept.created_at_ms) == (first.id, "90 %", first.created_at_ms)
        assert second == kept


def test_one_that_returns_to_a_newer_one_with_its_key_expires(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        first = harness.notifications.queue(NewNotification(title="80 %", dedupe_key="disk"))
        harness.notifications.deliver(first.id)
        harness.notifications.queue(NewNotification(title="90 %", dedupe_key="disk"))
        assert harness.notifications.requeue(first.id).status is NotificationStatus.EXPIRED
        assert statuses(harness) == ["expired", "queued"]


def test_recovering_queues_what_an_ended_engine_had_delivered(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        names = [harness.notifications.queue(OVEN).id for _ in range(2)]
        harness.notifications.deliver(names[0])
        (recovered,) = harness.notifications.recover()
        assert (recovered.id, recovered.reason) == (names[0], "the engine that announced it has ended")
        assert statuses(harness) == ["queued", "queued"]


@pytest.mark.parametrize("title", ["", "  ", "\n"])
def test_one_without_a_text_is_refused(tmp_path: Path, title: str) -> None:
    with opened(tmp_path) as harness, pytest.raises(HarnessError, match="needs a text"):
        harness.notifications.queue(NewNotification(title=title))


def test_old_ones_that_are_told_no_more_are_deleted_and_waiting_ones_expire(tmp_path: Path) -> None:
    wall = Wall()
    with opened(tmp_path, wall) as harness:
        names = [harness.notifications.queue(OVEN).id for _ in range(4)]
        harness.notifications.acknowledge(names[0])
        harness.notifications.expire(names[1])
        harness.notifications.give_up(names[2], "no speaker")
        wall.now += 89 * 86_400
        harness.reconcile()
        assert len(statuses(harness)) == 4
        wall.now += 2 * 86_400
        harness.reconcile()
        (last,) = harness.notifications.find().records
        assert (last.id, last.status, last.reason) == (
            names[3],
            NotificationStatus.EXPIRED,
            "it has waited for too long",
        )


def test_ends_of_tasks_and_timers_wait_however_long(tmp_path: Path) -> None:
    wall = Wall()
    with opened(tmp_path, wall) as harness:
        harness.notifications.queue(NewNotification(title="Task failed", kind=NotificationKind.TASK_FAILED))
        due_at_ms = round((wall.now + 100 * 86_400) * 1000)
        harness.notifications.queue(NewNotification(title="passport", source="timer", due_at_ms=due_at_ms))
        wall.now += 99 * 86_400
        harness.reconcile()
        assert statuses(harness) == ["queued", "queued"]


def test_the_oldest_of_too_many_of_one_source_expire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notification_store, "MAX_OF_SOURCE", 2)
    wall = Wall()
    with opened(tmp_path, wall) as harness:
        for source in ("disk", "cron", "cron", "cron", "oven"):
            harness.notifications.queue(NewNotification(title="ready", source=source))
            wall.now += 1
        harness.reconcile()
        assert statuses(harness) == ["queued", "expired", "queued", "queued", "queued"]
        monkeypatch.setattr(notification_store, "MAX_OPEN", 3)
        harness.reconcile()
        assert statuses(harness) == ["expired", "expired", "queued", "queued", "queued"]


def test_old_ones_and_the_oldest_of_too_many_are_deleted_together(tmp_path: Path) -> None:
    wall = Wall()
    with opened(tmp_path, wall) as harness:
        names = [harness.notifications.queue(OVEN).id for _ in range(3)]
        harness.notifications.acknowledge(names[1])
        wall.now += 100
        before = round(wall.now * 1000)
        harness.notifications.acknowledge(names[0])
        harness.notifications.acknowledge(names[2])
        assert harness.notifications.retire(before, keep=2) == 2
        assert [one.id for one in harness.notifications.find().records] == [names[2]]


def test_a_long_title_and_body_are_cut_with_a_mark(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        kept = harness.notifications.queue(NewNotification(title="t" * 1000, body="b" * 100_000))
        assert (len(kept.title), len(kept.body)) == (200, 10_000)
        assert kept.title[-1] == kept.body[-1] == "…"


def test_a_deleted_one_is_returned_and_gone(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        queued = harness.notifications.queue(OVEN)
        assert harness.notifications.delete(queued.id) == queued
        assert statuses(harness) == []
        with pytest.raises(UnknownNotificationError):
            harness.notifications.delete(queued.id)
