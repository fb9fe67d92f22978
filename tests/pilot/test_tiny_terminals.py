"""Lists hold in a terminal of any width, and before they are laid out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.collection import negotiating
from tests.support.console_driver import Driver, console
from tests.support.set_up_doubles import FakeStarter
from textual.geometry import Size
from textual.widgets import OptionList

from gemini_live_tui.widgets.json_area import JsonArea

SCREENS_THAT_WRAP = (
    "palette", "phase-override", "devices", "gallery", "marks", "themes", "breakpoints", "key", "import-state",
    "welcome",
)  # fmt: skip


@asynccontextmanager
async def one_column() -> AsyncIterator[Driver]:
    async with console(starter=FakeStarter(), size=(1, 20)) as driver:
        negotiating(driver.link)
        await driver.press("/mark a moment of which to say more")
        yield driver


async def lists_of(driver: Driver, name: str) -> list[OptionList | JsonArea]:
    driver.app.action_open(name)
    await driver.settle()
    await driver.app.workers.wait_for_complete()
    await driver.settle()
    screen = driver.app.screen
    found = [*screen.query(OptionList), *screen.query(JsonArea)]
    assert found, name
    return found


async def test_lists_and_editors_have_room_to_wrap_in_a_terminal_of_one_column() -> None:
    async with one_column() as driver:
        for name in SCREENS_THAT_WRAP:
            for found in await lists_of(driver, name):
                shown = found.display and all(node.display for node in found.ancestors_with_self if node.is_attached)
                assert found.scrollable_content_region.width > 4 or not shown, name
            driver.app.pop_screen()


async def test_page_keys_on_a_list_that_is_not_laid_out_yet_end_nothing() -> None:
    async with one_column() as driver:
        for name in SCREENS_THAT_WRAP:
            for found in await lists_of(driver, name):
                if isinstance(found, OptionList):
                    # As right after it was filled: options, and no line of them.
                    found._size = Size(0, 0)
                    found.set_options(["one", "two"])
                    found.highlighted = 0
                    found.action_page_down()
                    found.action_page_up()
                    assert found.highlighted == 0
            driver.app.pop_screen()
