"""Each row for people who come from LiveKit names what exists, and its test."""

from __future__ import annotations

import re
from functools import reduce
from pathlib import Path

import pytest
from tests.session.test_names import in_file

import gemini_live_runtime

PAGE = Path("docs/coming-from-livekit.md")
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in PAGE.read_text("utf-8").splitlines()
    if line.startswith("|") and "::" in line
]
NAMES = sorted({name for _, here, _ in ROWS for name in re.findall(r"`([A-Z]\w+(?:\.\w+)?)`", here)})


def test_every_row_has_three_cells_and_is_about_something_of_its_own() -> None:
    assert len(ROWS) >= 26
    assert {len(row) for row in ROWS} == {3}
    assert len({row[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row[2].strip("`") for row in ROWS])
def test_the_test_that_shows_a_row_exists(row: tuple[str, str, str]) -> None:
    file, _, test = row[2].strip("`").partition("::")
    assert test in in_file(file)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_page_is_public(name: str) -> None:
    first, *rest = name.split(".")
    assert reduce(getattr, rest, getattr(gemini_live_runtime, first)) is not None
