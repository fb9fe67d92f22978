"""Phases, as a session goes through them."""

from __future__ import annotations

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    InstructionModifier,
    Need,
    Phase,
    PhaseInstruction,
    PhaseMachine,
    PhasePreparation,
    PhaseTransition,
    State,
    StateKey,
    TranscriptWindow,
    Transition,
    TransitionEvaluation,
    TransitionResult,
    TransitionTrigger,
    called_ok,
    key,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError

GO = Transition("second", key("app:go"), because="it was said")


def two(first: Phase | None = None, second: Phase | None = None) -> tuple[Phase, Phase]:
    """Return two phases; `app:go` leads from the first to the second."""
    return (
        first or Phase("first", "Do the first thing.", transitions=GO),
        second or Phase("second", "Do the second thing.", terminal=True),
    )


def go(state: State) -> dict[str, bool]:
    """Go on."""
    state.set("app:go", True)
    return {"ok": True}


async def test_the_initial_phase_is_entered_like_any_other() -> None:
    ran: list[str] = []
    first = Phase(
        "first",
        "Do the first thing.",
        transitions=GO,
        on_enter=lambda state: ran.append("on_enter"),
        presents="terms",
        on_enter_context="They called about a bill.",
        prompt_on_enter=True,
    )

    async with talk(agent().phase(*two(first)).tools(go)) as t:
        assert "Do the first thing." in t.setup["systemInstruction"]["parts"][0]["text"]
        assert ran == ["on_enter"]
        assert t.state["session:presented:terms"] is True
        assert t.wire == [("model context", "They called about a bill."), ("prompt",)]
    assert [(e.phase, e.trigger) for e in t.all(ev.PhaseEntered)] == [("first", "initial")]


async def test_a_guard_that_holds_at_the_end_of_a_turn_moves_the_conversation() -> None:
    async with talk(agent().phase(*two()).tools(go)) as t:
        await t.calls("go")
        await t.turn()
        assert t.handle.phase == "second"
    assert t.phases == ["first", "second"]


async def test_what_a_tool_writes_moves_the_conversation_before_its_answer_goes_out() -> None:
    async with talk(agent().phase(*two()).tools(go)) as t:
        await t.hears("go on")
        await t.calls("go")
        assert [told[0] for told in t.wire] == ["instruction", "answer"]
        assert t.handle.phase == "second"


async def test_the_event_of_a_transition_tells_the_guard_its_inputs_and_who_wrote_them() -> None:
    async with talk(agent().phase(*two()).tools(go)) as t:
        await t.calls("go")
    entered = t.all(ev.PhaseEntered)[-1]
    assert entered.because == "it was said"
    assert entered.explanation is not None
    (read,) = entered.explanation["children"][0]["reads"]
    assert (read["key"], read["value"]) == ("app:go", True)
    assert "go" in read["by"]


async def test_the_first_transition_whose_guard_holds_is_taken() -> None:
    first = Phase(
        "first", "One.", transitions=(Transition("second", key("app:go")), Transition("third", key("app:go")))
    )
    third = Phase("third", "Three.", terminal=True)

    async with talk(agent().phase(*two(first), third).tools(go)) as t:
        await t.calls("go")
    assert t.phases == ["first", "second"]


async def test_at_most_one_transition_is_taken_at_a_time() -> None:
    second = Phase("second", "Two.", transitions=Transition("third", key("app:go")))
    third = Phase("third", "Three.", terminal=True)
    places: list[str] = []

    async with talk(agent().phase(*two(None, second), third).tools(go)) as t:
        await t.writes(go=True)
        places.append(t.handle.phase)
        await t.turn()
        places.append(t.handle.phase)
    assert places == ["second", "third"]


async def test_a_dynamic_instruction_reads_the_state_as_it_is_on_entering() -> None:
    second = Phase("second", PhaseInstruction(lambda state: f"Serve {state.get('user:name')}."), terminal=True)

    def named(state: State) -> None:
        """Go on with a name."""
        state.set("user:name", "Ada")
        state.set("app:go", True)

    async with talk(agent().phase(*two(None, second)).tools(named)) as t:
        await t.calls("named")
        assert t.sent("instruction") == [("instruction", "Be brief.\n\nServe Ada.")]


async def test_modifiers_are_part_of_the_instruction_while_they_apply() -> None:
    calm = InstructionModifier.when(key("app:angry"), "Stay calm.")
    first = Phase("first", "One.", modifiers=calm)

    async with talk(agent().phase(first)) as t:
        await t.writes(angry=True)
        await t.turn()
        await t.writes(angry=False)
        await t.turn()
        assert t.sent("instruction") == [
            ("instruction", "Be brief.\n\nOne.\n\nStay calm."),
            ("instruction", "Be brief.\n\nOne."),
        ]


