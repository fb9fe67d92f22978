"""Make phase machines whose transitions are carried out by plain functions."""

from __future__ import annotations

from typing import Any

from gemini_live_runtime.conversation.phase_machine import PhaseMachine
from gemini_live_runtime.conversation.phases import Phase
from gemini_live_runtime.conversation.transitions import (
    ClearKeys,
    GatherContext,
    MakeCurrent,
    MarkPresented,
    PhaseTransition,
    ResolveInstruction,
    RunEnter,
    RunExit,
    TransitionPlan,
)
from gemini_live_runtime.state.store import State


def carry_out(machine: PhaseMachine, plan: TransitionPlan, state: State, now: float = 0.0) -> PhaseTransition:
    """Carry out a plan as a session does, with plain functions as hooks."""
    record = None
    for step in plan.steps:
        match step:
            case RunExit(run=run) | RunEnter(run=run):
                run(state)
            case MakeCurrent():
                record = machine.commit(plan, now)
            case ClearKeys(keys=keys):
                for name in keys:
                    state.remove(name)
            case MarkPresented(keys=keys):
                for name in keys:
                    state.set(name, True)
            case ResolveInstruction():
                machine.resolve(state)
            case GatherContext():
                pass
    assert record is not None
    return record


def entered(*phases: Phase, state: State | None = None, initial: str = "") -> PhaseMachine:
    machine = PhaseMachine(phases, initial or phases[0].name)
    carry_out(machine, machine.enter_initial(), state or State())
    return machine


def end(name: str = "end", **options: Any) -> Phase:
    return Phase(name, f"This is {name}.", terminal=True, **options)
