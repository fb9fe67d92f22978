"""Events that describe an agent's parts and the status of guards and patterns."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk, two_phases

from gemini_live_runtime import (
    ComputedVar,
    FunctionExtractor,
    Live,
    Phase,
    RateDetector,
    State,
    StateKey,
    SustainedDetector,
    TemporalPattern,
    Transition,
    Watcher,
    key,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent import guard_monitor as standing
from gemini_live_runtime.session.agent.guard_monitor import MIN_INTERVAL_S


def nothing() -> None:
    """Do nothing, as an action."""


def book(table: int) -> str:
    """Book a table.

    Args:
        table: Its number.
    """
    return f"table {table}"


PHASES = (
    Phase(
        "greet",
        "Greet the caller.\nBe kind.",
        needs=("user:name",),
        tools=(),
        transitions=(
            Transition("angry", key("app:anger") > 0.7, because="the caller is angry"),
            Transition("order", key("user:name").is_set(), because="the name is known"),
        ),
    ),
    Phase("angry", "Calm down.", transitions=Transition("greet", key("app:anger") < 0.2)),
    Phase("order", lambda state: "Order.", requires="app:menu", guard=~key("app:closed").is_true(), terminal=True),
)


def phased() -> Live:
    return agent().phase(*PHASES).state(values={"app:anger": 0.1, "user:name": None, "app:menu": None, "app:closed": 0})


# -- what it is made of ----------------------------------------------------------------------------------------------


async def test_a_session_begins_by_telling_what_its_agent_is_made_of() -> None:
    of = (
        phased()
        .tools(book)
        .watch(Watcher(key("app:anger").crossed_above(0.7), nothing, name="anger", blocking=True))
        .pattern(TemporalPattern("long", SustainedDetector(key("app:anger") > 0.5, 30), nothing))
        .computed(ComputedVar("calm", key("app:anger") < 0.3))
        .state(StateKey("user:age", int, description="how old"))
        .extract(FunctionExtractor(lambda window: {}, name="facts"))
    )

    async with talk(of) as t:
        assert t.events[:2] == ["session.started", "agent.described"]
        (told,) = t.all(ev.AgentDescribed)
        assert (told.agent, told.initial_phase) == ("test", "greet")
        greet, _, order = told.phases
        assert greet["goal"] == "Greet the caller."
        assert (greet["needs"], greet["tools"], greet["terminal"]) == (("user:name",), (), False)
        assert (order["requires"], order["tools"], order["terminal"]) == (("app:menu",), None, True)
        assert order["goal"].startswith("text from code (test_inspection_in_a_session.py:")
        assert [(way["to"], way["when"], way["because"]) for way in greet["ways"]] == [
            ("angry", "app:anger > 0.7", "the caller is angry"),
            ("order", "user:name is set", "the name is known"),
        ]
        assert greet["defined_at"].startswith("test_inspection_in_a_session.py:")
        (watcher,) = told.watchers
        assert (watcher["name"], watcher["when"]) == ("anger", "app:anger crossed above 0.7")
        assert (watcher["keys"], watcher["blocking"]) == (("app:anger",), True)
        assert [(item["name"], item["when"]) for item in told.patterns] == [("long", "app:anger > 0.5 for 30 s")]
        assert [(item["key"], item["inputs"]) for item in told.computed] == [("derived:calm", ("app:anger",))]
        assert told.keys == ({"key": "user:age", "type": {"type": "integer"}, "description": "how old"},)
        assert [(item["name"], item["description"], item["mode"]) for item in told.tools] == [
            ("book", "Book a table.", "blocking")
        ]
        assert [(item["name"], item["trigger"]) for item in told.extractors] == [("facts", "turn")]


async def test_the_values_that_an_agent_begins_with_are_told_as_changes() -> None:
    async with talk(agent().state(values={"app:a": 1, "app:b": [2]})) as t:
        first = [change for change in t.all(ev.StateChanged) if change.origin == "initial"]
        assert [(change.key, change.new, change.by) for change in first] == [
            ("app:a", 1, "test"),
            ("app:b", [2], "test"),
        ]
        assert all(change.added for change in first)
        assert [change.mutation for change in t.all(ev.StateChanged)][:2] == [1, 2]


# -- guards ----------------------------------------------------------------------------------------------------------


def ways(told: ev.GuardsRead) -> dict[str, str]:
    return {way["to"]: way["outcome"] for way in told.ways}


async def test_the_ways_out_are_told_on_entering_and_whenever_they_stand_differently() -> None:
    async with talk(phased()) as t:
        (first,) = t.all(ev.GuardsRead)
        assert first.phase == "greet"
        assert ways(first) == {"angry": "guard is false", "order": "guard is false"}
        assert first.needs == ({"key": "user:name", "label": "name", "met": False, "by": "initial test"},)
        await t.passes(1)
        await t.writes(anger=0.5)
        second = t.all(ev.GuardsRead)[-1]
        assert second.ways[0]["guard"]["reads"][0]["value"] == 0.5
        await t.passes(1)
        t.state.set("user:name", "Ada")
        await t.rests()
        third = t.all(ev.GuardsRead)[-1]
        assert third.ways[1]["outcome"] == "requirement missing"
        assert third.ways[1]["missing"] == ["app:menu"]
        assert third.needs[0]["met"]
        assert third.needs[0]["by"] == "program"
        await t.passes(1)
        await t.writes(anger=0.9)
        assert t.all(ev.GuardsRead)[-1].phase == "angry"


async def test_ways_that_stand_as_before_are_not_told_again() -> None:
    async with talk(phased()) as t:
        await t.passes(1)
        await t.writes(other=1)
        await t.turn()
        await t.passes(1)
        assert len(t.all(ev.GuardsRead)) == 1


async def test_a_change_that_is_taken_back_at_once_is_not_told() -> None:
    async with talk(phased()) as t:
        await t.passes(1)
        await t.writes(anger=0.3)
        await t.passes(1)
        before = len(t.all(ev.GuardsRead))
        t.state.set("app:anger", 0.4)
        t.state.set("app:anger", 0.3)
        await t.passes(1)
        assert len(t.all(ev.GuardsRead)) == before


async def test_another_phase_is_read_when_the_keys_of_its_own_ways_change() -> None:
    of = agent().phase(
        Phase("first", "One.", transitions=Transition("second", key("app:a").is_true())),
        Phase("second", "Two.", transitions=Transition("first", key("app:b") > 5)),
    )

    async with talk(of) as t:
        await t.passes(1)
        await t.writes(a=True)
        await t.passes(1)
        await t.writes(b=3)
        told = t.all(ev.GuardsRead)[-1]
        assert (told.phase, told.ways[0]["guard"]["reads"][0]["value"]) == ("second", 3)


async def test_an_agent_without_phases_has_no_ways_to_tell_of() -> None:
    async with talk(agent()) as t:
        await t.writes(anger=1)
        await t.turn()
        assert t.all(ev.GuardsRead) == []


async def test_a_guard_that_is_a_function_is_read_after_any_change() -> None:
    def ready(state: State) -> bool:
        return bool(state.get("app:ready"))

    of = agent().phase(*two_phases(ready, guard=lambda state: False))

    async with talk(of) as t:
        await t.passes(1)
        await t.writes(ready=True)
        assert ways(t.all(ev.GuardsRead)[-1]) == {"second": "target's guard is false"}


async def test_slow_guards_are_read_the_more_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each look at the clock finds it a tenth of a second later.
    monkeypatch.setattr(standing, "perf_counter", itertools.count(0, 0.1).__next__)
    of = agent().phase(*two_phases(lambda state: state.get("app:n", 0) > 1000))

    async with talk(of) as t:
        await t.passes(10)
        before = len(t.all(ev.GuardsRead))
        for step in range(100):
            t.state.set("app:n", step)
            await t.passes(0.1)
        # In ten seconds, with a fiftieth of the time to spend on it.
        assert len(t.all(ev.GuardsRead)) - before in (2, 3)


async def test_a_guard_that_reads_the_time_is_read_when_a_turn_ends() -> None:
    of = agent().phase(*two_phases(key("session:elapsed_ms") > 1e9))

    async with talk(of) as t:
        await t.passes(5)
        before = len(t.all(ev.GuardsRead))
        await t.turn()
        assert len(t.all(ev.GuardsRead)) == before + 1
        assert t.all(ev.GuardsRead)[-1].ways[0]["guard"]["reads"][0]["value"] >= 5000


async def test_a_flood_of_changes_is_read_now_and_then_and_the_last_of_it_is_told() -> None:
    async with talk(phased()) as t:
        await t.passes(1)
        before = len(t.all(ev.GuardsRead))
        for step in range(100):
            t.state.set("app:anger", step / 1000)
            await t.passes(0.002)
        await t.passes(MIN_INTERVAL_S)
        told = t.all(ev.GuardsRead)[before:]
        assert 3 <= len(told) <= 6
        assert told[-1].ways[0]["guard"]["reads"][0]["value"] == 0.099


# -- patterns --------------------------------------------------------------------------------------------------------


def progress(t: Talk) -> list[Any]:
    return [[(item["progress"], item["cooldown_left_s"]) for item in told.patterns] for told in t.all(ev.PatternsRead)]


async def test_patterns_that_time_moves_are_told_once_a_second_until_they_rest() -> None:
    of = agent().pattern(TemporalPattern("long", SustainedDetector(key("app:anger") > 0.5, 3), nothing, cooldown_s=2))

    async with talk(of) as t:
        await t.passes(10)
        assert progress(t) == [[("0.0 of 3 s", 0.0)]]
        await t.writes(anger=0.9)
        await t.passes(20)
        told = [text for ((text, _),) in progress(t)[1:]]
        assert told[:2] == ["1.0 of 3 s", "2.0 of 3 s"]
        assert told[2].endswith("of 3 s, fired")
        left = [left for ((_, left),) in progress(t)]
        assert max(left) > 1
        assert left[-1] == 0.0
        count = len(progress(t))
        await t.passes(60)
        assert len(progress(t)) == count


async def test_patterns_that_nothing_moves_are_told_once_and_not_again() -> None:
    of = agent().pattern(TemporalPattern("often", RateDetector("turn.interrupted", 3, 60), nothing))

    async with talk(of) as t:
        for _ in range(5):
            await t.turn()
            await t.passes(2)
        assert progress(t) == [[("0 of 3", 0.0)]]


# -- watchers --------------------------------------------------------------------------------------------------------


async def test_a_near_miss_says_how_near_it_came() -> None:
    of = agent().watch(
        Watcher(key("app:anger").crossed_above(0.8), nothing, name="above"),
        Watcher((key("app:anger") >= 0.5).became_true(), nothing, name="guard"),
        Watcher(key("app:anger").changed_to("mad"), nothing, name="word"),
    )

    async with talk(of) as t:
        await t.writes(anger=0.4)
        (missed,) = t.all(ev.WatchersMissed)
        assert {miss["watcher"]: miss.get("share") for miss in missed.misses} == {
            "above": 0.5,
            "guard": 0.8,
            "word": None,
        }