async def test_modifiers_of_every_phase_come_before_a_phases_own() -> None:
    plan = StateKey("app:plan", str)
    first = Phase("first", "One.", modifiers=InstructionModifier.custom(lambda state: "Own."))
    of = agent().phase(first).in_every_phase(InstructionModifier.with_state(plan)).state(plan, values={"app:plan": "x"})

    async with talk(of) as t:
        setup = t.setup
        assert setup["systemInstruction"]["parts"][0]["text"].endswith('[Context: plan="x"]\n\nOwn.')


async def test_a_target_whose_own_guard_is_false_is_passed_over() -> None:
    first = Phase("first", "One.", transitions=(GO, Transition("third", key("app:go"))))
    second = Phase("second", "Two.", guard=key("app:open"), terminal=True)
    third = Phase("third", "Three.", terminal=True)

    async with talk(agent().phase(first, second, third).tools(go)) as t:
        await t.calls("go")
        assert t.handle.phase == "third"


async def test_a_target_that_lacks_what_it_requires_is_not_entered() -> None:
    second = Phase("second", "Two.", requires="user:name", terminal=True)

    async with talk(agent().phase(*two(None, second)).state(values={"user:name": None}).tools(go)) as t:
        await t.calls("go")
        assert t.handle.phase == "first"
        t.state.set("user:name", "Ada")
        await t.rests()
        assert t.handle.phase == "second"


async def test_a_preparation_fills_what_a_phase_requires_and_the_phase_is_entered_at_once() -> None:
    async def look_up(state: State) -> None:
        state.set("user:name", "Ada")

    second = Phase(
        "second",
        "Two.",
        requires="user:name",
        preparations=PhasePreparation("look up", look_up, "user:name"),
        terminal=True,
    )

    async with talk(agent().phase(*two(None, second)).tools(go)) as t:
        await t.calls("go")
        assert t.handle.phase == "second"
    (blocked,) = t.all(ev.PhaseBlocked)
    assert (blocked.target, blocked.missing, blocked.preparing) == ("second", ("user:name",), ("look up",))


async def test_leaving_runs_on_exit_before_the_phase_changes_and_on_enter_after() -> None:
    order: list[str] = []
    first = Phase("first", "One.", transitions=GO, on_exit=lambda state: order.append(f"exit {state['session:phase']}"))
    second = Phase("second", "Two.", on_enter=lambda state: order.append("enter"), terminal=True)

    async with talk(agent().phase(first, second).tools(go)) as t:
        await t.calls("go")
    assert order == ["exit first", "enter"]


async def test_keys_are_cleared_on_entering() -> None:
    second = Phase("second", "Two.", clear_on_enter=("app:draft",), terminal=True)

    async with talk(agent().phase(*two(None, second)).tools(go)) as t:
        await t.writes(draft="x")
        await t.calls("go")
        assert "app:draft" not in t.state


async def test_context_on_entering_sees_the_turn_that_is_going_on_with_its_tool_calls() -> None:
    seen: list[TranscriptWindow] = []

    def context(state: State, window: TranscriptWindow) -> str:
        seen.append(window)
        return "They want it."

    second = Phase("second", "Two.", on_enter_context=context, terminal=True)

    async with talk(agent().phase(*two(None, second)).tools(go)) as t:
        await t.hears("please go on")
        await t.calls("go")
        await t.says("Sure.")
        await t.ends()
        assert t.sent("model context") == [("model context", "They want it.")]
    (turn,) = seen[0].turns
    assert (turn.user, [call.name for call in turn.tool_calls]) == ("please go on", ["go"])


async def test_prompt_on_enter_makes_the_model_speak_first() -> None:
    second = Phase("second", "Two.", prompt_on_enter="Say hello.", terminal=True)

    async with talk(agent().phase(*two(None, second)).tools(go)) as t:
        await t.writes(go=True)
        await t.turn()
        assert t.wire[-2:] == [("model context", "Say hello."), ("prompt",)]


async def test_a_tool_that_the_phase_does_not_allow_is_refused_with_the_reason_and_not_run() -> None:
    ran: list[str] = []

    @tool
    def pay() -> None:
        """Pay."""
        ran.append("pay")

    first = Phase("first", "One.", tools=("go",), transitions=GO)

    async with talk(agent().phase(*two(first)).tools(go, pay)) as t:
        await t.calls("pay")
        ((_, _, response),) = t.sent("answer")
        assert response == {"error": "The tool pay is not available in the phase first. Available now: go."}
    assert ran == []
    assert t.all(ev.ToolFinished)[0].status == "refused"


