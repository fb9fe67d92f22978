"""The row that names all panes gives its words room before a note's."""

from __future__ import annotations

import pytest

from gemini_live_tui.console.tab_bar import TabBar

WORDS = ("7 Tools", "T Tasks")


def shown(note: str, width: int) -> str:
    bar = TabBar()
    bar.show("transcript", note)
    return "".join(text for text, _ in bar.runs(width))


@pytest.mark.parametrize(("width", "end"), [(80, " \u2193"), (100, " \u2193 following")])
def test_following_takes_no_words_from_the_panes(width: int, end: str) -> None:
    row = shown("\u2193 following", width)
    assert row.endswith(end)
    assert all(word in row for word in WORDS)
    assert ("8 Events" in row) == (width == 100)


def test_a_note_that_has_no_shorter_form_takes_the_place_of_words() -> None:
    row = shown("\u2193 12 lines below", 80)
    assert row.endswith(" \u2193 12 lines below")
    assert not any(word in row for word in WORDS)
