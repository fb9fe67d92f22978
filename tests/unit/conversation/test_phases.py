"""Phases as an author defines them: tools, transitions, instructions."""

from __future__ import annotations

import pytest
from tests.unit.conversation.phase_support import end, entered

from gemini_live_runtime.conversation.instructions import InstructionModifier, PhaseInstruction, render_modifiers
from gemini_live_runtime.conversation.phases import Phase, PhasePreparation, Transition
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import key

# -- definitions -------------------------------------------------------------------------------------------------------


def test_one_of_anything_needs_no_brackets() -> None:
    phase = Phase(
        "a",
        "Text",
        needs="user:name",
        tools="pay",
        presents="terms",
        clear_on_enter="temp:x",
        requires=StateKey("app:card", str, description="the card's number"),
        transitions=Transition("b", True),
    )
    assert [need.key for need in phase.needs] == ["user:name"]
    assert phase.tools == ("pay",)
    assert phase.presents == ("terms",)
    assert phase.clear_on_enter == ("temp:x",)
    assert [need.label for need in phase.requires] == ["the card's number"]
    assert [way.to for way in phase.transitions] == ["b"]


def test_tools_may_be_listed_by_name_by_function_and_as_tools() -> None:
    class Declared:
        name = "declared"

    def plain() -> None: ...

    assert Phase("a", "", tools=["named", plain, Declared(), "named"]).tools == ("named", "plain", "declared")  # type: ignore[list-item]


def test_an_object_that_is_no_tool_is_refused_with_its_place() -> None:
    with pytest.raises(AgentError, match=r"Phase a \(test_phases.py:\d+\) lists 5 as a tool"):
        Phase("a", "", tools=[5])  # type: ignore[list-item]


def test_an_empty_allow_list_allows_no_tool() -> None:
    machine = entered(end(tools=()))
    assert machine.tools_allowed() == ()
    assert not machine.allows("pay")


def test_without_an_allow_list_every_tool_is_allowed() -> None:
    machine = entered(end())
    assert machine.tools_allowed() is None
    assert machine.allows("anything")


def test_everything_knows_where_it_was_defined() -> None:
    here = "test_phases.py:"
    parts = (
        Phase("a", ""),
        Transition("b", True),
        PhasePreparation("p", print),
        InstructionModifier.with_state("app:x"),
        InstructionModifier.when(True, "x"),
        PhaseInstruction("x"),
    )
    assert all(part.defined_at.startswith(here) for part in parts)


def test_an_async_guard_is_refused_because_it_would_always_be_true() -> None:
    async def later(_: State) -> bool:
        return False

    with pytest.raises(AgentError, match=r"The transition to b \(test_phases.py:\d+\): later is an async function"):
        Transition("b", later)


def test_an_object_that_is_no_guard_is_refused() -> None:
    with pytest.raises(AgentError, match=r"The transition to b .* cannot be used"):
        Transition("b", "user:name")  # type: ignore[arg-type]


def test_an_instruction_that_is_no_text_is_refused() -> None:
    with pytest.raises(AgentError, match="An instruction"):
        Phase("a", 5)  # type: ignore[arg-type]


# -- instructions and modifiers ----------------------------------------------------------------------------------------


def test_a_dynamic_instruction_reads_values_that_on_enter_wrote() -> None:
    state = State()
    phase = end("hello", on_enter=lambda s: s.set("app:mood", "calm"))
    dynamic = Phase("hello", lambda s: f"Be {s.get('app:mood')}.", on_enter=phase.on_enter, terminal=True)
    machine = entered(dynamic, state=state)
    assert machine.resolve(state).text == "Be calm."


def test_an_instruction_that_fails_keeps_its_last_text_and_says_so() -> None:
    state = State({"app:n": 1})
    machine = entered(Phase("a", lambda s: f"Count {1 // s.get('app:n')}", terminal=True), state=state)
    state.set("app:n", 0)
    resolved = machine.resolve(state)
    assert resolved.text == "Count 1"
    assert "ZeroDivisionError" in str(resolved.error)
    assert "test_phases.py" in str(resolved.error)


def test_a_modifier_with_state_shows_values_as_json_without_missing_ones() -> None:
    state = State({"emotion": "hap\npy", "app:score": 0.8, "user:gone": None})
    modifier = InstructionModifier.with_state("emotion", StateKey("app:score", float), "user:gone", "app:never")
    assert modifier.render(state) == '[Context: emotion="hap\\npy", score=0.8]'


def test_two_keys_of_one_name_are_shown_with_their_scopes() -> None:
    modifier = InstructionModifier.with_state("app:name", "user:name", "user:age", label="Who")
    shown = modifier.render(State({"app:name": "a", "user:name": "b", "user:age": 3}))
    assert shown == '[Who: app:name="a", user:name="b", age=3]'


def test_a_modifier_with_a_false_guard_says_nothing() -> None:
    modifier = InstructionModifier.when(key("app:angry"), "Apologise.")
    assert modifier.render(State({"app:angry": False})) == ""
    assert modifier.render(State({"app:angry": True})) == "Apologise."


def test_a_modifier_that_fails_keeps_no_other_from_speaking() -> None:
    def broken(_: State) -> str:
        raise RuntimeError("no")

    modifiers = (InstructionModifier.custom(broken), InstructionModifier.when(True, "Be kind."))
    rendered = render_modifiers(modifiers, State())
    assert rendered.texts == ("Be kind.",)
    (fault,) = rendered.faults
    assert "broken" in str(fault.error)
    assert fault.defined_at.startswith("test_phases.py:")


def test_the_same_text_of_two_modifiers_is_rendered_once() -> None:
    twice = (InstructionModifier.when(True, "Be kind."), InstructionModifier.when(True, "Be kind."))
    assert render_modifiers(twice, State()).texts == ("Be kind.",)