async def test_the_model_is_told_which_tools_a_phase_allows_when_they_change() -> None:
    first = Phase("first", "One.", transitions=GO)
    second = Phase("second", "Two.", tools=("go",), terminal=True)

    async with talk(agent().phase(first, second).tools(go)) as t:
        await t.writes(go=True)
        await t.turn()
        await t.turn()
        assert t.sent("model context") == [("model context", "[Tools] Only these may be used now: go.")]


async def test_without_the_advisory_the_model_is_not_told_which_tools_a_phase_allows() -> None:
    second = Phase("second", "Two.", tools=("go",), terminal=True)

    async with talk(agent().phase(*two(None, second)).tools(go).tool_advisory(False)) as t:
        await t.writes(go=True)
        await t.turn()
        assert t.sent("model context") == []


async def test_a_terminal_phase_is_not_left_by_code() -> None:
    async with talk(agent().phase(*two()).tools(go)) as t:
        t.handle.transition_to("second")
        await t.rests()
        with pytest.raises(AgentError, match="terminal"):
            t.handle.transition_to("first")
        await t.rests()
        assert t.handle.phase == "second"


async def test_the_program_moves_the_conversation_without_a_guard() -> None:
    async with talk(agent().phase(*two()).tools(go)) as t:
        t.handle.transition_to("second", "the manager said so")
        await t.rests()
        assert t.sent("instruction") == [("instruction", "Be brief.\n\nDo the second thing.")]
    entered = t.all(ev.PhaseEntered)[-1]
    assert (entered.trigger, entered.because) == ("programmatic", "the manager said so")


async def test_a_success_of_a_tool_is_a_guard() -> None:
    first = Phase("first", "One.", transitions=Transition("second", called_ok("ping")))

    def ping() -> None:
        """Ping."""

    async with talk(agent().phase(*two(first)).tools(ping)) as t:
        await t.calls("ping")
        assert t.handle.phase == "second"


async def test_the_conversations_phase_and_the_wires_are_two_keys() -> None:
    async with talk(agent().phase(*two()).tools(go)) as t:
        await t.says("hello")
        assert (t.state["session:phase"], t.state["session:wire_phase"]) == ("first", "model_speaking")


async def test_the_state_says_what_the_phase_needs_requires_and_allows() -> None:
    second = Phase("second", "Two.", needs=Need("user:name"), requires="app:go", tools=("go",), terminal=True)

    async with talk(agent().phase(*two(None, second)).tools(go).state(values={"user:name": None})) as t:
        t.state.set("user:name", None)
        await t.calls("go")
        assert t.state["session:phase_needs"] == ["user:name"]
        assert t.state["session:phase_requires"] == ["app:go"]
        assert t.state["session:active_tools"] == ["go"]


async def test_the_description_of_the_navigation_is_that_of_the_phase_just_entered() -> None:
    async with talk(agent().phase(*two()).tools(go)) as t:
        await t.calls("go")
        text = t.state["session:navigation_context"]
        assert "Current phase: second: Do the second thing." in text
        assert "This is the final phase." in text


async def test_a_session_explains_where_it_stands_and_what_keeps_it_there() -> None:
    async with talk(agent().phase(*two()).tools(go)) as t:
        told = t.handle.explain()
        assert told["phase"] == "first"
        assert told["transitions"][0]["outcome"] == "guard is false"
        (reason,) = t.handle.why_blocked("second")
        assert "app:go" in reason


async def test_hooks_that_raise_are_told_and_the_transition_goes_on() -> None:
    def fails(state: State) -> None:
        raise RuntimeError("boom")

    second = Phase("second", "Two.", on_enter=fails, terminal=True)

    async with talk(agent().phase(*two(None, second)).tools(go)) as t:
        await t.calls("go")
        assert t.handle.phase == "second"
    (failure,) = t.failures()
    assert (failure.where, failure.error) == ("on_enter of second", "RuntimeError: boom")


async def test_the_machine_of_a_session_keeps_its_path_and_its_last_decision() -> None:
    async with talk(agent().phase(*two()).tools(go)) as t:
        await t.calls("go")
        director = t.stage.orchestrator.agent.phases
        assert director is not None
        machine = director.machine
        assert isinstance(machine, PhaseMachine)
        last = machine.history[-1]
        assert isinstance(last, PhaseTransition)
        assert (last.from_phase, last.to_phase, last.trigger) == ("first", "second", TransitionTrigger.guard(0))
        evaluation = machine.evaluate(t.state)
        assert isinstance(evaluation, TransitionEvaluation)
        assert evaluation.kind == "none"
        result = machine.result(last)
        assert isinstance(result, TransitionResult)
        assert result.instruction == "Do the second thing."
