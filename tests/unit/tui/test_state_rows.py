"""The state pane shows scopes, keys and changes, as far as its filter lets them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.collection import DESCRIBED

from gemini_live_runtime.journal.fold.agent_view import KeyCell
from gemini_live_runtime.journal.fold.packing import pack
from gemini_live_tui.painting.glyphs import ASCII, UNICODE
from gemini_live_tui.painting.runs import Run, width_of
from gemini_live_tui.panes import state_rows as state


def cell(value: Any, *, seq: int = 1, t: float = 0.0, was: Any = None, **more: Any) -> KeyCell:
    kind = {bool: "bool", int: "number", float: "number", str: "text"}.get(type(value), "null")
    given = {"origin": "tool", "by": "verify", "reason": "", "turn": 1, **more}
    return KeyCell(pack(value), pack(value), kind, "" if was is None else pack(was), t=t, seq=seq, **given)


KEYS = {
    "user:name": cell("Maria", seq=4),
    "app:owed": cell(300, seq=2),
    "app:anger": cell(0.31, seq=9, numbers=(0.0, 0.1, 0.31), origin="extractor", by="Said"),
    "odd": cell(True, seq=3),
    "derived:left": cell(250, seq=8, origin="computed", by="left"),
}
DECLARED = state.Declared.of(pack({"keys": DESCRIBED.keys, "computed": DESCRIBED.computed}))


def text(runs: list[Run]) -> str:
    return "".join(part for part, _ in runs)


def row(key: str, width: int = 80, **more: Any) -> str:
    values: dict[str, Any] = {"declared": DECLARED, "elapsed": 99.0, **more}
    return text(state.key_row(key, values.pop("cell", None) or KEYS[key], width, UNICODE, **values))


def test_scopes_come_in_their_order_and_keys_by_name() -> None:
    rows, counts = state.rows_of(KEYS)
    assert rows == [
        "=app", "-app:anger", "-app:owed", "=user", "-user:name", "=derived", "-derived:left", "=other", "-odd",
    ]  # fmt: skip
    assert counts == {"app": 2, "user": 1, "derived": 1, "other": 1}


def test_what_changed_last_may_come_first() -> None:
    rows, _ = state.rows_of({"app:a": cell(1, seq=1), "app:b": cell(1, seq=5)}, changed_first=True)
    assert rows == ["=app", "-app:b", "-app:a"]


def test_folded_scopes_keep_their_heading_and_pinned_keys_come_first() -> None:
    rows, counts = state.rows_of(KEYS, folded={"app", "other"}, pinned=["app:owed", "gone"])
    assert rows == ["=pinned", "^app:owed", "=app", "=user", "-user:name", "=derived", "-derived:left", "=other"]
    assert counts["pinned"] == 1


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("app:*", {"app:owed", "app:anger"}),
        ("*:n[ao]me", {"user:name"}),
        ("MARI", {"user:name"}),
        ("an", {"app:anger"}),
        ("", set(KEYS)),
        ("[", set()),
    ],
)
def test_a_filter_is_a_glob_of_keys_or_a_word_in_key_or_value(written: str, found: set[str]) -> None:
    assert set(state.wanted(KEYS, written)) == found


def test_a_filter_that_nothing_fits_is_told_so() -> None:
    assert state.rows_of(KEYS, text="zebra")[0] == ["?"]
    assert state.rows_of({})[0] == ["!0", "!1"]


def test_a_key_shows_its_value_its_type_and_its_writer() -> None:
    assert row("app:owed").split() == ["owed", "300", "number", "·", "tool", "verify"]
    assert "▁▃█ number · extractor Said" in row("app:anger").replace("▂", "▃")


def test_a_computed_key_shows_what_it_is_made_of() -> None:
    assert row("derived:left").rstrip().endswith("number ← owed, paid")
    runs = state.key_row("derived:left", KEYS["derived:left"], 80, ASCII, declared=DECLARED, elapsed=99.0)
    assert "<- owed, paid" in text(runs)


def test_a_change_is_marked_for_a_while_with_what_was_there() -> None:
    fresh = cell(2140.5, was=0, t=10.0)
    assert row("app:owed", cell=fresh, elapsed=11.9).startswith("◆ owed")
    assert "was 0" in row("app:owed", cell=fresh, elapsed=11.9)
    assert row("app:owed", cell=fresh, elapsed=12.0).startswith("  owed")
    assert row("app:owed", cell=replace(fresh, was=""), elapsed=10.0).rstrip().endswith("new")


def test_a_pinned_key_is_written_with_its_scope() -> None:
    assert row("app:owed", whole=True).startswith("  app:owed ")


@given(st.integers(1, 160), st.sampled_from(sorted(KEYS)), st.floats(0, 3), st.booleans(), st.text(max_size=40))
def test_no_row_is_wider_than_the_pane(width: int, key: str, age: float, whole: bool, value: str) -> None:
    made = replace(KEYS[key], text=value)
    for glyphs in (UNICODE, ASCII):
        runs = state.key_row(key, made, width, glyphs, declared=DECLARED, elapsed=age, whole=whole, broken=whole)
        assert width_of(runs) <= width
        assert width_of(state.heading_row("turn", 3, width, glyphs, folded=whole)) <= width
        assert width_of(state.plain_row("?", width, glyphs)) <= width


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "integer"}, "number"),
        ({"type": ["string", "null"]}, "text"),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "number"),
        ({"enum": ["a", "b"]}, "choice"),
        ({}, ""),
        ("junk", ""),
    ],
)
def test_a_schema_is_said_in_a_word(schema: Any, word: str) -> None:
    assert state.type_word(schema) == word


def test_a_scope_is_copied_with_the_real_keys() -> None:
    keys = {"app:\\u00e9": cell("x"), "user:n": cell(1)}
    assert state.scope_json(keys, "app") == {"app:é": "x"}
