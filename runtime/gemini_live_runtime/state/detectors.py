"""Detectors of patterns over time, each driven by what it counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_number
from gemini_live_runtime.state.functions import function_name
from gemini_live_runtime.state.guards import Guard, GuardLike, as_guard

if TYPE_CHECKING:
    from gemini_live_runtime.state.store import State

EPSILON_S = 1e-6
"""A timer may be this early, in seconds: sums of floats are."""


@dataclass(frozen=True, slots=True)
class TemporalEvent:
    """Something that happened, or merely time that passed.

    `turn`: a turn was completed. `event`: a session event of `type` with `data`. `tool`: a call of `name` ended, `ok`
    or not. `tick`: time passed. `state`: values changed.
    """

    kind: Literal["turn", "event", "tool", "tick", "state"]
    type: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    ok: bool = True


class PatternDetector(ABC):
    """Notices a pattern over time. Your own needs `observe` and `reset`; every session uses a `fresh` copy.

    All times are seconds on one clock that never goes back.
    """

    @abstractmethod
    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Take in what happened; whether the pattern is there now. It may only read the state."""

    @abstractmethod
    def reset(self) -> None:
        """The pattern was acted upon: what happened up to now must not make it again."""

    def fresh(self) -> PatternDetector:
        """A copy for a session, which has seen nothing."""
        return deepcopy(self)

    def twin(self) -> PatternDetector:
        """A copy that has seen what this one has: asked what would happen, while this one is left alone."""
        return deepcopy(self)

    @property
    def plain(self) -> bool:
        """Whether no function of an author decides anything here."""
        return False

    def under_way(self, state: State, now: float) -> bool:
        """Whether the pattern has begun and may get there as things stand."""
        return self.deadline(now) is not None

    def deadline(self, now: float) -> float | None:
        """Seconds after which time alone may complete the pattern; None when it cannot."""
        return None

    def moves(self, now: float) -> bool:
        """Whether `progress` reads otherwise by time alone."""
        return self.deadline(now) is not None

    @property
    def text(self) -> str:
        """The pattern in a few words."""
        return type(self).__name__

    def progress(self, now: float) -> str:
        """How far it has come, with numbers: `2 of 3 turns`."""
        return ""


DetectorT = TypeVar("DetectorT", bound=PatternDetector)


def _twin(detector: DetectorT, kind: type[PatternDetector]) -> DetectorT:
    # What an author's class has added to ours is known to the author alone.
    return copy(detector) if type(detector) is kind else deepcopy(detector)


class SustainedDetector(PatternDetector):
    """A guard has held for `seconds` on end, to the moment: a timer, no polling.

    Once acted upon, it is there again only after the guard was false in between. Raises `AgentError` unless
    seconds > 0.
    """

    def __init__(self, guard: GuardLike, seconds: float) -> None:
        self._guard = as_guard(guard)
        self._seconds = _positive("seconds", seconds)
        self._since: float | None = None
        self._spent = False
        self._reached = False

    @property
    def guard(self) -> Guard:
        """What has to hold."""
        return self._guard

    @property
    def text(self) -> str:
        """For example `app:anger > 0.7 for 30 s`."""
        return f"{self._guard.text} for {self._seconds:g} s"

    def fresh(self) -> SustainedDetector:
        """One that has seen nothing."""
        return SustainedDetector(self._guard, self._seconds)

    def twin(self) -> SustainedDetector:
        """One that has seen the same."""
        return _twin(self, SustainedDetector)

    @property
    def plain(self) -> bool:
        """Whether its guard has no function."""
        return type(self) is SustainedDetector and not self._guard.has_function

    def under_way(self, state: State, now: float) -> bool:
        """Whether the guard held the last time."""
        return self._since is not None

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Whether the guard has held long enough."""
        if not self._guard.holds(state):
            self._since, self._spent, self._reached = None, False, False
        elif self._since is None:
            self._since = now
        since = self._since
        self._reached = since is not None and not self._spent and now >= since + self._seconds - EPSILON_S
        return self._reached

    def deadline(self, now: float) -> float | None:
        """When the guard will have held long enough."""
        if self._since is None or self._spent or self._reached:
            return None
        return max(0.0, self._since + self._seconds - now)

    def reset(self) -> None:
        """Wait for the guard to turn false first."""
        self._spent = self._since is not None
        self._reached = False

    def progress(self, now: float) -> str:
        """For example `12.5 of 30 s`."""
        held = 0.0 if self._since is None else now - self._since
        return f"{held:.1f} of {self._seconds:g} s{', acted upon' if self._spent else ''}"


class RateDetector(PatternDetector):
    """`count` events within `within_s` seconds; an event exactly that old still counts.

    `event` is the type of a session event (`"turn.interrupted"`), or a function of the `TemporalEvent`, asked about
    turns, session events and tools. Once acted upon it counts from nothing. Raises `AgentError` for numbers below their
    range.
    """

    def __init__(self, event: str | Callable[[TemporalEvent], Any], count: int, within_s: float) -> None:
        if not event or not (isinstance(event, str) or callable(event)) or iscoroutinefunction(event):
            raise AgentError(
                f"{event!r} does not say which events are counted",
                remedy="Give the type of an event, or a plain function of the event",
                field="event",
                value=event,
            )
        self._event = event
        self._count = _at_least_one("count", count)
        self._within = _positive("within_s", within_s)
        self._times: deque[float] = deque(maxlen=count)

    @property
    def event(self) -> str:
        """The type of the session events that are counted; "" when a function says which."""
        return self._event if isinstance(self._event, str) else ""

    @property
    def text(self) -> str:
        """For example `3 interrupted within 60 s`."""
        name = self._event if isinstance(self._event, str) else function_name(self._event)
        return f"{self._count} {name} within {self._within:g} s"

    def fresh(self) -> RateDetector:
        """One that has seen nothing."""
        return RateDetector(self._event, self._count, self._within)

    def twin(self) -> RateDetector:
        """One that has seen the same."""
        twin = _twin(self, RateDetector)
        twin._times = deque(self._times, self._count)
        return twin

    @property
    def plain(self) -> bool:
        """Whether the events are named."""
        return type(self) is RateDetector and isinstance(self._event, str)

    def under_way(self, state: State, now: float) -> bool:
        """Whether there was any lately."""
        self._forget(now)
        return bool(self._times)

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Whether there were enough of them lately."""
        if isinstance(self._event, str):
            counts = event.kind == "event" and event.type == self._event
        else:
            counts = event.kind in ("turn", "event", "tool") and bool(self._event(event))
        if counts:
            self._times.append(now)
        self._forget(now)
        return len(self._times) == self._count

    def _forget(self, now: float) -> None:
        while self._times and now - self._times[0] > self._within + EPSILON_S:
            self._times.popleft()

    def reset(self) -> None:
        """Count from nothing."""
        self._times.clear()

    def moves(self, now: float) -> bool:
        """As long as there are any."""
        return bool(self._times)

    def progress(self, now: float) -> str:
        """For example `2 of 3 in 8.2 s`."""
        self._forget(now)
        span = f" in {now - self._times[0]:.1f} s" if self._times else ""
        return f"{len(self._times)} of {self._count}{span}"


