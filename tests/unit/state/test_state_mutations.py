"""Mutations of state: their order, writers, evidence, and net changes."""

from __future__ import annotations

import asyncio

from tests.unit.state.state_support import kept_mutations

from gemini_live_runtime.state.mutations import Mutation, Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.values import MISSING


def test_every_change_is_a_mutation_with_its_writer_and_turn() -> None:
    state = State()
    mutations = kept_mutations(state)
    state.turn_number = 3
    with writing_as(Origin("tool", "pay", "the user agreed")):
        state.set("app:paid", True)
        with writing_as(Origin("operator")):
            state.set("app:paid", False)
    state.remove("app:paid")
    state.remove("app:paid")
    first, second, third = mutations()
    assert first == Mutation(1, "app:paid", MISSING, True, Origin("tool", "pay", "the user agreed"), 3)
    assert (second.sequence, second.old, second.new, str(second.origin)) == (2, True, False, "operator")
    assert (third.sequence, third.old, third.new, third.origin.kind) == (3, False, MISSING, "program")
    assert mutations() == []


def test_waiting_mutations_are_announced_once_until_they_are_taken() -> None:
    state = State()
    calls: list[int] = []
    state.on_mutations(lambda: calls.append(1))
    state.set("a", 1)
    state.set("b", 2)
    state.remove("a")
    assert calls == [1]
    state.take_mutations()
    state.set("a", 1)
    assert calls == [1, 1]


def test_mutations_taken_by_the_announcement_itself_are_not_lost() -> None:
    state = State()
    taken: list[Mutation] = []
    state.on_mutations(lambda: taken.extend(state.take_mutations()))
    for number in range(5):
        state.set("a", number)
    assert [mutation.new for mutation in taken] == [0, 1, 2, 3, 4]


async def test_tasks_inherit_the_writer() -> None:
    state = State()

    async def write(name: str) -> None:
        await asyncio.sleep(0)
        state.set(f"app:{name}", 1)

    with writing_as(Origin("tool", "pay")):
        inside = asyncio.create_task(write("inside"))
    outside = asyncio.create_task(write("outside"))
    await asyncio.gather(inside, outside)
    assert state.written_by("app:inside") == "tool pay"
    assert state.written_by("app:outside") == "program"


def test_evidence_is_of_the_value_that_is_read() -> None:
    state = State()
    with writing_as(Origin("computed", "risk")):
        state.set_derived("risk", 1)
    with writing_as(Origin("operator")):
        state.set("risk", 2)
    assert state.written_by("risk") == "operator"
    state.remove("risk")
    assert state.written_by("risk") == "computed risk"
    evidence = state.evidence("risk")
    assert evidence is not None
    assert (evidence.key, evidence.new) == ("derived:risk", 1)
    assert state.evidence("app:never") is None


def test_changes_are_net_and_unchanged_keys_are_left_out() -> None:
    state = State({"a": 1, "b": 2})
    changes = state.track()
    state.set("a", 5)
    state.set("a", 6)
    state.set("b", 3)
    state.set("b", 2)
    state.set("c", 1)
    state.remove("c")
    state.set("d", None)
    assert changes.take() == {"a": (1, 6), "d": (MISSING, None)}
    assert changes.take() == {}


def test_several_trackers_are_independent() -> None:
    state = State()
    first = state.track()
    state.set("a", 1)
    second = state.track()
    state.set("a", 2)
    assert first.take() == {"a": (MISSING, 2)}
    assert second.take() == {"a": (1, 2)}
    state.set("a", 3)
    assert first.take() == second.take() == {"a": (2, 3)}


def test_a_derived_change_that_shows_through_a_bare_name_is_listed_under_both() -> None:
    state = State()
    changes = state.track()
    state.set_derived("risk", 1)
    assert changes.take() == {"derived:risk": (MISSING, 1), "risk": (MISSING, 1)}
    state.set("risk", 5)
    assert changes.take() == {"risk": (1, 5)}
    state.set_derived("risk", 2)
    assert changes.take() == {"derived:risk": (1, 2)}
    state.remove("risk")
    assert changes.take() == {"risk": (5, 2)}
    state.set_derived("risk", 3)
    state.set("risk", 4)
    assert changes.take() == {"derived:risk": (2, 3), "risk": (2, 4)}
