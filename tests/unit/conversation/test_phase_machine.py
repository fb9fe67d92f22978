"""The machine that decides transitions, and carries on where it was saved."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.conversation.phase_support import carry_out, end, entered

from gemini_live_runtime.conversation.phase_machine import MAX_HISTORY, PhaseMachine
from gemini_live_runtime.conversation.phases import Phase, PhasePreparation, Transition
from gemini_live_runtime.conversation.transitions import (
    ClearKeys,
    GatherContext,
    MakeCurrent,
    MarkPresented,
    PhaseTransition,
    ResolveInstruction,
    RunEnter,
    RunExit,
    TransitionTrigger,
)
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import key

# -- evaluating --------------------------------------------------------------------------------------------------------


def test_of_two_true_guards_the_first_decides() -> None:
    machine = entered(Phase("a", "", transitions=[Transition("b", True), Transition("c", True)]), end("b"), end("c"))
    found = machine.evaluate(State())
    assert (found.kind, found.target, found.index) == ("ready", "b", 0)


def test_a_terminal_phase_is_never_left_by_a_guard() -> None:
    assert entered(end()).evaluate(State()).kind == "none"


def test_before_the_initial_phase_is_entered_nothing_is_evaluated() -> None:
    machine = PhaseMachine([Phase("a", "", transitions=Transition("b", True)), end("b")], "a")
    assert machine.evaluate(State()).kind == "none"


def test_a_target_whose_guard_is_false_is_passed_over() -> None:
    machine = entered(
        Phase("a", "", transitions=[Transition("b", True), Transition("c", True)]),
        end("b", guard=key("app:open")),
        end("c"),
    )
    found = machine.evaluate(State())
    assert (found.target, found.index) == ("c", 1)
    assert found.considered[0].outcome == "target's guard is false"


def test_a_target_that_lacks_a_required_key_is_passed_over() -> None:
    machine = entered(
        Phase("a", "", transitions=[Transition("b", True), Transition("c", True)]),
        end("b", requires="user:card"),
        end("c"),
    )
    found = machine.evaluate(State({"user:card": None}))
    assert found.target == "c"
    assert found.considered[0].missing == ("user:card",)


def blocked_machine() -> PhaseMachine:
    fetch = PhasePreparation("fetch the card", print, produces="user:card")
    other = PhasePreparation("fetch the rest", print, produces="user:rest")
    return entered(
        Phase("a", "", transitions=[Transition("b", True), Transition("c", True)]),
        end("b", requires="user:card", preparations=[fetch, other]),
        end("c"),
    )


def test_a_target_with_preparations_for_a_missing_key_blocks_and_names_them() -> None:
    found = blocked_machine().evaluate(State())
    assert (found.kind, found.target, found.missing) == ("blocked", "b", ("user:card",))
    assert [item.name for item in found.preparations] == ["fetch the card"]


def test_after_the_preparations_the_target_is_ready() -> None:
    found = blocked_machine().evaluate(State({"user:card": "1"}), prepared={"b"})
    assert (found.kind, found.target) == ("ready", "b")


def test_preparations_in_vain_do_not_keep_the_conversation_from_other_ways() -> None:
    found = blocked_machine().evaluate(State(), prepared={"b"})
    assert (found.kind, found.target) == ("ready", "c")


def test_a_guard_that_raises_is_false_with_a_problem() -> None:
    def broken(state: State) -> bool:
        return bool(state["app:none"])

    machine = entered(Phase("a", "", transitions=[Transition("b", broken), Transition("c", True)]), end("b"), end("c"))
    found = machine.evaluate(State())
    assert found.target == "c"
    assert "broken" in found.considered[0].guard.problem


def test_the_opposite_of_a_guard_that_raises_is_false_too() -> None:
    def broken(_: object) -> bool:
        raise RuntimeError("no")

    guard = ~(key("app:x").is_set() & broken)
    machine = entered(Phase("a", "", transitions=Transition("b", guard)), end("b"))
    assert machine.evaluate(State({"app:x": 1})).kind == "none"


def test_a_guard_that_uses_more_of_the_state_than_can_be_recorded_still_decides() -> None:
    machine = entered(Phase("a", "", transitions=Transition("b", lambda s: s.keys("user") == ["user:x"])), end("b"))
    assert machine.evaluate(State({"user:x": 1})).target == "b"


def test_an_evaluation_explains_every_considered_transition_with_the_values_read() -> None:
    machine = entered(
        Phase("a", "", transitions=[Transition("b", key("app:x") > 3), Transition("c", key("app:x") > 1)]),
        end("b"),
        end("c"),
    )
    found = machine.evaluate(State({"app:x": 2}))
    assert [child.value for child in found.explanation.children] == [False, True]
    assert [read.value for read in found.explanation.all_reads()] == [2, 2]
    json.dumps(found.to_json())


# -- moving ------------------------------------------------------------------------------------------------------------


def test_the_initial_phase_is_entered_like_any_other() -> None:
    state = State({"temp:old": 1})
    first = end("a", on_enter=lambda s: s.set("app:seen", True), clear_on_enter="temp:old", presents="terms")
    machine = entered(first, state=state)
    assert machine.history[0].trigger == TransitionTrigger.initial()
    assert state.snapshot() == {"app:seen": True, "session:presented:terms": True}


def test_a_transition_leaves_makes_current_clears_presents_enters_resolves_and_gathers_in_this_order() -> None:
    machine = entered(
        Phase("a", "", transitions=Transition("b", True), on_exit=print),
        end("b", on_enter=print, clear_on_enter="temp:x", presents="terms", on_enter_context="Hi."),
    )
    plan = machine.follow(machine.evaluate(State()), 2)
    steps = [type(step) for step in plan.steps]
    assert steps == [RunExit, MakeCurrent, ClearKeys, MarkPresented, RunEnter, ResolveInstruction, GatherContext]


def test_the_old_phase_is_current_while_it_is_left_and_the_new_one_while_it_is_entered() -> None:
    seen: list[str] = []
    machine: PhaseMachine = entered(
        Phase("a", "", transitions=Transition("b", True), on_exit=lambda _: seen.append(machine.current)),
        end("b", on_enter=lambda _: seen.append(machine.current)),
    )
    carry_out(machine, machine.follow(machine.evaluate(State()), 1), State())
    assert seen == ["a", "b"]


def test_a_transition_is_remembered_with_why_when_and_how_long() -> None:
    state = State({"app:x": 1})
    machine = entered(
        Phase("a", "", transitions=[Transition("c", False), Transition("b", key("app:x") == 1, because="one")]),
        end("b"),
        end("c"),
    )
    record = carry_out(machine, machine.follow(machine.evaluate(state), 4), state, now=2.5)
    assert record is machine.history[-1]
    assert (record.from_phase, record.to_phase, record.turn, record.because) == ("a", "b", 4, "one")
    assert record.trigger == TransitionTrigger.guard(1)
    assert record.seconds_in_phase == 2.5
    assert record.explanation is not None
    assert [read.key for read in record.explanation.all_reads()] == ["app:x"]


def test_going_to_an_unknown_phase_is_refused_with_the_known_ones() -> None:
    machine = entered(Phase("a", "", transitions=Transition("b", True)), end("b"))
    with pytest.raises(AgentError, match=r"There is no phase x\. Use one of a, b"):
        machine.transition_to("x", turn=1)
    assert machine.current == "a"


def test_going_to_the_current_phase_is_refused() -> None:
    machine = entered(Phase("a", "", transitions=Transition("b", True)), end("b"))
    with pytest.raises(AgentError, match="in phase a already"):
        machine.transition_to("a", turn=1)


def test_code_may_go_anywhere_without_a_guard() -> None:
    machine = entered(Phase("a", "", transitions=Transition("b", False)), end("b", guard=False))
    record = carry_out(machine, machine.transition_to("b", turn=1, source="tool pay", reason="paid"), State())
    assert record.trigger == TransitionTrigger.programmatic("tool pay", "paid")


def test_only_the_operator_leaves_a_terminal_phase() -> None:
    machine = entered(end("a"), end("b"))
    with pytest.raises(AgentError, match="The phase a is terminal"):
        machine.transition_to("b", turn=1)
    carry_out(machine, machine.transition_to("b", turn=1, by_operator=True), State())
    assert machine.current == "b"


def test_a_plan_made_before_the_conversation_moved_is_refused() -> None:
    machine = entered(Phase("a", "", transitions=Transition("b", True)), Phase("b", ""), Phase("c", ""))
    stale = machine.transition_to("c", turn=1)
    carry_out(machine, machine.transition_to("b", turn=1), State())
    with pytest.raises(AgentError, match="in phase b, not in a"):
        machine.commit(stale, 1.0)


def test_the_conversation_begins_with_no_other_phase() -> None:
    machine = PhaseMachine([Phase("a", "", transitions=Transition("b", True)), end("b")], "a")
    with pytest.raises(AgentError, match="begins with a, not b"):
        machine.transition_to("b", turn=0)


def test_a_plan_is_not_made_of_an_evaluation_that_is_not_ready() -> None:
    machine = blocked_machine()
    with pytest.raises(AgentError, match="not ready"):
        machine.follow(machine.evaluate(State()), 1)


@pytest.mark.parametrize(
    ("prompt", "gathered", "context", "prompted"),
    [
        (False, None, (), False),
        (False, "A line.", ("A line.",), False),
        (True, ["One.", " ", "Two."], ("One.", "Two."), True),
        ("Speak now.", "A line.", ("A line.", "Speak now."), True),
        ("", None, (), False),
    ],
)
def test_a_finished_transition_has_the_texts_for_the_model(
    prompt: bool | str, gathered: object, context: tuple[str, ...], prompted: bool
) -> None:
    machine = entered(end("a", prompt_on_enter=prompt))
    result = machine.result(machine.history[0], gathered)
    assert (result.instruction, result.context, result.prompt) == ("This is a.", context, prompted)


def test_context_that_is_no_text_is_refused_with_the_phase() -> None:
    machine = entered(Phase("a", "", terminal=True))
    with pytest.raises(AgentError, match=r"on_enter_context of phase a \(test_phase_machine.py:\d+\) gave 5"):
        machine.result(machine.history[0], 5)


def test_a_machine_with_faults_is_refused_with_all_of_them() -> None:
    with pytest.raises(AgentError) as caught:
        PhaseMachine([Phase("a", "", transitions=[Transition("a", True), Transition("x", True)])], "z")
    for part in ("initial phase z", "leads to itself", "leads to x"):
        assert part in str(caught.value)


@given(st.integers(1, 3 * MAX_HISTORY))
def test_the_history_is_bounded_and_keeps_the_newest(moves: int) -> None:
    machine = entered(
        Phase("a", "", transitions=Transition("b", True)), Phase("b", "", transitions=Transition("a", 1 > 0))
    )
    for turn in range(moves):
        carry_out(machine, machine.follow(machine.evaluate(State()), turn), State())
    assert len(machine.history) == min(moves + 1, MAX_HISTORY)
    assert machine.history[-1].turn == moves - 1
    assert machine.current == ("b" if moves % 2 else "a")


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([None, True, False]), st.booleans(), st.booleans()),
        min_size=1,
        max_size=6,
    )
)
def test_the_decision_is_that_of_the_first_transition_that_may_be_taken(
    ways: list[tuple[bool, bool | None, bool, bool]],
) -> None:
    state = State({"app:present": 1})
    targets, transitions = [], []
    expected: tuple[str, int | None] = ("none", None)
    for index, (holds, guard, lacking, preparing) in enumerate(ways):
        targets.append(
            end(
                f"t{index}",
                guard=guard,
                requires="app:absent" if lacking else "app:present",
                preparations=PhasePreparation("p", print) if preparing else (),
            )
        )
        transitions.append(Transition(f"t{index}", holds))
        if expected[0] == "none" and holds and guard is not False and not (lacking and not preparing):
            expected = ("blocked" if lacking else "ready", index)
    found = entered(Phase("start", "", transitions=transitions), *targets).evaluate(state)
    assert (found.kind, found.index) == expected


# -- telling -----------------------------------------------------------------------------------------------------------


def three_phases() -> PhaseMachine:
    return entered(
        Phase("greet", "Greet.", transitions=Transition("order", True)),
        Phase(
            "order",
            "Take the order, e.g. a pizza for 9.50 EUR.\nBe quick.",
            needs=("user:dish", StateKey("user:size", str, description="the size")),
            transitions=Transition("pay", key("user:dish").is_set(), because="there is an order"),
        ),
        end("pay", requires="user:card_number"),
    )


def test_navigation_tells_of_the_new_phase_after_a_transition() -> None:
    machine, state = three_phases(), State()
    carry_out(machine, machine.follow(machine.evaluate(state), 3), state)
    assert machine.describe_navigation(state).splitlines() == [
        "[Navigation]",
        "Current phase: order: Take the order, e.g. a pizza for 9.50 EUR.",
        "Came from: greet (turn 3)",
        "Still needed: dish, the size",
        "May go on to:",
        "-> pay: there is an order (first needs card number)",
    ]


def test_navigation_says_when_there_is_nowhere_to_go() -> None:
    assert "This is the final phase." in entered(end()).describe_navigation(State())


def test_a_long_first_line_is_cut_between_words() -> None:
    machine = entered(Phase("a", "word " * 100, terminal=True))
    line = machine.describe_navigation(State()).splitlines()[1]
    assert line.endswith("word …")
    assert len(line) < 230


def test_explain_is_json_with_everything_a_person_asks() -> None:
    machine, state = three_phases(), State({"user:size": "big"})
    carry_out(machine, machine.follow(machine.evaluate(state), 3), state, now=1.0)
    explanation = json.loads(json.dumps(machine.explain(state, 3.5)))
    assert explanation["phase"] == "order"
    assert explanation["seconds_in_phase"] == 2.5
    assert [(need["key"], need["met"]) for need in explanation["needs"]] == [("user:dish", False), ("user:size", True)]
    assert explanation["needs"][1]["by"] == "program"
    assert explanation["transitions"][0]["outcome"] == "guard is false"
    assert explanation["transitions"][0]["guard"]["text"] == "user:dish is set"
    assert explanation["next"] is None
    assert explanation["tools"] is None
    assert [(item["from"], item["to"]) for item in explanation["path"]] == [("", "greet"), ("greet", "order")]


def test_explain_names_the_next_phase_when_one_is_ready() -> None:
    assert three_phases().explain(State(), 0.0)["next"] == "order"


# -- keeping -----------------------------------------------------------------------------------------------------------


def test_a_restored_machine_continues_without_entering_again() -> None:
    machine, state = three_phases(), State()
    carry_out(machine, machine.follow(machine.evaluate(state), 3), state, now=10.0)
    kept = json.loads(json.dumps(machine.to_json(14.0)))
    again = PhaseMachine(machine.phases.values(), "greet")
    record = again.restore(kept, 100.0, turn=5)
    assert record is not None
    assert record.trigger == TransitionTrigger.restored()
    assert again.current == "order"
    assert again.seconds_in_phase(101.0) == 5.0
    assert again.to_json(100.0) == kept


def test_a_machine_saved_before_entering_enters_when_restored() -> None:
    phases = [Phase("a", "", transitions=Transition("b", True)), end("b")]
    again = PhaseMachine(phases, "a")
    assert again.restore(PhaseMachine(phases, "a").to_json(0.0), 0.0) is None
    assert not again.entered


def test_a_kept_phase_that_is_gone_is_refused() -> None:
    kept = entered(end("old")).to_json(0.0)
    with pytest.raises(AgentError, match="in phase old, which this agent does not have"):
        entered(end("new")).restore(kept, 0.0)


@pytest.mark.parametrize(
    "trigger",
    [
        TransitionTrigger.initial(),
        TransitionTrigger.guard(0),
        TransitionTrigger.programmatic("tool", "why"),
        TransitionTrigger.operator("why"),
        TransitionTrigger.restored(),
    ],
)
def test_a_record_survives_json(trigger: TransitionTrigger) -> None:
    record = PhaseTransition("a", "b", 3, 1.5, trigger, "why", None, 0.5)
    assert PhaseTransition.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_a_phase_may_be_left_when_a_guard_holds_or_cannot_be_asked() -> None:
    def broken(state: State) -> bool:
        raise ValueError("broken")

    quick = [
        entered(Phase("a", "", transitions=Transition("end", guard)), end()).may_leave(State({"app:x": 2}))
        for guard in (key("app:x") == 2, key("app:x") == 3, broken)
    ]

    assert quick == [True, False, True]
    assert not PhaseMachine([Phase("a", "", transitions=Transition("end", True)), end()], "a").may_leave(State())
    assert not entered(end()).may_leave(State())
