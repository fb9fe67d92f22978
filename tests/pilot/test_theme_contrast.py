"""Every painted text has contrast, in each theme and on every screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rich.style import Style
from tests.snapshots.test_console_looks import interrupted
from tests.support.collection import negotiating
from tests.support.colours import contrast
from tests.support.console_driver import BY_NAME, Driver, console
from tests.support.looks import LOOKS
from tests.support.scripted_link import ScriptedLink
from tests.support.set_up_doubles import FakeStarter
from textual.color import Color

from gemini_live_tui import theming

THEMES = [name for name in theming.theme_names() if name != "ansi"]
LEAST = 4.5
EVERYWHERE = ("voice", "muted", "selected prompt", "selected transcript", "suggestions", "help", "palette", "warned")
"""Looks that are measured in every theme; the others in a dark one, a light one and the barest."""

PICKER = f"{BY_NAME}themes"


def _hex(style: Style, *, back: bool) -> str:
    colour = style.bgcolor if back else style.color
    return "" if colour is None or colour.is_default else Color.from_rich_color(colour).hex6.lower()


def _painted(driver: Driver) -> Iterator[tuple[str, str, str]]:
    """Yield text, colour and ground of the front screen's cells.

    Lines and bars are no text.
    """
    screen = driver.app.screen
    for y, strip in enumerate(screen._compositor.render_strips()):
        x = 0
        for segment in strip:
            words = "".join(" " if "\u2500" <= sign <= "\u259f" else sign for sign in segment.text).strip(" ·")
            at, x = x, x + segment.cell_length
            style = segment.style
            if not words or style is None:
                continue
            widget, _ = screen.get_widget_at(at + len(segment.text) - len(segment.text.lstrip()), y)
            if widget is screen:
                continue
            ink, ground = _hex(style, back=False), _hex(style, back=True)
            if style.reverse:
                ink, ground = ground, ink
            yield words, ink, ground


@pytest.mark.parametrize("name", LOOKS)
async def test_every_text_has_the_contrast_it_needs_in_every_theme(name: str) -> None:
    poor: dict[tuple[str, str, str], str] = {}
    link = ScriptedLink()
    (interrupted if name in EVERYWHERE else negotiating)(link)
    async with console(size=(120, 36), link=link, started=False, starter=FakeStarter()) as driver:
        await driver.settle()
        await LOOKS[name](driver)
        for theme in THEMES if name in EVERYWHERE else ("ember", "solar-light", "phosphor"):
            driver.app.theme = theme
            await driver.settle()
            poor.update(_poor(driver))
    assert poor == {}


async def test_the_theme_picker_can_be_read_in_every_theme_it_shows() -> None:
    async with console(size=(80, 24)) as driver:
        await driver.press(PICKER, "home")
        for _ in theming.theme_names():
            if driver.app.theme in THEMES:
                assert _poor(driver) == {}
            await driver.press("down")


def _poor(driver: Driver) -> dict[tuple[str, str, str], str]:
    """Return the places of unreadable text, by theme, ink and ground."""
    poor: dict[tuple[str, str, str], str] = {}
    for words, ink, ground in _painted(driver):
        assert ink, words
        assert ground, words
        if contrast(ink, ground) < LEAST:
            poor[driver.app.theme, ink, ground] = f"{contrast(ink, ground):.2f} {words}"
    return poor
