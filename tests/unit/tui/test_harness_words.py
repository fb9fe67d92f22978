"""Tasks, notifications and memories are explained in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemini_live_runtime.harness.memory import MemoryAuthor, MemoryProvenance, MemoryRecord
from gemini_live_runtime.journal.fold.harness_view import NotificationCard, TaskCard
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.harness.explanations import reason_of_memory, reason_of_notification, reason_of_task
from gemini_live_tui.harness.items import (
    NotificationItem,
    TaskItem,
    task_order,
    told_notifications,
    with_cards,
    with_reasons,
)
from gemini_live_tui.harness.lists import why_words
from gemini_live_tui.painting.formatting import date_clock_text
from gemini_live_tui.painting.glyphs import UNICODE
from gemini_live_tui.painting.runs import plain
from gemini_live_tui.panes.why_rows import Reason, lines_of

NOW = 1_700_000_000.0
WAITING = NotificationItem("n1", "the oven is ready", "queued", NOW - 120, NOW - 120, source="cron")
RUNNING = TaskItem("t1", "build", "running", NOW - 60, None, 0.4, "tests", lives=True, pid=42, limit=NOW + 600)


def sentences(reason: Reason) -> str:
    return plain(lines_of(reason, UNICODE))


@pytest.mark.parametrize(
    ("changes", "row", "sentence"),
    [
        ({"reason": "the user is speaking"}, "the user is speaking", "You are speaking, and are not interrupted"),
        ({"reason": "something unheard of"}, "something unheard of", "It waits because of this: something unheard of."),
        ({}, "", "Nothing is in its way: the model is about to be asked."),
        ({"has_deliverer": False}, "no session announces now", "No session announces notifications now."),
        ({"deliverer": "s2"}, "another engine announces", "The engine s2 announces the notifications"),
        (
            {"retry": NOW + 11.2, "lost": "the user spoke over it", "attempts": 1},
            "retry in 12 s",
            "It is tried again in 12 s: the last time the user spoke over it.",
        ),
        ({"retry": NOW - 1}, "about to be tried again", "It is tried again now."),
        ({"due": NOW + 3600}, f"due {date_clock_text(NOW + 3600, NOW)}", "It is due at"),
        ({"due": NOW - 1, "reason": "a tool is running"}, "a tool is running", "A tool is running"),
        ({"status": "expired", "reason": "its time is over"}, "its time is over", "never told: its time is over."),
        ({"status": "failed", "reason": "begun 5 times"}, "begun 5 times", "It was given up at"),
        ({"status": "delivered"}, "", "The model is announcing it."),
        ({"status": "acknowledged"}, "", "before the model announced it."),
        (
            {"status": "acknowledged", "attempts": 1, "told": NOW},
            f"at {date_clock_text(NOW, NOW)}",
            f"The model announced it at {date_clock_text(NOW, NOW)}.",
        ),
    ],
)
def test_a_notification_has_its_reason_in_the_row_and_in_sentences(
    changes: dict[str, object], row: str, sentence: str
) -> None:
    item = replace(WAITING, **changes)  # type: ignore[arg-type]
    assert why_words(item, NOW) == row
    assert sentence in sentences(reason_of_notification(item, NOW))


def test_attempts_and_the_time_limit_are_told() -> None:
    said = sentences(reason_of_notification(replace(WAITING, attempts=2, expires=NOW + 60, body="Hot."), NOW))
    assert "The model has begun it 2 times; after five times it is given up." in said
    assert f"It is dropped at {date_clock_text(NOW + 60, NOW)} if it was not told by then." in said
    assert "Hot." in said


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "It runs in another program, process 42. That is asked when you cancel it."),
        ({"is_here": True}, "It runs in this session"),
        ({"lives": False}, "Its program has ended. The next look interrupts it."),
        ({"status": "failed", "end": NOW, "text": "no disk"}, "It failed after 1 min 00 s."),
        (
            {"status": "succeeded", "end": NOW, "is_end_recorded": False},
            "The disk refuses its end",
        ),
        ({"is_recorded": False}, "It has no record here"),
    ],
)
def test_a_task_says_where_it_runs_or_how_it_ended(changes: dict[str, object], sentence: str) -> None:
    assert sentence in sentences(reason_of_task(replace(RUNNING, **changes), NOW))  # type: ignore[arg-type]


def test_a_running_task_says_how_far_it_is_and_how_long_it_may_run() -> None:
    said = sentences(reason_of_task(RUNNING, NOW))
    assert "40% are done: tests." in said
    assert f"It may run until {date_clock_text(NOW + 600, NOW)}" in said


def test_a_memory_says_who_wrote_it_and_after_which_words() -> None:
    origin = MemoryProvenance(
        author=MemoryAuthor.MODEL, session_id="s1", agent="concierge", turn=3, text="my name is Ada"
    )
    at = round((NOW - 60) * 1000)
    memory = MemoryRecord(scope="user", key="name", created_at_ms=at, updated_at_ms=at, value="Ada", provenance=origin)
    said = sentences(reason_of_memory(memory, NOW))
    assert "A model wrote it at" in said
    assert "1 min ago." in said
    assert "In agent concierge, session s1, turn 3." in said
    assert "Words of the user before that: my name is Ada" in said
    unknown = sentences(reason_of_memory(replace(memory, provenance=None), NOW))
    assert "Somebody unknown wrote it" in unknown


def view() -> SessionView:
    found = SessionView(seq=9, t=60.0)
    found.wall = NOW - 60
    return found


def test_the_session_tells_of_progress_and_of_the_end_before_the_disk() -> None:
    shown = view()
    shown.harness.tasks["t1"] = TaskCard("build", 0.0, 1, 2, fraction=0.7, text="docs")
    item = with_cards([RUNNING], shown, live=True)[0]
    assert (item.fraction, item.text, item.is_here) == (0.7, "docs", True)
    shown.harness.tasks["t1"] = TaskCard("build", 0.0, 1, 2, status="succeeded", text="done", end=30.0)
    item = with_cards([RUNNING], shown, live=True)[0]
    assert (item.status, item.end, item.is_here) == ("succeeded", NOW - 30, False)


def test_running_tasks_come_first_and_then_the_newest_end() -> None:
    ended = [replace(RUNNING, id=f"e{age}", status="succeeded", end=NOW - age) for age in (30, 10, 20)]
    found = sorted([*ended, RUNNING], key=task_order)
    assert [item.id for item in found] == ["t1", "e10", "e20", "e30"]


def test_only_the_announcing_session_knows_why_one_waits() -> None:
    shown = view()
    card = NotificationCard("the oven is ready", 0.0, 1, 2, reason="the user is speaking", retry_at=70.0)
    item = replace(WAITING, deliverer="s1")
    here = with_reasons([item], {"n1": card}, shown, "s1")[0]
    assert (here.reason, here.deliverer, here.retry) == ("the user is speaking", "", NOW + 10)
    elsewhere = with_reasons([item], {"n1": card}, shown, "s2")[0]
    assert (elsewhere.reason, elsewhere.deliverer) == ("", "s1")


def test_a_recording_lists_what_its_session_told() -> None:
    shown = view()
    shown.harness.notifications["n1"] = NotificationCard("one", 1.0, 1, 2, status="acknowledged", attempts=1, end=9.0)
    shown.harness.notifications["n2"] = NotificationCard("two", 2.0, 1, 3, reason="a tool is running")
    first, second = told_notifications(shown)
    assert (first.title, first.reason) == ("two", "a tool is running")
    assert (second.title, second.told) == ("one", NOW - 51)
