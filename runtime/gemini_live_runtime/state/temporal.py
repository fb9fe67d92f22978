"""Temporal patterns: something to do when it has lasted, or happened too often."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable
from copy import copy
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.json_values import is_number
from gemini_live_runtime.state.detectors import (
    EPSILON_S,
    ConsecutiveFailureDetector,
    PatternDetector,
    RateDetector,
    SustainedDetector,
    TemporalEvent,
    TurnCountDetector,
)
from gemini_live_runtime.state.functions import check_action

if TYPE_CHECKING:
    from gemini_live_runtime.state.store import State

__all__ = [
    "ConsecutiveFailureDetector",
    "PatternDetector",
    "PatternOutlook",
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

SHORTEST_WAIT_S = 0.001
"""A detector that asks for time again and again gets it no sooner than this, in seconds."""


@dataclass(frozen=True, slots=True)
class TemporalPattern:
    """Something to do when `detector` notices its pattern.

    `then` is a plain or async function taking `()`, `(state)` or `(state, firing)`. While a `blocking` one runs the
    turn waits; others run on their own. It is done at most once in `cooldown_s` seconds: a pattern that is still there
    when they are over is acted upon then. Raises `AgentError` for what cannot be used.
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
        if not is_number(self.cooldown_s) or not isfinite(self.cooldown_s) or self.cooldown_s < 0:
            raise AgentError(
                f"Pattern {self.name}: cooldown_s is a number of at least 0, not {self.cooldown_s!r}",
                field="cooldown_s",
                value=self.cooldown_s,
            )
        check_action(f"Pattern {self.name}", self.then, "(state, firing)")


@dataclass(frozen=True, slots=True)
class TemporalFiring:
    """A pattern was noticed and is to be acted upon; `explanation` has the measured numbers."""

    pattern: TemporalPattern
    explanation: str


@dataclass(frozen=True, slots=True)
class TemporalFault:
    """A detector raised; it is asked again next time."""

    pattern: TemporalPattern
    error: BaseException


