"""A flood of events keeps the console neither from answering keys nor readable."""

from __future__ import annotations

import gc

import pytest
from tests.support.console_driver import Driver, console

from gemini_live_runtime import events as ev
from gemini_live_tui.run_console import _collect_again
from gemini_live_tui.session_data import store
from gemini_live_tui.widgets.line_list import Line

CALLS = 1000


def call_many(driver: Driver) -> None:
    for number in range(CALLS):
        driver.link.emit(ev.ToolCalled(call_id=f"c{number}", name="lookup", args={"n": number}))
    for number in range(CALLS):
        driver.link.emit(
            ev.ToolFinished(call_id=f"c{number}", name="lookup", status="ok", result={}, ms=1.0, delivered=True)
        )


async def test_keys_are_answered_while_a_flood_of_calls_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(size=(120, 36)) as driver:
        # Each frame folds one event: what a slow machine does in the time that a frame has.
        monkeypatch.setattr(store, "FOLD_BUDGET_S", -1.0)
        call_many(driver)
        while not driver.link.delivered:
            await driver.pilot.pause(0)
        driver.tap("7")
        while driver.app.console_screen.grid.focused_pane != "tools":
            await driver.pilot.pause(0)
        assert driver.app.store.view.seq < CALLS
        monkeypatch.undo()
        await driver.settle()
        assert driver.app.store.view.events_by_type["tool.finished"] == CALLS


async def test_a_transcript_lays_each_call_of_a_flood_out_twice_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(size=(120, 36)) as driver:
        transcript = driver.app.console_screen.transcript
        laid_out: list[int] = []
        lines = transcript.item_lines
        monkeypatch.setattr(
            transcript, "item_lines", lambda index, width: laid_out.append(index) or lines(index, width)
        )
        call_many(driver)
        await driver.settle()
        assert len(laid_out) < 2 * CALLS + 200


async def test_of_an_answer_with_thousands_of_rows_only_those_in_sight_are_laid_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    make = Line.__init__
    async with console(size=(120, 36)) as driver:
        link = driver.link
        link.begin_turn()
        link.model("\n\n- a\n" * 8000)
        await driver.settle()
        monkeypatch.setattr(Line, "__init__", lambda line, *row, **more: made.append("") or make(line, *row, **more))
        link.model("\n\n- a\nand so on")
        await driver.settle()
        assert "and so on" in driver.screen()
        assert len(made) < 36 * 4


async def test_two_thousand_announcements_of_the_end_are_one_row_with_their_number() -> None:
    async with console(size=(120, 36)) as driver:
        driver.link.exchange("What is said", "stays in sight")
        driver.link.emit(*(ev.ConnectionGoAway(time_left_s=float(left)) for left in range(2000, 0, -1)))
        await driver.settle()
        assert "What is said" in driver.screen()
        assert "(2,000" in driver.screen()


def test_what_a_flood_leaves_in_memory_leads_to_no_full_garbage_collection() -> None:
    was_enabled, thresholds = gc.isenabled(), gc.get_threshold()
    try:
        # As Python begins.
        gc.set_threshold(700, 10, 10)
        _collect_again()
        # Python counts what is left here: it searches all only when a quarter of that is new.
        gc.collect()
        before = gc.get_stats()[2]["collections"]
        kept: list[object] = [[[]] for _ in range(200_000)]
        assert gc.get_stats()[2]["collections"] == before
        assert len(kept) == 200_000
    finally:
        gc.set_threshold(*thresholds)
        (gc.enable if was_enabled else gc.disable)()
