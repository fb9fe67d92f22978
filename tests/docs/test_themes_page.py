"""docs/themes.md names what a theme file may hold, and its example is a theme."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs import theme_tables

from gemini_live_tui import theming


def test_the_page_of_themes_is_current() -> None:
    assert theme_tables.PAGE.read_text("utf-8") == theme_tables.themes_page(), "run: python -m tests.docs.tables"


def test_the_example_of_the_page_is_a_theme(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", theme_tables.PAGE.read_text("utf-8"), re.DOTALL)
    assert example
    (tmp_path / "dusk.toml").write_text(example[1])
    assert theming.load_theme("dusk", tmp_path).variables["quiet"] == "#9d9284"
