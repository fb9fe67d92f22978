"""Record sessions for the screens that show them, and wait for their threads."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.console_driver import Driver
from tests.support.recordings import WALL, Recorder, debt_call

from gemini_live_runtime import paths
from gemini_live_runtime.journal.sessions.catalog import rename
from gemini_live_tui.editors.export import ExportScreen
from gemini_live_tui.pickers.sessions import SessionsScreen

LIVE = "20261120-120000-abcd"
"""The session of the scripted link."""

NEWEST, MIDDLE, OLDEST = "20261103-100000-cccc", "20261102-100000-bbbb", "20261101-100000-aaaa"


def record_three() -> None:
    """Record three sessions, a day apart; the middle one has a title and errors."""
    root = paths.sessions_dir()
    for days, name, agent in ((0, NEWEST, "concierge"), (1, MIDDLE, "debt_collection"), (2, OLDEST, "clinic")):
        call = debt_call(name, agent=agent, wall=WALL - days * 86_400)
        if name == MIDDLE:
            end = call.events.pop()
            call.tool("find_account", {}, {"error": "not there"}, status="error")
            call.emit(end.payload)
        folder = call.write(root, name)
        os.utime(folder / "events.jsonl", (WALL, WALL))
    rename(root / MIDDLE, "Angry caller")


def record_live(**changes: object) -> Recorder:
    """Record the session of the scripted link."""
    call = debt_call(LIVE, **changes)
    call.write(paths.sessions_dir(), LIVE)
    return call


async def done(driver: Driver) -> None:
    """Return when what was begun in threads has been shown."""
    await driver.app.workers.wait_for_complete()
    await driver.settle()
    await driver.app.workers.wait_for_complete()
    await driver.settle()


async def open_sessions(driver: Driver, *, recorded: bool = True) -> SessionsScreen:
    """Open the sessions screen and wait for its list."""
    if recorded:
        record_three()
    await driver.press("ctrl+l")
    await done(driver)
    screen = driver.app.screen
    assert isinstance(screen, SessionsScreen)
    return screen


async def open_export(driver: Driver, folder: Path, **changes: object) -> ExportScreen:
    """Open the export of the scripted link's session, into `folder`."""
    record_live(**changes)
    driver.app.performer("export")()
    await driver.settle()
    screen = driver.app.screen
    assert isinstance(screen, ExportScreen)
    screen.choices.folder = str(folder)
    return screen


def chosen(screen: SessionsScreen) -> str:
    """Return the session under the cursor."""
    return screen.list.row_at_cursor
