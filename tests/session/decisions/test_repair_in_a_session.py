"""Repair: what happens when a phase's needs get no further."""

from __future__ import annotations

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    Live,
    MemoryPersistence,
    Need,
    NeedsFulfillment,
    Phase,
    RepairAction,
    RepairConfig,
    SteeringMode,
    Transition,
    key,
)
from gemini_live_runtime import events as ev


def asking(nudge: int = 1, escalate: int = 3) -> Live:
    """Return an agent that needs a name and a date."""
    phases = (
        Phase(
            "ask",
            "Ask.",
            needs=(Need("user:name", "the name"), Need("user:date", "the date")),
            transitions=Transition("human", key("session:repair:escalation")),
        ),
        Phase("human", "Hand over.", terminal=True),
    )
    return agent().phase(*phases).repair(nudge, escalate).state(values={"user:name": None, "user:date": None})


async def test_the_model_is_nudged_once_the_needs_got_no_further_for_long_enough() -> None:
    async with talk(asking(2, 5)) as t:
        await t.turn()
        assert t.sent("model context") == []
        await t.turn()
        assert t.sent("model context") == [("model context", "[Still needed] the name, the date. Ask for this next.")]
    assert [(acted.action, acted.attempt) for acted in t.all(ev.RepairActed)] == [("nudge", 1)]


async def test_escalation_is_in_the_state_and_a_guard_may_use_it() -> None:
    async with talk(asking()) as t:
        for _ in range(3):
            await t.turn()
        assert t.handle.phase == "human"
        assert t.state["session:repair:unfulfilled"] == ["user:name", "user:date"]


async def test_progress_begins_the_count_anew() -> None:
    async with talk(asking(5, 5)) as t:
        await t.turn()
        await t.turn()
        t.state.set("user:name", "Ada")
        await t.turn()
        await t.turn()
        assert "session:repair:escalation" not in t.state


async def test_progress_calls_an_escalation_off() -> None:
    phases = (Phase("ask", "Ask.", needs=("user:name", "user:date")),)
    of = agent().phase(*phases).repair(1, 2).state(values={"user:name": None, "user:date": None})
    escalated = []

    async with talk(of) as t:
        await t.turn()
        await t.turn()
        escalated.append("session:repair:escalation" in t.state)
        t.state.set("user:name", "Ada")
        await t.turn()
        escalated.append("session:repair:escalation" in t.state)
    assert escalated == [True, False]


async def test_entering_a_phase_begins_the_count_anew() -> None:
    phases = (
        Phase("ask", "Ask.", needs="user:name", transitions=Transition("again", key("app:go"))),
        Phase("again", "Ask again.", needs="user:name", transitions=Transition("ask", key("app:back"))),
    )
    of = agent().phase(*phases).repair(2, 3).state(values={"user:name": None, "app:go": False, "app:back": False})

    async with talk(of) as t:
        await t.turn()
        await t.turn()
        assert t.state.get("session:phase") == "ask"
        await t.writes(go=True)
        needs = t.stage.agent.needs
        assert isinstance(needs, NeedsFulfillment)
        assert needs.config == RepairConfig(nudge_after=2, escalate_after=3)
        assert needs.turns_without_progress == 0
        await t.writes(go=False)
        await t.turn()
        assert needs.evaluate("again", ("user:name",), t.state) == RepairAction(
            "nudge", (Need("user:name"),), attempt=1, turns=2
        )


async def test_without_repair_nobody_is_nudged() -> None:
    of = agent().phase(Phase("ask", "Ask.", needs="user:name")).state(values={"user:name": None})
    async with talk(of) as t:
        for _ in range(8):
            await t.turn()
    assert t.all(ev.RepairActed) == []


def deferring() -> Live:
    """Return `asking` with context that waits for the user's next input."""
    return asking(1, 5).steering("hybrid", "deferred")


async def test_a_nudge_that_waits_is_sent_while_its_needs_are_missing() -> None:
    async with talk(deferring()) as t:
        await t.turn()
        await t.writes(other=1)
        await t.types("well")
        assert t.wire == [
            ("model context", "[Still needed] the name, the date. Ask for this next."),
            ("text", "well"),
        ]


async def test_a_nudge_that_waits_is_not_sent_once_a_need_is_met() -> None:
    async with talk(deferring()) as t:
        await t.turn()
        t.state.set("user:name", "Ada")
        await t.rests()
        await t.types("well")
        assert t.wire == [("text", "well")]


async def test_a_nudge_that_waits_is_not_sent_in_another_phase() -> None:
    async with talk(deferring()) as t:
        await t.turn()
        t.handle.transition_to("human")
        await t.rests()
        await t.types("well")
        assert t.wire == [("instruction", "Be brief.\n\nHand over."), ("text", "well")]


STEERING = pytest.mark.parametrize("mode", SteeringMode)


@STEERING
async def test_needs_that_the_model_was_told_to_ask_for_are_called_off_one_by_one(mode: SteeringMode) -> None:
    async with talk(asking(1, 5).steering(mode)) as t:
        await t.turn()
        t.state.set("user:name", "Ada")
        await t.rests()
        t.state.set("user:date", "Monday")
        await t.turn()
        assert [text for _, text in t.sent("model context") if "needed]" in text] == [
            "[Still needed] the name, the date. Ask for this next.",
            "[No longer needed] the name.",
            "[No longer needed] the date.",
        ]


async def test_a_phase_that_asks_for_something_else_calls_a_nudge_off() -> None:
    phases = (
        Phase("ask", "Ask.", needs=("user:name", "user:date"), transitions=Transition("when", key("app:go"))),
        Phase("when", "Ask for the date.", needs="user:date", terminal=True),
    )
    of = agent().phase(*phases).repair(1, 5).state(values={"user:name": None, "user:date": None, "app:go": False})
    async with talk(of) as t:
        await t.turn()
        await t.writes(go=True)
        assert t.sent("model context")[1:] == [("model context", "[No longer needed] name.")]


async def test_a_nudge_is_called_off_in_the_next_process_too() -> None:
    saved = MemoryPersistence()
    async with talk(asking(1, 5).persistence(saved, "one")) as t:
        await t.turn()
        await t.server.says(sessionResumptionUpdate={"newHandle": "h", "resumable": True})
        await t.rests()
    async with talk(asking(1, 5).persistence(saved, "one")) as t:
        t.state.set("user:name", "Ada")
        await t.rests()
        assert t.sent("model context") == [("model context", "[No longer needed] the name.")]
