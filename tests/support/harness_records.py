"""Open the console on records, and wait for the thread that reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.console_driver import Driver, console
from tests.support.manual_clock import ManualClock
from tests.support.quick_disk import QuickDisk
from tests.support.scripted_link import ScriptedLink

from gemini_live_runtime.harness.memory import MemoryRecord, MemoryWrite
from gemini_live_runtime.harness.notifications import HarnessNotification, NewNotification
from gemini_live_runtime.harness.store import Harness
from gemini_live_tui.dialogs.confirm import ConfirmScreen
from gemini_live_tui.harness.pane import TasksPane
from gemini_live_tui.harness.records import Records

SESSION = "20261120-120000-abcd"
"""Name of the scripted session."""


@contextmanager
def records(root: Path, *, age_s: float = 0.0) -> Iterator[Harness]:
    """Open records as another program, `age_s` before the console's clock.

    Its clock goes on by a millisecond at each look, so that no two records are of the same time.
    """
    looks = count()
    with Harness.open(
        root, disk=QuickDisk(), wall=lambda: ManualClock().wall() - age_s + next(looks) / 1000
    ) as harness:
        yield harness


@asynccontextmanager
async def console_with_records(**settings: object) -> AsyncIterator[tuple[Driver, Harness]]:
    """Run a console whose session has records in a new folder."""
    link = ScriptedLink()
    with TemporaryDirectory() as folder, records(Path(folder), age_s=120.0) as harness:
        link.harness_root = folder
        async with console(link=link, **settings) as driver:  # type: ignore[arg-type]
            yield driver, harness


async def done(driver: Driver) -> None:
    """Return when what was begun in threads has been shown."""
    for _ in range(3):
        await driver.app.workers.wait_for_complete()
        await driver.settle()


async def press(driver: Driver, *keys: str) -> str:
    """Press keys one after the other, each with its effects; return the screen's text."""
    for key in keys:
        await driver.press(key)
        await done(driver)
    return driver.screen()


async def look(driver: Driver) -> str:
    """Let the pane look for changes of other programs; return the screen's text."""
    tasks_pane(driver).look()
    await done(driver)
    return driver.screen()


async def with_records(driver: Driver, root: Path) -> None:
    """Give the pane other records than the session's."""
    tasks_pane(driver).parts.use(Records(str(root), driver.clock))
    await look(driver)


def tasks_pane(driver: Driver) -> TasksPane:
    """Return the pane's body."""
    return driver.app.console_screen.query_one(TasksPane)


async def confirm(driver: Driver) -> None:
    """Answer the question in front with yes."""
    assert isinstance(driver.app.screen, ConfirmScreen)
    await press(driver, "enter")


def queue(harness: Harness, title: str = "the oven is ready", **more: object) -> HarnessNotification:
    """Queue a notification."""
    return harness.notifications.queue(NewNotification(title=title, source="cron", **more))  # type: ignore[arg-type]


def remember(harness: Harness, key: str = "name", value: object = "Ada", scope: str = "user") -> MemoryRecord:
    """Write a memory."""
    return harness.memory.put(MemoryWrite(scope=scope, key=key, value=value))
