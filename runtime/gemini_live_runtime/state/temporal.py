"""Decide when temporal patterns fire: conditions that last, frequent events.

Each session has its own copy of every detector. A detector sees every event, also during the cooldown of its pattern;
it is reset only when its pattern fires. So a pattern that completes during a cooldown and is still complete at its end
fires then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable
from copy import copy
from dataclasses import field
from typing import Any

from gemini_live_runtime.author_code import USER_ERRORS, error_text, exact_text, is_text, plain_text
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.records import frozen_record, mutable_record, record
from gemini_live_runtime.state.detectors import (
    EPSILON_S,
    ConsecutiveFailureDetector,
    PatternDetector,
    RateDetector,
    SustainedDetector,
    TemporalEvent,
    TurnCountDetector,
)
from gemini_live_runtime.state.functions import check_action, check_flag
from gemini_live_runtime.state.mutations import call_to_decide, decision_of, read_decision
from gemini_live_runtime.state.names import duplicate_names
from gemini_live_runtime.state.store import State

__all__ = [
    "ConsecutiveFailureDetector",
    "PatternDetector",
    "PatternForecast",
    "PatternStatus",
    "RateDetector",
    "SustainedDetector",
    "TemporalEvent",
    "TemporalFault",
    "TemporalFiring",
    "TemporalPattern",
    "TemporalRegistry",
    "TemporalResult",
    "TurnCountDetector",
]

MAX_OVERDUE = 10
"""Ticks in a row that a detector may get because its deadline is over."""

SHORTEST_WAIT_S = 0.001
"""Seconds before the next tick at least, for detectors whose deadline is always now."""


@frozen_record
class TemporalPattern:
    """An action to run when `detector` finds its pattern.

    `then` is a plain or async function taking `()`, `(state)` or `(state, firing)`. While a `blocking` one runs the
    turn waits; others run on their own. It runs at most once in `cooldown_s` seconds; a pattern that is still complete
    at their end runs it then. Raises `AgentError` for values that cannot be used.
    """

    name: str
    detector: PatternDetector
    then: Callable[..., Awaitable[Any] | Any]
    cooldown_s: float = field(default=0.0, kw_only=True)
    blocking: bool = field(default=False, kw_only=True)
    defined_at: str = field(default_factory=caller_place, kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise AgentError(f"A temporal pattern cannot be named {self.name!r}", field="name", value=self.name)
        detector: Any = self.detector
        if not isinstance(detector, PatternDetector):
            raise AgentError(
                f"Pattern {self.name}: {detector!r} is not a detector",
                remedy="Use SustainedDetector, RateDetector, TurnCountDetector or ConsecutiveFailureDetector, or "
                "derive your own from PatternDetector",
                field="detector",
                value=detector,
            )
        if not is_finite(self.cooldown_s) or self.cooldown_s < 0:
            raise AgentError(
                f"Pattern {self.name}: cooldown_s is a number of at least 0, not {self.cooldown_s!r}",
                field="cooldown_s",
                value=self.cooldown_s,
            )
        check_flag(f"blocking of the pattern {self.name}", self.blocking, field="blocking")
        object.__setattr__(self, "name", exact_text(self.name))
        check_action(f"Pattern {self.name}", self.then, "(state, firing)")


@record
class TemporalFiring:
    """A pattern whose action is to run; `explanation` has the measured numbers."""

    pattern: TemporalPattern
    explanation: str


@record
class TemporalFault:
    """A detector that raised; it observes the next event again."""

    pattern: TemporalPattern
    error: BaseException


@mutable_record
class TemporalResult:
    """Firings and faults of one observation, in the order of the patterns."""

    fired: list[TemporalFiring] = field(default_factory=list)
    faults: list[TemporalFault] = field(default_factory=list)


@record
class PatternStatus:
    """Progress of a pattern, which cannot fire for `cooldown_left_s` seconds."""

    name: str
    text: str
    progress: str
    cooldown_left_s: float
    fired: int
    defined_at: str


@record
class PatternForecast:
    """Prospect of a pattern as state is.

    `in_progress`: it has begun. `wait_s`: seconds after which time alone completes it, None when it cannot.
    """

    name: str
    text: str
    progress: str
    in_progress: bool
    wait_s: float | None


class _PatternRun:
    """A pattern in one session: its own detector, firings and cooldown."""

    __slots__ = ("cooldown_end", "detector", "failed", "fired", "overdue", "pattern", "waits_for_cooldown")

    def __init__(self, pattern: TemporalPattern) -> None:
        try:
            self.detector = call_to_decide(pattern.detector.fresh)
        except USER_ERRORS as error:
            raise AgentError(
                f"Pattern {pattern.name} ({pattern.defined_at}): its detector cannot be copied for a session: "
                f"{error_text(error)}",
                remedy="Keep plain values in it, or give it a fresh() of its own",
                field="detector",
            ) from error
        self.pattern = pattern
        self.fired = 0
        self.cooldown_end: float | None = None
        self.waits_for_cooldown = False
        self.failed = False
        self.overdue = 0
        """Ticks in a row at which a deadline was over and nothing found."""

    def cooldown_left(self, now: float) -> float:
        """Return the seconds of cooldown left."""
        return 0.0 if self.cooldown_end is None else max(0.0, self.cooldown_end - now)

    def deadline(self, now: float) -> float | None:
        """Return the seconds until time alone may complete it, or None when it cannot."""
        if self.waits_for_cooldown:
            # Complete as it is, its own deadline may be over until then.
            return self.cooldown_left(now)
        # A detector that raised asks for no time: it would be asked again and again until an event comes.
        return None if self.failed else _deadline(self.detector, now)

    def check_deadline(self, event: TemporalEvent, now: float) -> None:
        """Raise `AgentError` for a detector whose deadline is over tick after tick."""
        wait = None if self.waits_for_cooldown or event.kind != "tick" else _deadline(self.detector, now)
        self.overdue = self.overdue + 1 if wait is not None and wait <= SHORTEST_WAIT_S else 0
        if self.overdue > MAX_OVERDUE:
            self.overdue = 0
            raise AgentError(
                f"its deadline() returned {wait:g} more than {MAX_OVERDUE} times in a row",
                remedy="Return the seconds until time alone may complete the pattern, or None",
            )


class TemporalRegistry:
    """Patterns of one session, each with a detector of its own.

    It decides which fire and runs nothing. Raises `AgentError` when two patterns have the same name or a detector
    cannot be copied.
    """

    __slots__ = ("_runs",)

    def __init__(self, patterns: Iterable[TemporalPattern] = ()) -> None:
        listed = tuple(patterns)
        duplicates = duplicate_names("patterns", [(pattern.name, pattern.defined_at) for pattern in listed])
        if duplicates:
            raise AgentError("; ".join(duplicates), remedy="Give each its own name", field="name")
        self._runs = tuple(map(_PatternRun, listed))

    def __len__(self) -> int:
        return len(self._runs)

    def continue_from(self, other: TemporalRegistry, names: Container[str]) -> None:
        """Take over the detectors of `names`, and the cooldowns and counts of all."""
        earlier = {run.pattern.name: run for run in other._runs}
        for run in self._runs:
            before = earlier.get(run.pattern.name)
            if before is not None:
                # Progress of a detector counts only if its definition is unchanged; a cooldown counts in any case.
                run.fired, run.cooldown_end = before.fired, before.cooldown_end
                if run.pattern.name in names:
                    run.detector, run.waits_for_cooldown = before.detector, before.waits_for_cooldown

    def copy(self) -> tuple[TemporalRegistry, list[TemporalFault]]:
        """Return an independent registry with the same progress, for previews.

        It lacks patterns whose detector cannot be copied; they are returned as faults.
        """
        other, faults = copy(self), []
        runs = []
        for run in self._runs:
            try:
                twin = copy(run)
                twin.detector = call_to_decide(run.detector.twin)
                runs.append(twin)
            except USER_ERRORS as error:
                faults.append(TemporalFault(run.pattern, error))
        other._runs = tuple(runs)
        return other, faults

    @property
    def is_declarative(self) -> bool:
        """True when no author's function decides."""
        return all(_is_declarative(run.detector) for run in self._runs)

    def forecast(self, state: State, now: float) -> tuple[PatternForecast, ...]:
        """Return the prospects of each pattern."""
        return tuple(
            PatternForecast(
                run.pattern.name,
                _safe_text(run.detector, lambda detector: detector.text),
                _safe_text(run.detector, lambda detector: detector.progress(now)),
                _in_progress(run.detector, state, now),
                run.deadline(now),
            )
            for run in self._runs
        )

    def observe(self, event: TemporalEvent, state: State, now: float) -> TemporalResult:
        """Pass an event to every detector and return the patterns that fire now."""
        result = TemporalResult()
        for run in self._runs:
            try:
                self._observe(run, event, state, now, result)
                run.failed = False
            except USER_ERRORS as error:
                run.waits_for_cooldown, run.failed = False, True
                result.faults.append(TemporalFault(run.pattern, error))
        return result

    def _observe(
        self, run: _PatternRun, event: TemporalEvent, state: State, now: float, result: TemporalResult
    ) -> None:
        detector, pattern = run.detector, run.pattern
        # Not reset while it cools down, so that a pattern which is still complete then fires at the end.
        complete = decision_of(detector.observe, event, state, now)
        run.waits_for_cooldown = complete and run.cooldown_left(now) > EPSILON_S
        if complete and not run.waits_for_cooldown:
            explanation = read_decision(_text, _explanation, detector, now)
            call_to_decide(detector.reset)
            run.fired += 1
            run.cooldown_end = now + pattern.cooldown_s
            result.fired.append(TemporalFiring(pattern, explanation))
        # Elsewhere a deadline that raises counts as none: here it becomes a fault.
        call_to_decide(detector.deadline, now)
        run.check_deadline(event, now)

    def deadline(self, now: float) -> float | None:
        """Return the seconds until a `tick` may complete a pattern, or None."""
        waits = [wait for run in self._runs if (wait := run.deadline(now)) is not None]
        if not waits:
            return None
        shortest = min(waits)
        return shortest if shortest > SHORTEST_WAIT_S else SHORTEST_WAIT_S

    def changes_with_time(self, now: float) -> bool:
        """Return True when `status` changes by time alone."""
        return any(run.cooldown_left(now) > 0 or _changes_with_time(run.detector, now) for run in self._runs)

    def status(self, now: float) -> tuple[PatternStatus, ...]:
        """Return the progress of each pattern."""
        return tuple(
            PatternStatus(
                run.pattern.name,
                _safe_text(run.detector, lambda detector: detector.text),
                _safe_text(run.detector, lambda detector: detector.progress(now)),
                run.cooldown_left(now),
                run.fired,
                run.pattern.defined_at,
            )
            for run in self._runs
        )


