"""Commands of the operator: state, phases, watchers, context and instruction."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.session.talking import agent, talk, two_phases

from gemini_live_runtime import (
    Change,
    ComputedVar,
    InstructionModifier,
    Live,
    PatternDetector,
    Phase,
    PhasePreparation,
    RateDetector,
    State,
    StateKey,
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
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.session.control.preview_runner import MAX_THREADS, TIMEOUT_S
from gemini_live_runtime.state.edits import MAX_EDITS, MAX_STEPS


def nothing() -> None:
    """Do nothing, as an action."""


# -- state -----------------------------------------------------------------------------------------------------------


async def test_an_edit_writes_adds_and_removes_together_and_says_who_did_it() -> None:
    async with talk(agent().state(values={"app:a": 1, "user:b": "x"})) as t:
        edits = ({"key": "app:a", "value": [1]}, {"key": "user:b", "remove": True}, {"key": "app:c", "value": None})
        assert await t.edits(*edits, reason="because") == ""
        assert t.state.snapshot(["app:a", "user:b", "app:c"]) == {"app:a": [1], "app:c": None}
        (applied,) = t.all(ev.EditsApplied)
        assert (applied.command_id, applied.how, applied.undo, applied.redo) == ("o1", "edit", 1, 0)
        assert [(v["key"], v["old"], v["new"], v["added"], v["removed"]) for v in applied.values] == [
            ("app:a", 1, [1], False, False),
            ("user:b", "x", None, False, True),
            ("app:c", None, None, True, False),
        ]
        changes = [change for change in t.all(ev.StateChanged) if change.origin == "operator"]
        assert [(change.key, change.reason) for change in changes] == [
            ("app:a", "because"),
            ("user:b", "because"),
            ("app:c", "because"),
        ]
        assert t.events.index("edit.applied") > t.events.index("state.changed")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"key": "app:age", "value": "old"}, "app:age cannot be 'old'"),
        (
            {"key": "derived:double", "value": 3},
            "is computed and cannot be written. It follows from app:age",
        ),
        ({"key": "nowhere:x", "value": 3}, "no known scope"),
        ({"key": "", "value": 3}, "A state key is a text that is not empty"),
        ({"value": 3}, "A state key is a text that is not empty"),
        ({"key": "app:none", "remove": True}, "There is no app:none to remove"),
        ({"key": "app:b"}, "neither a value nor remove"),
        ({"key": "app:b", "value": 1, "remove": True}, "both a value and remove"),
        ({"key": "app:b", "value": 1, "remove": "yes"}, 'remove is true or false, not "yes"'),
        ({"key": "app:b", "value": 1, "valu": 2}, "Unknown field 'valu' in an edit"),
        ({"key": "app:b", "value": 1, "expect": 7}, "app:b is 2 now (by initial test), not 7 as expected"),
        ({"key": "app:b", "value": 1, "expect": True}, "app:b is 2 now (by initial test), not true as expected"),
        ({"key": "app:b", "value": 1, "expect_absent": True}, "app:b is 2 now (by initial test), not absent"),
        ({"key": "app:new", "value": 1, "expect": 1}, "app:new is absent now, not 1 as expected"),
        ({"key": "app:b", "value": 1, "expect": 2, "expect_absent": True}, "expects a value and none"),
        ({"key": "session:silence_ms", "value": 1}, "measured live and cannot be written"),
        (
            {"key": "session:phase", "value": "x"},
            "only reports where the session is. Go to a phase instead",
        ),
    ],
)
async def test_an_edit_that_cannot_be_made_is_refused_in_a_sentence_and_changes_nothing(
    edit: dict[str, Any], said: str
) -> None:
    of = (
        agent()
        .state(StateKey("app:age", int), values={"app:age": 7, "app:b": 2})
        .computed(ComputedVar("double", lambda s: 2 * s["app:age"], "app:age"))
    )

    async with talk(of) as t:
        before = t.state.snapshot()
        for tried in (edit, edit):
            assert said in await t.edits({"key": "app:first", "value": 1}, tried)
        assert t.state.snapshot() == before
        assert t.all(ev.EditsApplied) == []
        assert said in (await t.previews({"key": "app:first", "value": 1}, edit)).problem


async def test_an_edit_of_nothing_of_too_much_or_of_one_key_twice_is_refused() -> None:
    async with talk(agent()) as t:
        assert "The edit is empty" in await t.edits()
        many = ({"key": f"app:k{number}", "value": 0} for number in range(MAX_EDITS + 1))
        assert f"at most {MAX_EDITS} keys" in await t.edits(*many)
        assert "has 501 characters, an edit takes at most 500" in await t.sets(f"app:{'k' * 497}", 1)
        assert "app:a is edited twice" in await t.edits({"key": "app:a", "value": 1}, {"key": "app:a", "value": 2})


async def test_what_was_seen_still_holds_so_the_edit_is_made() -> None:
    async with talk(agent().state(values={"app:a": 1})) as t:
        assert await t.sets("app:a", 2, expect=1) == ""
        assert await t.sets("app:b", 1, expect_absent=True) == ""
        assert await t.edits({"key": "app:a", "remove": True, "expect": 2}) == ""
        assert "app:a" not in t.state
        assert t.state["app:b"] == 1


async def test_declared_types_make_what_they_can_of_a_value() -> None:
    async with talk(agent().state(StateKey("app:age", int))) as t:
        assert await t.sets("app:age", "12") == ""
        assert t.state["app:age"] == 12
        assert t.all(ev.EditsApplied)[-1].values[0]["new"] == 12


async def test_an_edit_lets_state_settle_and_the_conversation_move() -> None:
    seen: list[Any] = []

    def note(state: State, change: Change) -> None:
        seen.append((change.old, change.new))

    of = (
        agent()
        .phase(*two_phases(key("derived:double") > 9))
        .computed(ComputedVar("double", lambda s: 2 * s.get("app:n", 0), "app:n"))
        .watch(Watcher(key("derived:double").crossed_above(5), note))
    )

    async with talk(of) as t:
        await t.sets("app:n", 5)
        assert t.state["derived:double"] == 10
        assert seen == [(0, 10)]
        assert t.phases == ["first", "second"]


async def test_edits_are_taken_back_and_made_again_one_by_one() -> None:
    async with talk(agent().state(values={"app:a": 1, "app:b": 1})) as t:
        await t.edits({"key": "app:a", "value": 2}, {"key": "app:b", "remove": True})
        await t.sets("app:new", "x")
        assert await t.commands(cmd.UndoEdit()) == ""
        assert "app:new" not in t.state
        assert await t.commands(cmd.UndoEdit()) == ""
        assert t.state.snapshot(["app:a", "app:b"]) == {"app:a": 1, "app:b": 1}
        assert await t.commands(cmd.UndoEdit()) == "There is no edit to undo."
        assert await t.commands(cmd.RedoEdit()) == ""
        assert await t.commands(cmd.RedoEdit()) == ""
        assert t.state.snapshot(["app:a", "app:b", "app:new"]) == {"app:a": 2, "app:new": "x"}
        assert await t.commands(cmd.RedoEdit()) == "There is no edit to redo."
        assert [(item.how, item.undo, item.redo) for item in t.all(ev.EditsApplied)] == [
            ("edit", 1, 0),
            ("edit", 2, 0),
            ("undo", 1, 1),
            ("undo", 0, 2),
            ("redo", 1, 1),
            ("redo", 2, 0),
        ]


async def test_what_was_changed_since_is_not_taken_back_unless_forced() -> None:
    async with talk(agent().state(values={"app:a": 1})) as t:
        await t.sets("app:a", 2)
        t.state.set("app:a", 3)
        refused = await t.commands(cmd.UndoEdit())
        assert refused == ("app:a is 3 now (by program), not 2 as expected. Force it to overwrite later changes.")
        assert t.state["app:a"] == 3
        assert await t.commands(cmd.UndoEdit(force=True)) == ""
        assert t.state["app:a"] == 1
        t.state.set("app:a", 9)
        assert "Force it" in await t.commands(cmd.RedoEdit())
        assert await t.commands(cmd.RedoEdit(force=True)) == ""
        assert t.state["app:a"] == 2


async def test_taking_back_an_added_key_that_is_gone_already_is_no_fault_when_forced() -> None:
    async with talk(agent()) as t:
        await t.edits({"key": "app:a", "value": 1}, {"key": "app:b", "value": 1})
        t.state.remove("app:a")
        assert "app:a is absent now" in await t.commands(cmd.UndoEdit())
        assert await t.commands(cmd.UndoEdit(force=True)) == ""
        assert "app:b" not in t.state


async def test_a_new_edit_forgets_what_was_taken_back_and_an_equal_one_is_no_edit() -> None:
    async with talk(agent()) as t:
        await t.sets("app:a", 1)
        await t.commands(cmd.UndoEdit())
        await t.sets("app:b", 1)
        assert await t.commands(cmd.RedoEdit()) == "There is no edit to redo."
        await t.sets("app:b", 1)
        assert (t.all(ev.EditsApplied)[-1].values, t.all(ev.EditsApplied)[-1].undo) == ((), 1)


async def test_only_so_many_edits_are_remembered() -> None:
    async with talk(agent()) as t:
        for number in range(MAX_STEPS + 5):
            await t.sets("app:a", number)
        assert t.all(ev.EditsApplied)[-1].undo == MAX_STEPS


# -- previews --------------------------------------------------------------------------------------------------------


PHASES = (
    Phase("first", "One.", transitions=Transition("second", key("app:n") > 5, because="it is enough")),
    Phase(
        "second",
        lambda s: f"There are {s.get('app:n', 0)}; draft {s.get('app:draft', 'none')}.",
        transitions=Transition("first", key("app:back").is_true()),
        requires="app:menu",
        preparations=PhasePreparation("menu", nothing, "app:menu"),
        guard=key("app:open").is_true(),
        tools="book",
        clear_on_enter="app:draft",
        on_enter=nothing,
        prompt_on_enter="Go on.",
    ),
)


def book() -> str:
    """Book."""
    return "booked"


def cancel() -> str:
    """Cancel."""
    return "cancelled"


def phased() -> Live:
    return (
        agent()
        .phase(*PHASES)
        .tools(book, cancel)
        .state(values={"app:n": 1, "app:open": True, "app:draft": "d", "app:back": False})
    )


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


# -- phases ----------------------------------------------------------------------------------------------------------


async def test_the_operator_takes_the_conversation_to_a_phase_without_asking_guards() -> None:
    async with talk(phased()) as t:
        assert await t.commands(cmd.GoToPhase(phase="second", reason="to look")) == ""
        entered = t.all(ev.PhaseEntered)[-1]
        assert (entered.phase, entered.trigger, entered.because) == ("second", "operator", "to look")
        assert t.state["session:phase"] == "second"
        assert "app:draft" not in t.state


async def test_the_operator_leaves_even_a_terminal_phase() -> None:
    of = agent().phase(
        Phase("first", "One.", transitions=Transition("end", key("app:x"))), Phase("end", "Bye.", terminal=True)
    )

    async with talk(of) as t:
        await t.commands(cmd.GoToPhase(phase="end"))
        await t.commands(cmd.GoToPhase(phase="first"))
        assert t.phases == ["first", "end", "first"]


async def test_the_operator_goes_to_a_phase_when_the_turn_has_ended() -> None:
    async with talk(phased()) as t:
        await t.hears("hello")
        assert await t.commands(cmd.GoToPhase(phase="second", when="turn-end")) == ""
        assert t.phases == ["first"]
        assert [n.text for n in t.all(ev.Notice)] == ["The conversation goes to second when the turn has ended"]
        await t.says("hi")
        await t.ends()
        assert t.phases == ["first", "second"]
        assert t.events.index("phase.entered", t.events.index("turn.completed")) > 0
        # Nobody speaks: there is no end to wait for.
        await t.commands(cmd.GoToPhase(phase="first", when="turn-end"))
        assert t.phases == ["first", "second", "first"]


async def test_a_later_order_to_go_takes_the_place_of_one_that_waits() -> None:
    first = Phase("first", "1", transitions=(Transition("second", key("app:x")), Transition("third", key("app:y"))))
    async with talk(agent().phase(first, Phase("second", "2", terminal=True), Phase("third", "3", terminal=True))) as t:
        await t.hears("hello")
        await t.commands(cmd.GoToPhase(phase="second", when="turn-end"))
        await t.commands(cmd.GoToPhase(phase="third", when="now"))
        assert t.phases == ["first", "third"]
        (refused,) = t.all(ev.CommandRefused)
        assert (refused.command_id, refused.reason) == ("o1", "Another phase was asked for before second was entered")
        await t.ends()
        assert t.phases == ["first", "third"]


async def test_orders_about_phases_that_cannot_be_are_refused() -> None:
    async with talk(agent()) as t:
        assert await t.commands(cmd.GoToPhase(phase="x")) == "Agent test has no phases."
        await t.commands(cmd.PreviewPhase(phase="x"))
        assert t.all(ev.PhasePreviewed)[-1].problem == "Agent test has no phases."
    async with talk(phased()) as t:
        assert await t.commands(cmd.GoToPhase(phase="nowhere")) == (
            "There is no phase nowhere. Use one of first, second."
        )
        assert await t.commands(cmd.GoToPhase(phase="first")) == "The conversation is in phase first already."
        await t.commands(cmd.PreviewPhase(phase="first"))
        assert t.all(ev.PhasePreviewed)[-1].problem == "The conversation is in phase first already."


async def test_a_phase_is_previewed_with_all_that_going_there_would_do() -> None:
    async with talk(phased()) as t:
        await t.passes(1)
        before, state = list(t.events), t.state.snapshot()
        assert await t.commands(cmd.PreviewPhase(phase="second")) == ""
        assert t.events == [*before, "phase.previewed"]
        assert t.state.snapshot() == state
        found = t.all(ev.PhasePreviewed)[-1]
        # The draft is cleared before the instruction is written.
        assert (found.phase, found.problem, found.instruction) == ("second", "", "There are 1; draft none.")
        assert (found.missing, found.clears, found.runs) == (("app:menu",), ("app:draft",), ("on_enter of second",))
        assert found.guard is not None
        assert (found.guard["text"], found.guard["value"]) == ("app:open is true", True)
        assert found.way is not None
        assert (found.way["text"], found.way["value"]) == ("app:n > 5", False)
        assert (found.tools_added, found.tools_removed, found.prompts) == ((), ("cancel",), True)
        assert t.handle.phase == "first"
        await t.commands(cmd.GoToPhase(phase="second"))
        await t.commands(cmd.PreviewPhase(phase="first"))
        back = t.all(ev.PhasePreviewed)[-1]
        assert (back.instruction, back.tools_added, back.tools_removed) == ("One.", ("cancel",), ())
        assert (back.guard, back.prompts) == (None, False)


async def test_an_instruction_that_cannot_be_written_is_told_in_the_preview() -> None:
    def broken(state: State) -> str:
        raise ValueError("on purpose")

    of = agent().phase(*two_phases(key("app:x"), broken))

    async with talk(of) as t:
        await t.commands(cmd.PreviewPhase(phase="second"))
        found = t.all(ev.PhasePreviewed)[-1]
        assert (found.problem, found.instruction) == ("", "")
        assert found.unknown[0].startswith("instruction of second: ")
        assert "ValueError: on purpose" in found.unknown[0]
        assert t.failures() == []


# -- watchers --------------------------------------------------------------------------------------------------------


async def test_a_muted_watcher_only_counts_until_it_is_heard_again() -> None:
    fired: list[int] = []
    of = agent().watch(Watcher(key("app:n").changed(), lambda: fired.append(1), name="n"))

    async with talk(of) as t:
        assert await t.commands(cmd.SwitchWatcher(watcher="n", muted=True)) == ""
        await t.writes(n=1)
        assert fired == []
        assert await t.commands(cmd.SwitchWatcher(watcher="n", muted=False)) == ""
        await t.writes(n=2)
        assert fired == [1]
        assert [event.muted for event in t.all(ev.WatcherFired)] == [True, False]
        assert [(event.muted, event.actor) for event in t.all(ev.WatcherSwitched)] == [
            (True, "operator"),
            (False, "operator"),
        ]
        refused = await t.commands(cmd.SwitchWatcher(watcher="m", muted=True))
        assert refused == "There is no watcher 'm'. Watchers: n."


@pytest.mark.parametrize("blocking", [True, False])
async def test_the_operator_fires_a_watcher_and_what_it_writes_counts(blocking: bool) -> None:
    seen: list[Any] = []

    async def act(state: State, change: Change) -> None:
        seen.append((change.key, change.old, change.new))
        state.set("app:done", True)

    of = (
        agent()
        .watch(Watcher(key("app:n").crossed_above(5), act, name="many", blocking=blocking))
        .phase(*two_phases(key("app:done").is_true()))
        .state(values={"app:n": 1})
    )

    async with talk(of) as t:
        assert await t.commands(cmd.FireWatcher(watcher="many")) == ""
        assert seen == [("app:n", 1, 1)]
        (fired,) = t.all(ev.WatcherFired)
        assert (fired.watcher, fired.muted, fired.explanation["text"]) == ("many", False, "the operator fired it")
        assert [c.origin for c in t.all(ev.StateChanged) if c.key == "app:done"] == ["operator"]
        assert t.phases == ["first", "second"]
        (status,) = t.stage.session.orchestrator.settle.watchers.status
        assert status.fired == 1
        assert await t.commands(cmd.FireWatcher(watcher="few")) == "There is no watcher 'few'. Watchers: many."


# -- the model -------------------------------------------------------------------------------------------------------


async def test_the_operator_lets_the_model_know_something() -> None:
    async with talk(agent()) as t:
        assert await t.commands(cmd.GiveContext(text="The line is noisy.")) == ""
        assert t.sent("model context") == [("model context", "The line is noisy.")]
        assert t.all(ev.ContextSent)[-1].reasons == ("the operator",)
        assert "text is empty" in await t.commands(cmd.GiveContext(text=" "))
        assert "at most" in await t.commands(cmd.GiveContext(text="x" * (cmd.MAX_TEXT + 1)))


async def test_without_a_connection_the_model_cannot_be_told_and_the_operator_is() -> None:
    async with talk(agent(), begins=False) as t:
        assert "The context was not sent: There is no connection" in await t.commands(cmd.GiveContext(text="Hm."))
        await t.begins()


async def test_the_operator_replaces_the_instruction_and_what_is_added_to_it_stays() -> None:
    late = InstructionModifier.when(~key("app:x").is_set(), "It is late.")
    async with talk(agent().in_every_phase(late)) as t:
        assert await t.commands(cmd.SetInstruction(text="Be long.")) == ""
        (sent,) = t.sent("instruction")
        assert sent[1].startswith("Be long.")
        assert "It is late." in sent[1]
        assert t.all(ev.InstructionUpdated)[-1].text == sent[1]
        assert t.all(ev.AgentDescribed)[-1].instruction == "Be long."
        assert await t.commands(cmd.SetInstruction(text="Be long.")) == "That is the agent's instruction already."
        assert "needs an instruction" in await t.commands(cmd.SetInstruction(text=" "))


# -- the end, and programs -------------------------------------------------------------------------------------------


async def test_every_order_is_refused_once_the_session_has_ended() -> None:
    orders: list[cmd.Order] = [
        cmd.EditState(edits=({"key": "app:a", "value": 1},)),
        cmd.PreviewEdit(edits=({"key": "app:a", "value": 1},)),
        cmd.UndoEdit(),
        cmd.RedoEdit(),
        cmd.GoToPhase(phase="second"),
        cmd.PreviewPhase(phase="second"),
        cmd.SwitchWatcher(watcher="x", muted=True),
        cmd.FireWatcher(watcher="x"),
        cmd.GiveContext(text="x"),
        cmd.SetInstruction(text="x"),
    ]

    async with talk(phased()) as t:
        await t.handle.disconnect()
        for order in orders:
            assert await t.commands(order) == "The session is over"
        assert "app:a" not in t.state


async def test_a_program_edits_previews_and_steers_as_the_operator_does() -> None:
    of = phased().watch(Watcher(key("app:n").crossed_above(4), nothing, name="many"))

    async with talk(of) as t:
        handle = t.handle
        found = await handle.preview_edit({"key": "app:n", "value": 5})
        assert [w["name"] for w in found.watchers] == ["many"]
        await handle.edit_state({"key": "app:n", "value": 5})
        assert t.state["app:n"] == 5
        await handle.undo_edit()
        assert t.state["app:n"] == 1
        await handle.redo_edit()
        assert t.state["app:n"] == 5
        assert (await handle.preview_phase("second")).phase == "second"
        with pytest.raises(GeminiLiveError, match="There is no watcher"):
            await handle.fire_watcher("few")
        await handle.fire_watcher("many")
        await t.rests()
        assert len(t.all(ev.WatcherFired)) == 2
        handle.mute_watcher("many")
        assert t.all(ev.WatcherSwitched)[-1].actor == "agent"
        with pytest.raises(GeminiLiveError, match="no known scope"):
            await handle.edit_state({"key": "no:n", "value": 5})
