"""Checks of an agent's phases before a session starts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.conversation.instructions import InstructionModifier
from gemini_live_runtime.conversation.phase_check import Fault, check_phases, doubts_about, raise_faults
from gemini_live_runtime.conversation.phases import Phase, PhasePreparation, Transition
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.terms import called_ok, key


def faults(*phases: Phase, initial: str = "a", tools: Any = ()) -> list[str]:
    return [fault.text for fault in check_phases(phases, initial, tools=tools)]


def doubts(*phases: Phase, written: Any = (), **options: Any) -> list[str]:
    return [fault.text for fault in doubts_about(phases, "a", written=written, **options)]


def phase(name: str, *to: str, when: Any = None, **options: Any) -> Phase:
    guard = key("app:go") if when is None else when
    return Phase(name, "", transitions=[Transition(target, guard) for target in to], **options)


def end(name: str, **options: Any) -> Phase:
    return Phase(name, "", terminal=True, **options)


def test_sound_phases_have_no_faults() -> None:
    sound = (phase("a", "b", tools="pay", needs="user:x"), end("b"))
    assert faults(*sound, tools={"pay"}) == []
    assert doubts(*sound, written={"user:x"}) == []


def test_no_phases_at_all() -> None:
    assert faults() == ["There are no phases"]


def test_the_initial_phase_is_not_named() -> None:
    assert "No initial phase is named" in faults(end("a"), initial="")


def test_the_initial_phase_does_not_exist() -> None:
    assert "The initial phase z does not exist" in faults(end("a"), initial="z")


def test_two_phases_of_one_name_name_each_others_place() -> None:
    (fault,) = [f for f in check_phases([end("a"), end("a")], "a", tools=()) if "Two phases" in f.text]
    assert fault.text.startswith("Two phases are called a; the other is at test_phase_check.py:")


def test_a_phase_without_a_name() -> None:
    assert "A phase has no name" in faults(end(""), initial="a")


def test_a_target_that_does_not_exist() -> None:
    assert "The phase a leads to x, which does not exist" in faults(phase("a", "x", "b"), end("b"))


def test_a_phase_that_leads_to_itself() -> None:
    assert "The phase a leads to itself" in faults(phase("a", "a", "b"), end("b"))


UNREACHED = "No transition leads from a to the phase c"


def test_a_phase_that_no_transition_leads_to_may_be_one_that_a_program_goes_to() -> None:
    phases = (phase("a", "b"), end("b"), phase("c", "b"))
    assert doubts(*phases) == [UNREACHED]
    assert faults(*phases) == []


def test_a_transition_that_is_never_taken_reaches_nothing() -> None:
    ways = [Transition("b", True), Transition("c", False)]
    assert doubts(Phase("a", "", transitions=ways), end("b"), end("c")) == [UNREACHED]


def test_a_phase_that_code_goes_to_is_reached() -> None:
    assert doubts(phase("a", "b"), end("b"), end("c"), reached_by_code={"c"}) == []


def test_a_phase_without_a_way_out_may_be_one_that_a_program_leaves() -> None:
    phases = (phase("a", "b"), phase("b"))
    assert doubts(*phases) == ["The phase b has no transition that can be taken"]
    assert faults(*phases) == []


def test_a_single_phase_needs_no_way_out() -> None:
    assert faults(phase("a")) == doubts(phase("a")) == []


def test_a_terminal_phase_with_transitions() -> None:
    assert "The terminal phase b has transitions" in faults(phase("a", "b"), phase("b", "a", terminal=True))


def test_a_tool_in_an_allow_list_that_does_not_exist() -> None:
    assert faults(end("a", tools=["pay", "fly"]), tools={"pay"}) == [
        "The phase a allows the tool fly, which does not exist"
    ]


def test_a_guard_that_waits_for_a_tool_that_does_not_exist() -> None:
    found = faults(phase("a", "b", when=called_ok("fly") & key("app:x")), end("b"), tools={"pay"})
    assert found == ["The phase a waits for a call of the tool fly, which does not exist"]


def test_tools_that_are_not_known_yet_are_not_judged() -> None:
    assert faults(end("a", tools="fly"), tools=None) == []


def test_a_need_that_no_part_fills_may_be_filled_by_a_program() -> None:
    of = end("a", needs=["user:x", "user:y"])
    assert doubts(of, written={"user:y"}) == ["The phase a needs user:x, which nothing seems to fill"]
    assert faults(of) == []


def test_a_requirement_that_no_part_fills_may_be_filled_by_a_program() -> None:
    found = doubts(phase("a", "b"), end("b", requires="user:x"))
    assert found == ["The phase b requires user:x, which nothing seems to fill"]


def test_a_preparation_fills_the_keys_it_produces() -> None:
    prepared = end("b", requires="user:x", preparations=PhasePreparation("p", print, produces="user:x"))
    assert doubts(phase("a", "b"), prepared) == []


def test_a_computed_value_fills_a_need_without_scope() -> None:
    assert doubts(end("a", needs="risk"), written={"derived:risk"}) == []


def test_the_session_fills_its_own_keys() -> None:
    assert doubts(end("a", requires="session:presented:terms")) == []


def test_phases_that_follow_each_other_without_end() -> None:
    found = faults(phase("a", "b"), phase("b", "c", when=True), phase("c", "b", when=True))
    assert found == ["The phases b -> c -> b follow each other without end"]


@pytest.mark.parametrize("option", [{"guard": key("app:x")}, {"requires": "app:x"}])
def test_a_cycle_that_a_target_may_refuse_is_no_fault(option: dict[str, Any]) -> None:
    assert faults(phase("a", "b", when=True), phase("b", "a", when=True, **option)) == []


def test_a_cycle_behind_guards_is_no_fault() -> None:
    assert faults(phase("a", "b"), phase("b", "a")) == []


@pytest.mark.parametrize(
    "options",
    [
        {"needs": "usr:name"},
        {"requires": "usr:name"},
        {"clear_on_enter": "usr:name"},
        {"modifiers": InstructionModifier.with_state("usr:name")},
        {"preparations": PhasePreparation("p", print, produces="usr:name")},
    ],
)
def test_a_key_of_an_unknown_scope_is_found_everywhere(options: dict[str, Any]) -> None:
    (text,) = faults(end("a", **options))
    assert "'usr:name' has no known scope" in text


def test_every_fault_is_named_at_once_a_line_each_with_its_place_and_remedy() -> None:
    found = check_phases([phase("a", "x", "a", tools="fly"), phase("c", needs="usr:x")], "a", tools=())
    with pytest.raises(AgentError) as caught:
        raise_faults(found)
    title, *lines = str(caught.value).splitlines()
    assert title == f"The agent has {len(found)} faults:"
    assert len(lines) == len(found) == 4
    assert all(line.startswith("- test_phase_check.py:") for line in lines)
    assert "a.. " not in str(caught.value)


def test_without_faults_nothing_is_raised() -> None:
    raise_faults([])


def test_a_single_fault_is_one_sentence() -> None:
    with pytest.raises(AgentError, match=r"The agent cannot be used: a.py:1: No\. Yes\."):
        raise_faults([Fault("No", "a.py:1", "Yes")])


names = st.sampled_from("abcde")


@given(
    st.lists(
        st.tuples(names, st.lists(st.tuples(names, st.sampled_from([True, False, None])), max_size=3), st.booleans()),
        max_size=6,
    ),
    names,
)
def test_a_phase_is_unreachable_when_no_path_leads_to_it(
    drawn: list[tuple[str, list[tuple[str, bool | None]], bool]], initial: str
) -> None:
    phases = [
        Phase(
            name,
            "",
            transitions=[Transition(to, key("app:x") if when is None else when) for to, when in ways],
            terminal=terminal,
        )
        for name, ways, terminal in drawn
    ]
    found = {
        fault.text for fault in (*check_phases(phases, initial, tools=()), *doubts_about(phases, initial, written=()))
    }
    known = {name: ways for name, ways, _ in drawn}
    if len(known) < len(drawn) or initial not in known:
        assert found
        return
    reached, grown = {initial}, True
    while grown:
        more = {to for name in reached for to, when in known[name] if when is not False and to in known}
        grown, reached = not more <= reached, reached | more
    for name in known:
        assert (f"No transition leads from {initial} to the phase {name}" in found) is (name not in reached)
