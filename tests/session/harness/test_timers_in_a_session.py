"""Timers that the model sets are announced at their time, also by a later session."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.session.announcing import announced, answer, on_virtual_time, records, titles
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Live
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import LoopClock, VirtualTimeLoop
from gemini_live_runtime.harness.notifications import NewNotification
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.agent.harness.notification_delivery import POLL_S
from gemini_live_runtime.session.agent.harness.session_notifications import MAX_TIMERS
from gemini_live_runtime.session.agent.harness.silence import LULL_S


def cook() -> Live:
    return agent().timer_tools()


async def test_without_timer_tools_the_model_has_none() -> None:
    async with talk(agent()) as t:
        assert "tools" not in t.setup


async def test_a_timer_is_announced_at_its_time_and_not_before(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", seconds=600)
        await t.turn("set a timer", "It is set.")
        await t.passes(598.0)
        assert announced(t) == []
        await t.passes(2.0)
        assert [(one["title"], one["source"], one["due"]) for one in announced(t)] == [("the tea", "timer", "now")]


async def test_one_that_waits_says_when_it_is_due(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", seconds=600)
        due = datetime.fromtimestamp(LoopClock().wall() + 600).strftime("%Y-%m-%d %H:%M")
        (event,) = t.all(ev.NotificationChanged)
        assert event.status == "queued"
        assert event.reason.startswith(f"it is due at {due}")


async def test_timers_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        for text, seconds in (("late", 300), ("early", 60)):
            await t.calls("timer", text=text, seconds=seconds)
        await t.turn("set timers", "They are set.")
        await t.passes(61.0)
        assert titles(t) == ["early"]
        await t.says("Early.")
        await t.ends()
        await t.passes(240.0)
        assert titles(t) == ["early", "late"]


async def test_a_time_of_day_is_the_next_one(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        due = datetime.fromtimestamp(LoopClock().wall()) + timedelta(minutes=-5)
        await t.calls("timer", text="the train", at=f"{due:%H:%M:%S}")
        (one,) = records(tmp_path)
        assert one.due_at_ms is not None
        assert datetime.fromtimestamp(one.due_at_ms / 1000) == (due + timedelta(days=1)).replace(microsecond=0)


async def test_a_date_with_its_time_is_local(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        due = (datetime.fromtimestamp(LoopClock().wall()) + timedelta(days=3)).replace(microsecond=0)
        await t.calls("timer", text="the train", at=due.isoformat())
        assert [one.due_at_ms for one in records(tmp_path)] == [round(due.timestamp() * 1000)]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({}, "needs seconds or at"),
        ({"seconds": 60, "at": "19:30"}, "needs seconds or at"),
        ({"seconds": 0.5}, "not between a second and 30 days"),
        ({"seconds": -60}, "not between a second and 30 days"),
        ({"seconds": 31 * 86_400}, "not between a second and 30 days"),
        ({"at": "2001-01-01T10:00"}, "not between a second and 30 days"),
        ({"at": "9999-12-31T23:59:59"}, "not between a second and 30 days"),
        ({"at": "25:61"}, "is no time"),
        ({"at": "\x00half past"}, "is no time"),
        ({"at": "x" * 10_000}, "is no time"),
    ],
)
async def test_a_time_that_cannot_be_is_refused_with_a_sentence(
    tmp_path: Path, args: dict[str, Any], reason: str
) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", **args)
        assert reason in answer(t)["error"]
        assert len(answer(t)["error"]) < 300
        assert records(tmp_path) == []


async def test_what_was_due_while_no_session_ran_tells_how_late_it_is(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", seconds=600)
    await LoopClock().sleep(600 + 2 * 3600)
    async with talk(agent(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(LULL_S + 0.1)
        assert [(one["title"], one["due"]) for one in announced(t)] == [("the tea", "2 hours ago")]


async def test_one_that_is_not_due_yet_is_announced_by_a_later_session_at_its_time(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", seconds=600)
    async with talk(agent(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(500.0)
        assert announced(t) == []
        await t.passes(101.0)
        assert titles(t) == ["the tea"]


async def test_a_dormant_session_wakes_for_a_timer(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path), dormant_after_s=60.0) as t:
        await t.calls("timer", text="the tea", seconds=600)
        await t.turn("set a timer", "It is set.")
        await t.passes(300.0)
        assert t.all(ev.SessionState)[-1].word == "dormant"
        await t.passes(301.0)
        await t.connects_again()
        await t.passes(LULL_S + 0.1)
        assert titles(t) == ["the tea"]


async def test_a_time_that_comes_while_the_machine_sleeps_is_noticed_within_the_poll(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", seconds=3600)
        await t.turn("set a timer", "It is set.")
        # A folder that has not changed of late is not read again.
        os.utime(tmp_path / "notifications", (1.0, 1.0))
        await t.passes(10.0)
        # The wall clock counts the sleep, the event loop's does not.
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        loop._wall += 7200
        await t.passes(POLL_S + 0.1)
        assert [(one["title"], one["due"]) for one in announced(t)] == [("the tea", "60 minutes ago")]


async def test_while_only_timers_wait_nothing_runs_but_the_look_at_the_folder(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", seconds=86_400)
        await t.turn("set a timer", "It is set.")
        await t.passes(60.0)
        told = len(t.all(ev.NotificationChanged))
        await t.passes(3600.0)
        assert len(t.all(ev.NotificationChanged)) == told
        assert "notifications" not in {task.get_name() for task in asyncio.all_tasks()}


async def test_timers_are_listed_with_what_is_left(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="late", seconds=7200)
        await t.calls("timer", text="early", seconds=600)
        await t.calls("list_timers")
        assert [(one["text"], one["left"]) for one in answer(t)["timers"]] == [
            ("early", "10 minutes"),
            ("late", "2 hours"),
        ]


async def test_a_cancelled_timer_is_not_announced(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", seconds=60)
        await t.calls("cancel_timer", timer=answer(t)["timer"])
        assert [(one.status, one.reason) for one in t.all(ev.NotificationChanged)][-1] == (
            "expired",
            "the model cancelled it",
        )
        await t.passes(120.0)
        assert announced(t) == []
        await t.calls("list_timers")
        assert answer(t) == {"timers": []}


async def test_only_timers_can_be_cancelled(tmp_path: Path) -> None:
    with Harness.open(tmp_path) as harness:
        other = harness.notifications.queue(NewNotification(title="oven", due_at_ms=4_000_000_000_000)).id
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        for name in (other, "../../etc/passwd", "\x00"):
            await t.calls("cancel_timer", timer=name)
            assert "error" in answer(t)
        assert [one.status.value for one in records(tmp_path)] == ["queued"]


async def test_more_timers_than_the_limit_are_refused(tmp_path: Path) -> None:
    with Harness.open(tmp_path) as harness:
        for _ in range(MAX_TIMERS):
            harness.notifications.queue(NewNotification(title="t", source="timer", due_at_ms=4_000_000_000_000))
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="one more", seconds=60)
        assert "100 timers wait already" in answer(t)["error"]


async def test_in_a_turn_that_a_timer_caused_the_model_cannot_set_another(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", seconds=60)
        await t.turn("set a timer", "It is set.")
        await t.passes(61.0)
        assert titles(t) == ["the tea"]
        await t.calls("timer", text="again", seconds=60)
        assert "not the user" in answer(t)["error"]
        await t.says("The tea.")
        await t.ends()
        await t.turn("again, please", "Sure.")
        await t.calls("timer", text="again", seconds=60)
        assert answer(t)["text"] == "again"


async def test_without_records_the_model_learns_that_the_timer_ends_with_the_session() -> None:
    async with talk(cook(), harness=HarnessWorker(clock=LoopClock())) as t:
        await t.calls("timer", text="the tea", seconds=60)
        assert answer(t)["note"] == "It is forgotten when this session ends."
        await t.turn("set a timer", "It is set.")
        await t.passes(61.0)
        assert titles(t) == ["the tea"]


async def test_a_secret_in_a_timer_does_not_reach_the_disk(tmp_path: Path) -> None:
    secret = "AIza" + "S" * 35
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text=f"key {secret}", seconds=60)
        assert secret not in records(tmp_path)[0].title


@pytest.mark.parametrize(("due", "listed"), [(2**53, ["the tea", "far"]), (10**400, ["the tea"])])
async def test_a_file_with_an_impossible_time_hides_no_other(tmp_path: Path, due: int, listed: list[str]) -> None:
    with Harness.open(tmp_path) as harness:
        one = harness.notifications.queue(NewNotification(title="far", source="timer", due_at_ms=1))
        path = harness.paths.notification(one.id)
    path.write_text(path.read_text().replace('"dueAtMs": 1', f'"dueAtMs": {due}'))
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", seconds=60)
        await t.calls("list_timers")
        assert [one["text"] for one in answer(t)["timers"]] == listed
        await t.turn("set a timer", "It is set.")
        await t.passes(61.0)
        assert titles(t) == ["the tea"]


async def test_the_timer_of_another_agent_is_told_by_a_notice_and_not_spoken(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.turn("hello", "Good day.")
        due_at_ms = round((LoopClock().wall() + 60) * 1000)
        timer = NewNotification(title="pasta", source="timer", due_at_ms=due_at_ms, agent="concierge")
        await t.handle.harness.notify(timer)
        await t.passes(58.0)
        assert told(t) == []
        await t.passes(8.0)
        assert told(t) == ["The timer of concierge is over: pasta"]
        assert announced(t) == []
        await t.passes(60.0)
        assert told(t) == ["The timer of concierge is over: pasta"]
    (one,) = records(tmp_path)
    assert (one.status.value, one.reason) == ("expired", "a notice told of it in a session of another agent")


async def test_a_timer_is_set_in_the_name_of_its_agent_which_speaks_it_in_a_later_session(tmp_path: Path) -> None:
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("timer", text="the tea", seconds=60)
        name = t.all(ev.SessionStarted)[0].agent
    assert [one.agent for one in records(tmp_path)] == [name]
    async with talk(cook(), harness=on_virtual_time(tmp_path)) as t:
        await t.turn("hello", "Good day.")
        await t.passes(70.0)
        assert titles(t) == ["the tea"]


def told(t: Talk) -> list[str]:
    """Return the notices of other agents' timers."""
    return [notice.text for notice in t.all(ev.Notice) if notice.code == "notification"]
