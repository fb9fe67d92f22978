"""Tasks of a real engine process outlive its console, and its death is announced."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.e2e.test_operator_over_the_door import Console
from tests.support.patience import PATIENCE_S

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.launch import EngineProcess, connect, start_engine
from gemini_live_runtime.engine.link import LinkClosed
from gemini_live_runtime.engine.socket_link import SocketLink
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.harness.notifications import NotificationKind
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import TaskStatus


@asynccontextmanager
async def attached(base: Path, session_id: str) -> AsyncIterator[tuple[EngineProcess, SocketLink, Console]]:
    """Start an engine of the concierge, attach a console, and end both."""
    spec = EngineSpec(
        session_id=session_id,
        data_dir=str(base / "data"),
        harness_root=str(base / "harness"),
        mode="text",
        audio="none",
        record="off",
    )
    engine = start_engine(spec, root=base / "run")
    try:
        link = await connect(session_id, engine=engine, root=base / "run")
        try:
            yield engine, link, Console(link)
        finally:
            await link.close()
        await asyncio.to_thread(engine.process.wait, PATIENCE_S)
    finally:
        if engine.process.poll() is None:
            engine.process.kill()
        engine.process.wait()


async def hang_up(link: SocketLink, console: Console, order: cmd.HangUp) -> list[ev.Payload]:
    """Hang up, wait until the engine closes the link; return what it told."""
    told: list[ev.Payload] = []

    def note(found: ev.Payload) -> bool:
        told.append(found)
        return False

    await link.send(cmd.Command("end", order))
    with pytest.raises(LinkClosed):
        await console.until(note)
    return told


def is_spilled(found: ev.Payload) -> bool:
    return isinstance(found, ev.ToolFinished) and found.task != ""


def outcomes(base: Path) -> tuple[list[TaskStatus], list[NotificationKind]]:
    """Return what the records say to the next program."""
    with Harness.open(base / "harness") as harness:
        harness.reconcile()
        tasks, notifications = harness.tasks.find().records, harness.notifications.find().records
        return [one.status for one in tasks], [one.kind for one in notifications]


async def test_an_engine_whose_console_hangs_up_ends_after_its_task() -> None:
    with tempfile.TemporaryDirectory(prefix="glt") as name:
        base = Path(name)
        async with attached(base, "s1") as (_, link, console):
            await console.does(cmd.SendText(text="order a taxi to the station"), is_spilled)
            told = await hang_up(link, console, cmd.HangUp(finish_tasks=True))
        # Its call was over before its task was.
        assert not [one for one in told if isinstance(one, ev.TaskChanged) and one.status != "running"]
        assert outcomes(base) == ([TaskStatus.SUCCEEDED], [NotificationKind.TASK_SUCCEEDED])


async def test_the_next_engine_tells_of_the_task_of_one_that_was_killed() -> None:
    with tempfile.TemporaryDirectory(prefix="glt") as name:
        base = Path(name)
        async with attached(base, "s1") as (engine, _, console):
            await console.does(cmd.SendText(text="order a taxi to the station"), is_spilled)
            engine.process.kill()
        async with attached(base, "s2") as (_, link, console):
            told = await console.until(
                lambda found: isinstance(found, ev.NotificationChanged) and found.status == "delivered"
            )
            assert [one.title for one in told if isinstance(one, ev.NotificationChanged)][-1] == (
                "Task interrupted: order_taxi"
            )
            await hang_up(link, console, cmd.HangUp())
        assert outcomes(base) == ([TaskStatus.INTERRUPTED], [NotificationKind.TASK_INTERRUPTED])
