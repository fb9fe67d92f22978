"""No pane fails in any session, at any size and moment.

A pane that is not in sight is not told of changes: when it comes back into sight, Textual paints it before it is shown
anew.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.support.console_driver import Driver, console
from tests.support.scripted_link import ScriptedLink
from tests.unit.vocabulary_strategies import instances, payloads

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.fold import blocks
from gemini_live_runtime.journal.history.live_history import LiveHistory
from gemini_live_tui.session_data.store import ALL
from gemini_live_tui.widgets import line_list

SOAK = bool(os.environ.get("SOAK"))
PHASES = tuple(Phase) if SOAK else (Phase.explicit, Phase.generate)
"""Shrinking takes minutes: `SOAK=1` does it."""
WIDE, NARROW = (120, 36), (80, 24)
KEYS = ("app:monthly", "app:plan", "user:name", "turn:n", "derived:sum", "no scope", "temp:x")
LARGE, SMALL = (WIDE, (200, 60)), (NARROW, (100, 30), (60, 18), (41, 12), (20, 5))
SIZES = LARGE + SMALL


def changed(key: str, value: Any, *, removed: bool = False) -> ev.StateChanged:
    return ev.StateChanged(key=key, old=None, new=value, mutation=1, origin="tool", by="test", removed=removed)


def failures(driver: Driver) -> dict[str, str]:
    return {name: pane.failure for name, pane in driver.app.console_screen.grid.panes.items() if pane.failure}


async def test_a_key_that_was_removed_out_of_sight_is_not_painted_when_the_state_pane_comes_back() -> None:
    async with console(size=WIDE) as driver:
        driver.link.emit(changed("app:monthly", 120), changed("app:plan", "gold"))
        await driver.press("4", "1")
        await driver.pilot.resize_terminal(*NARROW)
        await driver.settle()
        driver.link.emit(changed("app:monthly", None, removed=True))
        await driver.settle()
        await driver.pilot.resize_terminal(*WIDE)
        await driver.settle()
        assert failures(driver) == {}
        assert "plan" in driver.screen()
        assert "monthly" not in driver.screen()


def guards(*targets: str) -> ev.GuardsRead:
    return ev.GuardsRead(phase="one", ways=tuple({"to": name, "outcome": "ready"} for name in targets))


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("2", [ev.PhaseEntered(phase="one", trigger="initial"), guards("two", "three")], [guards("two")]),
        (
            "3",
            [ev.AgentDescribed(agent="a", watchers=({"name": "anger"}, {"name": "hurry"}))],
            [ev.AgentDescribed(agent="a", watchers=({"name": "hurry"},))],
        ),
    ],
    ids=["transitions", "watchers"],
)
async def test_what_is_gone_when_a_pane_comes_back_is_not_painted(
    key: str, before: list[ev.Payload], after: list[ev.Payload]
) -> None:
    async with console(size=WIDE) as driver:
        await driver.press(key)
        driver.link.emit(*before)
        await driver.settle()
        await driver.press("1")
        await driver.pilot.resize_terminal(*NARROW)
        await driver.settle()
        driver.link.emit(*after)
        await driver.settle()
        await driver.pilot.resize_terminal(*WIDE)
        await driver.settle()
        assert failures(driver) == {}


async def test_blocks_that_were_dropped_since_the_last_frame_are_not_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_CHARS", 1000)
    monkeypatch.setattr(line_list, "MAX_KEPT", 1)
    async with console(size=NARROW) as driver:
        driver.link.emit(*(ev.TextSent(text=f"before {number}") for number in range(60)))
        await driver.settle()
        history, transcript = driver.app.store.history, driver.app.console_screen.transcript
        assert isinstance(history, LiveHistory)
        # Between two frames Textual may paint at any time.
        history.append(ev.Event(history.last_seq + 1, 1.0, 1, 1, ev.TextSent(text="later " + "x" * 990)))
        for y in range(20):
            transcript.paint_line(y)
        driver.app.store.dirty |= ALL
        await driver.settle()
        assert "xxx" in driver.screen()


# -- any session ---------------------------------------------------------------------------------------------------

_values = st.none() | st.integers(-5, 5) | st.text(max_size=8) | st.lists(st.integers(0, 3), max_size=2)
_news = st.one_of(
    st.builds(changed, st.sampled_from(KEYS), _values),
    st.builds(changed, st.sampled_from(KEYS), st.none(), removed=st.just(True)),
    st.one_of([instances(cls) for cls in (ev.ToolCalled, ev.PhaseEntered, ev.GuardsRead, ev.AgentDescribed)]),
    payloads,
)
_fold = st.tuples(st.just("fold"), st.sampled_from(("app", "user", "turn", "derived", "other", "session")))
_cursor = st.tuples(st.just("cursor"), st.floats(0, 1))
_KEYS = (*"123456789T", "left", "right", "down", "end", "pageup", "enter", "escape", "z")
_press = st.tuples(st.just("press"), st.sampled_from(_KEYS))
_any_step = st.one_of(
    st.tuples(st.just("emit"), st.lists(_news, min_size=1, max_size=12)),
    st.tuples(st.just("resize"), st.sampled_from(SIZES)),
    _cursor,
    _fold,
    _press,
)


HANDED_OFF = ev.AgentHandedOff(previous="a", agent="b", by="tool")
"""An agent without phases takes over."""


def listed(count: int) -> list[ev.Payload]:
    """Events after which each pane has `count` of what it lists and can lose."""
    names = [f"n{number}" for number in range(count)]
    return [
        *(changed(key, 1, removed=number >= count) for number, key in enumerate(KEYS)),
        ev.PhaseEntered(phase="one", trigger="initial"),
        guards(*names),
        ev.AgentDescribed(
            agent="a",
            watchers=tuple({"name": name} for name in names),
            patterns=tuple({"name": name} for name in names),
        ),
        *(ev.ToolCalled(call_id=name, name="look_up", args={}) for name in names),
        *(ev.TaskChanged(task_id=name, tool="report", call_id=name, status="running") for name in names),
    ]


@st.composite
def _out_of_sight(draw: st.DrawFn) -> list[tuple[str, Any]]:
    """Draw steps that fill the panes, hide some, take rows away, and show them all."""
    fold, more = draw(st.lists(_fold, max_size=1)), draw(st.lists(_news, max_size=3))
    return [
        ("live", None),
        ("resize", draw(st.sampled_from(LARGE))),
        ("emit", [*listed(draw(st.integers(2, len(KEYS)))), *more]),
        ("press", draw(st.sampled_from("12345678T"))),
        *fold,
        ("press", "1"),
        ("resize", draw(st.sampled_from(SMALL))),
        ("emit", [*listed(draw(st.integers(0, 1))), *draw(st.sampled_from(([], [HANDED_OFF])))]),
        *draw(st.lists(_cursor, max_size=1)),
        ("resize", draw(st.sampled_from(LARGE))),
        *draw(st.lists(_press, max_size=2)),
    ]


async def take(driver: Driver, what: str, value: Any) -> None:
    app = driver.app
    if what == "emit":
        # The end of a session, or another one, is not what this is about.
        driver.link.emit(*(one for one in value if not isinstance(one, ev.SessionEnded)), after=0.7)
        driver.link.turn += 1
    elif what == "resize":
        await driver.pilot.resize_terminal(*value)
    elif what == "live":
        app.store.cursor.live()
        app.frames.request()
    elif what == "cursor":
        try:
            app.store.cursor.seek(round(app.store.view.seq * value))
        except JournalError:
            app.store.cursor.live()
        app.frames.request()
    elif what == "fold":
        app.console_screen.query_one("#state")._fold(value, value not in ("app", "user"))  # type: ignore[attr-defined]
    else:
        driver.tap(value)
    await driver.settle()


@settings(max_examples=60 if SOAK else 2, derandomize=not SOAK, phases=PHASES)
@given(st.lists(_any_step, min_size=5, max_size=40 if SOAK else 15))
def test_no_pane_fails_in_any_session_at_any_moment_and_size(steps: list[tuple[str, Any]]) -> None:
    asyncio.run(no_pane_fails(steps))


@settings(max_examples=60 if SOAK else 3, derandomize=not SOAK, phases=PHASES)
@given(st.lists(_out_of_sight(), min_size=2, max_size=6 if SOAK else 2))
def test_no_pane_fails_that_lost_rows_while_it_was_out_of_sight(rounds: list[list[tuple[str, Any]]]) -> None:
    asyncio.run(no_pane_fails([step for steps in rounds for step in steps]))


async def no_pane_fails(steps: list[tuple[str, Any]]) -> None:
    async with console(size=WIDE, link=ScriptedLink()) as driver:
        for what, value in steps:
            await take(driver, what, value)
            assert failures(driver) == {}
            assert driver.app.failure is None
            assert driver.app.is_running
