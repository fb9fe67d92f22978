"""Moving the conversation between phases: what the machine decides is carried out here, step by step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.phase_machine import PhaseMachine
from gemini_live_runtime.conversation.transitions import (
    ClearKeys,
    GatherContext,
    MakeCurrent,
    MarkPresented,
    PhaseTransition,
    ResolveInstruction,
    RunEnter,
    RunExit,
    TransitionEvaluation,
    TransitionPlan,
    TransitionResult,
)
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.agent.user_code import UserCode
from gemini_live_runtime.state.explanation import Explanation
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.store import State

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.phases import Phase
    from gemini_live_runtime.conversation.transcript import TranscriptWindow

WINDOW = 5
"""Ended turns that `on_enter_context` gets to see."""


NAVIGATION = "session:navigation_context"
"""Where the conversation stands, in words for the model."""


class PhaseRunner:
    """Runs transitions. Everything here is a step of the control lane."""

    def __init__(
        self,
        machine: PhaseMachine,
        state: State,
        code: UserCode,
        *,
        emit: Callable[[ev.Payload], None],
        now: Callable[[], float],
        window: Callable[[int], TranscriptWindow],
        about_to_move: Callable[[str, str, Explanation | None], Awaitable[bool]],
    ) -> None:
        """`about_to_move` gets the phase that is left, the one that is entered and the reason, and returns when that
        may be: whether it had to wait."""
        self.machine = machine
        self._state = state
        self._code = code
        self._emit = emit
        self._now = now
        self._window = window
        self._about_to_move = about_to_move
        # Read live: needs are filled, and ways opened, between one phase and the next.
        state.provide(NAVIGATION, self._navigation)

    def _navigation(self) -> str | None:
        return self.machine.describe_navigation(self._state) if self.machine.entered else None

    async def begin(self) -> TransitionResult:
        """Enter the initial phase, like any other."""
        return await self._carry_out(self.machine.enter_initial())

    async def advance(self, turn: int) -> TransitionResult | None:
        """Take the transition that is due, if one is: at most one."""
        machine, state = self.machine, self._state
        if not machine.may_leave(state):
            return None
        evaluation = await self._evaluated()
        while evaluation.chosen is not None and evaluation.kind == "ready":
            target = evaluation.target
            if not await self._about_to_move(machine.current, target, evaluation.chosen.explanation):
                break
            # Somebody looked at it, and may have changed what it was decided by.
            evaluation = await self._evaluated()
            if evaluation.target == target:
                break
        if evaluation.kind != "ready":
            return None
        return await self._carry_out(machine.follow(evaluation, turn))

    async def _evaluated(self) -> TransitionEvaluation:
        machine, state = self.machine, self._state
        evaluation = machine.evaluate(state)
        self._faults(evaluation)
        if evaluation.kind != "blocked":
            return evaluation
        target = evaluation.target
        self._emit(blocked_event(machine, evaluation))
        for preparation in evaluation.preparations:
            origin = Origin("phase", target, f"preparation {preparation.name}")
            where, place = f"preparation {preparation.name}", preparation.defined_at
            await self._code.run(where, preparation.run, state, origin=origin, defined_at=place)
        return machine.evaluate(state, prepared=(target,))

    def _faults(self, evaluation: TransitionEvaluation) -> None:
        """Tell of guards that raised; they count as false."""
        for text, to, problem, place in failures(self.machine, evaluation):
            self._code.failed(f"guard of {evaluation.phase} to {to}", text, None, problem, defined_at=place)

    async def move(self, name: str, turn: int, *, source: str, reason: str, by_operator: bool) -> TransitionResult:
        """Go where code or the operator says; raises `AgentError` when that cannot be."""

        def plan() -> TransitionPlan:
            return self.machine.transition_to(name, turn=turn, source=source, reason=reason, by_operator=by_operator)

        wanted = plan()
        if await self._about_to_move(wanted.from_phase, name, None):
            wanted = plan()
        return await self._carry_out(wanted)

    def replace(self, machine: PhaseMachine) -> None:
        """The phases are others from now on; the conversation stands in the one that has the same name."""
        self.machine = machine
        if machine.entered:
            self.publish()

    def restored(self, record: PhaseTransition) -> None:
        """Say that an earlier session's phase goes on."""
        self._emit(entered_event(self.machine, record))
        self.publish()

    async def _carry_out(self, plan: TransitionPlan) -> TransitionResult:
        machine, state = self.machine, self._state
        record: PhaseTransition | None = None
        gathered: Any = None
        entering = Origin("phase", plan.to_phase.name, "on entering")
        for step in plan.steps:
            match step:
                case RunExit(phase, run):
                    origin = Origin("phase", phase.name, "on leaving")
                    where, place = f"on_exit of {phase.name}", phase.defined_at
                    await self._code.run(where, run, state, origin=origin, defined_at=place)
                case MakeCurrent():
                    record = machine.commit(plan, self._now())
                    self._emit(entered_event(self.machine, record))
                case ClearKeys(keys):
                    with writing_as(entering):
                        for key in keys:
                            state.remove(key)
                case MarkPresented(keys):
                    with writing_as(entering):
                        for key in keys:
                            state.set(key, True)
                case RunEnter(phase, run):
                    where, place = f"on_enter of {phase.name}", phase.defined_at
                    await self._code.run(where, run, state, origin=entering, defined_at=place)
                case ResolveInstruction():
                    self.publish()
                case GatherContext(phase, source):
                    gathered = source
                    if not isinstance(source, str):
                        where, place = f"on_enter_context of {phase.name}", phase.defined_at
                        gathered = await self._code.run(
                            where, source, state, self._window(WINDOW), origin=entering, defined_at=place
                        )
        assert record is not None
        try:
            return machine.result(record, gathered)
        except AgentError as error:
            phase = plan.to_phase
            where = f"on_enter_context of {phase.name}"
            self._code.failed(where, phase.name, error, str(error), defined_at=phase.defined_at)
            return machine.result(record)

    def instruction(self) -> str:
        """The current phase's own instruction."""
        resolved = self.machine.resolve(self._state)
        if resolved.error is not None:
            name, place = self.machine.current, self.machine.current_phase.instruction.defined_at
            self._code.failed(f"instruction of {name}", name, resolved.error, str(resolved.error), defined_at=place)
        return resolved.text

    def publish(self) -> None:
        """Write where the conversation stands into `session:`."""
        publish_phase(self._state, self.machine.current_phase)


