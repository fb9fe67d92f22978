"""Messages above the transcript have at most three rows; logs have all of each."""

from __future__ import annotations

import pytest
from tests.support.console_driver import console

LONG = "What cannot be done " + " ".join(f"word{number}" for number in range(90)) + " is told to its very end"


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_long_message_takes_three_rows_and_says_where_all_of_it_is(size: tuple[int, int]) -> None:
    async with console(size=size) as driver:
        driver.app.console_screen.say(LONG, "warning")
        await driver.settle()
        rows = driver.rows()
        shown = [row for row in rows[2:6] if "word" in row or "all of it" in row]
        assert len(shown) == 3
        assert all(len(row) <= size[0] for row in shown)
        assert shown[-1].rstrip().endswith("… (all of it in 9 Logs)")
        await driver.press("9")
        assert "console  What cannot be done" in driver.screen()
        await driver.press("end", "enter")
        assert "is told to its very end" in driver.words()
        assert "warning at 00:00, console" in driver.screen()


async def test_a_message_that_fits_is_shown_whole_and_wraps_anew_with_the_terminal() -> None:
    text = " ".join(f"word{number}" for number in range(24))
    async with console(size=(120, 36)) as driver:
        driver.app.console_screen.say(text, "error")
        await driver.settle()
        assert "word23" in driver.screen()
        assert "all of it" not in driver.screen()
        await driver.pilot.resize_terminal(60, 24)
        await driver.settle()
        assert sum("word" in row for row in driver.rows()) == 3
        await driver.pilot.resize_terminal(120, 36)
        await driver.settle()
        assert "all of it" not in driver.screen()


async def test_a_message_said_twice_is_one_line_of_the_logs_and_a_passing_word_none() -> None:
    async with console(size=(120, 36)) as driver:
        screen = driver.app.console_screen
        screen.say("Something is wrong.", "warning")
        screen.say("Something is wrong.", "warning")
        screen.say("Copied.", passing=True)
        await driver.press("9")
        assert [line.text for line in screen.notices.lines] == ["Something is wrong."]
        assert driver.screen().count("console  Something is wrong.") == 1
        assert "debug and above · 1 line " in driver.screen()
