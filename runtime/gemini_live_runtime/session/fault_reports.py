"""What went wrong in an agent's code, as events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.callback_runner import CallbackFault, SlowCallback
from gemini_live_runtime.session.executor import EffectFault
from gemini_live_runtime.session.pending import ContextNotSent
from gemini_live_runtime.session.reactor import RuleFault
from gemini_live_runtime.text import redactor

RULE = "reactor rule"
"""Where a rule's fault is said to be."""


class FaultReports:
    """Turns the reports of a mind's parts into events."""

    def __init__(self, emit: Callable[[ev.Payload], None]) -> None:
        self._emit = emit
        self._rule_faults: Counter[str] = Counter()

    def callback(self, report: CallbackFault | SlowCallback) -> None:
        """A listener failed, or took long."""
        if isinstance(report, SlowCallback):
            self._emit(ev.CodeSlow(where=report.callback, name=report.listener, ms=report.ms))
            return
        error = redactor.text(report.error)
        self._emit(ev.CodeFailed(where=report.callback, name=report.listener, error=error))
        if report.trace:
            self._emit(ev.Log(source="engine", level="debug", text=redactor.text(report.trace)))

    def rule(self, fault: RuleFault) -> None:
        """A rule failed. One that fails at everything fails at what that causes, too: times 1, 2, 4, 8 are told."""
        self._rule_faults[fault.rule] += 1
        times = self._rule_faults[fault.rule]
        if not times & (times - 1):
            self._emit(ev.CodeFailed(where=RULE, name=fault.rule, error=redactor.text(fault.error)))

    def effect(self, fault: EffectFault | ContextNotSent) -> None:
        """An effect could not be performed."""
        if isinstance(fault, ContextNotSent):
            self.context(fault)
            return
        self._emit(ev.CodeFailed(where="effect", name=fault.source, error=redactor.text(fault.error)))

    def context(self, fault: ContextNotSent) -> None:
        """Context did not go out."""
        kept = "it is kept for later" if fault.kept else "it was given up"
        text = f"Context was not sent, {kept}: {fault.error.message}"
        self._emit(ev.Notice(level="warning", code="steering", text=redactor.text(text)))

    def tool(self, name: str, problem: str) -> None:
        """A tool's formatter, or a listener to its answer, failed."""
        self._emit(ev.CodeFailed(where=f"tool {name}", name=name, error=redactor.text(problem)))
