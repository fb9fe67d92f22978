"""Carry out what the phase machine decides.

A session's runner calls the author's hooks through `UserCode`; a preview's runner works on copies of machine and state
and records what would be called. `advance` evaluates again after a checkpoint held it, because the operator may have
changed what the transition was decided by.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import USER_ERRORS
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
from gemini_live_runtime.session.agent.user_code import CodeRunner
from gemini_live_runtime.state.explanation import Explanation, decisive_leaves
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.store import State

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.transcript import TranscriptWindow

WINDOW = 5
"""Ended turns that `on_enter_context` gets."""

NAVIGATION = "session:navigation_context"
"""Key that describes for the model where the conversation is and what leads on."""

BeforeTransition = Callable[[str, str, Explanation | None], Awaitable[bool]]


class PhaseRunner:
    """Runner of one conversation's transitions.

    Its coroutines are steps of the task queue.
    """

    def __init__(
        self,
        machine: PhaseMachine,
        state: State,
        code: CodeRunner,
        *,
        emit: Callable[[ev.Payload], None],
        now: Callable[[], float],
        turn: Callable[[], int],
        window: Callable[[int], TranscriptWindow],
        before_transition: BeforeTransition,
    ) -> None:
        """`before_transition` returns when a phase may be left for another.

        It gets the phase that is left, the one that is entered and the explanation, and returns True when it had to
        wait. `turn` returns the newest turn, open or ended. `window` returns the newest turns, as many as it is asked
        for.
        """
        self.machine = machine
        self._state = state
        self._code = code
        self._emit = emit
        self._now = now
        self._turn = turn
        self._window = window
        self._before_transition = before_transition
        # Provided live: needs are filled, and guards become true, between one phase and the next.
        state.provide(NAVIGATION, self._navigation)

    def _navigation(self) -> str | None:
        return self.machine.describe_navigation(self._state) if self.machine.entered else None

    async def begin(self) -> TransitionResult:
        """Enter the initial phase, like any other."""
        return await self.carry_out(self.machine.enter_initial())

    async def advance(self, turn: int) -> TransitionResult | None:
        """Take the transition that is due, at most one; return None when none is."""
        machine, state = self.machine, self._state
        if not machine.may_leave(state):
            return None
        evaluation = await self._evaluate()
        while evaluation.chosen is not None and evaluation.kind == "ready":
            target = evaluation.target
            if not await self._before_transition(machine.current, target, evaluation.chosen.explanation):
                break
            evaluation = await self._evaluate()
            if evaluation.target == target:
                break
        if evaluation.kind != "ready":
            return None
        return await self.carry_out(machine.follow(evaluation, turn))

    async def _evaluate(self) -> TransitionEvaluation:
        machine, state = self.machine, self._state
        evaluation = machine.evaluate(state)
        # Guards that raised count as false.
        for text, to, problem, place in _failed_guards(machine, evaluation):
            self._code.failed(f"guard of {evaluation.phase} to {to}", text, None, problem, defined_at=place)
        if evaluation.kind != "blocked":
            return evaluation
        target = evaluation.target
        self._emit(_blocked_event(machine, evaluation))
        for preparation in evaluation.preparations:
            origin = Origin("phase", target, f"preparation {preparation.name}")
            where, place = f"preparation {preparation.name}", preparation.defined_at
            await self._code.run(where, preparation.run, state, origin=origin, defined_at=place)
        return machine.evaluate(state, prepared=(target,))

    async def move(self, name: str, turn: int, *, source: str, reason: str, by_operator: bool) -> TransitionResult:
        """Go to a phase without asking guards; raise `AgentError` when that cannot be."""

        def plan() -> TransitionPlan:
            return self.machine.transition_to(name, turn=turn, source=source, reason=reason, by_operator=by_operator)

        wanted = plan()
        if await self._before_transition(wanted.from_phase, name, None):
            wanted = plan()
        return await self.carry_out(wanted)

    def replace(self, machine: PhaseMachine) -> None:
        """Use the phases of `machine`, which is in the phase of the same name."""
        self.machine = machine
        if machine.entered:
            self.publish()

    def withdraw(self) -> None:
        """Remove what was published: an agent without phases goes on."""
        state = self._state
        state.provide(NAVIGATION, lambda: None)
        with writing_as(Origin("phase", "", "the agent has no phases")):
            for key in ("session:phase", "session:phase_needs", "session:phase_requires", "session:active_tools"):
                state.remove(key)

    def on_restored(self, record: PhaseTransition) -> None:
        """Publish that an earlier session's phase goes on."""
        self._emit(_entered_event(self.machine, record))
        self.publish()

    async def carry_out(self, plan: TransitionPlan) -> TransitionResult:
        """Run the steps of a transition, in order."""
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
                    self._emit(_entered_event(machine, record))
                case ClearKeys(keys):
                    with writing_as(entering):
                        for key in keys:
                            state.remove(key)
                case MarkPresented(keys):
                    with writing_as(entering):
                        self._mark_presented(keys)
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
        except USER_ERRORS as error:  # Reading what the hook gave may run code of its class.
            phase = plan.to_phase
            where, said = f"on_enter_context of {phase.name}", str(error) if isinstance(error, AgentError) else ""
            self._code.failed(where, phase.name, error, said, defined_at=phase.defined_at)
            return machine.result(record)

    def _mark_presented(self, keys: tuple[str, ...]) -> None:
        # The steps of an earlier turn may still run while the user is in a newer one, in which nothing was presented.
        state = self._state
        of_steps, state.turn_number = state.turn_number, self._turn()
        try:
            for key in keys:
                # An equal write would keep the turn of an earlier presentation: a "yes" to that one would count.
                state.remove(key)
                state.set(key, True)
        finally:
            state.turn_number = of_steps

    def instruction(self) -> str:
        """Return the current phase's own instruction."""
        resolved = self.machine.resolve(self._state)
        if resolved.error is not None:
            name, place = self.machine.current, self.machine.current_phase.instruction.defined_at
            self._code.failed(f"instruction of {name}", name, resolved.error, str(resolved.error), defined_at=place)
        return resolved.text

    def explain(self) -> dict[str, Any]:
        """Return where the conversation is and what keeps it there, as JSON."""
        return self.machine.explain(self._state, self._now())

    def why_blocked(self, phase: str) -> list[str]:
        """Return what blocks the way to `phase`, a sentence each."""
        found = [item for item in self.explain()["transitions"] if item["to"] == phase]
        if not found:
            return [f"There is no transition from {self.machine.current} to {phase}"]
        reasons = []
        for item in found:
            if item["outcome"] == "ready":
                return []
            reasons += [leaf for tree in (item["guard"], item.get("target_guard")) for leaf in _why_false(tree)]
            reasons += [f"{key} is not set" for key in item.get("missing", ())]
        return reasons

    def publish(self) -> None:
        """Write the current phase, its needs and its tools into `session:`."""
        phase, state = self.machine.current_phase, self._state
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


