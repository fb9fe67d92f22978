"""Preview an operator's step on a copy of the session.

Nothing of the session changes, and no action of the agent's code runs.

The copy is decided by the session's own code: a `SettleEngine` and a `PhaseRunner` over a copied state, whose author's
code runner records what would run instead of running it, and whose events are recorded instead of published. Their
coroutines never wait here, so `_run` completes them in one step, in any thread.

A preview reaches as far as the first action of the agent's own code; what that might do is listed as unknown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import error_text
from gemini_live_runtime.conversation.phase_machine import PhaseMachine, explain_guard
from gemini_live_runtime.conversation.transitions import (
    ConsideredTransition,
    GatherContext,
    RunEnter,
    RunExit,
    TransitionPlan,
)
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.session.agent.needs_repair import ESCALATION
from gemini_live_runtime.session.agent.phase_runner import PhaseRunner
from gemini_live_runtime.state.edits import AppliedEdit, Edit, apply_edits
from gemini_live_runtime.state.explanation import Explanation
from gemini_live_runtime.state.guards import Guard
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.temporal import PatternForecast, TemporalEvent
from gemini_live_runtime.state.values import MISSING

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.phases import Phase
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.settle_engine import SettleEngine
    from gemini_live_runtime.tools.dispatch import ToolDispatcher

ResultT = TypeVar("ResultT")


class ActionRecorder:
    """Recorder of the author's code that would run or has failed.

    A `CodeRunner` that runs nothing.
    """

    def __init__(self) -> None:
        self.unknown: dict[str, None] = {}
        """Descriptions of what a preview cannot know, in order."""

    async def run(
        self, where: str, function: Callable[..., Any], *args: Any, origin: Origin, defined_at: str = ""
    ) -> None:
        """Record `function` as unknown."""
        self._note(where, origin)

    def spawn(self, where: str, function: Callable[..., Any], *args: Any, origin: Origin, defined_at: str = "") -> None:
        """Record `function` as unknown."""
        self._note(where, origin)

    def failed(
        self,
        where: str,
        name: str,
        error: BaseException | None,
        said: str = "",
        *,
        defined_at: str = "",
        times: int = 1,
    ) -> None:
        """Record a fault of code that decides."""
        self.unknown[f"{where}: {said or error_text(error)}"] = None

    def _note(self, where: str, origin: Origin) -> None:
        if where.startswith(("watcher ", "pattern ")):
            where = f"what {where} does"
        elif where.startswith("preparation "):
            where = f"{where} of {origin.name}"
        self.unknown[where] = None


class Preview:
    """Copy of everything that decides in one session, at one moment.

    Create it on the session's loop; from then on it belongs to the thread that works with it.
    """

    def __init__(
        self,
        agent: AgentContext,
        settle: SettleEngine,
        phases: PhaseRunner | None,
        tools: ToolDispatcher,
        agent_now: float,
    ) -> None:
        """`agent_now` is the clock's time (s) less the time the agent was held."""
        now = agent.clock.now()
        self.state = agent.state.copy()
        self.recorder = ActionRecorder()
        self.fired: list[dict[str, Any]] = []
        """Watchers that would fire, as `edit.previewed` has them."""
        self.pattern_firings: dict[str, list[str]] = {}
        """Explanations of each pattern's firings."""
        self.turn = agent.host.turn
        self.tools = tuple(tools.tools)
        self.rules = tuple(rule.name for rule in agent.plan.definition.rules)
        self._agent_now = agent_now
        self._may_advance = not agent.host.awaits_tools
        self._repairs = agent.needs is not None
        self._published: deque[ev.Payload] = deque()
        """Events that the patterns have not been shown yet."""
        self._settle = settle.copy(
            self.state, code=self.recorder, emit=self.publish, now=agent_now, before_action=_pass_action
        )
        self.phases = None
        if phases is not None:
            self.phases = PhaseRunner(
                phases.machine.copy(),
                self.state,
                self.recorder,
                emit=self.publish,
                now=lambda: now,
                turn=lambda: self.turn,
                window=agent.window,
                before_transition=_pass_transition,
            )
        self.runs_code = not settle.is_plain or any(guard.has_function for guard in _guards(self.machine))
        """True when a function of the agent's author decides something."""

    @property
    def machine(self) -> PhaseMachine | None:
        """Copy of the phase machine."""
        return None if self.phases is None else self.phases.machine

    def publish(self, payload: ev.Payload) -> None:
        """Record an event that would be published."""
        self._published.append(payload)
        if isinstance(payload, ev.WatcherFired):
            self.fired.append(
                {
                    "name": payload.watcher,
                    "key": payload.key,
                    "old": payload.old,
                    "new": payload.new,
                    "explanation": payload.explanation,
                    "muted": payload.muted,
                }
            )
        elif isinstance(payload, ev.PatternFired):
            self.pattern_firings.setdefault(payload.pattern, []).append(payload.text)

    def settle(self) -> None:
        """Settle the copy."""
        _run(self._settle.settle())

    def advance(self) -> str:
        """Take the transition that is due; return the phase entered, "" for none."""
        if self.phases is None or not self._may_advance:
            return ""
        result = _run(self.phases.advance(self.turn))
        if result is None:
            return ""
        self._end_escalation()
        return result.transition.to_phase

    def enter(self, plan: TransitionPlan) -> None:
        """Carry out a transition."""
        assert self.phases is not None
        _run(self.phases.carry_out(plan))
        self._end_escalation()

    def _end_escalation(self) -> None:
        if self._repairs:
            with writing_as(Origin("phase", "", "progress")):
                self.state.remove(ESCALATION)

    def show_events(self) -> None:
        """Show the patterns what happened, as the session does after settling."""
        while self._published:
            payload = self._published.popleft()
            data = ev.Event(0, 0.0, self.turn, 0, payload).to_json()["data"]
            _run(self._settle.observe(TemporalEvent("event", type=payload.type, data=data)))

    def forecasts(self) -> dict[str, PatternForecast]:
        """Return what may become of each pattern."""
        return {item.name: item for item in self._settle.temporal.forecast(self.state, self._agent_now)}

    def transitions(self) -> list[ConsideredTransition]:
        """Return the guard status of each transition out of the current phase."""
        machine = self.machine
        return [] if machine is None or not machine.entered else machine.consider_transitions(self.state)


