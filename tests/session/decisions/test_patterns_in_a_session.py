"""Temporal patterns, each driven in a session by what it counts."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.session.talking import agent, talk, two_phases

from gemini_live_runtime import (
    ComputedVar,
    ConsecutiveFailureDetector,
    FunctionExtractor,
    Live,
    PatternDetector,
    RateDetector,
    State,
    SustainedDetector,
    TemporalEvent,
    TemporalPattern,
    TemporalRegistry,
    TurnCountDetector,
    Watcher,
    key,
)
from gemini_live_runtime import events as ev


def noticing(detector: PatternDetector, **more: Any) -> Live:
    """Return an agent whose pattern only fires."""
    return agent().pattern(TemporalPattern("seen", detector, lambda: None, **more))


async def test_a_guard_that_has_held_long_enough_is_noticed_to_the_moment_without_anything_happening() -> None:
    async with talk(noticing(SustainedDetector(key("app:angry"), 5))) as t:
        await t.writes(angry=True)
        await t.passes(4.9)
        assert t.all(ev.PatternFired) == []
        await t.passes(0.2)
        assert len(t.all(ev.PatternFired)) == 1


async def test_a_moment_that_passes_while_a_step_runs_is_queued_once() -> None:
    async def slow() -> None:
        await asyncio.sleep(3)

    noticed = noticing(SustainedDetector(key("app:angry"), 5)).watch(
        Watcher(key("app:slow").changed(), slow, blocking=True)
    )
    async with talk(noticed) as t:
        await t.writes(angry=True)
        await t.passes(4)
        t.handle.state.set("app:slow", True)
        await t.passes(2.5)
        assert t.stage.session.orchestrator.agent.queue.waiting.count("time") == 1
        await t.passes(1)
        assert len(t.all(ev.PatternFired)) == 1


async def test_a_guard_that_was_false_in_between_has_to_hold_anew() -> None:
    async with talk(noticing(SustainedDetector(key("app:angry"), 5))) as t:
        await t.writes(angry=True)
        await t.passes(3)
        await t.writes(angry=False)
        await t.writes(angry=True)
        await t.passes(4)
        assert t.all(ev.PatternFired) == []


async def test_what_a_sustained_pattern_does_moves_the_conversation() -> None:
    phases = two_phases(key("app:fetch"))

    def fetch(state: State) -> None:
        state.set("app:fetch", True)

    of = agent().phase(*phases).pattern(TemporalPattern("mad", SustainedDetector(key("app:angry"), 5), fetch))

    async with talk(of) as t:
        await t.writes(angry=True)
        await t.passes(6)
        assert t.handle.phase == "second"


async def test_turns_are_counted_in_turns_and_not_in_time() -> None:
    async with talk(noticing(TurnCountDetector(key("app:lost"), 3))) as t:
        await t.writes(lost=True)
        await t.passes(60)
        await t.turn()
        await t.turn()
        assert t.all(ev.PatternFired) == []
        await t.turn()
        assert len(t.all(ev.PatternFired)) == 1


async def test_a_pattern_over_turns_sees_what_was_computed_from_the_same_turn() -> None:
    many = ComputedVar("many", key("app:n") > 2)

    reads = FunctionExtractor(function=lambda window: {"n": 3}, name="n")
    of = noticing(TurnCountDetector(key("derived:many"), 1)).computed(many).extract(reads)

    async with talk(of) as t:
        await t.turn()
        assert len(t.all(ev.PatternFired)) == 1


async def test_failures_in_a_row_of_one_tool_are_counted() -> None:
    def pay(ok: bool) -> None:
        """Pay.

        Args:
            ok: Whether it works.
        """
        if not ok:
            raise RuntimeError("declined")

    async with talk(noticing(ConsecutiveFailureDetector("pay", 2)).tools(pay).max_tool_steps(None)) as t:
        for ok in (False, True, False):
            await t.calls("pay", ok=ok)
        assert t.all(ev.PatternFired) == []
        await t.calls("pay", ok=False)
        assert len(t.all(ev.PatternFired)) == 1


async def test_events_of_the_session_are_counted_within_a_time() -> None:
    async with talk(noticing(RateDetector("turn.completed", 3, 60))) as t:
        for pause in (70, 10, 10):
            await t.turn()
            await t.passes(pause)
        assert t.all(ev.PatternFired) == []
        await t.turn()
        assert len(t.all(ev.PatternFired)) == 1


async def test_interruptions_are_events_that_can_be_counted() -> None:
    async with talk(noticing(RateDetector("turn.interrupted", 2, 60))) as t:
        for _ in range(2):
            await t.hears("no")
            await t.says("Well, you see")
            await t.server.says(serverContent={"interrupted": True})
            await t.server.says(serverContent={"turnComplete": True})
            await t.rests()
        assert len(t.all(ev.PatternFired)) == 1


async def test_a_pattern_is_not_acted_upon_again_while_it_cools_down() -> None:
    async with talk(noticing(TurnCountDetector(True, 1), cooldown_s=30)) as t:
        for _ in range(4):
            await t.turn()
        assert len(t.all(ev.PatternFired)) == 1
        await t.passes(31)
        await t.turn()
        assert len(t.all(ev.PatternFired)) == 2


async def test_a_pattern_that_is_still_there_when_the_cooldown_ends_is_acted_upon_then() -> None:
    async with talk(noticing(SustainedDetector(key("app:angry"), 1), cooldown_s=20)) as t:
        for _ in range(2):
            await t.writes(angry=True)
            await t.passes(2)
            await t.writes(angry=False)
            await t.rests()
        await t.writes(angry=True)
        await t.passes(30)
        assert len(t.all(ev.PatternFired)) == 2


async def test_a_detector_of_ones_own_sees_everything_that_can_be_counted() -> None:
    seen: list[str] = []

    class Mine(PatternDetector):
        def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
            seen.append(event.kind)
            return event.kind == "turn"

        def reset(self) -> None:
            seen.append("reset")

    def ping() -> None:
        """Ping."""

    async with talk(noticing(Mine()).tools(ping)) as t:
        await t.writes(x=1)
        await t.calls("ping")
        await t.turn()
    assert {"turn", "event", "tool", "state", "reset"} <= set(seen)
    assert len(t.all(ev.PatternFired)) == 1


async def test_a_detector_that_raises_is_told_and_the_others_go_on() -> None:
    class Broken(PatternDetector):
        def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
            if event.kind == "turn":
                raise RuntimeError("boom")
            return False

        def reset(self) -> None:
            """Do nothing."""

    of = noticing(TurnCountDetector(True, 1)).pattern(TemporalPattern("broken", Broken(), lambda: None))

    async with talk(of) as t:
        await t.turn()
    assert [failure.where for failure in t.failures()] == ["pattern broken"]
    assert [fired.pattern for fired in t.all(ev.PatternFired)] == ["seen"]


async def test_a_blocking_pattern_is_done_before_a_guard_of_the_same_turn_is_asked() -> None:
    phases = two_phases(key("app:lost"))

    def lost(state: State) -> None:
        state.set("app:lost", True)

    of = agent().phase(*phases).pattern(TemporalPattern("lost", TurnCountDetector(True, 2), lost, blocking=True))

    async with talk(of) as t:
        await t.turn()
        await t.turn()
        assert t.handle.phase == "second"


async def test_what_a_blocking_pattern_has_written_is_computed_before_a_guard_of_the_same_turn_is_asked() -> None:
    phases = two_phases(key("derived:gone"))

    def lost(state: State) -> None:
        state.set("app:lost", True)

    of = agent().phase(*phases).computed(ComputedVar("gone", key("app:lost").is_true()))
    places: list[str] = []

    def boundary(state: State, writer: object) -> None:
        places.append(str(state.get("session:phase")))

    pattern = TemporalPattern("lost", TurnCountDetector(True, 1), lost, blocking=True)
    async with talk(of.pattern(pattern).on("turn_boundary", boundary)) as t:
        await t.turn()
    assert places == ["second"]


async def test_a_pattern_says_how_far_it_has_come() -> None:
    async with talk(noticing(TurnCountDetector(True, 3))) as t:
        await t.turn()
        patterns = t.stage.orchestrator.settle.temporal
        assert isinstance(patterns, TemporalRegistry)
        (status,) = patterns.status(0.0)
        assert (status.name, status.progress) == ("seen", "1 of 3 turns")
