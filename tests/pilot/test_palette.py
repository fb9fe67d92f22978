"""The command palette, as far as the checks of the actions in it do not tell."""

from __future__ import annotations

from tests.support.console_driver import console
from textual.command import CommandList

from gemini_live_tui.pickers.palette import CommandsScreen


async def test_a_search_that_ends_while_the_palette_is_taken_down_ends_nothing_else() -> None:
    async with console() as driver:
        await driver.press("f3")
        palette = driver.app.screen
        assert isinstance(palette, CommandsScreen)
        found = palette.query_one(CommandList)
        await palette.remove_children()
        palette._refresh_command_list(found, [], True)
        palette._show_busy = not palette._show_busy
        await driver.settle()
        await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen


async def test_a_word_of_a_description_finds_its_command() -> None:
    async with console(size=(100, 40)) as driver:
        for word, command in (("settings", "Set up: Profiles"), ("resume", "Session: Sessions"), ("detach", "Quit")):
            await driver.press("f3", *word)
            await driver.app.workers.wait_for_complete()
            await driver.settle()
            assert command in driver.screen(), word
            await driver.press("escape")


async def test_commands_called_so_come_before_those_that_only_mention_it() -> None:
    async with console(size=(100, 40)) as driver:
        await driver.press("f3", *"export")
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        rows = [row.strip() for row in driver.rows()]
        named = next(at for at, row in enumerate(rows) if "Session: Export" in row)
        assert named < next(at for at, row in enumerate(rows) if "Session: Sessions" in row)
