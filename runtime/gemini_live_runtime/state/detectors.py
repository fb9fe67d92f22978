"""Detect patterns over time in what a session does and in state."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import field
from typing import Any, Literal, Self

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.state.functions import check_decides, function_name
from gemini_live_runtime.state.guards import Guard, GuardLike, KeyExpression, as_guard
from gemini_live_runtime.state.mutations import decision_of
from gemini_live_runtime.state.store import State

EPSILON_S = 1e-6
"""Seconds that a timer may be early, because sums of floats are inexact."""


@frozen_record
class TemporalEvent:
    """An event of the session, or time that passed.

    `turn`: a turn was completed. `event`: a session event of `type` with `data`. `tool`: a call of `name` ended, `ok`
    or not. `tick`: time passed. `state`: values changed.
    """

    kind: Literal["turn", "event", "tool", "tick", "state"]
    type: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    ok: bool = True


class PatternDetector(ABC):
    """Detector of a pattern over time, with a `fresh` copy in every session.

    Your own needs `observe` and `reset`. All times are seconds on one clock that never goes back.
    """

    @abstractmethod
    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Take in an event; return True when the pattern is complete. Only read `state`."""

    @abstractmethod
    def reset(self) -> None:
        """Begin anew after the pattern fired; past events must not complete it again."""

    def fresh(self) -> PatternDetector:
        """Return a copy for a session, which has observed nothing."""
        return deepcopy(self)

    def twin(self) -> PatternDetector:
        """Return a copy that has observed the same, to preview events on."""
        return deepcopy(self)

    @property
    def is_declarative(self) -> bool:
        """True when no author's function decides."""
        return False

    def in_progress(self, state: State, now: float) -> bool:
        """Return True when the pattern has begun and may complete as state is."""
        return self.deadline(now) is not None

    def deadline(self, now: float) -> float | None:
        """Return the seconds after which time alone may complete the pattern, or None."""
        return None

    def changes_with_time(self, now: float) -> bool:
        """Return True when `progress` changes by time alone."""
        return self.deadline(now) is not None

    @property
    def text(self) -> str:
        """Description of the pattern in a few words."""
        return type(self).__name__

    def progress(self, now: float) -> str:
        """Return its progress in numbers: `2 of 3 turns`."""
        return ""


class _BuiltInDetector(PatternDetector):
    """A detector whose guards and functions may be shared by its copies."""

    @property
    def is_extended(self) -> bool:
        """True for an author's subclass, whose own values and decisions are unknown here."""
        return type(self).__module__ != __name__

    def twin(self) -> Self:
        """Return a detector that has observed the same."""
        return deepcopy(self) if self.is_extended else copy(self)


def _guard(value: GuardLike) -> Guard:
    if callable(value) and not isinstance(value, Guard | KeyExpression):
        check_decides("A detector's guard", value, "(state)")
    try:
        return as_guard(value)
    except TypeError as error:
        raise AgentError(f"A detector cannot use this: {error}", field="guard", value=value) from None


class SustainedDetector(_BuiltInDetector):
    """Detect that a guard has held for `seconds` without a break.

    It uses a timer, no polling. Once fired, the guard must turn false before it can fire again. Raises `AgentError`
    unless seconds > 0.
    """

    def __init__(self, guard: GuardLike, seconds: float) -> None:
        self._guard = _guard(guard)
        self._seconds = _positive("seconds", seconds)
        self._since: float | None = None
        self._fired = False
        self._complete = False

    @property
    def guard(self) -> Guard:
        """Guard that has to hold."""
        return self._guard

    @property
    def text(self) -> str:
        """For example `app:anger > 0.7 for 30 s`."""
        return f"{self._guard.text} for {self._seconds:g} s"

    def fresh(self) -> SustainedDetector:
        """Return a detector that has observed nothing."""
        return SustainedDetector(self._guard, self._seconds)

    @property
    def is_declarative(self) -> bool:
        """True when its guard has no function."""
        return not self.is_extended and not self._guard.has_function

    def in_progress(self, state: State, now: float) -> bool:
        """Return True when the guard held at the last event."""
        return self._since is not None

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Return True when the guard has held long enough."""
        if not self._guard.holds(state):
            self._since, self._fired, self._complete = None, False, False
        elif self._since is None:
            self._since = now
        since = self._since
        self._complete = since is not None and not self._fired and now >= since + self._seconds - EPSILON_S
        return self._complete

    def deadline(self, now: float) -> float | None:
        """Return the seconds until the guard has held long enough, or None."""
        if self._since is None or self._fired or self._complete:
            return None
        return max(0.0, self._since + self._seconds - now)

    def reset(self) -> None:
        """Wait for the guard to turn false."""
        self._fired = self._since is not None
        self._complete = False

    def progress(self, now: float) -> str:
        """Return for example `12.5 of 30 s`."""
        held = 0.0 if self._since is None else now - self._since
        return f"{held:.1f} of {self._seconds:g} s{', fired' if self._fired else ''}"


class RateDetector(_BuiltInDetector):
    """Detect `count` events within `within_s` seconds.

    An event of exactly that age still counts. `event` is the type of a session event (`"turn.interrupted"`), or a
    function of the `TemporalEvent`, called for turns, session events and tools. Once fired, it counts from 0. Raises
    `AgentError` for numbers below their range.
    """

    def __init__(self, event: str | Callable[[TemporalEvent], Any], count: int, within_s: float) -> None:
        if not event or not (isinstance(event, str) or callable(event)):
            raise AgentError(
                f"{event!r} does not say which events are counted",
                remedy="Give the type of an event, or a plain function of the event",
                field="event",
                value=event,
            )
        if not isinstance(event, str):
            check_decides("The event of a detector", event, "(event)")
        self._event = event
        self._count = _at_least_one("count", count)
        self._within = _positive("within_s", within_s)
        self._times: deque[float] = deque(maxlen=count)

    @property
    def event(self) -> str:
        """Type of the session events that are counted; "" when a function decides."""
        return self._event if isinstance(self._event, str) else ""

    @property
    def text(self) -> str:
        """For example `3 interrupted within 60 s`."""
        name = self._event if isinstance(self._event, str) else function_name(self._event)
        return f"{self._count} {name} within {self._within:g} s"

    def fresh(self) -> RateDetector:
        """Return a detector that has observed nothing."""
        return RateDetector(self._event, self._count, self._within)

    def twin(self) -> Self:
        """Return a detector that has observed the same."""
        other = super().twin()
        other._times = deque(self._times, self._count)
        return other

    @property
    def is_declarative(self) -> bool:
        """True when the events are named by their type."""
        return not self.is_extended and isinstance(self._event, str)

    def in_progress(self, state: State, now: float) -> bool:
        """Return True when a counted event is recent enough."""
        self._forget(now)
        return bool(self._times)

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Return True when enough counted events are recent enough."""
        if isinstance(self._event, str):
            counts = event.kind == "event" and event.type == self._event
        else:
            counts = event.kind in ("turn", "event", "tool") and decision_of(self._event, event)
        if counts:
            self._times.append(now)
        self._forget(now)
        return len(self._times) == self._count

    def _forget(self, now: float) -> None:
        while self._times and now - self._times[0] > self._within + EPSILON_S:
            self._times.popleft()

    def reset(self) -> None:
        """Count from 0."""
        self._times.clear()

    def changes_with_time(self, now: float) -> bool:
        """Return True while events are counted: the oldest will expire."""
        return bool(self._times)

    def progress(self, now: float) -> str:
        """Return for example `2 of 3 in 8.2 s`."""
        self._forget(now)
        span = f" in {now - self._times[0]:.1f} s" if self._times else ""
        return f"{len(self._times)} of {self._count}{span}"


