"""Decide which notification the model announces next, and what becomes of it.

The pump does no I/O: it gets the queued records, the time, and a word on what is in the way, and returns steps that
others perform. The model announces one notification at a time, or a backlog as a digest, and a further one only once
the first was heard to its end, waits again, or was given up.

One with a due time takes no part before it.

Sources are served in turn, by start-time fair queueing: each kind and source has a tag, the lowest one is next, and
serving it raises its tag. Within a kind and source, and between equal tags, the oldest is next.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

from gemini_live_runtime.harness.notifications import HarnessNotification, NotificationStatus
from gemini_live_runtime.harness.time_words import local_time
from gemini_live_runtime.records import record

MAX_ATTEMPTS = 5
"""Deliveries of a notification that may begin before it is given up."""

RETRY_S = (2.0, 8.0, 30.0, 120.0)
"""Seconds before each further attempt; the last one repeats."""

ANSWER_S = 15.0
"""Longest time in seconds for which the user's interruption holds notifications back, if it is not answered."""

BACKLOG = 4
"""Notifications that wait for nothing but the model, from which it announces several at once."""

MAX_DIGEST = 20
"""Notifications of one digest; further ones are in the next."""

MAX_WAITING = 1000
MAX_OF_LANE = 50
"""Notifications that the pump takes of all, and of one kind and source: the oldest, and of those with a time the next.

Further ones wait in the files."""

MAX_LANES = 1000
"""Kinds and sources whose tags are kept while nothing of them waits."""

_MAX_MS = 10**10
"""Milliseconds after which the files are asked again, however far a time is."""

_Lane: TypeAlias = tuple[str, str]


@record
class Deliver:
    """Have the model announce a notification, or several as a digest."""

    notifications: tuple[HarnessNotification, ...]


@record
class Acknowledge:
    """Record that the user has heard a notification."""

    notification_id: str


@record
class Requeue:
    """Record that a notification waits again, and why."""

    notification_id: str
    reason: str


@record
class GiveUp:
    """Record that a notification was never heard, and why it is closed."""

    notification: HarnessNotification
    reason: str


@record
class Expire:
    """Record that the time of a notification is over."""

    notification: HarnessNotification
    reason: str = "its time is over"


PumpStep: TypeAlias = Deliver | Acknowledge | Requeue | GiveUp | Expire