# The functions below call methods of authors' detectors, which may raise. `observe` alone reports that.


def _explanation(detector: PatternDetector, now: float) -> str:
    progress = detector.progress(now)
    return f"{detector.text}: {progress}" if progress else detector.text


def _deadline(detector: PatternDetector, now: float) -> float | None:
    try:
        return read_decision(_seconds, detector.deadline, now)
    except USER_ERRORS:
        return None


def _seconds(wait: Any) -> float | None:
    return float(wait) if is_finite(wait) else None


def _is_declarative(detector: PatternDetector) -> bool:
    try:
        return decision_of(lambda: detector.is_declarative)
    except USER_ERRORS:
        return False


def _changes_with_time(detector: PatternDetector, now: float) -> bool:
    try:
        return decision_of(detector.changes_with_time, now)
    except USER_ERRORS:
        return False


def _in_progress(detector: PatternDetector, state: State, now: float) -> bool:
    try:
        return decision_of(detector.in_progress, state, now)
    except USER_ERRORS:
        return False


def _text(value: object) -> str:
    return plain_text(value) if is_text(value) else str(value)


def _safe_text(detector: PatternDetector, text: Callable[[PatternDetector], str]) -> str:
    try:
        return read_decision(_text, text, detector)
    except USER_ERRORS as error:
        return f"failed: {error_text(error)}"
