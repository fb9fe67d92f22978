"""Deciding code reads state and never writes it, and rules are bounded."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    ComputedVar,
    InstructionModifier,
    Live,
    Phase,
    ReactorRule,
    SendContext,
    State,
    Transition,
    key,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.rules.dispatch import MAX_PER_TURN


def count(state: State) -> Any:
    return state.modify("app:n", 0, lambda n: n + 1)


CLOSED = key("app:x") == 1


def phases(when: Any = CLOSED, first: Any = "One.", **of_second: Any) -> tuple[Phase, Phase]:
    return Phase("one", first, transitions=Transition("two", when)), Phase("two", "Two.", terminal=True, **of_second)


WRITERS: dict[str, Live] = {
    "a guard": agent().phase(*phases(lambda s: count(s) > 10**9)),
    "the guard of a target": agent().phase(*phases(lambda s: True, guard=lambda s: count(s) > 10**9)),
    "an instruction": agent().phase(*phases(first=lambda s: f"Count {count(s)}.")),
    "a modifier": agent().in_every_phase(InstructionModifier.custom(lambda s: f"Count {count(s)}.")),
    "a guard of a modifier": agent().in_every_phase(InstructionModifier.when(lambda s: count(s) > 0, "Often.")),
    "an amendment": agent().on("instruction_amendment", lambda state: f"Count {count(state)}."),
    "a template": agent().on("instruction_template", lambda state: f"Count {count(state)}."),
    "a computed value": agent().computed(ComputedVar("n", lambda s: count(s), "app:x")),
    "a rule": agent().rule(ReactorRule("counts", lambda event, voice, state: count(state) and ())),
}


@pytest.mark.parametrize("what", WRITERS)
async def test_code_that_decides_cannot_write_and_is_reported_by_its_place(what: str) -> None:
    async with talk(WRITERS[what]) as t:
        await t.turn()
        await t.writes(other=1)
        assert t.state.get("app:n") is None
        fault = t.failures()[0]
        assert "app:n cannot be written here" in fault.error
        assert "test_deciding_code" in fault.defined_at


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


async def test_a_rule_that_answers_everything_is_stopped_for_the_rest_of_the_turn() -> None:
    rule = ReactorRule("talks", lambda event, voice, state: [SendContext(("Again.",), "it talks")])
    async with talk(agent().rule(rule)) as t:
        await t.turn()
        await t.passes(60)
        assert 0 < len(t.sent("model context")) <= 2 * MAX_PER_TURN
        warned = [notice for notice in t.all(ev.Notice) if notice.code == "reactor" and "talks" in notice.text]
        assert warned