def _run(steps: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Complete a coroutine that waits for nothing, without an event loop."""
    try:
        steps.send(None)
    except StopIteration as done:
        result: ResultT = done.value
        return result
    steps.close()
    raise RuntimeError("a previewed step waits for something")


async def _pass_action(name: str, key: str, explanation: Explanation | None) -> None:
    return None


async def _pass_transition(source: str, target: str, explanation: Explanation | None) -> bool:
    return False


def preview_edit(preview: Preview, edits: Iterable[Edit], origin: Origin, command_id: str) -> ev.EditPreviewed:
    """Return what these edits would cause, up to the first action."""
    state = preview.state
    derived = {key: state.own(key) for key in state.keys("derived")}
    before = {item.index: item.outcome for item in preview.transitions()}
    patterns = preview.forecasts()
    try:
        applied = apply_edits(state, edits, origin)
    except GeminiLiveError as error:
        return ev.EditPreviewed(command_id=command_id, problem=str(error))
    if applied and preview.rules:
        preview.recorder.unknown.update(dict.fromkeys(f"how rule {name} answers" for name in preview.rules))
    values = tuple(item.to_json() for item in applied)
    # Undo counts are not previewed; one edit to undo and none to redo is true after any edit.
    preview.publish(ev.EditsApplied(command_id=command_id, how="edit", values=values, undo=1, redo=0))
    if applied:
        preview.settle()
    guards = [
        {
            "to": item.to,
            "before": before[item.index],
            "after": item.outcome,
            "explanation": item.explanation.to_json(),
        }
        for item in preview.transitions()
        if item.outcome != before[item.index]
    ]
    phase = preview.advance() if applied else ""
    if applied:
        preview.settle()
    preview.show_events()
    return ev.EditPreviewed(
        command_id=command_id,
        values=values,
        derived=tuple(_changed_derived(derived, state)),
        watchers=tuple(preview.fired),
        patterns=tuple(_changed_patterns(patterns, preview.forecasts(), preview.pattern_firings)),
        guards=tuple(guards),
        phase=phase,
        unknown=tuple(preview.recorder.unknown),
    )


def preview_phase(preview: Preview, name: str, command_id: str) -> ev.PhasePreviewed:
    """Return what the operator's move to phase `name` would cause.

    Raises `GeminiLiveError` when it cannot be made.
    """
    machine, state = preview.machine, preview.state
    assert machine is not None
    old = machine.current_phase
    plan = machine.transition_to(name, turn=preview.turn, by_operator=True)
    new = plan.to_phase
    missing = machine.missing(name, state)
    guard = None if new.guard is None else explain_guard(new.guard, state)
    leading = [item for item in preview.transitions() if item.to == name]
    transition = next((item for item in leading if item.outcome == "ready"), leading[0] if leading else None)
    clears = tuple(key for key in new.clear_on_enter if state.own(key) is not MISSING)
    preview.enter(plan)
    resolved = machine.resolve(state)
    had, has = (_allowed(phase, preview.tools) for phase in (old, new))
    return ev.PhasePreviewed(
        command_id=command_id,
        phase=name,
        instruction=resolved.text,
        missing=missing,
        guard=None if guard is None else guard.to_json(),
        way=None if transition is None else transition.guard.to_json(),
        tools_added=tuple(tool for tool in preview.tools if tool in has and tool not in had),
        tools_removed=tuple(tool for tool in preview.tools if tool in had and tool not in has),
        clears=clears,
        runs=tuple(_hooks(plan)),
        prompts=bool(new.prompt_on_enter),
        unknown=() if resolved.error is None else (f"instruction of {name}: {resolved.error}",),
    )


def _hooks(plan: TransitionPlan) -> Iterable[str]:
    """Yield the author's hooks that a transition calls, in words."""
    for step in plan.steps:
        match step:
            case RunExit(phase):
                yield f"on_exit of {phase.name}"
            case RunEnter(phase):
                yield f"on_enter of {phase.name}"
            case GatherContext(phase, source) if not isinstance(source, str):
                yield f"on_enter_context of {phase.name}"


def _allowed(phase: Phase, tools: tuple[str, ...]) -> tuple[str, ...]:
    return tools if phase.tools is None else phase.tools


def _changed_derived(before: dict[str, Any], state: State) -> Iterable[dict[str, Any]]:
    for key in dict.fromkeys((*before, *state.keys("derived"))):
        old, new = before.get(key, MISSING), state.own(key)
        if not same_value(old, new):
            yield AppliedEdit(key, old, new).to_json()


def _changed_patterns(
    before: dict[str, PatternForecast], after: dict[str, PatternForecast], firings: dict[str, list[str]]
) -> Iterable[dict[str, Any]]:
    for name, now in after.items():
        was, times = before[name], firings.get(name, [])
        if times:
            how = "fires"
        elif was.in_progress != now.in_progress:
            how = "begins" if now.in_progress else "ends"
        elif was.progress != now.progress:
            how = "moves"
        else:
            continue
        yield {
            "name": name,
            "how": how,
            "text": now.text,
            "before": was.progress,
            "after": now.progress,
            "times": len(times),
            "because": times[0] if times else "",
            "wait_s": None if now.wait_s is None else round(now.wait_s, 3),
        }


def _guards(machine: PhaseMachine | None) -> Iterable[Guard]:
    for phase in () if machine is None else machine.phases.values():
        yield from (item.when for item in phase.transitions)
        if phase.guard is not None:
            yield phase.guard
