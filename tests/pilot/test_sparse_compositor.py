"""What is written to the terminal bit by bit always adds up to what is on the screen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.control import ControlType
from rich.style import Style
from tests.support.console_driver import Driver, console
from textual._compositor import LayoutUpdate
from textual.geometry import Region

from gemini_live_runtime import events as ev
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.painting import sparse_compositor


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
        if not isinstance(update, sparse_compositor.CellsUpdate):
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
                    self.rows.setdefault(y, {})[x] = (character, _looks(segment.style))
                    x += 1

    def truth(self) -> dict[int, dict[int, tuple[str, Any]]]:
        strips = self._app.screen._compositor.render_strips()
        return {
            y: dict(enumerate((character, _looks(segment.style)) for segment in strip for character in segment.text))
            for y, strip in enumerate(strips)
        }


def _looks(style: Style | None) -> Style | None:
    """Without what a mouse finds in it."""
    return None if style is None else style.clear_meta_and_links()


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


REGIONS = st.builds(Region, *[st.integers(0, 8)] * 2, *[st.integers(1, 8)] * 2)


def _cells(region: Region) -> list[tuple[int, int]]:
    return [(x, y) for y in region.line_range for x in range(*region.column_span)]


@given(REGIONS, REGIONS)
def test_what_is_beside_a_part_and_the_part_are_the_whole_without_overlap(whole: Region, other: Region) -> None:
    part = whole.intersection(other)
    if not part:
        return
    pieces = [part, *sparse_compositor._beside(whole, part)]
    assert sorted(cell for piece in pieces for cell in _cells(piece)) == sorted(_cells(whole))


@given(st.lists(REGIONS, max_size=6))
def test_leaving_out_what_is_inside_another_leaves_no_cell_out(regions: list[Region]) -> None:
    kept = sparse_compositor._outermost(regions)
    assert {cell for region in kept for cell in _cells(region)} == {cell for one in regions for cell in _cells(one)}


def test_it_is_meant_for_the_installed_textual() -> None:
    assert sparse_compositor.fits()
