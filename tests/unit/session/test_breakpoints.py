"""Breakpoints as data: set, changed, matched, counted, forgotten."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime import State
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.session.debugger.breakpoints import MAX_BREAKPOINTS, Breakpoints, Kind

NAMES = {"watcher": ["angry"], "phase": ["greet", "book"], "tool": ["lookup"]}
NOTHING = State()


def known(kind: Kind) -> Collection[str]:
    return NAMES.get(kind, [])


@pytest.fixture
def points() -> Breakpoints:
    return Breakpoints()


def put(points: Breakpoints, kind: Any, target: str, *, enabled: bool = True, ident: str = "") -> str:
    return points.set(kind, target, enabled=enabled, ident=ident, reader=NOTHING, known=known).id


def test_an_equal_one_is_replaced_and_keeps_its_count(points: Breakpoints) -> None:
    first = put(points, "tool", "lookup")
    points.hit(("tool", "lookup"))
    assert put(points, "tool", " lookup ", enabled=False) == first
    assert points.to_json() == ({"id": first, "kind": "tool", "target": "lookup", "enabled": False, "hits": 1},)


def test_one_that_is_switched_keeps_what_it_is_on_and_its_count(points: Breakpoints) -> None:
    ident = put(points, "tool", "lookup")
    points.hit(("tool", "lookup"))
    put(points, "tool", "", enabled=False, ident=ident)
    assert points.to_json() == ({"id": ident, "kind": "tool", "target": "lookup", "enabled": False, "hits": 1},)


def test_one_that_becomes_another_counts_anew(points: Breakpoints) -> None:
    ident = put(points, "tool", "lookup")
    points.hit(("tool", "lookup"))
    assert put(points, "phase", "book", ident=ident) == ident
    assert points.to_json()[0]["hits"] == 0


def test_one_that_becomes_equal_to_another_takes_its_place(points: Breakpoints) -> None:
    put(points, "tool", "lookup")
    ident = put(points, "phase", "book")
    put(points, "tool", "lookup", ident=ident)
    assert [item["id"] for item in points.to_json()] == [ident]


def test_everything_that_matches_counts_and_the_first_one_holds(points: Breakpoints) -> None:
    first = put(points, "phase", "book")
    put(points, "transition", "greet>book")
    found = points.hit(("transition", "greet>book"), ("phase", "book"), ("phase", "greet"))
    assert found is not None
    assert found.id == first
    assert [item["hits"] for item in points.to_json()] == [1, 1]


def test_an_expression_is_hit_only_when_it_becomes_true(points: Breakpoints) -> None:
    state = State({"app:n": 5})
    points.set("expression", "app:n > 3", enabled=True, ident="", reader=state, known=known)
    assert points.became_true(state, counts=True) == []
    state.set("app:n", 1)
    assert points.became_true(state, counts=True) == []
    state.set("app:n", 4)
    assert len(points.became_true(state, counts=True)) == 1
    assert points.became_true(state, counts=True) == []


def test_too_many_and_unknown_ids_are_refused(points: Breakpoints) -> None:
    for number in range(MAX_BREAKPOINTS):
        put(points, "key", f"app:k{number}")
    with pytest.raises(GeminiLiveError, match="already"):
        put(points, "key", "app:more")
    with pytest.raises(GeminiLiveError, match="no breakpoint"):
        points.remove("b999")
    with pytest.raises(GeminiLiveError, match="no breakpoint"):
        put(points, "key", "app:k1", ident="b999")
    points.remove("")
    assert len(points) == 0


def test_a_target_without_end_is_refused(points: Breakpoints) -> None:
    with pytest.raises(GeminiLiveError, match="at most 500 characters"):
        put(points, "tool", "a" * 10_000)


TARGETS = st.sampled_from((("tool", "lookup"), ("phase", "book"), ("phase", "greet"), ("watcher", "angry")))


@given(st.lists(st.tuples(st.sampled_from(("set", "off", "forget", "hit")), TARGETS), max_size=30))
def test_hits_are_counted_as_a_plain_table_would(steps: list[tuple[str, tuple[Any, str]]]) -> None:
    points = Breakpoints()
    table: dict[tuple[Any, str], list[Any]] = {}
    idents: dict[tuple[Any, str], str] = {}
    for what, target in steps:
        if what in ("set", "off"):
            idents[target] = put(points, *target, enabled=what == "set")
            table[target] = [what == "set", table.get(target, [0, 0])[1]]
        elif what == "forget" and target in table:
            points.remove(idents[target])
            del table[target]
        elif what == "hit":
            found = points.hit(target)
            on = target in table and table[target][0]
            assert (found is not None) is on
            if on:
                table[target][1] += 1
    told = {(item["kind"], item["target"]): [item["enabled"], item["hits"]] for item in points.to_json()}
    assert told == table
