"""The panes that tell of time: timeline, latency, tools, logs."""

from __future__ import annotations

from typing import Any

from tests.support.action_checks import check
from tests.support.console_driver import Driver

from gemini_live_runtime import events as ev
from gemini_live_tui.dialogs.details import DetailsScreen
from gemini_live_tui.dialogs.meters import MetersScreen
from gemini_live_tui.panes.events import Events
from gemini_live_tui.panes.latency import Latency
from gemini_live_tui.panes.timeline import Timeline
from gemini_live_tui.session_data.event_index import EventFilter

STAGES = {"hang_over": 180.0, "uplink": 60.0, "server": 288.0, "downlink": 36.0, "buffer": None, "speaker": None}


def measured(driver: Driver, *latencies: float) -> None:
    """Turns with these latencies."""
    link = driver.link
    for number, ms in enumerate(latencies):
        link.exchange(f"Question {number}", f"Answer {number}", latency_ms=ms)
        link.emit(
            ev.TurnMeasured(
                of_turn=link.turn,
                latency_ms=ms,
                source="local_voice",
                stages=STAGES,
                prompt_tokens=100,
                response_tokens=20,
            )
        )
        link.t += 10


async def framed(driver: Driver) -> None:
    """Make the console so large that panes have frames with notes."""
    await driver.pilot.resize_terminal(120, 40)
    await driver.settle()


def _timeline(driver: Driver) -> Timeline:
    return driver.app.console_screen.query_one(Timeline)


@check("timeline-in")
async def _in(driver: Driver, way: str) -> None:
    await framed(driver)
    measured(driver, *[600.0] * 10)
    await driver.settle()
    before = _timeline(driver)._lanes.window.span
    await driver.press(way)
    assert _timeline(driver)._lanes.window.span == 30.0 < before
    assert "30 s" in driver.screen()


@check("timeline-out")
async def _out(driver: Driver, way: str) -> None:
    await framed(driver)
    measured(driver, *[600.0] * 10)
    await driver.press(way, way)
    window = _timeline(driver)._lanes.window
    assert (window.start, window.end) == (0.0, driver.link.t - 10)
    assert "session" in driver.screen()


@check("timeline-earlier")
async def _earlier(driver: Driver, way: str) -> None:
    measured(driver, *[600.0] * 10)
    await driver.settle()
    before = _timeline(driver)._lanes.window
    await driver.press(way)
    assert _timeline(driver)._lanes.window.end == before.end - before.span / 4


@check("timeline-later")
async def _later(driver: Driver, way: str) -> None:
    measured(driver, *[600.0] * 10)
    await driver.settle()
    before = _timeline(driver)._lanes.window
    await driver.press("left", "left", way)
    assert _timeline(driver)._lanes.window.end == before.end - before.span / 4
    await driver.press(way)
    assert "now" in _timeline(driver).plain


@check("worst-turn")
async def _worst(driver: Driver, way: str) -> None:
    measured(driver, 600.0, 1900.0, 500.0)
    await driver.settle()
    latency = driver.app.console_screen.query_one(Latency)
    assert latency.card is not None
    assert latency.card.turn == 3
    await driver.press(way)
    assert latency.card.turn == 2
    assert "turn 2 · 1900 ms" in driver.screen()
    await driver.press("down")
    assert latency.card.turn == 3
    await driver.press("up")
    assert latency.card.turn == 2


def logged(driver: Driver) -> None:
    """Log a line of each level."""
    for level in ("debug", "info", "warning", "error"):
        driver.link.emit(ev.Log(source="logging", level=level, text=f"this is {level}"))


def _log_rows(driver: Driver) -> str:
    return "\n".join(row for row in driver.rows() if "this is" in row and " log " not in row)


@check("log-level")
async def _log_level(driver: Driver, way: str) -> None:
    await framed(driver)
    logged(driver)
    await driver.press("9")
    await driver.press(way)
    assert "this is debug" not in _log_rows(driver)
    assert "info and above · 3 lines · 1 hidden" in driver.screen()
    await driver.press(way, way, way)
    assert "this is debug" in _log_rows(driver)


@check("copy-log")
async def _copy_log(driver: Driver, way: str) -> None:
    logged(driver)
    await driver.press("9")
    await driver.press(way)
    assert driver.app.clipboard.splitlines()[2] == "00:00 warning logging: this is warning"
    assert "Copied 4 lines" in driver.screen()


@check("copy-failure")
async def _copy_failure(driver: Driver, way: str) -> None:
    await driver.press("7")
    driver.app.console_screen.grid.panes["tools"].fail(ValueError("no such leg"))
    await driver.settle()
    await driver.press(way)
    assert "ValueError: no such leg" in driver.app.clipboard
    assert "Copied what went wrong" in driver.screen()


