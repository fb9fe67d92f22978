"""Move through a session's past while the call goes on.

The past is read from a `History`; nothing here touches the session. Moving never disturbs the view of the present.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from gemini_live_runtime.clock import Clock
    from gemini_live_runtime.journal.history.session_history import History

Kind = Literal["event", "turn", "transition", "mark"]
"""Kinds of steps."""

SPEEDS = (0.5, 1.0, 2.0, 4.0)


class OutOfReachError(JournalError):
    """Moment before the events in memory; those from `value` on must be read first."""


@record
class Place:
    """Cursor's position: event `seq` of `last`, `t` seconds in, `behind` seconds ago."""

    seq: int
    last: int
    t: float
    turn: int
    behind: float
    playing: bool
    speed: float


class Cursor:
    """Time cursor. `seq` is the last event shown, None in the present.

    `epoch` grows with every move. Methods that move raise `JournalError` with a sentence when that is impossible.
    """

    def __init__(self, clock: Clock, history: Callable[[], History | None]) -> None:
        self.seq: int | None = None
        self.epoch = 0
        self.jumps = 0
        """Number of moves, playing not counted."""
        self.speed = 1.0
        self._clock = clock
        self._history = history
        self._view = SessionView()
        self._began: tuple[float, float] | None = None
        """Clock and session time, both in seconds, when playing began."""

    @property
    def view(self) -> SessionView:
        """View at the cursor; in the present the live view."""
        history = self._history()
        if self.seq is None:
            return history.live if history is not None else self._view
        return self._view

    @property
    def playing(self) -> bool:
        """True while the cursor plays."""
        return self._began is not None

    def place(self, elapsed: float) -> Place:
        """Return the position; `elapsed` is session time in the present."""
        history = self._history()
        view = self.view
        last = history.last_seq if history is not None else view.seq
        t = self.playhead if self.playing else view.t if self.seq is not None else elapsed
        return Place(view.seq, last, t, view.turn, max(0.0, elapsed - t), self.playing, self.speed)

    # -- moving ------------------------------------------------------------------------------------------------------

    def seek(self, seq: int) -> None:
        """Move after event `seq`; after the last event is the present."""
        history = self._reach()
        if seq >= history.last_seq:
            self.live()
            return
        self._stand(history, seq)
        self.jumps += 1
        if self.playing:
            self._began = (self._clock.now(), self._view.t)

    def seek_time(self, t: float) -> None:
        """Move to `t` seconds of session time."""
        history = self._reach()
        if t >= history.live.t:
            self.live()
            return
        require_reach(history, t)
        seq = history.seq_at_time(max(0.0, t))
        self.seek(max(seq, history.first_seq - 1))

    def step(self, kind: Kind, direction: int) -> None:
        """Go to the next (1) or previous (-1) event, turn, transition or mark.

        After the last one is the present.
        """
        found = self.find(kind, direction)
        if found is None and direction > 0:
            self.live()
        elif found is None:
            self.seek(self._least(self._reach()))
        else:
            self.seek(found)

    def find(self, kind: Kind, direction: int) -> int | None:
        """Return the event that a step leads to, or None."""
        history = self._reach()
        at = history.last_seq if self.seq is None else self.seq
        if kind == "event":
            if direction > 0:
                return None if at >= history.last_seq else at + 1
            before = min(at, history.last_seq) - 1
            if before < history.first_seq - 1:
                raise before_reach(history)
            return before
        if kind == "mark":
            marks = sorted(mark.of for mark in history.live.agent_view.marks)
            index = bisect_right(marks, at) if direction > 0 else bisect_left(marks, at) - 1
            return marks[index] if 0 <= index < len(marks) else None
        from gemini_live_runtime.journal.history.session_history import TRANSITIONS, TURNS

        types = TURNS if kind == "turn" else TRANSITIONS
        found = history.following(at, types) if direction > 0 else history.preceding(at, types)
        if found is None and direction < 0 and history.first_seq > 1:
            raise before_reach(history)
        return found

    def live(self) -> None:
        """Return to the present."""
        if self.seq is not None or self.playing:
            self.seq, self._began, self._view = None, None, SessionView()
            self.epoch += 1

    def renew(self) -> None:
        """Forget cached views: the history is another one."""
        self.seq, self._began, self._view = None, None, SessionView()
        self.epoch += 1

    def _stand(self, history: History, seq: int) -> None:
        if seq < history.first_seq - 1:
            raise before_reach(history, seq)
        self._view = history.view_at(seq)
        self.seq = seq
        self.epoch += 1

    def _least(self, history: History) -> int:
        return history.first_seq - 1

    def _reach(self) -> History:
        history = self._history()
        if history is None or not history.live.seq:
            raise JournalError("Nothing has happened yet", field="seq", value=0)
        if history.count == 0:
            raise before_reach(history)
        return history

    # -- playing back ------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play in session time from the cursor; from the session's beginning at its end."""
        history = self._reach()
        if self.seq is None:
            self._stand(history, self._least(history))
        self.jumps += 1
        self._began = (self._clock.now(), self._view.t)

    def pause(self) -> None:
        """Stop playing."""
        self._began = None

    def hear(self, t: float) -> None:
        """Correct the playhead: `t` is what sounds now."""
        if self._began is not None:
            self._began = (self._clock.now(), t)

    def set_speed(self, speed: float) -> None:
        """Set the factor of playing."""
        if self.playing:
            self._began = (self._clock.now(), self.playhead)
        self.speed = speed

    def advance(self) -> float | None:
        """Follow the playhead; return the seconds until the next change, or None."""
        if self._began is None or self.seq is None:
            return None
        history = self._reach()
        t = self.playhead
        seq = max(self.seq, history.seq_at_time(t))
        if seq >= history.last_seq:
            self.live()
            return None
        if seq > self.seq:
            self._stand(history, seq)
        upcoming = next(history.events(seq + 1, history.last_seq), None)
        if upcoming is None:
            return 0.25
        return max(0.0, min(0.25, (upcoming.t - t) / self.speed))

    @property
    def playhead(self) -> float:
        """Session time that is played now, in seconds."""
        if self._began is None:
            return self.view.t
        since, t = self._began
        return t + (self._clock.now() - since) * self.speed


def slower_or_faster(speed: float, step: int) -> float:
    """Return the next speed in a direction; the last one stays."""
    index = min(range(len(SPEEDS)), key=lambda at: abs(SPEEDS[at] - speed))
    return SPEEDS[max(0, min(len(SPEEDS) - 1, index + step))]


def before_reach(history: History, seq: int = 0) -> JournalError:
    """Return the error for event `seq`, which is before the events in memory."""
    first = history.first_seq
    if first <= 1:
        return JournalError("This is the beginning", field="seq", value=seq)
    return OutOfReachError(
        f"Nothing from before event {first:,} is in memory", field="seq", value=seq or max(0, first - 2)
    )


def require_reach(history: History, t: float) -> None:
    """Raise `OutOfReachError` for a time before the events in memory."""
    first = history.first_seq
    if first > 1 and t < history.view_at(first - 1).t:
        raise before_reach(history)
