"""With --ascii only ASCII is drawn, also for Textual's own signs."""

from __future__ import annotations

from dataclasses import fields

import pytest
from tests.snapshots.test_console_looks import interrupted
from tests.support.collection import negotiating
from tests.support.console_driver import BY_NAME, console
from tests.support.looks import LOOKS
from tests.support.scripted_link import ScriptedLink
from tests.support.set_up_doubles import FakeStarter

from gemini_live_tui.painting.glyphs import ASCII, UNICODE, Glyphs


@pytest.mark.parametrize("name", LOOKS)
async def test_no_screen_draws_anything_but_ascii(name: str) -> None:
    link = ScriptedLink()
    (negotiating if name.startswith("pane") else interrupted)(link)
    async with console(size=(80, 24), ascii=True, link=link, started=False, starter=FakeStarter()) as driver:
        await driver.settle()
        await LOOKS[name](driver)
        for width, height in ((80, 24), (120, 36)):
            await driver.pilot.resize_terminal(width, height)
            await driver.settle()
            for row in driver.rows():
                assert row.isascii(), (name, width, row)


async def test_long_lists_scroll_with_plain_bars() -> None:
    async with console(size=(80, 24), ascii=True) as driver:
        for number in range(100):
            driver.link.exchange(f"Question {number}", "Answer")
        await driver.settle()
        await driver.press("pageup")
        assert all(row.isascii() for row in driver.rows())
        await driver.press(f"{BY_NAME}themes")
        assert all(row.isascii() for row in driver.rows())


@pytest.mark.parametrize("field", [field.name for field in fields(Glyphs)])
def test_every_sign_has_a_plain_twin(field: str) -> None:
    plain, sign = getattr(ASCII, field), getattr(UNICODE, field)
    if field == "states":
        assert set(plain) == set(sign)
        plain = "".join(plain.values())
    assert plain
    assert str(plain).isascii()