class PassiveNotificationPump:
    """Pure decisions on the notifications of one root. `now` is in clock seconds."""

    def __init__(
        self, *, max_attempts: int = MAX_ATTEMPTS, retry_s: Sequence[float] = RETRY_S, backlog: int = BACKLOG
    ) -> None:
        """Create a pump that announces `backlog` or more notifications as a digest.

        Raises `ValueError` for less than one attempt, no delay, or a backlog of less than two.
        """
        if max_attempts < 1 or not retry_s or backlog < 2:
            text = (
                f"max_attempts must be >= 1, not {max_attempts}, retry_s have a delay, backlog be >= 2, not {backlog}"
            )
            raise ValueError(text)
        self._max_attempts = max_attempts
        self._retry_s = tuple(retry_s)
        self._backlog = backlog
        self.in_flight: tuple[HarnessNotification, ...] = ()
        """Notifications that the model was asked to announce."""
        self._waiting: dict[str, HarnessNotification] = {}
        self._later: dict[str, HarnessNotification] = {}
        """Notifications whose time has not come."""
        self._over: set[str] = set()
        """Ids of closed notifications, which an older reading of the files may still have as queued."""
        self._retry_at: dict[str, float] = {}
        self._answer_until: float | None = None
        """Time until which the answer to the user's interruption is awaited; None without one."""
        self._virtual = 0
        self._tags: dict[_Lane, int] = {}
        self._lanes: set[_Lane] = set()
        """Kinds and sources of what waits and of what is in flight."""

    # -- what happens ------------------------------------------------------------------------------------------------

    def on_records(self, records: Iterable[HarnessNotification]) -> None:
        """Take in a new reading of the files: those that are queued wait.

        `next_step` lets those take part whose time has come.
        """
        records = list(records)
        queued = {one.id: one for one in _oldest(records)}
        self._over &= queued.keys()
        busy = {one.id for one in self.in_flight}
        taken = {one.id: self._with_attempts(one) for one in queued.values() if one.id not in busy | self._over}
        # The files of those that were not heard may still say that they are announced.
        taken |= {
            one.id: self._waiting[one.id]
            for one in records
            if one.status is NotificationStatus.DELIVERED and one.id in self._waiting
        }
        self._later = {
            name: one for name, one in taken.items() if one.due_at_ms is not None and not self._is_known_due(one)
        }
        self._waiting = {name: one for name, one in taken.items() if name not in self._later}
        self._retry_at = {name: at for name, at in self._retry_at.items() if name in self._waiting or name in busy}
        self._note_lanes()

    def _is_known_due(self, one: HarnessNotification) -> bool:
        known = self._waiting.get(one.id)
        return known is not None and known.due_at_ms == one.due_at_ms

    def _admit(self, wall_ms: int) -> None:
        """Let those take part whose time has come."""
        due = [one for one in self._later.values() if one.is_due(wall_ms) or one.is_expired(wall_ms)]
        for one in due:
            self._waiting[one.id] = self._later.pop(one.id)
        if due:
            self._note_lanes()

    def _with_attempts(self, one: HarnessNotification) -> HarnessNotification:
        """Return a record with the attempts that are not in the file yet."""
        known = self._waiting.get(one.id)
        return one if known is None else replace(one, attempts=max(one.attempts, known.attempts))

    def _note_lanes(self) -> None:
        lanes = {_lane(one) for one in (*self._waiting.values(), *self.in_flight)}
        if len(self._tags) > MAX_LANES:
            self._tags = {lane: tag for lane, tag in self._tags.items() if lane in lanes}
        for lane in lanes - self._lanes:
            # What was away has no claim to the turns that it did not take.
            self._tags[lane] = max(self._tags.get(lane, 0), self._virtual + 1)
        self._lanes = lanes

    def next_step(self, now: float, wall_ms: int, in_the_way: str = "") -> PumpStep | None:
        """Return the next step, or None while nothing can be done.

        `in_the_way` says why the model cannot speak now; "" when it can. To be called again after each step.
        """
        self._admit(wall_ms)
        for one in self._waiting.values():
            if one.is_expired(wall_ms):
                self._finish(one.id)
                return Expire(one)
            if one.attempts >= self._max_attempts:
                return self._give_up(one)
        if in_the_way or self._own_reason(now) or (first := self._choose(now)) is None:
            return None
        shared = list(filter(self._may_share, self._ready(now)))
        if self._may_share(first) and len(shared) >= self._backlog:
            self.in_flight = tuple(map(self._take, islice(self._in_turn(shared), MAX_DIGEST)))
        else:
            self.in_flight = (self._take(first),)
        return Deliver(self.in_flight)

    def _in_turn(self, ready: Iterable[HarnessNotification]) -> Iterator[HarnessNotification]:
        """Yield notifications by their turns; to be called with `_take` in between."""
        lanes: dict[_Lane, deque[HarnessNotification]] = {}
        for one in sorted(ready, key=lambda one: (one.since_ms, one.id)):
            lanes.setdefault(_lane(one), deque()).append(one)
        while lanes:
            lane = min(lanes, key=lambda lane: self._rank(lanes[lane][0]))
            yield lanes[lane].popleft()
            if not lanes[lane]:
                del lanes[lane]

    def _take(self, one: HarnessNotification) -> HarnessNotification:
        lane = _lane(one)
        self._virtual = self._tags[lane]
        self._tags[lane] += 1
        return self._waiting.pop(one.id)

    def _may_share(self, one: HarnessNotification) -> bool:
        # In its last attempt no other one can be the reason that it is not heard.
        return one.attempts < self._max_attempts - 1

    def on_heard(self) -> list[PumpStep]:
        """Note that the turn which carried the notifications was heard to its end."""
        heard, self.in_flight = self.in_flight, ()
        for one in heard:
            self._finish(one.id)
        return [Acknowledge(one.id) for one in heard]

    def on_not_heard(self, now: float, reason: str, *, by_user: bool = False) -> list[PumpStep]:
        """Note that the notifications in flight were not heard.

        After an interruption `by_user` the next one waits until the user was answered.
        """
        lost, self.in_flight = self.in_flight, ()
        if by_user:
            self._answer_until = now + ANSWER_S
        return [self._lose(one, now, reason) for one in lost]

    def _lose(self, lost: HarnessNotification, now: float, reason: str) -> PumpStep:
        lost = replace(lost, attempts=lost.attempts + 1, reason=reason)
        if lost.attempts >= self._max_attempts:
            return self._give_up(lost)
        self._waiting[lost.id] = lost
        self._retry_at[lost.id] = now + self._retry_s[min(lost.attempts, len(self._retry_s)) - 1]
        self._note_lanes()
        return Requeue(lost.id, reason)

    def on_postponed(self, now: float, seconds: float) -> None:
        """Note that the model could not be asked; the attempt does not count."""
        postponed, self.in_flight = self.in_flight, ()
        for one in postponed:
            self._waiting[one.id] = one
            self._retry_at[one.id] = now + seconds
        self._note_lanes()

    def on_answered(self) -> None:
        """Note that the user's turn was answered, or needs no answer."""
        self._answer_until = None

    def _give_up(self, one: HarnessNotification) -> GiveUp:
        self._finish(one.id)
        times = "once" if one.attempts == 1 else f"{one.attempts} times"
        return GiveUp(one, f"begun {times} and never heard to its end: {one.reason or 'no reason is known'}")

    def _finish(self, notification_id: str) -> None:
        self._waiting.pop(notification_id, None)
        self._retry_at.pop(notification_id, None)
        self._over.add(notification_id)

    # -- what waits --------------------------------------------------------------------------------------------------

    def _ready(self, now: float) -> list[HarnessNotification]:
        """Return those that wait for nothing but the model."""
        return [one for one in self._waiting.values() if self._retry_at.get(one.id, now) <= now]

    def _choose(self, now: float) -> HarnessNotification | None:
        return min(self._ready(now), key=self._rank, default=None)

    def _rank(self, one: HarnessNotification) -> tuple[int, int, str]:
        return self._tags[_lane(one)], one.since_ms, one.id

    def is_due(self, now: float) -> bool:
        """Return True when a notification only waits for the model to be free."""
        return not self._own_reason(now) and self._choose(now) is not None

    def retry_s(self, notification_id: str, now: float) -> float | None:
        """Return the seconds until the next attempt; None where none is waited for."""
        wait_s = self._retry_at.get(notification_id, now) - now
        return wait_s if wait_s > 0 else None

    @property
    def has_waiting(self) -> bool:
        """True when a notification waits whose time has come."""
        return bool(self._waiting)

    @property
    def waiting(self) -> list[HarnessNotification]:
        """Notifications that wait, in the order of the present tags, then of their times."""
        later = sorted(self._later.values(), key=lambda one: (one.since_ms, one.id))
        return [*sorted(self._waiting.values(), key=self._rank), *later]

    def has_come_due(self, wall_ms: int) -> bool:
        """Return True when the time of a notification has come that takes no part yet."""
        return any(one.is_due(wall_ms) for one in self._later.values())

    def wait_s(self, now: float, wall_ms: int) -> float | None:
        """Return the seconds until the next delay or time limit ends, or a time comes.

        None without one.
        """
        moments = [at - now for at in self._retry_at.values() if at > now]
        limits = [one.expires_at_ms for one in (*self._waiting.values(), *self._later.values())]
        limits += [one.due_at_ms for one in self._later.values()]
        # A file may have any number.
        moments += [min(max(at_ms - wall_ms, 0), _MAX_MS) / 1000 for at_ms in limits if at_ms is not None]
        if self._answer_until is not None and self._waiting and self._answer_until > now:
            moments.append(self._answer_until - now)
        return max(0.0, min(moments)) if moments else None

    def _own_reason(self, now: float) -> str:
        if self.in_flight:
            return "another notification is being announced"
        if self._answer_until is not None and now < self._answer_until:
            return "the user is to be answered first"
        return ""

    def why_waiting(self, notification_id: str, now: float, in_the_way: str = "") -> str:
        """Return why a notification waits, as a part of a sentence; "" when it does not."""
        if (later := self._later.get(notification_id)) is not None:
            return f"it is due at {local_time(later.since_ms)}"
        one = self._waiting.get(notification_id)
        if one is None:
            return ""
        retry_s = self._retry_at.get(one.id, now) - now
        if retry_s > 0:
            after = f", since {one.reason}" if one.reason else ""
            return f"waits for its retry in {max(1, round(retry_s))} s{after}"
        chosen = self._choose(now)
        if chosen is not None and chosen.id != one.id:
            return "others are before it"
        if reason := self._own_reason(now) or in_the_way:
            return reason
        return ""


def _oldest(records: Iterable[HarnessNotification]) -> list[HarnessNotification]:
    """Return the queued records that the pump takes."""
    taken: list[HarnessNotification] = []
    lanes = Counter[_Lane]()
    queued = (one for one in records if one.status is NotificationStatus.QUEUED)
    for one in sorted(queued, key=lambda one: (one.since_ms, one.id)):
        lanes[_lane(one)] += 1
        if lanes[_lane(one)] <= MAX_OF_LANE and len(taken) < MAX_WAITING:
            taken.append(one)
    return taken


def _lane(one: HarnessNotification) -> _Lane:
    return one.kind.value, one.source or ""
