"""Previews of what the operator's edits would lead to."""

from __future__ import annotations

import time
from typing import Any

from tests.session.phased_agent import nothing, phased
from tests.session.talking import agent, talk, two_phases

from gemini_live_runtime import (
    ComputedVar,
    PatternDetector,
    Phase,
    RateDetector,
    State,
    SustainedDetector,
    TemporalEvent,
    TemporalPattern,
    Transition,
    TurnCountDetector,
    Watcher,
    WatchPredicate,
    key,
)
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.control.preview_runner import MAX_THREADS, TIMEOUT_S


async def test_a_preview_tells_what_would_follow_and_changes_nothing() -> None:
    of = (
        phased()
        .computed(ComputedVar("big", key("app:n") > 3))
        .watch(
            Watcher(key("app:n").crossed_above(4), nothing, name="many"),
            Watcher(key("derived:big").became_true(), nothing, name="big"),
            Watcher(key("app:draft").changed(), nothing, name="draft"),
        )
    )

    async with talk(of) as t:
        t.handle.mute_watcher("big")
        await t.passes(1)
        before, state = list(t.events), t.state.snapshot()
        found = await t.previews({"key": "app:n", "value": 7})
        assert t.events == [*before, "edit.previewed"]
        assert t.state.snapshot() == state
        assert found.problem == ""
        assert [(v["key"], v["old"], v["new"]) for v in found.values] == [("app:n", 1, 7)]
        assert [(v["key"], v["old"], v["new"]) for v in found.derived] == [("derived:big", False, True)]
        assert [(w["name"], w["muted"]) for w in found.watchers] == [("big", True), ("many", False)]
        assert [(g["to"], g["before"], g["after"]) for g in found.guards] == [("second", "guard is false", "blocked")]
        assert found.phase == ""
        assert found.unknown == ("what watcher many does", "preparation menu of second")


async def test_a_preview_tells_which_patterns_would_begin_end_and_fire_and_leaves_them_as_they_are() -> None:
    of = agent().pattern(
        TemporalPattern("angry for long", SustainedDetector(key("app:angry"), 30), lambda: None),
        TemporalPattern("edited twice", RateDetector("edit.applied", 2, 60), lambda: None),
        TemporalPattern("silent", TurnCountDetector(key("app:said").is_missing(), 3), lambda: None),
    )

    def told(preview: ev.EditPreviewed) -> list[tuple[str, str, float | None]]:
        return [(item["name"], item["how"], item["wait_s"]) for item in preview.patterns]

    async with talk(of) as t:
        angry = {"key": "app:angry", "value": True}
        for _ in range(2):
            preview = await t.previews(angry, {"key": "app:said", "value": "yes"})
            assert told(preview) == [
                ("angry for long", "begins", 30.0),
                ("edited twice", "begins", None),
                ("silent", "ends", None),
            ]
        await t.edits(angry)
        await t.passes(12)
        calm = await t.previews({"key": "app:angry", "value": False})
        assert told(calm) == [("angry for long", "ends", None), ("edited twice", "fires", None)]
        assert calm.patterns[0]["before"].startswith("12.")
        assert (calm.patterns[1]["times"], calm.unknown) == (1, ("what pattern edited twice does",))
        assert t.all(ev.PatternFired) == []
        await t.passes(17)
        assert t.all(ev.PatternFired) == []
        await t.passes(2)
        assert [event.pattern for event in t.all(ev.PatternFired)] == ["angry for long"]


async def test_a_pattern_that_sets_itself_off_is_previewed_all_the_same() -> None:
    of = agent().pattern(TemporalPattern("echo", RateDetector("pattern.fired", 1, 60), lambda: None))
    of = of.pattern(TemporalPattern("edit", RateDetector("edit.applied", 1, 60), lambda: None))

    async with talk(of) as t:
        preview = await t.previews({"key": "app:a", "value": 1})
        assert {item["name"]: item["times"] for item in preview.patterns} == {"echo": 100, "edit": 1}