def require_phases(phases: PhaseRunner | None, agent: str, target: str) -> PhaseRunner:
    """Return `phases`; raise `AgentError` when there is no phase `target`."""
    if phases is None:
        raise AgentError(f"Agent {agent} has no phases", field="phase", value=target)
    phases.machine.check_known(target)
    return phases


def _why_false(tree: Mapping[str, Any] | None) -> list[str]:
    return [] if tree is None or tree["value"] else decisive_leaves(tree)


def _entered_event(machine: PhaseMachine, record: PhaseTransition) -> ev.PhaseEntered:
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


def _blocked_event(machine: PhaseMachine, evaluation: TransitionEvaluation) -> ev.PhaseBlocked:
    return ev.PhaseBlocked(
        phase=machine.current,
        target=evaluation.target,
        missing=evaluation.missing,
        preparing=tuple(item.name for item in evaluation.preparations),
    )


def _failed_guards(machine: PhaseMachine, evaluation: TransitionEvaluation) -> Iterator[tuple[str, str, str, str]]:
    """Yield guards that raised: text, target, problem, and where they are defined."""
    phases = machine.phases
    for item in evaluation.considered:
        transition = phases[evaluation.phase].transitions[item.index]
        guards = ((item.guard, transition.defined_at), (item.target_guard, phases[item.to].defined_at))
        for guard, place in guards:
            problem = "" if guard is None or not guard.failed else next(_problems(guard), "")
            if guard is not None and problem:
                yield guard.text, item.to, problem, place


def _problems(explanation: Explanation) -> Iterator[str]:
    if explanation.problem and explanation.failed:
        yield explanation.problem
    for child in explanation.children:
        yield from _problems(child)
