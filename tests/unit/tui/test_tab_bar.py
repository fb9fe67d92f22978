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
    assert ("8 Events 9 Logs" if width == 100 else "8 Evt 9 Log") in row.replace("  ", " ")
    assert f"  {end.strip()}" in row


def test_a_note_that_has_no_shorter_form_takes_the_place_of_words() -> None:
    row = shown("\u2193 12,000 lines below", 80)
    assert row.endswith(" \u2193 12,000 lines below")
    assert not any(word in row for word in WORDS)


def test_the_first_part_of_a_note_is_shown_where_the_rest_has_no_room():
    row = shown("found 1 of 3 \u00b7 n older \u00b7 N newer", 80)
    assert row.endswith(" found 1 of 3")
    assert "7 Tools" in row
    assert shown("found 1 of 3 \u00b7 n older \u00b7 N newer", 120).endswith("\u00b7 N newer")
