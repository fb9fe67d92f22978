"""Deciding code reads state and never writes it."""

from __future__ import annotations

import asyncio
from contextvars import Context
from typing import Any

import pytest
from tests.session.decisions.deciding_code import (
    CLOSURES,
    WRITERS,
    Asks,
    as_another_writer,
    count,
    in_a_context_of_its_own,
    in_this_context,
    phases,
)
from tests.session.talking import agent, talk

from gemini_live_runtime import ComputedVar, ContextBuilder, Origin, ReactorRule, State, StateKey, key
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, StateError
from gemini_live_runtime.state.guards import Guard


@pytest.mark.parametrize("what", WRITERS)
async def test_code_that_decides_cannot_write_and_is_reported_by_its_place(what: str) -> None:
    async with talk(WRITERS[what]) as t:
        await t.turn()
        await t.writes(other=1)
        assert t.state.get("app:n") is None
        fault = t.failures()[0]
        assert "app:n cannot be written here" in fault.error
        assert "deciding_code.py" in fault.defined_at


@pytest.mark.parametrize(
    "write",
    [
        lambda s: s.set("app:n", 1),
        lambda s: s.remove("app:x"),
        lambda s: s.__setitem__("app:n", 1),
        lambda s: s.__delitem__("app:x"),
        lambda s: s.app.set("n", 1),
        lambda s: s.app.__setitem__("n", 1),
        lambda s: s.clear_scope("app"),
        lambda s: s.transaction(),
    ],
    ids=["set", "remove", "item", "del", "scope", "scope item", "clear", "transaction"],
)
async def test_no_way_to_write_is_open_to_a_guard(write: Any) -> None:
    async with talk(agent().state(values={"app:x": 5}).phase(*phases(lambda s: write(s) or True))) as t:
        await t.turn()
        assert t.phases == ["one"]
        assert "cannot be written here" in t.failures()[0].error
        assert (t.state["app:x"], t.state.get("app:n")) == (5, None)


@pytest.mark.parametrize("run", [in_this_context, in_a_context_of_its_own, as_another_writer])
@pytest.mark.parametrize("what", CLOSURES)
async def test_code_that_decides_cannot_write_through_a_state_it_got_elsewhere(what: str, run: Any) -> None:
    held: list[State] = []
    calls = []

    def write() -> Any:
        calls.append(1)
        # Without the refusal each decision would call for the next one.
        return run(count, held[0]) if held and len(calls) < 100 else 0

    async with talk(CLOSURES[what](write)) as t:
        held.append(t.state)
        await t.turn()
        await t.writes(other=1)
        assert t.state.get("app:n") is None
        fault = t.failures()[0]
        assert "app:n cannot be written here" in fault.error
        assert "deciding_code.py" in fault.defined_at


@pytest.mark.parametrize(
    "write",
    [
        lambda s: s.set("app:n", 1),
        lambda s: s.remove("app:x"),
        lambda s: s.modify("app:n", 0, lambda n: n + 1),
        lambda s: s.app.set("n", 1),
        lambda s: s.clear_scope("app"),
        lambda s: write_at_once(s),
        lambda s: Context().run(write_at_once, s),
        lambda s: asyncio.get_running_loop().create_task(write_later(s)),
        lambda s: s.set_derived("n", 1),
        lambda s: s.remove_derived("five"),
        lambda s: s.provide("app:n", lambda: 1),
        lambda s: s.declare(StateKey("app:x", str)),
        lambda s: s.redeclare([StateKey("app:x", str)]),
    ],
    ids=[
        *("set", "remove", "modify", "scope", "clear", "transaction", "context", "task"),
        *("derived", "remove derived", "provide", "declare", "redeclare"),
    ],
)
async def test_no_way_to_write_is_open_to_a_guard_with_the_sessions_own_state(write: Any) -> None:
    held: list[State] = []
    of = agent().state(values={"app:x": 5}).phase(*phases(lambda s: bool(held) and write(held[0]) and False))
    async with talk(of.computed(ComputedVar("five", key("app:x") == 5))) as t:
        held.append(t.state)
        await t.turn()
        assert (t.state["app:x"], t.state.get("app:n"), t.state.get("n"), t.state["five"]) == (5, None, None, True)
        t.state.set("app:x", 6)