class TurnCountDetector(PatternDetector):
    """A guard held at the end of `turns` turns in a row. Only completed turns count, time never does.

    Once acted upon it counts from nothing, whether or not the guard still holds. Raises `AgentError` unless turns >= 1.
    """

    def __init__(self, guard: GuardLike, turns: int) -> None:
        self._guard = as_guard(guard)
        self._turns = _at_least_one("turns", turns)
        self._seen = 0

    @property
    def text(self) -> str:
        """For example `user:name is missing for 3 turns`."""
        return f"{self._guard.text} for {self._turns} turn{'s' * (self._turns > 1)}"

    def fresh(self) -> TurnCountDetector:
        """One that has seen nothing."""
        return TurnCountDetector(self._guard, self._turns)

    def twin(self) -> TurnCountDetector:
        """One that has seen the same."""
        return _twin(self, TurnCountDetector)

    @property
    def plain(self) -> bool:
        """Whether its guard has no function."""
        return type(self) is TurnCountDetector and not self._guard.has_function

    def under_way(self, state: State, now: float) -> bool:
        """Whether a turn that ended now would be counted."""
        return self._guard.holds(state)

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Whether this turn is the last one needed."""
        if event.kind != "turn":
            return False
        self._seen = self._seen + 1 if self._guard.holds(state) else 0
        return self._seen >= self._turns

    def reset(self) -> None:
        """Count from nothing."""
        self._seen = 0

    def progress(self, now: float) -> str:
        """For example `2 of 3 turns`."""
        return f"{self._seen} of {self._turns} turn{'s' * (self._turns > 1)}"


class ConsecutiveFailureDetector(PatternDetector):
    """A tool failed `failures` times in a row; a success in between begins anew, other tools do not matter.

    Once acted upon it counts from nothing. Raises `AgentError` for an empty name or unless failures >= 1.
    """

    def __init__(self, tool: str, failures: int) -> None:
        if not isinstance(tool, str) or not tool:
            raise AgentError(f"{tool!r} is not the name of a tool", field="tool", value=tool)
        self._tool = tool
        self._failures = _at_least_one("failures", failures)
        self._seen = 0

    @property
    def tool(self) -> str:
        """The tool's name."""
        return self._tool

    @property
    def text(self) -> str:
        """For example `pay fails 3 times in a row`."""
        return f"{self._tool} fails {self._failures} time{'s' * (self._failures > 1)} in a row"

    def fresh(self) -> ConsecutiveFailureDetector:
        """One that has seen nothing."""
        return ConsecutiveFailureDetector(self._tool, self._failures)

    def twin(self) -> ConsecutiveFailureDetector:
        """One that has seen the same."""
        return _twin(self, ConsecutiveFailureDetector)

    @property
    def plain(self) -> bool:
        """Always: tools are counted by name."""
        return type(self) is ConsecutiveFailureDetector

    def under_way(self, state: State, now: float) -> bool:
        """Whether the last call failed."""
        return self._seen > 0

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Whether this failure is the last one needed."""
        if event.kind != "tool" or event.name != self._tool:
            return False
        self._seen = 0 if event.ok else self._seen + 1
        return self._seen >= self._failures

    def reset(self) -> None:
        """Count from nothing."""
        self._seen = 0

    def progress(self, now: float) -> str:
        """For example `1 of 3 failures`."""
        return f"{self._seen} of {self._failures} failure{'s' * (self._failures > 1)}"


def _positive(name: str, value: Any) -> float:
    if not is_number(value) or not isfinite(value) or value <= 0:
        raise AgentError(f"{name} is a number above 0, not {value!r}", field=name, value=value)
    return float(value)


def _at_least_one(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise AgentError(f"{name} is a whole number of at least 1, not {value!r}", field=name, value=value)
    return value
