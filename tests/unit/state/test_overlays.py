"""Transactions and forks of a state: what shows through, and what is written."""

from __future__ import annotations

import pytest
from tests.unit.state.state_support import kept_mutations

from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.values import MISSING


def test_evidence_in_an_overlay_is_of_the_visible_value() -> None:
    state = State()
    with writing_as(Origin("operator")):
        state.set("risk", 1)
    with writing_as(Origin("computed", "risk")):
        state.set_derived("risk", 2)
    fork = state.fork()
    assert fork.written_by("risk") == "operator"
    fork.remove("risk")
    assert fork["risk"] == 2
    assert fork.written_by("risk") == "computed risk"
    with writing_as(Origin("tool", "pay")):
        fork.set_derived("risk", 3)
    assert (fork.written_by("risk"), state.written_by("derived:risk")) == ("tool pay", "computed risk")


def test_a_transaction_can_be_tracked_too() -> None:
    state = State({"a": 1, "b": 2, "c": 3})
    with state.transaction() as tx:
        changes = tx.track()
        tx.set("a", 5)
        tx.remove("b")
        tx.set("c", 4)
        state.set("c", 9)
        assert changes.take() == {"a": (1, 5), "b": (2, MISSING), "c": (3, 4)}


def test_a_transaction_is_visible_only_when_it_ends() -> None:
    state = State({"a": 1, "b": 2})
    changes = state.track()
    with state.transaction() as tx:
        tx.set("a", 5)
        tx.remove("b")
        tx.set("c", 6)
        assert (tx["a"], tx.get("b"), tx["c"], tx.keys()) == (5, None, 6, ["a", "c"])
        assert state.snapshot() == {"a": 1, "b": 2}
    assert state.snapshot() == {"a": 5, "c": 6}
    assert changes.take() == {"a": (1, 5), "b": (2, MISSING), "c": (MISSING, 6)}


def test_an_exception_or_a_rollback_undoes_a_transaction_removals_included() -> None:
    state = State({"a": 1, "turn:x": 2})
    with pytest.raises(ZeroDivisionError), state.transaction() as tx:  # noqa: PT012
        tx.remove("a")
        tx.clear_scope("turn")
        raise ZeroDivisionError
    assert state.snapshot() == {"a": 1, "turn:x": 2}
    with state.transaction() as tx:
        tx.remove("a")
        tx.set("b", 1)
        tx.rollback()
        tx.set("c", 3)
    assert state.snapshot() == {"a": 1, "c": 3, "turn:x": 2}


def test_writes_of_a_transaction_keep_their_own_writers() -> None:
    state = State()
    mutations = kept_mutations(state)
    with state.transaction() as tx, state.transaction() as inner:
        with writing_as(Origin("tool", "pay")):
            tx.set("a", 1)
        with writing_as(Origin("extractor", "facts")):
            inner.set("b", 1)
    assert {str(m.key): str(m.origin) for m in mutations()} == {"a": "tool pay", "b": "extractor facts"}


def test_an_overlay_shows_changes_of_its_base_to_other_keys() -> None:
    state = State({"a": 1})
    fork = state.fork()
    fork.set("b", 2)
    state.set("a", 5)
    assert fork.snapshot() == {"a": 5, "b": 2}
    assert state.snapshot() == {"a": 5}


def test_live_values_are_read_through_every_layer_and_make_no_mutations() -> None:
    state = State()
    now = [1]
    state.provide("session:silence_ms", lambda: now[0])
    mutations = kept_mutations(state)
    with state.transaction() as tx, tx.transaction() as inner:
        now[0] = 2
        for reader in (state, tx, inner, state.fork().fork()):
            assert reader["session:silence_ms"] == 2
            assert "silence_ms" in reader.session
            assert reader.keys() == ["session:silence_ms"]
    assert mutations() == []
    assert state.snapshot() == {}


def test_live_keys_of_a_fork_stay_in_the_fork() -> None:
    state = State()
    fork = state.fork()
    fork.provide("session:x", lambda: 1)
    assert "session:x" in fork
    assert "session:x" not in state