def write_at_once(state: State) -> None:
    with state.transaction() as transaction:
        transaction.set("app:n", 1)


async def write_later(state: State) -> None:
    with pytest.raises(StateError, match="decides"):
        state.set("app:n", 1)


async def test_who_reads_a_change_of_state_cannot_change_it() -> None:
    def spoils(event: Any, voice: Any, state: State) -> None:
        for mutation in getattr(event, "changes", ()):
            if mutation.key == "app:list":
                mutation.new.append("rule")

    of = agent().rule(ReactorRule("spoils", spoils)).phase(*phases(key("app:list").contains(9)))
    async with talk(of) as t:
        t.state.set("app:list", [1])
        await t.rests()
        change = next(event for event in t.all(ev.StateChanged) if event.key == "app:list")
        change.new.append("event")
        evidence = t.state.evidence("app:list")
        assert evidence is not None
        evidence.new.append("evidence")
        t.handle.explain()["transitions"][0]["guard"]["reads"][0]["value"].append("explanation")
        assert t.state["app:list"] == [1]


@pytest.mark.parametrize("run", [in_this_context, in_a_context_of_its_own])
@pytest.mark.parametrize("callback", ["instruction_amendment", "instruction_template"])
async def test_what_an_async_listener_decides_cannot_write_after_it_waited(callback: str, run: Any) -> None:
    held: list[State] = []

    async def told(state: State) -> str:
        await asyncio.sleep(0.1)
        for one in held:
            run(count, one)
        return "Yes."

    async with talk(agent().on(callback, told)) as t:
        held.append(t.state)
        await t.turn()
        await t.passes(1)
        assert t.state.get("app:n") is None
        assert "app:n cannot be written here" in t.failures()[0].error


async def test_an_async_listener_that_decides_gets_what_it_awaits() -> None:
    async def told(state: State) -> str:
        try:
            await asyncio.wait_for(asyncio.sleep(9), 0.1)
        except TimeoutError:
            return f"Be {await asyncio.sleep(0.1, 'brief')}."
        return ""

    async with talk(agent().on("instruction_amendment", told)) as t:
        await t.turn()
        assert t.failures() == []
        assert "Be brief." in t.setup["systemInstruction"]["parts"][0]["text"]


async def test_code_that_decides_cannot_write_by_another_name() -> None:
    held: list[State] = []

    def decide(state: State) -> bool:
        for one in held:
            with one.writing_as(Origin("tool", "mine")):
                count(one)
        return False

    async with talk(agent().phase(*phases(decide))) as t:
        held.append(t.state)
        await t.turn()
        assert t.state.get("app:n") is None
        assert "app:n cannot be written here" in t.failures()[0].error


def test_a_guard_of_a_class_of_its_own_is_refused() -> None:
    with pytest.raises(AgentError, match="Give a function of the state"):
        type("Weekend", (Guard,), {"__module__": __name__})


@pytest.mark.parametrize("method", ["get", "get_raw", "__getitem__"])
@pytest.mark.parametrize("is_held", [False, True], ids=["view", "state held"])
async def test_code_that_decides_gets_no_value_by_which_it_could_change_state(method: str, is_held: bool) -> None:
    held: list[State] = []

    def full(state: State) -> bool:
        reader = held[0] if is_held and held else state
        getattr(reader, method)("app:basket").append("cake")
        return False

    of = agent().state(values={"app:basket": ["soup"]}).phase(*phases(full))
    async with talk(of) as t:
        held.append(t.state)
        await t.turn()
        assert t.state["app:basket"] == ["soup"]


async def test_an_extractor_that_decides_if_it_runs_cannot_write() -> None:
    held: list[State] = []
    async with talk(agent().extract(Asks(lambda window: count(held[0])))) as t:
        held.append(t.state)
        await t.turn()
        assert t.state.get("app:n") is None
        (failed,) = t.all(ev.ExtractionFailed)
        assert "app:n cannot be written here" in failed.reason
        assert "deciding_code.py" in failed.raised_at


async def test_a_format_of_context_gets_a_copy_of_the_value() -> None:
    shown = ContextBuilder().section("Basket").format("app:list", lambda items: items.append(9) or str(items))
    async with talk(agent().state(values={"app:list": [1]}).in_every_phase(shown.as_modifier())) as t:
        await t.turn()
        assert t.state["app:list"] == [1]
