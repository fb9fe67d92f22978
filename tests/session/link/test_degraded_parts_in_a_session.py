"""Show an extractor or a tool that fails again and again until it works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import FunctionExtractor, Live, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.restarts import MAX_RESTARTS, WITHIN_S


class Part:
    """Function of an author that fails while `fails` is set."""

    def __init__(self) -> None:
        self.fails = True
        self.runs = 0

    def __call__(self, *_: Any) -> dict[str, Any]:
        """Fail, or return an object."""
        self.runs += 1
        if self.fails:
            raise ValueError("boom")
        return {"a": self.runs}


def extractor(part: Part) -> Live:
    return agent().extract(FunctionExtractor(lambda window: part(window), name="mood"))


def tool_of(part: Part) -> Live:
    @tool
    def mood() -> dict[str, Any]:
        """Tell the mood."""
        return part()

    return agent().tools(mood).max_tool_steps(None)


async def runs_extractor(t: Talk) -> None:
    await t.turn()
    await t.passes(1)


async def runs_tool(t: Talk) -> None:
    await t.calls("mood")
    await t.ends()


PARTS = pytest.mark.parametrize(
    ("name", "make", "runs"),
    [("extractor mood", extractor, runs_extractor), ("tool mood", tool_of, runs_tool)],
    ids=["extractor", "tool"],
)


def shown(t: Talk) -> dict[str, tuple[str, str]]:
    view = SessionView()
    for event in t.stage.sink.events:
        apply(view, event)
    return view.health


@PARTS
async def test_a_part_that_failed_five_times_in_a_minute_is_shown(
    name: str, make: Callable[[Part], Live], runs: Callable[[Talk], Any]
) -> None:
    told: list[str] = []
    async with talk(make(Part()).on("error", told.append)) as t:
        for _ in range(MAX_RESTARTS - 1):
            await runs(t)
        assert not t.all(ev.PartHealth)
        await runs(t)
        (health,) = t.all(ev.PartHealth)
        assert (f"{health.part} {health.name}", health.well) == (name, False)
        assert f"failed {MAX_RESTARTS} times within 60 s" in health.text
        assert shown(t)[name][0] == health.text
        assert told == [health.text]


@PARTS
async def test_a_part_that_fails_now_and_then_is_not_degraded(
    name: str, make: Callable[[Part], Live], runs: Callable[[Talk], Any]
) -> None:
    async with talk(make(Part())) as t:
        for _ in range(2 * MAX_RESTARTS):
            await runs(t)
            await t.passes(WITHIN_S / (MAX_RESTARTS - 1))
        assert not t.all(ev.PartHealth)


@PARTS
async def test_a_part_that_works_again_is_told_and_no_longer_shown(
    name: str, make: Callable[[Part], Live], runs: Callable[[Talk], Any]
) -> None:
    part = Part()
    async with talk(make(part)) as t:
        for _ in range(MAX_RESTARTS):
            await runs(t)
        await t.passes(WITHIN_S)
        part.fails = False
        await runs(t)
        assert [health.well for health in t.all(ev.PartHealth)] == [False, True]
        assert shown(t) == {}


async def test_a_degraded_extractor_rests_for_a_minute_and_is_tried_once_then() -> None:
    part = Part()
    async with talk(extractor(part)) as t:
        for _ in range(MAX_RESTARTS + 10):
            await runs_extractor(t)
        assert part.runs == MAX_RESTARTS
        await t.passes(WITHIN_S)
        for _ in range(3):
            await runs_extractor(t)
        assert part.runs == MAX_RESTARTS + 1
        assert t.state["session:turn_count"] == MAX_RESTARTS + 13


async def test_a_degraded_tool_runs_on_and_its_errors_are_answers() -> None:
    part = Part()
    async with talk(tool_of(part)) as t:
        for _ in range(2 * MAX_RESTARTS):
            await runs_tool(t)
        assert part.runs == 2 * MAX_RESTARTS
        assert len(t.sent("answer")) == 2 * MAX_RESTARTS
