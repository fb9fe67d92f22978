"""An agent is checked as a whole: all faults at once, each with its place."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    ComputedVar,
    ConsecutiveFailureDetector,
    FunctionExtractor,
    InstructionModifier,
    Live,
    Phase,
    RateDetector,
    ReactorRule,
    State,
    StateKey,
    SustainedDetector,
    TemporalPattern,
    Transition,
    TransitionPhase,
    TurnCountDetector,
    Watcher,
    after_tool_call,
    called_ok,
    key,
    on_phase_change,
    tool,
)
from gemini_live_runtime.errors import AgentError, StateError


def ping() -> None:
    """Ping."""


def rule(name: str) -> ReactorRule:
    """Return a rule that does nothing."""
    return ReactorRule(name, lambda event, voice, state: None)


END = Phase("end", "End.", terminal=True)
TO_END = Transition("end", called_ok("ping"))

FAULTS: dict[str, tuple[Live, str]] = {
    "an unknown target": (
        agent().phase(Phase("a", "A.", transitions=Transition("b", True))),
        "leads to b",
    ),
    "an unknown initial phase": (agent().phase(END).initial_phase("x"), "initial phase x does not exist"),
    "an unknown tool in an allow-list": (agent().phase(Phase("a", "A.", tools="fly", transitions=TO_END), END), "fly"),
    "a cycle of computed values": (
        agent().computed(ComputedVar("a", lambda s: 1, "derived:b"), ComputedVar("b", lambda s: 1, "derived:a")),
        "a",
    ),
    "a need of a computed key that nothing computes": (
        agent().tools(ping).phase(Phase("a", "A.", needs="derived:risk", transitions=TO_END), END),
        "derived:risk is read, which does not exist",
    ),
    "a watcher of what is never announced": (
        agent().watch(Watcher(key("session:silence_ms").crossed_above(5000), lambda: None)),
        "session:silence_ms",
    ),
    "a pattern of what is never announced": (
        agent().pattern(TemporalPattern("still", SustainedDetector(key("session:silence_ms") > 5, 3), lambda: None)),
        "session:silence_ms",
    ),
    "an extractor after a tool that is not there": (
        agent().tools(ping).extract(FunctionExtractor(lambda window: {}, trigger=after_tool_call("pong"))),
        "the tool pong, which does not exist. Use ping",
    ),
    "an extractor in a phase that is not there": (
        agent().phase(END).extract(FunctionExtractor(lambda window: {}, trigger=on_phase_change("ended"))),
        "the phase ended, which does not exist. Use end",
    ),
    "a pattern of a tool that is not there": (
        agent().tools(ping).pattern(TemporalPattern("p", ConsecutiveFailureDetector("fly", 2), ping)),
        "failures of the tool fly, which does not exist. The tools are ping",
    ),
    "a pattern of events that it is not shown": (
        agent().pattern(TemporalPattern("p", RateDetector("state.changed", 2, 5), ping)),
        "waits for state.changed, which patterns are not shown",
    ),
    "a guard of a computed key that nothing computes": (
        agent()
        .computed(ComputedVar("risk", key("app:x").is_true()))
        .watch(Watcher(key("derived:risc").became_true(), ping)),
        "derived:risc is read, which does not exist. Use derived:risk",
    ),
    "two phases of one name": (agent().phase(END, Phase("end", "Again.", terminal=True)), "Two phases are called end"),
    "two tools of one name": (agent().tools(ping, tool(name="ping", description="x")(lambda: None)), "Two tools"),
    "two rules of one name": (agent().rule(rule("r"), rule("r")), "Two rules are named r"),
    "two watchers of one name": (
        agent().watch(*(Watcher(key("app:x").changed(), ping, name="w") for _ in range(2))),
        "named w",
    ),
    "two patterns of one name": (
        agent().pattern(*(TemporalPattern("p", TurnCountDetector(True, 1), ping) for _ in range(2))),
        "named p",
    ),
    "a value that is not of its key's type": (
        agent().state(StateKey("app:n", int), values={"app:n": "many"}),
        "app:n",
    ),
    "a value that is not JSON": (agent().state(values={"app:x": object()}), "app:x"),
    "no instruction": (Live.builder("empty"), "no instruction"),
    "no name": (Live.builder(" ").instruction("x"), "no name"),
    "what is no tool": (agent().tools(7), "7 is not a tool"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_before_anything_is_opened(fault: str) -> None:
    built, said = FAULTS[fault]
    with pytest.raises(AgentError) as raised:
        built.plan()
    assert said in str(raised.value)


def test_every_fault_is_told_at_once_with_its_place() -> None:
    built = agent().phase(Phase("a", "A.", transitions=Transition("b", True))).rule(rule("r"), rule("r")).tools(7)
    with pytest.raises(AgentError) as raised:
        built.plan()
    text = str(raised.value)
    assert "The agent has" in text
    assert text.count("test_plan_faults.py:") >= 3


def test_a_builder_is_not_changed_by_its_calls() -> None:
    first = agent()
    second = first.tools(ping)
    assert (len(first.definition.tools), len(second.definition.tools)) == (0, 1)


async def test_one_agent_serves_several_sessions_that_know_nothing_of_each_other() -> None:
    of = agent().pattern(TemporalPattern("p", TurnCountDetector(True, 2), ping)).state(values={"app:n": 0})
    for _ in range(2):
        async with talk(of) as t:
            assert t.state["app:n"] == 0
            await t.writes(n=1)
            await t.turn()
            assert "pattern.fired" not in t.events


async def test_an_agent_without_phases_has_modifiers_all_the_same() -> None:
    async with talk(agent().in_every_phase(InstructionModifier.custom(lambda state: "Stay calm."))) as t:
        setup = t.setup
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief.\n\nStay calm."


def test_a_phase_that_only_code_goes_to_is_none_nobody_gets_to() -> None:
    def go(event: object, voice: object, state: object) -> list[TransitionPhase]:
        return [TransitionPhase("apart")]

    way_out = Transition("end", called_ok("ping"))
    phases = (Phase("a", "A.", transitions=way_out), Phase("apart", "Apart.", transitions=way_out), END)
    assert agent().tools(ping).phase(*phases).rule(ReactorRule("go", go)).plan().name


@pytest.mark.parametrize(
    "value", [10**5000, -(10**400), [10**5000], {"a": 10**400}], ids=["long", "negative", "list", "object"]
)
def test_a_number_that_no_event_can_hold_is_refused(value: Any) -> None:
    with pytest.raises(AgentError, match="more than 308 digits"):
        agent().state(values={"app:n": value}).plan()
    state = State()
    with pytest.raises(StateError, match="more than 308 digits"):
        state.set("app:n", value)
    state.set("app:n", 10**300)
