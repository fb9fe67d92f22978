"""The line list always shows the same as a full layout of its items."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from gemini_live_tui import theming
from gemini_live_tui.painting.wrapping import wrap
from gemini_live_tui.widgets.line_list import Line, LineList


@dataclass
class Item:
    text: str
    rev: int = 0
    open: bool = True


class Items(LineList):
    """Items of wrapped text; counts how often one is laid out."""

    def __init__(self) -> None:
        super().__init__(id="items")
        self.items: list[Item] = []
        self.layouts = 0

    def item_count(self) -> int:
        return len(self.items)

    def item_rev(self, index: int) -> int:
        return self.items[index].rev

    def item_open(self, index: int) -> bool:
        return self.items[index].open

    def item_lines(self, index: int, width: int) -> list[Line]:
        self.layouts += 1
        text = self.items[index].text
        joins = [None if not start else " " if text[start - 1] == " " else "" for start, _ in wrap(text, width)]
        slices = zip(wrap(text, width), joins, strict=True)
        return [Line(((text[start:end], "said"),), joins=join) for (start, end), join in slices]


class Host(App[None]):
    """Application with only the list."""

    def __init__(self) -> None:
        super().__init__()
        theme = theming.load_theme("ember").to_textual()
        self.register_theme(theme)
        self.theme = theme.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict.fromkeys(theming.DEFAULTS, "#808080")

    def compose(self) -> ComposeResult:
        yield Items()


@asynccontextmanager
async def hosted(size: tuple[int, int] = (40, 12)) -> AsyncIterator[tuple[Items, Pilot[None]]]:
    app = Host()
    async with app.run_test(size=size) as pilot:
        yield app.query_one(Items), pilot


def _expected(items: Items) -> list[str]:
    width = items.scrollable_content_region.width
    return [line.plain for index in range(len(items.items)) for line in items.item_lines(index, width)]


def _shown(items: Items) -> list[str]:
    height = items.size.height
    return [items.render_line(y).text.rstrip() for y in range(height)]


def _window(items: Items) -> list[str]:
    rows = [row.rstrip() for row in _expected(items)]
    top = items.scroll_offset.y
    window = rows[top : top + items.size.height]
    return window + [""] * (items.size.height - len(window))


@pytest.mark.parametrize("seed", range(4))
async def test_after_any_changes_it_shows_what_a_full_layout_would(seed: int) -> None:
    rng = random.Random(seed)
    words = ["harbour", "is", "the", "漢字かな", "quiet", "unbelievablylongword" * 3, "a", "👩‍👧"]
    async with hosted() as (items, pilot):
        forgotten = 0
        for _ in range(60):
            action = rng.choice(["add", "add", "grow", "grow", "close", "forget", "scroll", "resize"])
            still_open = [item for item in items.items if item.open]
            if action == "add":
                items.items.append(Item(" ".join(rng.choices(words, k=rng.randint(1, 12)))))
            elif action == "grow" and still_open:
                item = rng.choice(still_open)
                item.text += " " + rng.choice(words)
                item.rev += 1
            elif action == "close" and still_open:
                rng.choice(still_open).open = False
            elif action == "forget" and len(items.items) > 6:
                count = rng.randint(1, 3)
                del items.items[:count]
                forgotten += count
            elif action == "scroll":
                items.scroll_by(rng.choice(["up", "down", "page_up", "page_down", "home", "end"]))
            elif action == "resize":
                await pilot.resize_terminal(rng.randint(8, 60), rng.randint(4, 20))
            items.sync(forgotten=forgotten)
            await pilot.pause(0)
            assert items.line_count == len(_expected(items))
            assert _shown(items) == _window(items)


async def test_a_growing_item_costs_one_layout_however_many_there_are() -> None:
    async with hosted() as (items, _pilot):
        items.items = [Item(f"item {number}", open=False) for number in range(3000)]
        items.items.append(Item("last"))
        items.sync()
        before = items.layouts
        items.items[-1].text += " word"
        items.items[-1].rev += 1
        items.sync()
        assert items.layouts == before + 1


async def test_an_open_item_far_from_the_end_is_still_seen_to_change() -> None:
    async with hosted() as (items, pilot):
        items.items = [Item("a tool runs"), *(Item(f"item {number}", open=False) for number in range(500))]
        items.sync()
        items.items[0].text, items.items[0].rev, items.items[0].open = "a tool ended", 1, False
        items.sync()
        items.scroll_by("home")
        await pilot.pause(0)
        assert _shown(items)[0] == "a tool ended"


async def test_only_rows_that_changed_are_painted_again() -> None:
    async with hosted() as (items, pilot):
        items.items = [Item("one"), Item("two"), Item("three")]
        items.sync()
        await pilot.pause(0)
        painted: list[tuple[int, int]] = []
        items.refresh = lambda *regions, **_: painted.extend((r.y, r.height) for r in regions)  # type: ignore[method-assign]
        items.items[1].text, items.items[1].rev = "two!", 1
        items.sync()
        assert painted == [(1, 1)]


async def test_the_end_is_followed_until_one_scrolls_back_and_again_from_there_on() -> None:
    async with hosted() as (items, pilot):
        for number in range(50):
            items.items.append(Item(f"item {number}", open=False))
        items.sync()
        await pilot.pause(0)
        assert _shown(items)[-1] == "item 49"
        items.scroll_by("page_up")
        shown = _shown(items)
        items.items.append(Item("new", open=False))
        items.sync()
        await pilot.pause(0)
        assert _shown(items) == shown
        assert not items.following
        items.scroll_by("end")
        assert items.following
        assert _shown(items)[-1] == "new"


async def test_what_shows_stays_in_place_when_old_items_are_forgotten() -> None:
    async with hosted() as (items, pilot):
        items.items = [Item(f"item {number}", open=False) for number in range(100)]
        items.sync()
        await pilot.pause(0)
        items.scroll_by("page_up")
        shown = _shown(items)
        del items.items[:30]
        items.sync(forgotten=30)
        await pilot.pause(0)
        assert _shown(items) == shown


async def test_a_selection_over_wrapped_rows_is_one_line_of_text() -> None:
    from textual.selection import SELECT_ALL

    async with hosted((12, 12)) as (items, _pilot):
        items.items = [Item("one two three fourteenth-and-last five"), Item("seven")]
        items.sync()
        assert items.get_selection(SELECT_ALL) == ("one two three fourteenth-and-last five\nseven", "\n")