@check("copy-details")
async def _copy_details(driver: Driver, way: str) -> None:
    driver.link.call_tool("weather", {"city": "Malmö"}, {"degrees": 21})
    await driver.press("7")
    await driver.press("enter")
    assert isinstance(driver.app.screen, DetailsScreen)
    assert '"city": "Malmö"' in driver.screen()
    await driver.press(way)
    assert '"degrees": 21' in driver.app.clipboard
    assert "copied" in driver.screen()


@check("open-row")
async def _open_row(driver: Driver, way: str) -> None:
    driver.link.call_tool("weather", {"city": "Lund"}, {"degrees": 21})
    await driver.press("7")
    assert "weather(city" in driver.screen()
    await driver.press(way)
    assert isinstance(driver.app.screen, DetailsScreen)
    assert '"degrees": 21' in driver.screen()
    await driver.press("escape")
    assert driver.app.screen is driver.app.console_screen


async def happened(driver: Driver) -> None:
    """Emit some events and open the pane that lists them."""
    await framed(driver)
    for number in range(30):
        driver.link.exchange(f"Question {number}", f"Answer {number}")
    driver.link.emit(ev.MarkSet(text="odd"))
    await driver.settle()
    await driver.press("8")


async def searched(driver: Driver) -> None:
    """Return when the filter has looked at everything.

    It works in portions, limited by processor time.
    """
    events = driver.app.console_screen.query_one("#events", Events)
    for _ in range(100):
        await driver.settle()
        index = events._index
        if index is not None and index.only == EventFilter.read(events.written) and index.searched == 1.0:
            break
    await driver.settle()


def listed(driver: Driver) -> str:
    """Return the rows of the events pane."""
    events = driver.app.console_screen.query_one("#events", Events)
    top, height = round(events.scroll_y), events.size.height
    rows = [events.row_runs(row, events.size.width) for row in events.rows[top : top + height]]
    return "\n".join("".join(text for text, _ in row) for row in rows)


@check("events-filter")
async def _events_filter(driver: Driver, way: str) -> None:
    await happened(driver)
    assert "mark.set" in listed(driver)
    await driver.press(way)
    await driver.press(*'transcript.* "nswer 7')
    await searched(driver)
    assert listed(driver).count("transcript.delta") == 1
    assert "mark.set" not in listed(driver)
    assert "1 of" in driver.app.console_screen.grid.panes["events"].noted
    await driver.press("escape")
    assert "mark.set" in listed(driver)
    await driver.press(way)
    await driver.press(*"mark.set")
    await driver.press("enter")
    await searched(driver)
    assert "filter mark.set" in driver.app.console_screen.grid.panes["events"].noted
    driver.link.emit(ev.MarkSet(text="again"))
    await searched(driver)
    assert "again" in listed(driver)


@check("events-stand")
async def _events_stand(driver: Driver, way: str) -> None:
    await happened(driver)
    await driver.press("up", "up", "up")
    row = driver.app.console_screen.query_one("#events", Events).row_at_cursor
    await driver.press(way)
    assert driver.app.store.cursor.seq == int(row)
    assert f"event {int(row)} of" in driver.screen()


@check("copy-event")
async def _copy_event(driver: Driver, way: str) -> None:
    await happened(driver)
    await driver.press(way)
    assert '"type": "mark.set"' in driver.app.clipboard
    assert "Copied event" in driver.screen()


@check("meters")
async def _meters(driver: Driver, way: str) -> None:
    await framed(driver)
    await driver.press("7")
    usage: dict[str, Any] = {"prompt": {}, "response": {}, "total_tokens": 3, "cost_usd": 0.0214}
    driver.link.emit(ev.UsageReported(prompt_tokens=4812, response_tokens=1204, prices_as_of="2026-10", **usage))
    driver.link.sample(mic_db=-32.0, mic_peak_db=-24.0, clean_db=-48.0, out_db=-20.0, erle_db=24.0, mic_dropped=3)
    await driver.settle()
    assert "3 dropped" in driver.rows()[1]
    await driver.press(way)
    assert isinstance(driver.app.screen, MetersScreen)
    screen = driver.screen()
    assert "cleaned" in screen
    assert "-48 dB" in screen
    assert "4,812 in, 1,204 out" in screen
    assert "~$0.021, an estimate with the prices of 2026-10" in screen
    assert "3 microphone frames" in screen
    driver.link.sample(mic_db=-3.0, clipped=True, audio_priority="real-time", audio_restarts=2)
    await driver.settle()
    assert "CLIP" in driver.screen()
    assert "a process of real-time priority, started again 2 times" in driver.screen()
    await driver.press("escape")
    assert driver.app.screen is driver.app.console_screen
