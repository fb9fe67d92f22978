"""Pictures of the screens for recorded sessions and exports, filled and empty."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.console_driver import Driver, make_app, settle
from tests.support.manual_clock import ManualClock
from tests.support.recordings_screens import done, record_live, record_three
from tests.support.scripted_link import ScriptedLink
from textual.pilot import Pilot

Act = Callable[[Driver], Awaitable[None]]


@pytest.fixture(autouse=True)
def one_place_and_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same times and folder on every machine."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setattr("gemini_live_tui.editors.export.usual_folder", lambda: Path("/calls/exported"))
    if hasattr(time, "tzset"):
        time.tzset()
    yield
    monkeypatch.undo()
    if hasattr(time, "tzset"):
        time.tzset()


async def sessions(driver: Driver) -> None:
    record_three()
    await driver.press("ctrl+l")
    await done(driver)
    await driver.press("down")
    await done(driver)


async def no_sessions(driver: Driver) -> None:
    await driver.press("ctrl+l")
    await done(driver)


async def export(driver: Driver) -> None:
    record_live()
    driver.app.performer("export")()
    await driver.settle()
    await driver.press("down", "down", "space")


async def not_recorded(driver: Driver) -> None:
    driver.app.performer("export")()
    await driver.settle()


NARROW, WIDE = (80, 24), (160, 45)
PICTURES: dict[str, tuple[Act, tuple[int, int], dict[str, Any]]] = {
    "sessions-narrow": (sessions, NARROW, {}),
    "sessions-wide": (sessions, WIDE, {}),
    "sessions-none-narrow": (no_sessions, NARROW, {}),
    "sessions-ascii-ansi-narrow": (sessions, NARROW, {"ascii": True, "theme": "ansi"}),
    "export-narrow": (export, NARROW, {}),
    "export-not-recorded-narrow": (not_recorded, NARROW, {"record": "off"}),
}


@pytest.mark.parametrize("name", PICTURES)
def test_the_recordings_look_as_they_were_approved(name: str, snap_compare: Any) -> None:
    act, size, settings = PICTURES[name]
    link, clock = ScriptedLink(), ManualClock()
    link.start(record=settings.pop("record", "audio"))
    app = make_app(link, clock, **settings)

    async def run_before(pilot: Pilot[Any]) -> None:
        await settle(app, link)
        await act(Driver(app, pilot, link, clock))

    assert snap_compare(app, terminal_size=size, run_before=run_before)
