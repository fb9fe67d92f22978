"""Computed values and watchers, as a session drives them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talking import agent, talk, two_phases

from gemini_live_runtime import (
    Change,
    ComputedRegistry,
    ComputedVar,
    FunctionExtractor,
    State,
    Watcher,
    WatcherRegistry,
    WatchPredicate,
    key,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.agent.settle_engine import MAX_PER_S, MAX_ROUNDS

TOTAL = ComputedVar("total", lambda s: s.get("app:price", 0) * s.get("app:count", 0), ("app:price", "app:count"))


def note(seen: list[Any]) -> Any:
    """Return an action that records its arguments."""

    def keep(state: State, change: Change) -> None:
        seen.append((change.key, change.old, change.new))

    return keep


def fill(price: int, state: State) -> None:
    """Set the price.

    Args:
        price: The price.
    """
    state.set("app:price", price)


async def test_a_computed_value_follows_what_a_tool_has_written() -> None:
    async with talk(agent().computed(TOTAL).tools(fill).state(values={"app:count": 2})) as t:
        await t.calls("fill", price=7)
        assert t.state["derived:total"] == 14


async def test_a_computed_value_is_there_before_anything_changes() -> None:
    async with talk(agent().computed(TOTAL).state(values={"app:count": 2, "app:price": 3})) as t:
        assert t.state.get("total") == 6


async def test_only_what_is_affected_is_computed_again() -> None:
    counted: list[str] = []

    def count(name: str) -> Any:
        return lambda state: counted.append(name)

    of = agent().computed(ComputedVar("a", count("a"), "app:a"), ComputedVar("b", count("b"), "app:b"))

    async with talk(of) as t:
        counted.clear()
        await t.writes(a=1)
        await t.turn()
    assert counted == ["a"]


async def test_a_guard_sees_computed_values_that_follow_from_the_same_turn() -> None:
    phases = two_phases(key("derived:total") > 10)

    async with talk(agent().computed(TOTAL).tools(fill).phase(*phases).state(values={"app:count": 2})) as t:
        await t.calls("fill", price=7)
        assert t.handle.phase == "second"


async def test_a_computation_that_fails_is_told_and_the_call_goes_on() -> None:
    def fails(state: State) -> int:
        return int(1 / state.get("app:zero", 1))

    async with talk(agent().computed(ComputedVar("ratio", fails, "app:zero"))) as t:
        await t.writes(zero=0)
        await t.turn()
    assert [failure.where for failure in t.failures()] == ["computed ratio"]
    assert len(t.all(ev.TurnCompleted)) == 1


async def test_a_watcher_fires_when_a_tool_has_written() -> None:
    seen: list[Any] = []

    async with talk(agent().watch(Watcher(key("app:price").changed(), note(seen))).tools(fill)) as t:
        await t.hears("the price please")
        await t.calls("fill", price=7)
        assert seen == [("app:price", None, 7)]


async def test_a_watcher_fires_when_an_extractor_has_written() -> None:
    seen: list[Any] = []
    reads = FunctionExtractor(function=lambda window: {"mood": "glad"}, name="mood")

    async with talk(agent().watch(Watcher(key("app:mood").changed_to("glad"), note(seen))).extract(reads)) as t:
        await t.turn()
    assert seen == [("app:mood", None, "glad")]


async def test_watchers_fire_once_for_a_change_however_often_state_settles() -> None:
    seen: list[Any] = []

    async with talk(agent().watch(Watcher(key("app:price").changed(), note(seen))).tools(fill)) as t:
        await t.calls("fill", price=7)
        await t.turn()
        await t.turn()
    assert len(seen) == 1


async def test_every_kind_of_change_is_watched() -> None:
    fired: list[str] = []

    def watch(predicate: WatchPredicate, name: str) -> Watcher:
        return Watcher(predicate, lambda: fired.append(name), name=name, blocking=True)

    score = key("app:score")
    watchers = (
        watch(score.changed(), "changed"),
        watch(score.changed_to(5), "changed_to"),
        watch(score.changed_from(5), "changed_from"),
        watch(score.crossed_above(7), "crossed_above"),
        watch(score.crossed_below(3), "crossed_below"),
        watch((score > 8).became_true(), "became_true"),
        watch((score > 8).became_false(), "became_false"),
        watch(WatchPredicate.custom(score, lambda old, new: new == 42), "custom"),
    )

    async with talk(agent().watch(*watchers)) as t:
        for value in (5, 9, 2, 42):
            await t.writes(score=value)
            fired.append("|")
    assert " ".join(fired).split(" | ") == [
        "changed changed_to",
        "changed changed_from crossed_above became_true",
        "changed crossed_below became_false",
        "changed crossed_above became_true custom |",
    ]


async def test_a_blocking_watcher_is_done_before_a_guard_is_asked() -> None:
    async def settle(state: State) -> None:
        await asyncio.sleep(0.5)
        state.set("app:checked", True)

    phases = two_phases(key("app:checked"))

    of = agent().phase(*phases).watch(Watcher(key("app:price").changed(), settle, blocking=True)).tools(fill)
    async with talk(of) as t:
        await t.calls("fill", price=7)
        await t.passes(0.6)
        assert [told[0] for told in t.wire] == ["instruction", "answer"]
    assert t.phases == ["first", "second"]


async def test_a_concurrent_watcher_keeps_nobody_waiting() -> None:
    done: list[float] = []

    async def slow(state: State) -> None:
        await asyncio.sleep(3)
        done.append(asyncio.get_running_loop().time())

    async with talk(agent().watch(Watcher(key("app:price").changed(), slow)).tools(fill)) as t:
        await t.calls("fill", price=7)
        assert t.sent("answer")
        assert done == []
        await t.passes(4)
        assert len(done) == 1


async def test_a_watchers_action_that_raises_is_told_by_name() -> None:
    def fails() -> None:
        raise ValueError("no")

    async with talk(agent().watch(Watcher(key("app:x").changed(), fails, name="x moved", blocking=True))) as t:
        await t.writes(x=1)
        await t.turn()
    assert [(f.where, f.error) for f in t.failures()] == [("watcher x moved", "ValueError: no")]


async def test_a_firing_is_an_event_that_explains_itself() -> None:
    angry = Watcher(key("app:anger").crossed_above(0.7), lambda: None, name="angry")
    async with talk(agent().watch(angry).state(values={"app:anger": 0.2})) as t:
        await t.writes(anger=0.8)
    (fired,) = t.all(ev.WatcherFired)
    assert (fired.watcher, fired.key, fired.old, fired.new) == ("angry", "app:anger", 0.2, 0.8)
    assert fired.explanation["value"] is True


async def test_a_firing_is_explained_by_the_state_that_decided_it_not_by_what_an_earlier_action_wrote() -> None:
    first = Watcher(key("app:anger").changed(), lambda state: state.set("app:calls", 9), name="first", blocking=True)
    guard = (key("app:anger") > 0.7) & (key("app:calls") < 5)
    second = Watcher(guard.became_true(), lambda: None, name="second")
    async with talk(agent().watch(first, second).state(values={"app:anger": 0.2, "app:calls": 1})) as t:
        await t.writes(anger=0.8)
    explained = {fired.watcher: fired.explanation for fired in t.all(ev.WatcherFired)}
    (tree,) = explained["second"]["children"]
    assert [read["value"] for child in tree["children"] for read in child["reads"]] == [0.8, 1]


async def test_a_near_miss_is_an_event_that_says_by_how_much() -> None:
    angry = Watcher(key("app:anger").crossed_above(0.7), lambda: None, name="angry")
    async with talk(agent().watch(angry).state(values={"app:anger": 0.2})) as t:
        await t.writes(anger=0.65)
    (missed,) = t.all(ev.WatchersMissed)
    assert missed.misses[0]["missing"] == "0.65 is 0.05 below 0.7"


async def test_a_muted_watcher_only_tells_that_it_would_have_fired() -> None:
    seen: list[Any] = []

    async with talk(agent().watch(Watcher(key("app:price").changed(), note(seen), name="price"))) as t:
        t.handle.mute_watcher("price")
        await t.writes(price=1)
        t.handle.mute_watcher("price", muted=False)
        await t.writes(price=2)
        with pytest.raises(AgentError, match="Watchers: price"):
            t.handle.mute_watcher("prize")
    assert len(seen) == 1
    assert [fired.muted for fired in t.all(ev.WatcherFired)] == [True, False]


async def test_watchers_that_set_each_other_off_are_stopped_and_told() -> None:
    def up(state: State) -> None:
        state.modify("app:n", 0, lambda n: n + 1)

    async with talk(agent().watch(Watcher(key("app:n").changed(), up, blocking=True))) as t:
        await t.writes(n=1)
        await t.turn()
    assert [notice.code for notice in t.all(ev.Notice)] == ["watchers"]
    assert len(t.all(ev.WatcherFired)) == MAX_ROUNDS
    assert len(t.all(ev.TurnCompleted)) == 1


async def test_a_concurrent_watcher_that_sets_itself_off_rests_for_a_while() -> None:
    async def up(state: State) -> None:
        state.modify("app:n", 0, lambda n: n + 1)

    async with talk(agent().watch(Watcher(key("app:n").changed(), up))) as t:
        await t.writes(n=1)
    assert [notice.code for notice in t.all(ev.Notice)] == ["watchers"]
    assert len(t.all(ev.WatcherFired)) == MAX_PER_S


async def test_what_a_watcher_writes_is_known_to_be_its_own() -> None:
    def copies(state: State) -> None:
        state.set("app:y", 1)

    async with talk(agent().watch(Watcher(key("app:x").changed(), copies, name="copy"))) as t:
        await t.writes(x=1)
    (written,) = [change for change in t.all(ev.StateChanged) if change.key == "app:y"]
    assert (written.origin, written.by) == ("watcher", "copy")


async def test_the_registries_of_a_session_tell_what_they_watch_and_compute() -> None:
    of = agent().computed(TOTAL).watch(Watcher(key("derived:total").crossed_above(10), lambda: None, name="dear"))
    async with talk(of) as t:
        settler = t.stage.orchestrator.settle
        assert isinstance(settler.watchers, WatcherRegistry)
        assert isinstance(settler.computed, ComputedRegistry)
        assert [status.name for status in settler.watchers.status] == ["dear"]
        assert settler.observed == {"derived:total", "app:price", "app:count"}


async def test_an_action_that_changes_the_value_it_gets_changes_no_event() -> None:
    def invent(state: State, change: Change) -> None:
        change.new.append("invented")

    async with talk(agent().watch(Watcher(key("app:list").changed(), invent, blocking=True))) as t:
        await t.writes(list=["real"])
        assert [fired.new for fired in t.all(ev.WatcherFired)] == [["real"]]
        assert t.state["app:list"] == ["real"]
