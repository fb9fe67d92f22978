"""Wake up when time alone calls for something.

That is: soft turns, patterns, ticks of rules, reports.

One timer of the event loop serves all of them, set for the earliest moment; `schedule` is called whenever a moment may
have moved. While the agent is held, patterns and soft turns do not mature.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.soft_turn import SoftTurnDetector
from gemini_live_runtime.session.outbound.context_queue import MAX_NOTES
from gemini_live_runtime.session.rules.reactor import TimerTick

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.faults import FaultReporter
    from gemini_live_runtime.session.agent.metrics_reporter import MetricsReporter
    from gemini_live_runtime.session.agent.settle_engine import SettleEngine
    from gemini_live_runtime.session.debugger.pause_gate import PauseGate
    from gemini_live_runtime.session.ports.messages import ContextNote

TICK_S = 1.0
"""Seconds between the ticks that an agent's own reactor rules get."""

BURST_S = 1.0
"""Seconds in which dropped notes are counted together."""

_STEP = "time"
"""Name of the step in which time passes for patterns."""

FAULT_REST_S = 1.0
"""Seconds until the next look after a fault, which may still be there."""

READ_S = 1.0
"""Seconds between two readings of the patterns' progress."""


class Timers:
    """Timers of one agent."""

    def __init__(
        self,
        agent: AgentContext,
        settle: SettleEngine,
        gate: PauseGate,
        reporter: MetricsReporter,
        faults: FaultReporter,
    ) -> None:
        definition = agent.plan.definition
        self.on_time_passed: Callable[[], Awaitable[None]] = _ignore
        """Evaluates what time alone may have completed, as a step of the task queue."""
        self._agent = agent
        self._settle = settle
        self._gate = gate
        self._reporter = reporter
        self._faults = faults
        self._soft = None if definition.soft_turn_s is None else SoftTurnDetector(definition.soft_turn_s)
        self._telemetry_s = definition.telemetry_s
        self._timer: asyncio.TimerHandle | None = None
        self._next_report: float | None = None
        self._next_tick: float | None = None
        self._notes_dropped = 0
        self._notes_due: float | None = None
        self._patterns_due: float | None = None
        self._patterns_read = -READ_S
        self._progress: tuple[dict[str, Any], ...] = ()
        settle.on_patterns_shown = self.on_patterns_shown

    def begin(self) -> None:
        """Start to count time."""
        now = self._agent.clock.now()
        if self._telemetry_s is not None:
            self._next_report = now + self._telemetry_s
        self.redefine()

    def redefine(self) -> None:
        """Follow the agent's rules and patterns as they are now."""
        has_rules = bool(self._agent.plan.definition.rules)
        self._next_tick = self._agent.clock.now() + TICK_S if has_rules else None
        self.schedule()

    # -- soft turns --------------------------------------------------------------------------------------------------

    def on_model_responded(self) -> None:
        """Note that the model answers: no soft turn is due."""
        if self._soft is not None:
            self._soft.model_responded()

    def on_voice(self, speaking: bool, now: float) -> None:
        """Note that the user's voice began or ended."""
        if self._soft is not None:
            if speaking:
                self._soft.voice_started()
            else:
                self._soft.voice_ended(now)
            self.schedule()

    def on_turn_completed(self, is_soft: bool) -> None:
        """Note that a turn has ended."""
        if self._soft is not None:
            self._soft.reset()
            if is_soft:
                self._agent.emit(ev.SoftTurnTaken(silence_s=self._soft.timeout_s))

    # -- notes that were dropped -------------------------------------------------------------------------------------

    def on_notes_dropped(self, notes: Sequence[ContextNote]) -> None:
        """Count notes dropped for want of room; report a burst of them together."""
        if not self._notes_dropped:
            self._notes_due = self._agent.clock.now() + BURST_S
        self._notes_dropped += len(notes)
        self.schedule()

    def report_losses(self) -> None:
        """Publish at once what was dropped: the session is about to end."""
        self._report_notes()
        self._reporter.report_waiting()
        self._reporter.report_losses()

    def _report_notes(self) -> None:
        count, self._notes_dropped, self._notes_due = self._notes_dropped, 0, None
        if count:
            notes = "1 note for the model was" if count == 1 else f"{count} notes for the model were"
            text = f"{notes} dropped because more than {MAX_NOTES} waited"
            remedy = "Write state less often, or let context go out at once"
            self._agent.emit(ev.Notice(level="warning", code="steering", text=text, remedy=remedy))

    # -- patterns ----------------------------------------------------------------------------------------------------

    def on_patterns_shown(self) -> None:
        """Schedule a reading of the patterns' progress."""
        if self._patterns_due is None and not self._agent.closed:
            self._patterns_due = max(self._patterns_read + READ_S, self._agent.clock.now())
            self.schedule()

    def on_released(self) -> None:
        """Count time for patterns and soft turns again, after the agent was held."""
        if not self._agent.closed:
            if self._settle.has_patterns:
                self.on_patterns_shown()
            self.schedule()

    def _report_patterns(self, now: float) -> None:
        agent_now = self._gate.agent_time()
        self._patterns_read, self._patterns_due = now, None
        progress = tuple(
            {"name": item.name, "progress": item.progress, "cooldown_left_s": round(item.cooldown_left_s, 1)}
            for item in self._settle.temporal.status(agent_now)
        )
        if progress != self._progress:
            self._progress = progress
            self._agent.emit(ev.PatternsRead(patterns=progress))
        if not self._gate.held and self._settle.temporal.changes_with_time(agent_now):
            self._patterns_due = now + READ_S

    # -- the timer ---------------------------------------------------------------------------------------------------

    def schedule(self) -> None:
        """Set the timer for the earliest moment that something is due."""
        now = self._agent.clock.now()
        held = self._gate.held
        dues = (self._next_report, self._next_tick, self._notes_due, self._patterns_due)
        ahead = [due - now for due in dues if due is not None]
        if not held:
            waits = (self._pattern_wait(), None if self._soft is None else self._soft.deadline(now))
            ahead += [wait for wait in waits if wait is not None]
        self._cancel()
        if ahead and not self._agent.closed:
            self._timer = asyncio.get_running_loop().call_later(max(0.001, min(ahead)), self._tick)

    def _tick(self) -> None:
        self._timer = None
        if not self._faults.guard("A timer of the agent failed", self._run_what_is_due) and not self._agent.closed:
            self._cancel()
            self._timer = asyncio.get_running_loop().call_later(FAULT_REST_S, self._tick)

    def _run_what_is_due(self) -> None:
        agent = self._agent
        now = agent.clock.now()
        held = self._gate.held
        if self._soft is not None and not held and self._soft.due(now):
            agent.host.take_soft_turn()
        if self._next_report is not None and now >= self._next_report:
            self._next_report = now + (self._telemetry_s or 0.0)
            self._reporter.report_totals()
        if self._notes_due is not None and now >= self._notes_due:
            self._report_notes()
        if self._patterns_due is not None and now >= self._patterns_due:
            self._report_patterns(now)
        if self._next_tick is not None and now >= self._next_tick:
            self._next_tick = now + TICK_S
            agent.react(TimerTick(now))
        wait = None if held else self._pattern_wait()
        if wait is not None and wait <= 0.002:
            agent.queue.put(_STEP, self.on_time_passed)
        self.schedule()

    def _pattern_wait(self) -> float | None:
        """Return seconds until time alone may complete a pattern, or None."""
        # Another step may run for long: what waits behind it needs no second one, unless it is dropped.
        return TICK_S if _STEP in self._agent.queue.waiting else self._settle.deadline()

    def close(self) -> None:
        """Stop the timer."""
        self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def _ignore() -> None:
    return None