def entered_event(machine: PhaseMachine, record: PhaseTransition) -> ev.PhaseEntered:
    """What tells of a phase that was entered."""
    phase = machine.phases[record.to_phase]
    explanation = record.explanation
    return ev.PhaseEntered(
        phase=phase.name,
        previous="" if record.trigger.kind == "restored" else record.from_phase,
        trigger=record.trigger.kind,
        because=record.because or record.trigger.reason,
        explanation=None if explanation is None else explanation.to_json(),
        seconds=round(record.seconds_in_phase, 3),
        needs=tuple(need.key for need in phase.needs),
        tools=phase.tools,
        terminal=phase.terminal,
    )


def blocked_event(machine: PhaseMachine, evaluation: TransitionEvaluation) -> ev.PhaseBlocked:
    """What tells of a phase that cannot be entered yet."""
    return ev.PhaseBlocked(
        phase=machine.current,
        target=evaluation.target,
        missing=evaluation.missing,
        preparing=tuple(item.name for item in evaluation.preparations),
    )


def publish_phase(state: State, phase: Phase) -> None:
    """Write into `session:` that the conversation is in `phase`."""
    with writing_as(Origin("phase", phase.name)):
        state.set("session:phase", phase.name)
        for key, needs in (("session:phase_needs", phase.needs), ("session:phase_requires", phase.requires)):
            if needs:
                state.set(key, [need.key for need in needs])
            else:
                state.remove(key)
        if phase.tools is None:
            state.remove("session:active_tools")
        else:
            state.set("session:active_tools", list(phase.tools))


def failures(machine: PhaseMachine, evaluation: TransitionEvaluation) -> Iterator[tuple[str, str, str, str]]:
    """Guards that raised: each one's text, where it leads, what went wrong, and where it is defined."""
    phases = machine.phases
    for item in evaluation.considered:
        way = phases[evaluation.phase].transitions[item.index]
        guards = ((item.guard, way.defined_at), (item.target_guard, phases[item.to].defined_at))
        for guard, place in guards:
            problem = "" if guard is None or not guard.failed else next(_problems(guard), "")
            if guard is not None and problem:
                yield guard.text, item.to, problem, place


def _problems(explanation: Explanation) -> Iterator[str]:
    if explanation.problem and explanation.failed:
        yield explanation.problem
    for child in explanation.children:
        yield from _problems(child)