@dataclass(slots=True)
class TemporalResult:
    """What one observation brought, in the order of the patterns."""

    fired: list[TemporalFiring] = field(default_factory=list)
    faults: list[TemporalFault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PatternStatus:
    """How far a pattern has come. `cooldown_left_s`: seconds in which it will not be acted upon."""

    name: str
    text: str
    progress: str
    cooldown_left_s: float
    fired: int
    defined_at: str


@dataclass(frozen=True, slots=True)
class PatternOutlook:
    """What may become of a pattern as things stand.

    `under_way`: it has begun. `wait_s`: seconds after which time alone completes it, None when that cannot be.
    """

    name: str
    text: str
    progress: str
    under_way: bool
    wait_s: float | None


class _Watch:
    """A pattern in one session: its own detector and when it was acted upon."""

    __slots__ = ("detector", "failed", "fired", "free_at", "held_back", "pattern")

    def __init__(self, pattern: TemporalPattern) -> None:
        try:
            self.detector = pattern.detector.fresh()
        except Exception as error:
            raise AgentError(
                f"Pattern {pattern.name} ({pattern.defined_at}): its detector cannot be copied for a session: {error}",
                remedy="Keep plain values in it, or give it a fresh() of its own",
                field="detector",
            ) from error
        self.pattern = pattern
        self.fired = 0
        self.free_at: float | None = None
        self.held_back = False
        self.failed = False

    def cooling(self, now: float) -> float:
        """Seconds of cooldown left."""
        return 0.0 if self.free_at is None else max(0.0, self.free_at - now)

    def waits(self, now: float) -> float | None:
        """Seconds until time alone may bring it about; None when it cannot."""
        asked = None if self.failed else _asked(self.detector, now)
        cooling = self.cooling(now) if self.held_back else None
        return min((wait for wait in (asked, cooling) if wait is not None), default=None)


class TemporalRegistry:
    """The patterns of one session, each with a detector of its own. It decides and runs nothing.

    Raises `AgentError` when two patterns have the same name or a detector cannot be copied.
    """

    __slots__ = ("_watches",)

    def __init__(self, patterns: Iterable[TemporalPattern] = ()) -> None:
        listed = tuple(patterns)
        places: dict[str, list[str]] = {}
        for pattern in listed:
            places.setdefault(pattern.name, []).append(pattern.defined_at)
        clashes = [
            f"There are {len(found)} patterns named {name} ({', '.join(filter(None, found))})"
            for name, found in places.items()
            if len(found) > 1
        ]
        if clashes:
            raise AgentError("; ".join(clashes), remedy="Give each its own name", field="name")
        self._watches = tuple(map(_Watch, listed))

    def __len__(self) -> int:
        return len(self._watches)

    def take_over(self, other: TemporalRegistry, names: Container[str]) -> None:
        """Go on from how far patterns of these names have come in another registry; cooldowns and counts of all."""
        known = {watch.pattern.name: watch for watch in other._watches}
        for watch in self._watches:
            before = known.get(watch.pattern.name)
            if before is not None:
                watch.fired, watch.free_at = before.fired, before.free_at
                if watch.pattern.name in names:
                    watch.detector, watch.held_back = before.detector, before.held_back

    def copy(self) -> tuple[TemporalRegistry, list[TemporalFault]]:
        """One that goes on by itself from how far these have come, and the patterns that it lacks: they do not copy."""
        other, faults = copy(self), []
        watches = []
        for watch in self._watches:
            try:
                twin = copy(watch)
                twin.detector = watch.detector.twin()
                watches.append(twin)
            except (Exception, SystemExit) as error:
                faults.append(TemporalFault(watch.pattern, error))
        other._watches = tuple(watches)
        return other, faults

    @property
    def plain(self) -> bool:
        """Whether no function of an author decides anything here."""
        return all(watch.detector.plain for watch in self._watches)

    def outlook(self, state: State, now: float) -> tuple[PatternOutlook, ...]:
        """What may become of each pattern."""
        return tuple(
            PatternOutlook(
                watch.pattern.name,
                _words(watch.detector, lambda detector: detector.text),
                _words(watch.detector, lambda detector: detector.progress(now)),
                _under_way(watch.detector, state, now),
                watch.waits(now),
            )
            for watch in self._watches
        )

    def observe(self, event: TemporalEvent, state: State, now: float) -> TemporalResult:
        """Show what happened to every detector, also to those in cooldown; what is to be done now.

        A detector is reset when its pattern is acted upon, and only then.
        """
        result = TemporalResult()
        for watch in self._watches:
            try:
                self._show(watch, event, state, now, result)
                watch.failed = False
            except (Exception, SystemExit) as error:
                watch.held_back, watch.failed = False, True
                result.faults.append(TemporalFault(watch.pattern, error))
        return result

    def _show(self, watch: _Watch, event: TemporalEvent, state: State, now: float, result: TemporalResult) -> None:
        detector, pattern = watch.detector, watch.pattern
        seen = bool(detector.observe(event, state, now))
        watch.held_back = seen and watch.cooling(now) > EPSILON_S
        if seen and not watch.held_back:
            progress = detector.progress(now)
            explanation = f"{detector.text}: {progress}" if progress else detector.text
            detector.reset()
            watch.fired += 1
            watch.free_at = now + pattern.cooldown_s
            result.fired.append(TemporalFiring(pattern, explanation))

    def deadline(self, now: float) -> float | None:
        """Seconds until time alone may complete a pattern: show a `tick` then. None when nothing waits for time."""
        waits = [wait for watch in self._watches if (wait := watch.waits(now)) is not None]
        if not waits:
            return None
        shortest = min(waits)
        return shortest if shortest > SHORTEST_WAIT_S else SHORTEST_WAIT_S

    def moves(self, now: float) -> bool:
        """Whether the status reads otherwise by time alone."""
        return any(watch.cooling(now) > 0 or _moves(watch.detector, now) for watch in self._watches)

    def status(self, now: float) -> tuple[PatternStatus, ...]:
        """How far each pattern has come."""
        return tuple(
            PatternStatus(
                watch.pattern.name,
                _words(watch.detector, lambda detector: detector.text),
                _words(watch.detector, lambda detector: detector.progress(now)),
                watch.cooling(now),
                watch.fired,
                watch.pattern.defined_at,
            )
            for watch in self._watches
        )


def _asked(detector: PatternDetector, now: float) -> float | None:
    """The detector's deadline, or None where it raises: `observe` is where its faults are told."""
    try:
        wait = detector.deadline(now)
        return None if wait is None or not isfinite(wait) else float(wait)
    except (Exception, SystemExit):
        return None


def _moves(detector: PatternDetector, now: float) -> bool:
    try:
        return detector.moves(now)
    except (Exception, SystemExit):
        return False


def _under_way(detector: PatternDetector, state: State, now: float) -> bool:
    try:
        return bool(detector.under_way(state, now))
    except (Exception, SystemExit):
        return False


def _words(detector: PatternDetector, ask: Callable[[PatternDetector], str]) -> str:
    try:
        return ask(detector)
    except (Exception, SystemExit) as error:
        return f"cannot say: {type(error).__name__}: {error}"
