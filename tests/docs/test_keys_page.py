"""The key tables of docs/keys.md are those of the action table."""

from __future__ import annotations

import re

from tests.docs import key_tables

from gemini_live_tui.actions import ACTIONS
from gemini_live_tui.actions.slash import form_of


def test_the_page_of_keys_is_current() -> None:
    assert key_tables.PAGE.read_text("utf-8") == key_tables.keys_page(), "run: python -m tests.docs.tables"


def test_the_page_names_every_action() -> None:
    page = key_tables.PAGE.read_text("utf-8")
    assert [action.id for action in ACTIONS if not re.search(rf"[|,] `{action.id}`( \||,)", page)] == []


def test_the_page_names_every_command():
    page = key_tables.PAGE.read_text("utf-8")
    assert [one.slash for one in ACTIONS if one.slash and f"`{form_of(one).usage}`" not in page] == []


def test_the_page_has_at_most_a_hundred_rows():
    rows = [line for line in key_tables.PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    assert 0 < len([line for line in rows if not line.startswith("| key |")]) <= 100
