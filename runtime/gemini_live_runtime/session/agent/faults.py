"""Report faults in an agent's code: what failed, where, its traceback once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import error_text
from gemini_live_runtime.redactor import redactor, traceback_lines
from gemini_live_runtime.restarts import MAX_RESTARTS, WITHIN_S, is_reported
from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackFault, SlowCallback
from gemini_live_runtime.session.outbound.context_queue import ContextNotSent
from gemini_live_runtime.session.rules.executor import EffectFault
from gemini_live_runtime.session.rules.reactor import RULE_FAULT, RuleFault

MAX_ERROR = 2000
"""Characters of a fault's text."""

MAX_TRACED = 500
"""Different faults that are remembered as published with their traceback."""


def part_health(part: Literal["extractor", "tool"], name: str, well: bool) -> ev.PartHealth:
    """Return the event that a part is degraded, or works again (`well`)."""
    if well:
        return ev.PartHealth(part=part, name=name, well=True)
    text = f"The {part} {name} failed {MAX_RESTARTS} times within {WITHIN_S:g} s"
    if part == "tool":
        remedy = "It runs on, and the model gets each error"
    else:
        text = f"{text} and rests for {WITHIN_S:g} s"
        remedy = "It is tried again then, or at once when the agent is reloaded"
    return ev.PartHealth(part=part, name=name, well=False, text=redactor.text(text), remedy=remedy)


class FaultReporter:
    """Reporter of one session's faults.

    A fault that repeats is published with its traceback the first time only.
    """

    def __init__(self, emit: Callable[[ev.Payload], None]) -> None:
        self._emit = emit
        self._traced: set[tuple[str, str, str]] = set()
        self._rule_faults: Counter[str] = Counter()
        self._guarded_faults: Counter[str] = Counter()

    def code(
        self,
        where: str,
        name: str,
        error: str,
        *,
        defined_at: str = "",
        times: int = 1,
        cause: BaseException | str | None = None,
    ) -> None:
        """Publish `code.failed` and, the first time, a traceback.

        `cause` is the error, or its traceback as text.
        """
        text = redactor.text(error)[:MAX_ERROR]
        self._emit(ev.CodeFailed(where=where, name=name, error=text, defined_at=defined_at, times=times))
        if cause and (where, name, text) not in self._traced:
            if len(self._traced) >= MAX_TRACED:
                self._traced.clear()
            self._traced.add((where, name, text))
            for line in traceback_lines(cause):
                self._emit(ev.Log(source="engine", level="debug", text=line))

    def internal(self, what: str, error: BaseException) -> str:
        """Report a fault of this program, with its traceback; return the error as text."""
        for line in traceback_lines(error):
            self._emit(ev.Log(source="engine", level="error", text=line))
        text = redactor.text(error_text(error))[:MAX_ERROR]
        self._emit(ev.Notice(level="error", code="internal", text=f"{what}: {text}"))
        return text

    def guard(self, what: str, call: Callable[[], object]) -> bool:
        """Make a call that nothing else guards; return False when it raised.

        Its fault is reported as `what`, exponentially less often as it goes on failing.
        """
        try:
            call()
        except Exception as error:
            self._guarded_faults[what] += 1
            if is_reported(self._guarded_faults[what]):
                self.internal(what, error)
            return False
        return True

    def callback(self, report: CallbackFault | SlowCallback) -> None:
        """Report a listener that failed, or took long."""
        where, name, place, times = report.callback, report.listener, report.defined_at, report.times
        if isinstance(report, SlowCallback):
            self._emit(ev.CodeSlow(where=where, name=name, ms=report.ms, defined_at=place, times=times))
            return
        self.code(where, name, report.error, defined_at=place, times=times, cause=report.trace)

    def rule(self, fault: RuleFault) -> None:
        """Report a rule that failed; exponentially less often as it goes on failing."""
        self._rule_faults[fault.rule] += 1
        times = self._rule_faults[fault.rule]
        if is_reported(times):
            place = fault.defined_at
            self.code(RULE_FAULT, fault.rule, fault.error, defined_at=place, times=times, cause=fault.cause)

    def effect(self, fault: EffectFault | ContextNotSent) -> None:
        """Report an effect that could not be performed."""
        if isinstance(fault, ContextNotSent):
            self.context(fault)
            return
        where = f"effect {type(fault.effect).__name__}"
        self.code(where, fault.source, fault.error, defined_at=fault.defined_at, cause=fault.trace)

    def context(self, fault: ContextNotSent) -> None:
        """Report context that was not sent."""
        kept = "it is kept for later" if fault.kept else "it was given up"
        text = f"Context was not sent, {kept}: {fault.error.message}"
        self._emit(ev.Notice(level="warning", code="steering", text=redactor.text(text)))

    def tool(self, name: str, problem: str, defined_at: str, error: BaseException | None) -> None:
        """Report a tool's formatter, or a listener to its answer, that failed."""
        self.code(f"tool {name}", name, problem, defined_at=defined_at, cause=error)
