"""What is written to the terminal bit by bit always adds up to what is on the screen."""

from __future__ import annotations

from typing import Any

import pytest
from rich.control import ControlType
from tests.support.console_driver import Driver, console
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region

from gemini_live_runtime import events as ev
from gemini_live_tui import sparse_compositor
from gemini_live_tui.app import ConsoleApp


class Glass:
    """A terminal that shows what it is sent."""

    def __init__(self, app: ConsoleApp, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows: dict[int, dict[int, tuple[str, Any]]] = {}
        self.partial = 0
        self._app = app
        display = app._display

        def shown(screen: Any, renderable: Any) -> None:
            self._take(renderable)
            display(screen, renderable)

        monkeypatch.setattr(app, "_display", shown)

    def _take(self, update: Any) -> None:
        if isinstance(update, LayoutUpdate):
            self.rows = self.truth()
            return
        if not isinstance(update, ChopsUpdate):
            return
        self.partial += 1
        x = y = 0
        for segment in update.__rich_console__(self._app.console, self._app.console_options):
            if segment.control:
                for code in segment.control:
                    if code[0] == ControlType.CURSOR_MOVE_TO:
                        x, y = int(code[1]), int(code[2])
            elif segment.text != "\n":
                for character in segment.text:
                    self.rows.setdefault(y, {})[x] = (character, segment.style)
                    x += 1

    def truth(self) -> dict[int, dict[int, tuple[str, Any]]]:
        strips = self._app.screen._compositor.render_strips()
        return {
            y: dict(enumerate((character, segment.style) for segment in strip for character in segment.text))
            for y, strip in enumerate(strips)
        }


def _letters(rows: dict[int, dict[int, tuple[str, Any]]]) -> list[str]:
    return ["".join(rows[y][x][0] for x in sorted(rows[y])) for y in sorted(rows)]


async def _agrees(glass: Glass, driver: Driver) -> None:
    await driver.settle()
    assert _letters(glass.rows) == _letters(glass.truth())
    assert glass.rows == glass.truth()


def _wrote(number: int) -> ev.StateChanged:
    return ev.StateChanged(key="app:n", old=None, new=number, mutation=number + 1, origin="tool", added=not number)


@pytest.mark.parametrize("size", [(160, 45), (120, 36), (80, 24)])
async def test_partial_updates_add_up_to_the_screen(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(size=size) as driver:
        assert isinstance(driver.app.screen._compositor, sparse_compositor.SparseCompositor)
        glass = Glass(driver.app, monkeypatch)
        driver.app.refresh(layout=True)
        driver.app.screen.refresh(layout=True)
        await driver.settle()
        glass.rows = glass.truth()
        for number in range(12):
            driver.link.begin_turn()
            driver.link.sample(mic_db=-40.0 + 3 * number, out_db=-30.0 + number, erle_db=20.0)
            driver.link.user(f"Question {number} about the harbour and whatever lies behind it")
            await _agrees(glass, driver)
            driver.link.model(f"An answer of some length, number {number}, that is wrapped over more than one row " * 2)
            driver.link.state("speaking" if number % 2 else "listening")
            await _agrees(glass, driver)
            driver.link.emit(ev.TurnCompleted(outcome="complete", latency_ms=400.0 + number))
            await _agrees(glass, driver)
            driver.link.emit(ev.PhaseEntered(phase=f"phase {number}", trigger="guard"), _wrote(number))
            driver.link.model("More words beside a pane that changes, too")
            await _agrees(glass, driver)
        await driver.press("pageup", "up", "h", "i", "escape", "f1")
        await driver.press("escape", "end")
        await _agrees(glass, driver)
        assert glass.partial > 20


def test_changes_that_are_far_apart_are_not_joined() -> None:
    top, low, beside = Region(0, 1, 120, 1), Region(0, 30, 60, 2), Region(40, 31, 30, 2)
    groups = sparse_compositor._bands([low, top, beside])
    assert sorted(map(len, groups)) == [1, 2]


def test_it_is_meant_for_the_installed_textual() -> None:
    assert sparse_compositor.fits()
