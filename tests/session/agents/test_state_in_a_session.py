"""The state of a session: mutations as events, transactions, declared keys."""

from __future__ import annotations

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import State, StateKey
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import StateError


async def test_what_is_written_to_the_state_after_the_end_is_no_event_of_the_session() -> None:
    async with talk(agent()) as t:
        t.stage.session.hang_up("the test is over")
        await t.handle.done
        t.handle.state.set("app:late", 1)
        await t.passes(1.0)
    assert t.handle.state.get("app:late") == 1
    assert t.events[-1] == "session.ended"


async def test_every_mutation_is_an_event_in_order() -> None:
    async with talk(agent()) as t:
        assert isinstance(t.state, State)
        t.state.set("app:x", 1)
        t.state.set("app:x", 2)
        t.state.remove("app:x")
        await t.rests()
    changes = t.all(ev.StateChanged)
    assert [change.mutation for change in changes] == list(range(1, len(changes) + 1))
    own = [(change.old, change.new, change.added, change.removed) for change in changes if change.key == "app:x"]
    assert own == [(None, 1, True, False), (1, 2, False, False), (2, None, False, True)]


async def test_what_was_written_before_an_event_is_told_before_it() -> None:
    async with talk(agent()) as t:
        # The loop has no turn in between.
        t.state.set("app:x", 1)
        await t.stage.session.command(cmd.Command("c1", cmd.SendText(text=" ")))
    order = [event.payload for event in t.stage.sink.events]
    wrote = next(at for at, one in enumerate(order) if isinstance(one, ev.StateChanged) and one.key == "app:x")
    (refused,) = (at for at, one in enumerate(order) if isinstance(one, ev.CommandRefused))
    assert wrote < refused


async def test_a_transaction_that_fails_leaves_no_trace_and_makes_no_event() -> None:
    def fails(state: State) -> None:
        with state.transaction() as transaction:
            transaction.set("app:x", 1)
            transaction.remove("app:kept")
            raise RuntimeError("no")

    async with talk(agent()) as t:
        t.state.set("app:kept", 1)
        with pytest.raises(RuntimeError):
            fails(t.state)
        await t.rests()
        assert t.state["app:kept"] == 1
    assert "app:x" not in [change.key for change in t.all(ev.StateChanged)]


async def test_a_declared_key_refuses_what_is_not_of_its_type() -> None:
    score = StateKey("app:score", int, description="the score")

    async with talk(agent().state(score)) as t:
        with pytest.raises(StateError, match="app:score"):
            t.state.set("app:score", "many")
        t.state.set(score, 3)
        assert t.state.get(score) == 3


async def test_a_bare_name_reads_what_is_computed_wherever_one_asks() -> None:
    from gemini_live_runtime import ComputedVar

    async with talk(
        agent().computed(ComputedVar("twice", lambda s: s["app:x"] * 2, "app:x")).state(values={"app:x": 2})
    ) as t:
        assert (t.state.get("twice"), "twice" in t.state) == (4, True)
        assert t.state.get("app:twice") is None
