"""Watchers: changes that fire them, and near misses."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from state_support import VALUES, equal, guards

from gemini_live_runtime.errors import AgentError, StateError
from gemini_live_runtime.state.guards import Guard
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import key
from gemini_live_runtime.state.values import MISSING
from gemini_live_runtime.state.watchers import Change, Watcher, WatcherRegistry, WatchPredicate, WatchResult


def nothing() -> None:
    """Do nothing, as an action."""


def change(predicate: WatchPredicate, old: Any, new: Any) -> WatchResult:
    """Evaluate one watcher of `app:x` on one change."""
    return changed_state(predicate, old, new)[0]


def changed_state(predicate: WatchPredicate, old: Any, new: Any) -> tuple[WatchResult, State]:
    """Evaluate one watcher of `app:x` on one change; return the state too."""
    name = "app:x"
    state = State() if old is MISSING else State({name: old})
    registry = WatcherRegistry([Watcher(predicate, nothing, name="w")])
    registry.prime(state)
    changes = state.track()
    if new is MISSING:
        state.remove(name)
    else:
        state.set(name, new)
    return registry.evaluate(changes.take(), state), state


X = key("app:x")


@pytest.mark.parametrize(
    ("predicate", "old", "new", "fires"),
    [
        (X.changed(), 1, 2, True),
        (X.changed(), MISSING, None, True),
        (X.changed(), 1, MISSING, True),
        (X.changed_to("active"), "draft", "active", True),
        (X.changed_to("active"), "draft", "done", False),
        (X.changed_to(None), 1, MISSING, True),
        (X.changed_to(1), True, 1, True),
        (X.changed_to(1), False, True, False),
        (X.changed_from("draft"), "draft", "active", True),
        (X.changed_from("draft"), "active", "draft", False),
        (X.changed_from(None), MISSING, 1, True),
        (X.crossed_above(100), 95, 105, True),
        (X.crossed_above(100), 95, 100, True),
        (X.crossed_above(100), 100, 105, False),
        (X.crossed_above(100), 110, 120, False),
        (X.crossed_above(100), "95", "105", False),
        (X.crossed_above(100), MISSING, 105, True),
        (X.crossed_above(0), False, True, False),
        (X.crossed_below(20), 25, 15, True),
        (X.crossed_below(20), 20, 15, True),
        (X.crossed_below(20), 25, 20, False),
        (X.crossed_below(20), 25, MISSING, False),
        (X.crossed_below(20), MISSING, 15, True),
        (X.crossed_below(20), MISSING, 25, False),
        (X.became_true(), False, True, True),
        (X.became_true(), MISSING, True, True),
        (X.became_true(), False, "yes", False),
        (X.became_true(), False, 1, False),
        (X.became_false(), True, False, True),
        (X.became_false(), True, MISSING, True),
        (X.became_false(), "yes", False, False),
        ((X > 3).became_true(), 3, 4, True),
        ((X > 3).became_true(), 4, 5, False),
        ((X > 3).became_true(), MISSING, 5, True),
        ((X > 3).became_false(), 4, "no number", True),
        (WatchPredicate.custom("app:x", lambda old, new: new == (old or 0) + 1), MISSING, 1, True),
        (WatchPredicate.custom("app:x", lambda old, new: new == (old or 0) + 1), 1, 3, False),
        (WatchPredicate.became_true("app:x"), False, True, True),
        (WatchPredicate.became_false(StateKey("app:x", bool)), True, False, True),
    ],
)
def test_a_predicate_fires_on_its_change_only(predicate: WatchPredicate, old: Any, new: Any, fires: bool) -> None:
    result = change(predicate, old, new)
    assert len(result.fired) == fires
    assert len(result.near_misses) == (not fires)
    assert not result.faults
    findings: list[Any] = [*result.fired, *result.near_misses]
    for found in findings:
        assert found.name == "w"
        assert found.key == "app:x"
        assert equal(found.old, None if old is MISSING else old)
        assert equal(found.new, None if new is MISSING else new)


@pytest.mark.parametrize(
    ("predicate", "old", "new", "missing"),
    [
        (X.crossed_above(0.7), 0.5, 0.65, "0.65 is 0.05 below 0.7"),
        (X.crossed_above(0.7), 0.8, 0.9, "it was 0.8 before, which is past 0.7 already"),
        (X.crossed_above(0.7), MISSING, 0.5, "0.5 is 0.2 below 0.7"),
        (X.crossed_above(0.7), "low", 0.9, 'it was "low", not a number'),
        (X.crossed_above(0.7), 0.5, "high", 'it is "high", not a number'),
        (X.crossed_below(20), 25, 21, "21 is 1 above 20"),
        (X.crossed_below(20), 25, 20, "it is 20 itself"),
        (X.changed_to("active"), "draft", "done", 'it is "done", not "active"'),
        (X.changed_from("draft"), None, "done", 'it was null, not "draft"'),
        ((X > 3).became_true(), 1, 2, "app:x > 3 is false (app:x is 2)"),
        ((X > 3).became_true(), 4, 5, "it was true already"),
        ((X > 3).became_false(), 4, 5, "app:x > 3 is true (app:x is 5)"),
        (((X > 3) & key("app:y")).became_true(), 1, 5, "app:y is true is false (app:y is missing)"),
        ((~(X > 3)).became_true(), 4, 5, "app:x > 3 is true (app:x is 5)"),
        (WatchPredicate.custom("app:x", lambda old, new: False, "is odd"), 1, 2, "is odd returned false"),
    ],
)
def test_a_near_miss_names_the_missing_part(predicate: WatchPredicate, old: Any, new: Any, missing: str) -> None:
    result, state = changed_state(predicate, old, new)
    (miss,) = result.near_misses
    assert miss.missing(state) == missing


def test_a_pass_only_decides_and_describes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    described: list[WatchPredicate] = []
    for name in ("missing", "share", "explain"):
        monkeypatch.setattr(WatchPredicate, name, lambda self, *_: described.append(self))
    fired = change((X > 3).became_true(), 3, 4)
    missed = change(X.crossed_above(100), 3, 4)
    assert (len(fired.fired), len(missed.near_misses)) == (1, 1)
    assert described == []


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        (X.changed(), "app:x changed"),
        (X.changed_to("a"), 'app:x changed to "a"'),
        (X.changed_from(None), "app:x changed from null"),
        (X.crossed_above(0.7), "app:x crossed above 0.7"),
        (X.crossed_below(20), "app:x crossed below 20"),
        (X.became_true(), "app:x is true became true"),
        ((X > 3).became_false(), "app:x > 3 became false"),
        (WatchPredicate.custom(X, lambda old, new: True, "grew"), "app:x: grew"),
    ],
)
def test_predicates_describe_themselves(predicate: WatchPredicate, text: str) -> None:
    assert predicate.text == text
    assert predicate.keys == {"app:x"}


def test_a_firing_is_explained_with_both_values_and_the_writer() -> None:
    state = State({"app:x": 0.5})
    registry = WatcherRegistry([Watcher(X.crossed_above(0.7), nothing), Watcher((X > 0.7).became_true(), nothing)])
    changes = state.track()
    with writing_as(Origin("extractor", "mood")):
        state.set("app:x", 0.9)
    plain, guarded = registry.evaluate(changes.take(), state).fired
    assert plain.change == Change("app:x", 0.5, 0.9)
    assert plain.explain(state).to_json() == {
        "text": "app:x crossed above 0.7",
        "value": True,
        "reads": [{"key": "app:x", "value": 0.9, "present": True, "by": "extractor mood"}],
        "children": [{"text": "before", "value": 0.5}],
    }
    assert [read.by for read in guarded.explain(state).all_reads()] == ["extractor mood"]


def test_several_fire_in_the_order_of_registration_whatever_changed_first() -> None:
    state = State()
    registry = WatcherRegistry(
        [
            Watcher(key("app:b").changed(), nothing, name="second key", blocking=True),
            Watcher(key("app:a").changed(), nothing, name="first key"),
            Watcher(key("app:b").changed_to(2), nothing, name="second key again"),
            Watcher(key("app:never").changed(), nothing, name="untouched"),
        ]
    )
    result = registry.evaluate({"app:a": (MISSING, 1), "app:b": (1, 2)}, state)
    assert [firing.name for firing in result.fired] == ["second key", "first key", "second key again"]
    assert result.fired[0].watcher.blocking
    assert registry.observed_keys == {"app:a", "app:b", "app:never"}


def test_a_guard_over_several_changed_keys_is_decided_once() -> None:
    state = State({"app:a": 1, "app:b": 1})
    guard = (key("app:a") == 2) & (key("app:b") == 2)
    registry = WatcherRegistry([Watcher(guard.became_true(), nothing)])
    registry.prime(state)
    changes = state.track()
    state.set("app:b", 2)
    state.set("app:a", 2)
    (firing,) = registry.evaluate(changes.take(), state).fired
    assert firing.change == Change("app:b", 1, 2)


def test_a_guard_that_held_when_primed_does_not_become_true() -> None:
    state = State({"app:x": 5, "app:y": 1})
    registry = WatcherRegistry([Watcher(((X > 3) & (key("app:y") > 0)).became_true(), nothing)])
    registry.prime(state)
    assert not registry.evaluate({"app:y": (0, 1)}, state).fired


@given(guards(), st.lists(st.tuples(st.sampled_from(["app:a", "app:b", "user:a", "a"]), VALUES), max_size=8))
def test_became_true_and_became_false_follow_the_guards_truth(guard: Guard, writes: list[tuple[str, Any]]) -> None:
    state = State()
    watchers = [Watcher(guard.became_true(), nothing, name="up"), Watcher(guard.became_false(), nothing, name="down")]
    primed, fresh = WatcherRegistry(watchers), WatcherRegistry(watchers)
    primed.prime(state)
    changes = state.track()
    before = guard.holds(state)
    for name, value in writes:
        state.set(name, value)
        changed = changes.take()
        now = guard.holds(state)
        expected = ["up"] if now and not before else ["down"] if before and not now else []
        for registry in (primed, fresh):
            assert [firing.name for firing in registry.evaluate(changed, state).fired] == expected
        before = now


def test_a_guard_that_holds_a_function_is_looked_at_after_every_change() -> None:
    state = State({"app:a": 1})
    registry = WatcherRegistry(
        [
            Watcher(WatchPredicate.became_true(lambda s: s.get("app:a") == s.get("app:b")), nothing, name="function"),
            Watcher((~key("app:c") & (lambda s: "app:b" in s)).became_true(), nothing, name="mixed"),
        ]
    )
    changes = state.track()
    state.set("app:b", 1)
    result = registry.evaluate(changes.take(), state)
    assert [firing.name for firing in result.fired] == ["function", "mixed"]
    state.set("app:d", 1)
    result = registry.evaluate(changes.take(), state)
    assert (result.fired, result.near_misses) == ([], [])
    assert registry.evaluate({}, state) == WatchResult([], [], [], [])


def test_a_computed_value_is_watched_under_its_bare_name() -> None:
    state = State()
    registry = WatcherRegistry([Watcher(key("risk").crossed_above(0.5), nothing)])
    changes = state.track()
    state.set_derived("risk", 0.1)
    registry.evaluate(changes.take(), state)
    state.set_derived("risk", 0.9)
    assert len(registry.evaluate(changes.take(), state).fired) == 1


def test_a_muted_watcher_is_counted_and_not_fired() -> None:
    state = State({"app:x": 1})
    registry = WatcherRegistry([Watcher(X.changed_to(2), nothing, name="two"), Watcher(X.changed(), nothing)])
    registry.mute("two")
    result = registry.evaluate({"app:x": (1, 2)}, state)
    assert ([f.name for f in result.fired], [f.name for f in result.muted]) == (["app:x changed"], ["two"])
    assert registry.evaluate({"app:x": (2, 3)}, state).near_misses == []
    registry.unmute("two")
    registry.evaluate({"app:x": (3, 2)}, state)
    two, any_change = registry.status
    assert (two.name, two.text, two.muted, two.fired, two.suppressed) == ("two", "app:x changed to 2", False, 1, 1)
    assert (any_change.fired, any_change.suppressed, any_change.keys) == (3, 0, ("app:x",))
    with pytest.raises(KeyError):
        registry.mute("three")


def test_a_predicate_that_raises_is_a_fault_and_the_others_go_on() -> None:
    state = State({"app:x": 1})
    registry = WatcherRegistry(
        [
            Watcher(WatchPredicate.custom("app:x", lambda old, new: new / 0), nothing, name="bad"),
            Watcher(WatchPredicate.became_true(lambda s: s["app:none"]), nothing, name="worse"),
            Watcher(X.changed(), nothing, name="good"),
        ]
    )
    assert [fault.name for fault in registry.prime(state)] == ["worse"]
    result = registry.evaluate({"app:x": (1, 2)}, state)
    assert [fault.name for fault in result.faults] == ["bad", "worse"]
    assert isinstance(result.faults[0].error, ZeroDivisionError)
    assert [firing.name for firing in result.fired] == ["good"]


def test_an_action_may_change_its_argument() -> None:
    state = State({"app:x": [1]})
    registry = WatcherRegistry([Watcher(X.changed(), nothing)])
    changes = state.track()
    state.set("app:x", [1, 2])
    (firing,) = registry.evaluate(changes.take(), state).fired
    firing.change.new.append(3)
    assert state["app:x"] == [1, 2]


def test_watchers_without_a_name_are_named_by_their_predicate() -> None:
    registry = WatcherRegistry([Watcher(X.changed(), nothing) for _ in range(3)])
    assert [status.name for status in registry.status] == ["app:x changed", "app:x changed (2)", "app:x changed (3)"]
    assert all(status.defined_at.startswith("test_watchers.py:") for status in registry.status)


def test_two_watchers_of_one_name_are_refused_with_their_places() -> None:
    with pytest.raises(AgentError, match=r"2 watchers named w \(test_watchers.py:\d+, test_watchers.py:\d+\)"):
        WatcherRegistry([Watcher(X.changed(), nothing, name="w"), Watcher(X.changed(), nothing, name="w")])


class _Calls:
    def __call__(self, state: State) -> None: ...

    async def method(self, state: State, change: Change) -> None: ...


@pytest.mark.parametrize(
    "then",
    [
        nothing,
        lambda state: None,
        lambda state, change: None,
        lambda state, change, extra=1: None,
        lambda *args: None,
        _Calls(),
        _Calls().method,
        partial(lambda a, state: None, 1),
        print,
    ],
)
def test_actions_take_as_much_as_they_like(then: Any) -> None:
    assert Watcher(X.changed(), then).then is then


@pytest.mark.parametrize("then", [None, "x", lambda a, b, c: None, lambda *, a: None])
def test_an_action_that_cannot_be_called_is_refused(then: Any) -> None:
    with pytest.raises(AgentError, match=r"\(state, change\)|not a function"):
        Watcher(X.changed(), then)


def test_a_guard_as_predicate_is_refused_with_a_remedy() -> None:
    with pytest.raises(AgentError, match="became_true"):
        Watcher(X > 3, nothing)  # type: ignore[arg-type]
    with pytest.raises(AgentError, match="became_true"):
        Watcher(X, nothing)  # type: ignore[arg-type]
    with pytest.raises(AgentError, match=r'key\("'):
        Watcher("app:x", nothing)  # type: ignore[arg-type]


async def _later(old: Any, new: Any) -> bool:
    return True


def test_predicates_that_cannot_work_are_refused() -> None:
    with pytest.raises(StateError):
        WatchPredicate.changed("nowhere:x")
    with pytest.raises(AgentError, match="Give a number"):
        X.crossed_above("high")  # type: ignore[arg-type]
    with pytest.raises(AgentError, match="plain function"):
        WatchPredicate.custom("app:x", _later)  # type: ignore[arg-type]
