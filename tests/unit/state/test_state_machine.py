"""The state store equals a plain dict after any sequence of operations."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from state_support import KEYS, VALUES, equal

from gemini_live_runtime.state.mutations import Changes, Mutation
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.values import MISSING


def readable(model: dict[str, Any]) -> dict[str, Any]:
    """Return the readable values of a model, `derived:` ones under both names."""
    bare = {name.removeprefix("derived:"): value for name, value in model.items() if name.startswith("derived:")}
    return {**bare, **model}


class StateMachine(RuleBasedStateMachine):
    """Random operations on a store and its open transactions.

    `layers[0]` is the store, the others are transactions; `models` are the dicts that they have to equal.
    """

    @initialize()
    def begin(self) -> None:
        state = State({"app:a": 1})
        state.on_mutations(lambda: None)
        self.layers: list[State] = [state]
        self.models: list[dict[str, Any]] = [{"app:a": 1}]
        self.mutations: list[Mutation] = []
        self.start = state.snapshot()
        self.changes: Changes = state.track()
        self.tracked: dict[str, Any] = readable(self.models[0])

    @rule(key=st.sampled_from(KEYS), value=VALUES)
    def set(self, key: str, value: Any) -> None:
        self.layers[-1].set(key, value)
        self.models[-1][key] = value

    @rule(key=st.sampled_from(KEYS))
    def remove(self, key: str) -> None:
        found = self.layers[-1].remove(key)
        assert equal(found, self.models[-1].pop(key, MISSING))

    @rule(key=st.sampled_from(KEYS), value=VALUES)
    def modify(self, key: str, value: Any) -> None:
        self.layers[-1].modify(key, "none", lambda old: [old, value])
        self.models[-1][key] = [self.models[-1].get(key, "none"), value]

    @rule(name=st.sampled_from(["a", "b", "c"]), value=VALUES)
    def set_derived(self, name: str, value: Any) -> None:
        old = self.models[-1].get(f"derived:{name}", MISSING)
        changed = self.layers[-1].set_derived(name, value)
        if changed:
            assert not equal(old, value) or type(old) is not type(value)
        self.models[-1][f"derived:{name}"] = value

    @rule(name=st.sampled_from(["a", "b", "c"]))
    def remove_derived(self, name: str) -> None:
        there = self.models[-1].pop(f"derived:{name}", MISSING) is not MISSING
        assert self.layers[-1].remove_derived(name) is there

    @rule(scope=st.sampled_from(["app", "turn", "temp"]))
    def clear(self, scope: str) -> None:
        gone = self.layers[-1].clear_scope(scope)
        assert gone == sorted(name for name in self.models[-1] if name.startswith(f"{scope}:"))
        for name in gone:
            del self.models[-1][name]

    @precondition(lambda self: len(self.layers) < 4)
    @rule()
    def open(self) -> None:
        self.layers.append(self.layers[-1].transaction().__enter__())
        self.models.append(dict(self.models[-1]))

    @precondition(lambda self: len(self.layers) > 1)
    @rule()
    def commit(self) -> None:
        self.layers.pop().commit()  # type: ignore[attr-defined]
        model = self.models.pop()
        self.models[-1] = model

    @precondition(lambda self: len(self.layers) > 1)
    @rule()
    def fail(self) -> None:
        self.layers.pop().__exit__(ValueError, ValueError(), None)  # type: ignore[attr-defined]
        self.models.pop()

    @rule()
    def rollback(self) -> None:
        if len(self.layers) > 1:
            self.layers[-1].rollback()  # type: ignore[attr-defined]
            self.models[-1] = dict(self.models[-2])

    @rule(key=st.sampled_from(KEYS), value=VALUES)
    def try_out_in_a_fork(self, key: str, value: Any) -> None:
        fork = self.layers[-1].fork()
        fork.set(key, value)
        assert equal(fork[key], value)

    @precondition(lambda self: len(self.layers) == 1)
    @rule()
    def take_changes(self) -> None:
        now = readable(self.models[0])
        expected = {
            name: (self.tracked.get(name, MISSING), now.get(name, MISSING))
            for name in {*self.tracked, *now}
            if not equal(self.tracked.get(name, MISSING), now.get(name, MISSING))
        }
        taken = self.changes.take()
        assert taken.keys() == expected.keys()
        assert all(equal(list(pair), list(expected[name])) for name, pair in taken.items())
        self.tracked = now

    @invariant()
    def every_way_of_reading_agrees_with_the_model(self) -> None:
        for state, model in zip(self.layers, self.models, strict=True):
            whole = readable(model)
            assert equal(state.snapshot(), model)
            assert state.keys() == sorted(whole)
            for name in {*KEYS, *whole, "c", "derived:a"}:
                value = whole.get(name, MISSING)
                assert equal(state.get(name, MISSING), value)
                assert equal(state.get_raw(name), value)
                assert (name in state) is (value is not MISSING)
                evidence = state.evidence(name)
                assert (evidence is None) is (value is MISSING)
                assert evidence is None or equal(evidence.new, value)

    @invariant()
    def mutations_replay_to_the_same_snapshot(self) -> None:
        self.mutations += self.layers[0].take_mutations()
        replayed = dict(self.start)
        for number, mutation in enumerate(self.mutations, 2):
            assert mutation.sequence == number
            assert equal(replayed.get(mutation.key, MISSING), mutation.old)
            if mutation.new is MISSING:
                del replayed[mutation.key]
            else:
                replayed[mutation.key] = mutation.new
        assert equal(replayed, self.layers[0].snapshot())


TestStateMachine = StateMachine.TestCase
TestStateMachine.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
