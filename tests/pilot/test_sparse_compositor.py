"""Partial updates add up to the screen; a failing painter is replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.control import ControlType
from rich.style import Style
from tests.support.console_driver import Driver, console
from textual import _compositor
from textual._compositor import Compositor, LayoutUpdate
from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget

from gemini_live_runtime import events as ev
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.painting import painter_guard, sparse_compositor


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


Loss = Callable[[pytest.MonkeyPatch, Screen[None]], None]


def _lose_attribute(name: str) -> Loss:
    def lose(monkeypatch: pytest.MonkeyPatch, screen: Screen[None]) -> None:
        make = Compositor.__init__

        def init(self: Compositor) -> None:
            make(self)
            self.__dict__.pop(name, None)

        monkeypatch.setattr(Compositor, "__init__", init)
        if hasattr(Compositor, name):
            monkeypatch.delattr(Compositor, name)

    return lose


def _lose(owner: object, name: str) -> Loss:
    return lambda monkeypatch, screen: monkeypatch.delattr(owner, name)


LOSSES: dict[str, Loss] = {
    **{f"module.{name}": _lose(_compositor, name) for name in painter_guard.METHODS},
    **{
        f"{owner}.{name}": _lose(getattr(_compositor, owner), name)
        for owner, methods in painter_guard.METHODS.items()
        for name in methods
        if name in vars(getattr(_compositor, owner))
    },
    **{f"Compositor.{name}": _lose_attribute(name) for name in painter_guard.ATTRIBUTES},
    **{
        f"Widget.{name}": _lose(Widget, name)
        for name in (*painter_guard.WIDGET_METHODS, *painter_guard.WIDGET_ATTRIBUTES)
        if name in vars(Widget)
    },
    "Screen._compositor": lambda monkeypatch, screen: monkeypatch.delattr(screen, "_compositor"),
}


def test_it_is_meant_for_the_installed_textual() -> None:
    reports: list[str] = []
    screen: Screen[None] = Screen()
    painter_guard.install(screen, reports.append)
    assert isinstance(screen._compositor, sparse_compositor.SparseCompositor)
    assert not reports


@pytest.mark.parametrize("lost", LOSSES)
def test_without_one_of_textuals_private_names_textual_paints(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[str] = []
    screen: Screen[None] = Screen()
    LOSSES[lost](monkeypatch, screen)
    painter_guard.install(screen, reports.append)
    assert type(getattr(screen, "_compositor", None)) in (Compositor, type(None))
    assert len(reports) == 1
    assert reports[0].startswith("Textual itself paints the screen")
    assert lost.rpartition(".")[2] in reports[0]


def _fails(*_: Any) -> Any:
    raise AttributeError("gone")


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (sparse_compositor, "_paint"),
        (sparse_compositor, "_outermost"),
        (sparse_compositor.SparseCompositor, "_changed_pieces"),
    ],
)
async def test_a_painter_that_fails_leaves_the_rest_of_the_session_to_textual(
    owner: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(size=(120, 36)) as driver:
        monkeypatch.setattr(owner, name, _fails)
        for number in range(3):
            driver.link.begin_turn()
            driver.link.user(f"Question {number}")
            await driver.settle()
            assert f"Question {number}" in driver.screen()
        screen = driver.app.console_screen
        assert type(screen._compositor) is Compositor
        told = [line.text for line in screen.notices.lines if "Textual itself paints" in line.text]
        assert told == ["Textual itself paints the screen from now on, which is slower: AttributeError: gone."]


def test_an_update_that_cannot_be_rendered_is_rendered_by_textual() -> None:
    failures: list[Exception] = []
    compositor = sparse_compositor.SparseCompositor(failures.append)
    broken: Any = [(0, 0, None)]
    updates = [sparse_compositor.CellsUpdate(broken, compositor) for _ in range(2)]
    assert [update.render_segments(Console()) for update in updates] == ["", ""]
    assert type(compositor) is Compositor
    assert len(failures) == 1
