"""The session as a whole: exports, other sessions."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.console_driver import Driver
from tests.support.recordings_screens import (
    MIDDLE,
    NEWEST,
    OLDEST,
    chosen,
    done,
    open_export,
    open_sessions,
    record_live,
    record_three,
)

from gemini_live_runtime import paths
from gemini_live_runtime.journal.sessions.trash import trash_dir
from gemini_live_tui.editors.export import ExportScreen
from gemini_live_tui.pickers.sessions import SessionsScreen


@check("sessions")
async def _sessions(driver: Driver, key: str) -> None:
    record_three()
    await driver.press(key)
    await done(driver)
    assert isinstance(driver.app.screen, SessionsScreen)
    rows = driver.rows()
    assert "Sessions" in rows[0]
    assert [word in rows[at] for at, word in ((3, "concierge"), (4, "Angry caller"), (5, "clinic"))] == [True] * 3
    assert "errors" in rows[4]
    assert "user: call me at" in driver.screen()
    await driver.press("ctrl+l")
    assert driver.app.screen is driver.app.console_screen


@check("export")
async def _export(driver: Driver, key: str) -> None:
    record_live()
    driver.app.console_screen.grid.go_to("phase")
    await driver.settle()
    await driver.press(key)
    screen = driver.app.screen
    assert isinstance(screen, ExportScreen)
    assert "[x] Markdown" in driver.screen()
    assert "[x] Redact" in driver.screen()


@check("sessions-open")
async def _open(driver: Driver, key: str) -> None:
    await open_sessions(driver)
    await driver.press(key)
    assert "The call here goes on without a console" in driver.screen()
    await driver.press("escape")
    assert isinstance(driver.app.screen, SessionsScreen)
    await driver.press(key, "enter")
    outcome = driver.app.return_value
    assert outcome is not None
    assert outcome.replay == paths.sessions_dir() / NEWEST
    assert "Detached" in outcome.message
    assert driver.link.orders == []


@check("sessions-resume")
async def _resume(driver: Driver, key: str) -> None:
    await open_sessions(driver)
    driver.link.bye()
    await driver.settle()
    await driver.press("down", key)
    outcome = driver.app.return_value
    assert outcome is not None
    assert outcome.session == paths.sessions_dir() / MIDDLE


@check("sessions-rename")
async def _rename(driver: Driver, key: str) -> None:
    await open_sessions(driver)
    await driver.press(key, *"Happy")
    await driver.press("enter")
    await done(driver)
    assert "Happy" in driver.rows()[3]
    assert f"{NEWEST} is now Happy" in driver.screen()


@check("sessions-export")
async def _export_chosen(driver: Driver, key: str) -> None:
    await open_sessions(driver)
    await driver.press("down", key)
    assert isinstance(driver.app.screen, ExportScreen)
    assert "Export Angry caller" in driver.screen()
    await driver.press("escape")
    assert isinstance(driver.app.screen, SessionsScreen)


@check("sessions-delete")
async def _delete(driver: Driver, key: str) -> None:
    await open_sessions(driver)
    await driver.press(key)
    await done(driver)
    assert "concierge" not in driver.rows()[3]
    assert "Deleted concierge. u takes it back" in driver.screen()
    assert (trash_dir(paths.sessions_dir()) / NEWEST).is_dir()


@check("sessions-undo")
async def _undo(driver: Driver, key: str) -> None:
    screen = await open_sessions(driver)
    await driver.press("down", "delete")
    await done(driver)
    assert "Angry" not in "".join(driver.rows()[:8])
    await driver.press(key)
    await done(driver)
    assert chosen(screen) == MIDDLE
    assert f"Restored {MIDDLE}" in driver.screen()
    await driver.press(key)
    assert "Nothing was deleted here" in driver.screen()


@check("sessions-trash")
async def _trash(driver: Driver, key: str) -> None:
    screen = await open_sessions(driver)
    await driver.press(key)
    await done(driver)
    assert "The trash is empty" in driver.screen()
    await driver.press(key)
    await done(driver)
    await driver.press("delete")
    await done(driver)
    await driver.press(key)
    await done(driver)
    assert "Trash" in driver.rows()[0]
    assert "enter Restore" in driver.screen()
    assert "Delete" not in driver.rows()[-1]
    assert chosen(screen) == NEWEST
    await driver.press("enter")
    await done(driver)
    assert (paths.sessions_dir() / NEWEST).is_dir()


@check("sessions-filter")
async def _filter(driver: Driver, key: str) -> None:
    screen = await open_sessions(driver)
    await driver.press(key, *"clin", "enter")
    assert list(screen.list.rows) == [OLDEST]
    assert "1 of 3" in driver.screen()
    await done(driver)
    await driver.press("escape")
    assert len(screen.list.rows) == 3


@check("sessions-close")
async def _close(driver: Driver, key: str) -> None:
    await open_sessions(driver)
    await driver.press(key)
    assert driver.app.screen is driver.app.console_screen


@check("sessions-up")
async def _up(driver: Driver, key: str) -> None:
    screen = await open_sessions(driver)
    await driver.press("end", key)
    assert chosen(screen) == MIDDLE


@check("sessions-down")
async def _down(driver: Driver, key: str) -> None:
    screen = await open_sessions(driver)
    await driver.press(key)
    await done(driver)
    assert chosen(screen) == MIDDLE
    assert MIDDLE in driver.screen()


@check("sessions-page-up")
async def _page_up(driver: Driver, key: str) -> None:
    screen = await open_sessions(driver)
    await driver.press("end", key)
    assert chosen(screen) == NEWEST


@check("sessions-page-down")
async def _page_down(driver: Driver, key: str) -> None:
    screen = await open_sessions(driver)
    await driver.press(key)
    assert chosen(screen) == OLDEST


@check("sessions-first")
async def _first(driver: Driver, key: str) -> None:
    screen = await open_sessions(driver)
    await driver.press("down", "down", key)
    assert chosen(screen) == NEWEST


@check("sessions-last")
async def _last(driver: Driver, key: str) -> None:
    screen = await open_sessions(driver)
    await driver.press(key)
    assert chosen(screen) == OLDEST


@check("export-choose")
async def _choose(driver: Driver, key: str) -> None:
    screen = await open_export(driver, paths.data_dir())
    await driver.press("down", key)
    assert screen.choices.formats == {"markdown", "text"}
    assert "[x] Text" in driver.screen()
    assert "write 2 files" in driver.screen()
    await driver.press(key)
    assert screen.choices.formats == {"markdown"}


@check("export-write")
async def _write(driver: Driver, key: str) -> None:
    folder = paths.data_dir() / "out"
    await open_export(driver, folder)
    await driver.press(key)
    await done(driver)
    (written,) = folder.iterdir()
    assert written.name == "20261120-120000-abcd.md"
    assert "Ruiz" not in written.read_text()
    said = " ".join(driver.screen().split())
    assert "Written:" in said
    assert "places redacted" in said


@check("export-close")
async def _close_export(driver: Driver, key: str) -> None:
    await open_export(driver, paths.data_dir())
    await driver.press(key)
    assert driver.app.screen is driver.app.console_screen


@check("export-up")
async def _export_up(driver: Driver, key: str) -> None:
    screen = await open_export(driver, paths.data_dir())
    assert screen.list is not None
    await driver.press("down", "down", key)
    assert screen.list.row_at_cursor == "format text"


@check("export-down")
async def _export_down(driver: Driver, key: str) -> None:
    screen = await open_export(driver, paths.data_dir())
    assert screen.list is not None
    await driver.press(*[key] * 6)
    assert screen.list.row_at_cursor == "part all"
