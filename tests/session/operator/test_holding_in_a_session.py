"""Breakpoints, pause and step: decisions wait, audio and wire go on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import (
    Live,
    Phase,
    State,
    SustainedDetector,
    TemporalPattern,
    Transition,
    Watcher,
    key,
    tool,
)
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.control.debugger_commands import MAX_NOTE


async def breaks(t: Talk, kind: Any, target: str) -> None:
    assert await t.commands(cmd.SetBreakpoint(kind=kind, target=target)) == ""


async def goes_on(t: Talk, how: Any = "continue") -> None:
    assert await t.commands(cmd.ReleaseAgent(how=how)) == ""


def where(t: Talk) -> str:
    """Return the reason why the agent is held, "" when it is not."""
    told = [e for e in t.stage.sink.events if e.type in ("agent.held", "agent.released")]
    last = told[-1].payload if told else None
    return last.at if isinstance(last, ev.AgentHeld) else ""


def hits(t: Talk) -> list[int]:
    return [item["hits"] for item in t.all(ev.BreakpointsChanged)[-1].breakpoints]


@tool
def lookup(state: State) -> str:
    """Look something up."""
    state.set("app:found", True)
    return "pong"


def two_phases() -> Live:
    return agent().phase(
        Phase("greet", "Greet.", transitions=Transition("book", key("app:ready"))),
        Phase("book", "Book.", terminal=True),
    )


# -- pausing -----------------------------------------------------------------------------------------------------------


async def test_a_paused_agent_answers_no_tool_until_it_goes_on() -> None:
    async with talk(agent().tools(lookup)) as t:
        await t.commands(cmd.HoldAgent())
        await t.calls("lookup")
        await t.passes(60)
        assert t.sent("answer") == []
        assert t.state.get("app:found") is None
        await goes_on(t)
        assert t.sent("answer") == [("answer", "c1", {"output": "pong"})]
    assert [e.status for e in t.all(ev.ToolFinished)] == ["ok"]
    assert t.all(ev.AgentReleased)[0].seconds > 60


async def test_what_waits_is_counted_and_named() -> None:
    async with talk(agent().tools(lookup)) as t:
        await t.commands(cmd.HoldAgent())
        await t.calls("lookup", "lookup")
        await t.calls("lookup")
    held = t.all(ev.AgentHolding)[-1]
    assert (held.answers, held.steps) == (3, 3)
    assert held.next == "turn begins"


async def test_typing_and_the_answer_to_it_go_on_while_the_agent_is_held() -> None:
    async with talk(agent()) as t:
        await t.commands(cmd.HoldAgent())
        await t.types("hello")
        await t.says("fine")
        await t.ends()
        assert t.sent("text") == [("text", "hello")]
    assert [e.text for e in t.all(ev.TranscriptDelta)] == ["fine"]
    assert len(t.all(ev.TurnCompleted)) == 1


async def test_a_typed_text_goes_out_on_a_connection_made_while_the_agent_is_held() -> None:
    async with talk(agent(), begins=False) as t:
        await t.commands(cmd.HoldAgent())
        await t.begins()
        await t.types("hello")
        assert len(t.all(ev.TextSent)) == 1


async def test_holding_twice_and_releasing_what_is_not_held_are_refused() -> None:
    async with talk(agent()) as t:
        assert "not held" in await t.commands(cmd.ReleaseAgent())
        assert await t.commands(cmd.HoldAgent()) == ""
        assert "already" in await t.commands(cmd.HoldAgent())


# -- breakpoints -------------------------------------------------------------------------------------------------------


async def test_a_watcher_is_held_before_it_acts() -> None:
    acted: list[bool] = []
    watched = agent().watch(Watcher(key("app:anger").crossed_above(0.7), lambda: acted.append(True), name="angry"))

    async with talk(watched) as t:
        await breaks(t, "watcher", "angry")
        await t.writes(anger=0.2)
        await t.writes(anger=0.9)
        assert where(t) == "watcher angry"
        assert acted == []
        await goes_on(t)
        assert acted == [True]
        assert hits(t) == [1]
    held = t.all(ev.AgentHeld)[0]
    assert held.by == "b1"
    (changed,) = [e.seq for e in t.stage.sink.events if isinstance(e.payload, ev.StateChanged) and e.payload.new == 0.9]
    assert held.of == changed
    assert held.explanation is not None


async def test_a_watcher_muted_while_it_is_held_does_not_act() -> None:
    acted: list[bool] = []
    watched = agent().watch(Watcher(key("app:anger").changed(), lambda: acted.append(True), name="angry"))

    async with talk(watched) as t:
        await breaks(t, "watcher", "angry")
        await t.writes(anger=1)
        t.handle.mute_watcher("angry")
        await goes_on(t)
    assert acted == []
    assert [e.muted for e in t.all(ev.WatcherFired)] == [True]


@pytest.mark.parametrize(("kind", "target"), [("phase", "book"), ("phase", "greet"), ("transition", "greet > book")])
async def test_a_transition_is_held_before_anything_of_it_happens(kind: str, target: str) -> None:
    async with talk(two_phases()) as t:
        await breaks(t, kind, target)
        await t.writes(ready=True)
        assert where(t) == "the transition from greet to book"
        assert t.phases == ["greet"]
        await goes_on(t)
        assert t.phases == ["greet", "book"]
    assert t.all(ev.AgentHeld)[0].explanation is not None


async def test_a_transition_whose_reason_went_away_while_it_was_held_does_not_happen() -> None:
    async with talk(two_phases()) as t:
        await breaks(t, "phase", "book")
        await t.writes(ready=True)
        await t.writes(ready=False)
        await goes_on(t)
    assert t.phases == ["greet"]


async def test_a_tool_is_held_before_it_runs_and_before_its_answer_counts() -> None:
    async with talk(agent().tools(lookup)) as t:
        await breaks(t, "tool", "lookup")
        await t.calls("lookup")
        assert where(t) == "the call of lookup"
        assert t.state.get("app:found") is None
        await goes_on(t)
        assert where(t) == "the answer of lookup"
        assert t.state.get("app:found") is True
        assert t.sent("answer") == []
        await goes_on(t)
        assert t.sent("answer") == [("answer", "c1", {"output": "pong"})]
        assert hits(t) == [2]


async def test_a_changed_key_holds_the_next_decision() -> None:
    async with talk(two_phases()) as t:
        await breaks(t, "key", "app:ready")
        await t.writes(ready=True)
        assert where(t) == "the key app:ready"
        assert t.phases == ["greet"]
        await goes_on(t)
        assert t.phases == ["greet", "book"]


async def test_an_expression_holds_the_agent_when_it_becomes_true_and_says_why() -> None:
    async with talk(agent()) as t:
        await t.writes(balance=500)
        await breaks(t, "expression", "app:balance > 1000 and app:n >= 3")
        await t.writes(balance=2000)
        assert where(t) == ""
        await t.writes(n=3)
        assert where(t) == "app:balance > 1000 and app:n >= 3"
        await goes_on(t)
        await t.writes(n=4)
        assert where(t) == ""
        assert hits(t) == [1]
    tree = t.all(ev.AgentHeld)[0].explanation
    assert tree is not None
    assert tree["value"] is True


async def test_a_disabled_breakpoint_holds_nothing_and_counts_nothing() -> None:
    async with talk(agent().tools(lookup)) as t:
        await t.commands(cmd.SetBreakpoint(kind="tool", target="lookup", enabled=False))
        await t.calls("lookup")
        assert len(t.sent("answer")) == 1
        assert hits(t) == [0]


@pytest.mark.parametrize(
    ("kind", "target", "said"),
    [
        ("tool", "fly", "There is no tool fly. Use one of lookup."),
        ("watcher", "x", "There is no watcher x. This agent has no watchers."),
        ("transition", "greet", "from>to"),
        ("expression", "app:n >", "Bad expression: column 8: expected a value, found the end."),
        ("key", "nowhere:x", "no known scope"),
        ("key", "  ", "which"),
    ],
)
async def test_a_breakpoint_that_cannot_be_is_refused_with_the_reason(kind: Any, target: str, said: str) -> None:
    async with talk(agent().tools(lookup)) as t:
        assert said in await t.commands(cmd.SetBreakpoint(kind=kind, target=target))
    assert t.all(ev.BreakpointsChanged) == []


# -- steps -------------------------------------------------------------------------------------------------------------


async def test_one_decision_at_a_time() -> None:
    async with talk(agent().tools(lookup)) as t:
        await t.commands(cmd.HoldAgent())
        await t.calls("lookup")
        stood = []
        while not t.sent("answer"):
            await goes_on(t, "event")
            stood.append(where(t))
            assert len(stood) < 20
        assert stood == ["tool calls", "the call of lookup", "the next decision", "the answer of lookup", stood[-1]]


async def test_until_the_turn_has_ended() -> None:
    async with talk(agent()) as t:
        await t.commands(cmd.HoldAgent())
        await t.hears("hello")
        await goes_on(t, "turn")
        assert where(t) == ""
        await t.says("fine")
        await t.ends()
        assert where(t) == "the end of the turn"


# -- what must not happen because of a hold ----------------------------------------------------------------------------


async def test_a_tool_that_waits_to_be_run_does_not_time_out() -> None:
    @tool(timeout_s=2)
    def quick() -> str:
        """Be quick."""
        return "here"

    async with talk(agent().tools(quick)) as t:
        await breaks(t, "tool", "quick")
        await t.calls("quick")
        await t.passes(60)
        await goes_on(t)
        await goes_on(t)
        assert t.sent("answer") == [("answer", "c1", {"output": "here"})]


async def test_time_that_an_agent_is_held_is_no_time_for_its_patterns() -> None:
    of = agent().pattern(TemporalPattern("mad", SustainedDetector(key("app:angry"), 5), lambda: None))

    async with talk(of) as t:
        await t.writes(angry=True)
        await t.passes(3)
        await t.commands(cmd.HoldAgent())
        await t.passes(60)
        await goes_on(t)
        await t.passes(1.5)
        assert t.all(ev.PatternFired) == []
        await t.passes(1)
        assert len(t.all(ev.PatternFired)) == 1


async def test_a_pattern_is_held_before_it_acts() -> None:
    acted: list[bool] = []
    of = agent().pattern(TemporalPattern("mad", SustainedDetector(key("app:angry"), 5), lambda: acted.append(True)))

    async with talk(of) as t:
        await breaks(t, "watcher", "mad")
        await t.writes(angry=True)
        await t.passes(6)
        assert where(t) == "watcher mad"
        assert acted == []
        await goes_on(t)
        assert acted == [True]


async def test_no_soft_turn_is_taken_while_the_agent_is_held() -> None:
    async with talk(agent().soft_turns(2.0)) as t:
        await t.commands(cmd.HoldAgent())
        await t.voice(True)
        await t.hears("hold on")
        await t.voice(False)
        await t.passes(10)
        assert t.all(ev.TurnCompleted) == []
        await goes_on(t)
        await t.rests()
        assert [turn.reason for turn in t.all(ev.TurnCompleted)] == ["soft turn"]


async def test_turns_that_end_while_the_agent_is_held_are_not_counted_against_its_needs() -> None:
    of = agent().phase(Phase("ask", "Ask.", needs=("user:name",))).repair(1, 2).state(values={"user:name": None})

    async with talk(of) as t:
        await t.turn()
        await t.commands(cmd.HoldAgent())
        for _ in range(5):
            await t.turn()
        await goes_on(t)
        assert t.state["session:turn_count"] == 6
        assert "session:repair:escalation" not in t.state
    assert [acted.attempt for acted in t.all(ev.RepairActed)] == [1]


@pytest.mark.parametrize("resumes", [True, False])
async def test_a_connection_that_is_lost_while_the_agent_is_held_is_made_again_and_takes_what_is_typed(
    resumes: bool,
) -> None:
    async with talk(agent()) as t:
        await t.turn("my name is Ada", "Hello Ada.")
        if resumes:
            await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
            await t.rests()
        await t.commands(cmd.HoldAgent())
        await t.server.closes(1011, "try later")
        await t.connects_again()
        await t.types("and now?")
        recalled = ("model context", "[Conversation so far]\nUser: my name is Ada\nAssistant: Hello Ada.")
        assert t.wire == ([] if resumes else [recalled]) + [("text", "and now?")]
        await goes_on(t)
        assert t.wire.count(recalled) == (0 if resumes else 1)


async def test_a_connection_is_left_in_time_while_the_agent_is_held() -> None:
    async with talk(agent()) as t:
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
        await t.commands(cmd.HoldAgent())
        await t.turn()
        await t.server.says(goAway={"timeLeft": "10s"})
        await t.passes(9)
        await t.connects_again()


async def test_being_looked_at_gives_an_agent_with_patterns_nothing_to_decide() -> None:
    of = agent().pattern(TemporalPattern("mad", SustainedDetector(key("app:angry"), 5), lambda: None))

    async with talk(of) as t:
        await t.commands(cmd.HoldAgent())
        await t.commands(cmd.SetMark())
        await t.passes(5)
    assert t.all(ev.AgentHolding) == []


async def test_a_call_that_the_server_cancels_while_it_is_held_is_not_run_and_not_answered() -> None:
    async with talk(agent().tools(lookup)) as t:
        await breaks(t, "tool", "lookup")
        await t.calls("lookup")
        await t.server.says(toolCallCancellation={"ids": ["c1"]})
        await t.rests()
        await goes_on(t)
        assert t.sent("answer") == []
        assert t.state.get("app:found") is None
    assert [(e.status, e.delivered) for e in t.all(ev.ToolFinished)] == [("cancelled", False)]


async def test_an_interruption_is_done_at_once() -> None:
    async with talk(agent()) as t:
        await t.commands(cmd.HoldAgent())
        await t.types("hello")
        await t.says("a long story")
        await t.server.says(serverContent={"interrupted": True})
        await t.rests()
        assert len(t.all(ev.TurnInterrupted)) == 1


async def test_hanging_up_while_held_ends_at_once_and_lets_nothing_loose() -> None:
    began: list[float] = []

    async with talk(agent().tools(lookup)) as t:
        await breaks(t, "tool", "lookup")
        await t.calls("lookup")
        began.append(asyncio.get_running_loop().time())
        t.stage.session.hang_up("enough")
        await t.stage.session.done
        assert asyncio.get_running_loop().time() - began[0] < 0.5
        assert t.state.get("app:found") is None
    assert [e.how for e in t.all(ev.AgentReleased)] == ["end"]
    assert [e.status for e in t.all(ev.ToolFinished)] == ["cancelled"]


async def test_a_held_agent_that_nobody_watches_goes_on_and_breakpoints_wait_for_a_console() -> None:
    async with talk(agent().tools(lookup)) as t:
        await breaks(t, "tool", "lookup")
        await t.calls("lookup")
        t.stage.session.on_console_attached(False)
        await t.rests()
        assert len(t.sent("answer")) == 1
        await t.calls("lookup")
        assert len(t.sent("answer")) == 2
        assert hits(t) == [4]
        t.stage.session.on_console_attached(True)
        await t.calls("lookup")
        assert where(t) == "the call of lookup"
    assert any("no console is attached" in notice.text for notice in t.all(ev.Notice))
    assert t.all(ev.AgentReleased)[0].actor == "engine"


# -- marks -------------------------------------------------------------------------------------------------------------


async def test_a_mark_is_an_event_with_its_note() -> None:
    async with talk(agent()) as t:
        assert await t.commands(cmd.SetMark(text="here", of=2)) == ""
        assert "no event" in await t.commands(cmd.SetMark(of=100_000))
    assert [(e.text, e.of) for e in t.all(ev.MarkSet)] == [("here", 2)]


async def test_a_mark_of_the_past_keeps_its_time() -> None:
    async with talk(agent()) as t:
        await t.passes(20)
        assert await t.commands(cmd.SetMark(text="there", of=2, t=7.5)) == ""
    assert [(e.of, e.t) for e in t.all(ev.MarkSet)] == [(2, 7.5)]


@pytest.mark.parametrize("t", [-0.1, 21.0, float("inf"), float("nan")])
async def test_a_mark_stands_between_the_beginning_and_now(t: float) -> None:
    async with talk(agent()) as talking:
        await talking.passes(20)
        assert f"cannot be set at {t:g} s" in await talking.commands(cmd.SetMark(of=2, t=t))
    assert talking.all(ev.MarkSet) == []


async def test_a_time_to_mark_without_its_event_is_refused() -> None:
    async with talk(agent()) as t:
        assert "needs the event" in await t.commands(cmd.SetMark(t=0.0))
    assert t.all(ev.MarkSet) == []


async def test_a_note_without_end_is_refused() -> None:
    async with talk(agent()) as t:
        assert f"at most {MAX_NOTE} characters" in await t.commands(cmd.SetMark(text="x" * (MAX_NOTE + 1)))
    assert t.all(ev.MarkSet) == []


async def test_a_write_that_may_move_the_conversation_counts_though_another_change_waits() -> None:
    watched = two_phases().watch(Watcher(key("session:is_user_speaking").changed(), nothing, name="voice"))
    async with talk(watched) as t:
        await t.commands(cmd.HoldAgent())
        t.stage.session.audio_input.on_voice(True)
        await t.rests()
        t.state.set("app:ready", True)
        await t.rests()
        await goes_on(t)
        assert t.handle.phase == "book"


def nothing() -> None:
    """Do nothing."""
