"""What went wrong in an agent's code, as events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.callback_runner import CallbackFault, SlowCallback
from gemini_live_runtime.session.agent.code_faults import CodeFaults
from gemini_live_runtime.session.outbound.context_queue import ContextNotSent
from gemini_live_runtime.session.rules.executor import EffectFault
from gemini_live_runtime.session.rules.reactor import RuleFault
from gemini_live_runtime.text import redactor

RULE = "reactor rule"
"""Where a rule's fault is said to be."""


class FaultReporter:
    """Turns the reports of a mind's parts into events."""

    def __init__(self, emit: Callable[[ev.Payload], None]) -> None:
        self._emit = emit
        self._faults = CodeFaults(emit)
        self._rule_faults: Counter[str] = Counter()

    def callback(self, report: CallbackFault | SlowCallback) -> None:
        """A listener failed, or took long."""
        where, name, place, times = report.callback, report.listener, report.defined_at, report.times
        if isinstance(report, SlowCallback):
            self._emit(ev.CodeSlow(where=where, name=name, ms=report.ms, defined_at=place, times=times))
            return
        self._faults.tell(where, name, report.error, defined_at=place, times=times, cause=report.trace)

    def rule(self, fault: RuleFault) -> None:
        """A rule failed. One that fails at everything fails at what that causes, too: times 1, 2, 4, 8 are told."""
        self._rule_faults[fault.rule] += 1
        times = self._rule_faults[fault.rule]
        if not times & (times - 1):
            place = fault.defined_at
            self._faults.tell(RULE, fault.rule, fault.error, defined_at=place, times=times, cause=fault.trace)

    def effect(self, fault: EffectFault | ContextNotSent) -> None:
        """An effect could not be performed."""
        if isinstance(fault, ContextNotSent):
            self.context(fault)
            return
        where = f"effect {type(fault.effect).__name__}"
        self._faults.tell(where, fault.source, fault.error, defined_at=fault.defined_at, cause=fault.trace)

    def context(self, fault: ContextNotSent) -> None:
        """Context did not go out."""
        kept = "it is kept for later" if fault.kept else "it was given up"
        text = f"Context was not sent, {kept}: {fault.error.message}"
        self._emit(ev.Notice(level="warning", code="steering", text=redactor.text(text)))

    def tool(self, name: str, problem: str, defined_at: str, error: BaseException | None) -> None:
        """A tool's formatter, or a listener to its answer, failed."""
        self._faults.tell(f"tool {name}", name, problem, defined_at=defined_at, cause=error)
