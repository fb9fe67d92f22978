"""A held agent is shown; faulty breakpoints and marks are explained."""

from __future__ import annotations

import pytest
from tests.pilot.actions.debug import broken, held
from tests.support.console_driver import BY_NAME, Driver, console
from textual import events

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import SetBreakpoint


async def one_by_one(driver: Driver, *keys: str) -> None:
    """As a person does, who looks at what comes of each key."""
    for key in keys:
        await driver.press(key)


async def test_the_held_row_is_there_only_while_the_agent_is_held_and_counts_the_seconds() -> None:
    async with console(size=(120, 30)) as driver:
        assert "HELD" not in driver.screen()
        await held(driver)
        row = next(row for row in driver.rows() if " HELD  at" in row)
        assert row.strip() == (
            "HELD  at watcher no_consent · 0 s · 1 answer, 3 decisions wait · F7 one decision · F8 turn · F6 go on"
        )
        driver.clock.advance(12.2)
        driver.app.frames.flush()
        await driver.settle()
        assert "no_consent · 12 s ·" in driver.screen()
        driver.link.emit(ev.AgentReleased(how="continue", seconds=12.2))
        await driver.settle()
        assert "at watcher no_consent ·" not in driver.screen()


@pytest.mark.parametrize("width", [60, 64, 72, 80, 100, 160])
async def test_the_held_row_fits_and_keeps_the_place(width: int) -> None:
    async with console(size=(width, 24)) as driver:
        driver.link.emit(
            ev.AgentHeld(by="b1", at="app:balance > 1000 and turn:n >= 3 and user:name is set"),
            ev.AgentHolding(answers=2, steps=14),
        )
        await driver.settle()
        row = next(row for row in driver.rows() if " HELD  at" in row)
        assert "at app:balance >" in row
        assert len(row) <= width


async def test_hostile_words_of_a_hold_are_shown_harmlessly() -> None:
    async with console() as driver:
        driver.link.emit(ev.AgentHeld(by="b1", at="watcher \x1b[2J[bold]x[/]"), ev.AgentHolding(answers=0, steps=1))
        await driver.settle()
        assert "\x1b" not in driver.screen()
        assert "[bold]x[/]" in driver.screen()


async def test_what_comes_first_stands_behind_a_pause() -> None:
    async with console() as driver:
        driver.link.emit(
            ev.AgentHeld(by="pause", at="the next decision"), ev.AgentHolding(answers=0, steps=1, next="turn ends")
        )
        await driver.settle()
        assert "the next decision: turn ends · 0 s · 1 decision waits" in driver.screen()


async def test_in_a_small_terminal_a_pause_names_what_comes_first_without_a_cut() -> None:
    async with console(size=(80, 24)) as driver:
        driver.link.emit(
            ev.AgentHeld(by="pause", at="the next decision"),
            ev.AgentHolding(answers=1, steps=4, next="generation complete"),
        )
        await driver.settle()
        assert "HELD  at generation complete · 0 s · 5 wait · F7 step" in driver.screen()


async def test_a_call_that_waits_for_a_held_agent_does_not_count_as_running() -> None:
    async with console(size=(80, 24)) as driver:
        call = ev.ToolCalled(call_id="one", name="add_item", args={"dish": "pasta"})
        driver.link.emit(ev.AgentHeld(by="pause", at="the next decision"), call)
        await driver.settle()
        assert 'add_item(dish="pasta") → held' in driver.screen()
        await driver.press("7")
        await driver.settle()
        assert "held 0 ms" in driver.screen()
        assert "1 held" in driver.screen()
        driver.link.emit(ev.AgentReleased(how="continue", seconds=4.0))
        await driver.settle()
        assert "1 running" in driver.screen()
        await driver.press("1")
        assert 'add_item(dish="pasta") → running' in driver.screen()


async def test_a_bad_expression_is_pointed_at_and_nothing_of_it_is_lost() -> None:
    async with console() as driver:
        await broken(driver)
        await one_by_one(driver, "a", "left", "enter", *"app:n >", "enter")
        assert driver.link.orders == []
        assert "Bad expression: column 8: expected a value, found the end." in driver.screen()
        assert "› app:n >" in driver.screen()
        await driver.press("space", "4", "enter")
        assert driver.link.orders == [SetBreakpoint(kind="expression", target="app:n > 4")]


async def test_what_the_engine_refuses_is_said_in_the_form() -> None:
    async with console() as driver:
        driver.link.refusing = "There is no tool fly. Use one of lookup."
        await broken(driver)
        await one_by_one(driver, "a", "right", "right", "right", "enter", *"fly", "enter")
        assert "There is no tool fly. Use one of lookup." in driver.screen()
        assert "› fly" in driver.screen()
        await driver.press("escape")
        assert "[tool]" not in driver.screen()
        assert "no_consent" in driver.screen()


async def test_a_name_is_completed_from_what_the_agent_has() -> None:
    async with console() as driver:
        driver.link.emit(
            ev.AgentDescribed(
                agent="x",
                phases=({"name": "greet", "ways": [{"to": "book"}]}, {"name": "book", "ways": []}),
                keys=({"key": "app:balance"},),
            )
        )
        await one_by_one(driver, f"{BY_NAME}breakpoints", "a", "right", "enter")
        assert "greet · book" in driver.screen()
        await one_by_one(driver, "escape", "a", "right", "enter", "g", "right", "enter")
        assert driver.link.orders == [SetBreakpoint(kind="transition", target="greet>book")]
        await one_by_one(driver, "a", "left", "left", "left", "enter", *"app:n > 1 and app:b", "right", "enter")
        assert driver.link.orders[-1] == SetBreakpoint(kind="expression", target="app:n > 1 and app:balance")


async def test_what_is_pasted_into_a_note_is_made_fit_to_show() -> None:
    async with console() as driver:
        await driver.press("ctrl+g")
        driver.app.post_message(events.Paste("see\x1b[31m here\nand there"))
        await driver.settle()
        assert "see[31m here" in driver.screen() or "see here" in driver.screen()
        assert "\x1b" not in driver.app.screen.field.value


async def test_quick_typing_is_not_overtaken_by_the_keys_that_edit() -> None:
    async with console() as driver:
        await driver.press("ctrl+g")
        await driver.press(*"ood", "backspace", "backspace", *"dd", "home", "v", "end", "!", "enter")
        assert [order.text for order in driver.link.orders] == ["vodd!"]


async def test_a_note_that_cannot_go_out_stays() -> None:
    async with console() as driver:
        await one_by_one(driver, "ctrl+g", *"odd")
        driver.link.die()
        await driver.settle()
        await driver.press("enter")
        assert "odd" in driver.screen()
        await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen


async def test_a_mark_made_while_looking_back_marks_what_is_seen() -> None:
    async with console() as driver:
        driver.link.exchange("One", "two")
        await driver.settle()
        assert driver.app.console_screen.time_travel.go_to_moment("event 3") == ""
        await driver.settle()
        await driver.press("ctrl+g")
        await driver.press("enter")
        assert [order.of for order in driver.link.orders] == [3]


async def test_in_a_recording_nothing_is_marked_held_or_broken() -> None:
    async with console(replay=True) as driver:
        await driver.press("ctrl+g")
        assert "no session going on" in driver.screen()
        await held(driver)
        assert "HELD  at watcher no_consent" in driver.screen()
        assert "F7" not in next(row for row in driver.rows() if " HELD  at" in row)
        await broken(driver)
        await driver.press("a", "o", "delete")
        assert driver.link.orders == []