class Uncopied(PatternDetector):
    """A detector that does not let itself be copied while it is at work."""

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Never there."""
        return False

    def reset(self) -> None:
        """Do nothing."""

    def twin(self) -> PatternDetector:
        """No."""
        raise ValueError("it holds a file")


async def test_a_pattern_that_cannot_be_copied_is_said_to_be_unknown() -> None:
    async with talk(agent().pattern(TemporalPattern("odd", Uncopied(), lambda: None))) as t:
        preview = await t.previews({"key": "app:a", "value": 1})
        assert preview.patterns == ()
        assert preview.unknown == ("pattern odd: ValueError: it holds a file",)


async def test_a_preview_goes_on_into_the_phase_that_would_be_entered() -> None:
    of = phased().watch(Watcher(key("app:draft").changed(), nothing, name="draft"))

    async with talk(of) as t:
        found = await t.previews({"key": "app:n", "value": 7}, {"key": "app:menu", "value": "fish"})
        assert found.phase == "second"
        assert [(w["name"], w["key"], w["new"]) for w in found.watchers] == [("draft", "app:draft", None)]
        assert found.guards[0]["after"] == "ready"
        assert found.guards[0]["explanation"]["children"][0]["reads"][0]["value"] == 7
        assert found.unknown == ("on_enter of second", "what watcher draft does")
        assert t.phases == ["first"]


async def test_a_preview_knows_what_a_phase_writes_when_it_is_entered() -> None:
    of = (
        agent()
        .phase(*two_phases(key("app:n") > 5, presents="price"))
        .watch(
            Watcher(key("session:presented:price").became_true(), nothing, name="presented"),
            Watcher(key("session:phase").changed_to("second"), nothing, name="phase"),
        )
        .state(values={"app:n": 1})
    )

    async with talk(of) as t:
        found = await t.previews({"key": "app:n", "value": 7})
        assert found.phase == "second"
        assert [w["name"] for w in found.watchers] == ["presented", "phase"]
        await t.sets("app:n", 7)
        assert [event.watcher for event in t.all(ev.WatcherFired)] == ["presented", "phase"]


async def test_a_preview_leaves_no_trace_in_what_watchers_remember() -> None:
    def odd(state: State) -> bool:
        return bool(state.get("app:n", 0) % 2)

    fired: list[int] = []
    of = (
        agent()
        .watch(Watcher(key("app:n").is_set().became_true(), nothing, name="set"))
        .watch(Watcher((~(key("app:n") < 0) & odd).became_true(), lambda: fired.append(1), name="odd"))
    )

    async with talk(of) as t:
        for _ in range(3):
            found = await t.previews({"key": "app:n", "value": 3})
            assert [w["name"] for w in found.watchers] == ["set", "odd"]
        assert [status.fired for status in t.stage.session.orchestrator.settle.watchers.status] == [0, 0]
        await t.sets("app:n", 3)
        assert fired == [1]


async def test_rules_and_failing_functions_are_named_as_unknown() -> None:
    def broken(state: State) -> bool:
        raise ValueError("on purpose")

    of = (
        agent()
        .phase(
            Phase("first", "One.", transitions=(Transition("second", broken), Transition("second", key("app:x")))),
            Phase("second", "Two.", terminal=True),
        )
        .computed(ComputedVar("bad", lambda s: 1 / s["app:n"], "app:n"))
        .watch(Watcher(WatchPredicate.custom("app:n", lambda old, new: 1 / new > 0), nothing, name="inverse"))
        .state(values={"app:n": 1})
    )

    async with talk(of) as t:
        found = await t.previews({"key": "app:n", "value": 0})
        assert found.problem == ""
        assert any(text.startswith("computed bad: ") and "ZeroDivisionError" in text for text in found.unknown)
        assert any(text.startswith("watcher inverse: ZeroDivisionError") for text in found.unknown)
        assert any("on purpose" in text for text in found.unknown)
        assert t.failures() == []


async def test_code_that_takes_too_long_on_a_copy_is_told_and_holds_nothing_up() -> None:
    slow = [False]

    def sleepy(state: State) -> int:
        if slow[0]:
            time.sleep(TIMEOUT_S * 1.5)
        return 1

    async with talk(agent().computed(ComputedVar("one", sleepy, "app:n")).state(values={"app:n": 1})) as t:
        slow[0] = True
        order = cmd.PreviewEdit(edits=({"key": "app:n", "value": 2},))
        for number in range(MAX_THREADS):
            await t.stage.session.command(cmd.Command(f"p{number}", order))
        assert t.all(ev.EditPreviewed) == []
        assert "previews wait for the agent's code" in await t.commands(order)
        await t.passes(2 * TIMEOUT_S)
        slow[0] = False
        assert [found.problem for found in t.all(ev.EditPreviewed)] == [
            "The agent's code takes longer than 1 s to say"
        ] * 4
        await t.passes(1)


async def test_a_held_agent_is_edited_after_a_look_ahead_and_goes_on_from_there() -> None:
    fired: list[Any] = []
    of = phased().watch(
        Watcher(key("app:n").crossed_above(3), lambda state: fired.append(state["app:n"]), blocking=True)
    )

    async with talk(of) as t:
        await t.commands(cmd.SetBreakpoint(kind="key", target="app:n"))
        await t.writes(n=4)
        assert t.all(ev.AgentHeld)
        await t.passes(1)
        assert fired == []
        # What waits to be decided is decided together with the edit.
        assert [w["old"] for w in (await t.previews({"key": "app:other", "value": 1})).watchers] == [1]
        wanted = ({"key": "app:n", "value": 9, "expect": 4}, {"key": "app:menu", "value": "fish"})
        assert (await t.previews(*wanted)).phase == "second"
        assert await t.edits(*wanted) == ""
        await t.passes(1)
        # It is told at once how the ways stand, and nothing is decided.
        assert t.all(ev.GuardsRead)[-1].ways[0]["outcome"] == "ready"
        assert (fired, t.phases) == ([], ["first"])
        await t.commands(cmd.RemoveBreakpoint())
        await t.commands(cmd.ReleaseAgent())
        assert (fired, t.phases) == ([9], ["first", "second"])
        await t.commands(cmd.HoldAgent())
        assert await t.commands(cmd.UndoEdit()) == ""
        assert t.state["app:n"] == 4