class TurnCountDetector(_BuiltInDetector):
    """Detect that a guard held at the end of `turns` turns in a row.

    Once fired, it counts from 0, whether or not the guard still holds. Raises `AgentError` unless turns >= 1.
    """

    def __init__(self, guard: GuardLike, turns: int) -> None:
        self._guard = _guard(guard)
        self._turns = _at_least_one("turns", turns)
        self._held_turns = 0

    @property
    def guard(self) -> Guard:
        """Guard that has to hold at the end of each turn."""
        return self._guard

    @property
    def text(self) -> str:
        """For example `user:name is missing for 3 turns`."""
        return f"{self._guard.text} for {self._turns} turn{'s' * (self._turns > 1)}"

    def fresh(self) -> TurnCountDetector:
        """Return a detector that has observed nothing."""
        return TurnCountDetector(self._guard, self._turns)

    @property
    def is_declarative(self) -> bool:
        """True when its guard has no function."""
        return not self.is_extended and not self._guard.has_function

    def in_progress(self, state: State, now: float) -> bool:
        """Return True when a turn that ended now would be counted."""
        return self._guard.holds(state)

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Return True when this turn is the last one needed."""
        if event.kind != "turn":
            return False
        self._held_turns = self._held_turns + 1 if self._guard.holds(state) else 0
        return self._held_turns >= self._turns

    def reset(self) -> None:
        """Count from 0."""
        self._held_turns = 0

    def progress(self, now: float) -> str:
        """Return for example `2 of 3 turns`."""
        return f"{self._held_turns} of {self._turns} turn{'s' * (self._turns > 1)}"


class ConsecutiveFailureDetector(_BuiltInDetector):
    """Detect that a tool failed `failures` times in a row.

    Other tools in between do not matter. Once fired, it counts from 0. Raises `AgentError` for an empty name or unless
    failures >= 1.
    """

    def __init__(self, tool: str, failures: int) -> None:
        if not isinstance(tool, str) or not tool:
            raise AgentError(f"{tool!r} is not the name of a tool", field="tool", value=tool)
        self._tool = tool
        self._failures = _at_least_one("failures", failures)
        self._failed_calls = 0

    @property
    def tool(self) -> str:
        """Name of the tool."""
        return self._tool

    @property
    def text(self) -> str:
        """For example `pay fails 3 times in a row`."""
        return f"{self._tool} fails {self._failures} time{'s' * (self._failures > 1)} in a row"

    def fresh(self) -> ConsecutiveFailureDetector:
        """Return a detector that has observed nothing."""
        return ConsecutiveFailureDetector(self._tool, self._failures)

    @property
    def is_declarative(self) -> bool:
        """True unless an author's subclass decides."""
        return not self.is_extended

    def in_progress(self, state: State, now: float) -> bool:
        """Return True when the last call failed."""
        return self._failed_calls > 0

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Return True when this failure is the last one needed."""
        if event.kind != "tool" or event.name != self._tool:
            return False
        self._failed_calls = 0 if event.ok else self._failed_calls + 1
        return self._failed_calls >= self._failures

    def reset(self) -> None:
        """Count from 0."""
        self._failed_calls = 0

    def progress(self, now: float) -> str:
        """Return for example `1 of 3 failures`."""
        return f"{self._failed_calls} of {self._failures} failure{'s' * (self._failures > 1)}"


def _positive(name: str, value: Any) -> float:
    if not is_finite(value) or value <= 0:
        raise AgentError(f"{name} is a number above 0, not {value!r}", field=name, value=value)
    return float(value)


def _at_least_one(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise AgentError(f"{name} is a whole number of at least 1, not {value!r}", field=name, value=value)
    if value > sys.maxsize:
        raise AgentError(f"{name} is at most {sys.maxsize}", field=name)
    return value
