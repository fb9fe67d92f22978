"""Track tool calls: each id runs once and is answered once, or cancelled."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from typing import Any

MAX_IDS = 1024
"""Number of call ids to remember, so that a call that arrives twice runs once."""

UNNUMBERED = "unnumbered-"
"""Beginning of the ids of calls that have none."""


class CallLedger:
    """Ledger of open tool calls and of those that the server has cancelled."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self._marks: dict[str, int] = {}
        self._cancelled: set[str] = set()
        self._background: set[str] = set()
        self.non_blocking: Collection[str] = ()
        """Tools that the connection declares non-blocking, by their names."""
        self._suspended: set[str] = set()
        """Calls that wait for another agent, with which the user talks meanwhile."""
        self._seen: deque[str] = deque(maxlen=MAX_IDS)
        self._earlier: dict[str, dict[str, Any]] = {}
        """Results of calls that an earlier engine has ended, by their ids."""
        self._unnumbered = 0

    def __len__(self) -> int:
        """Return the number of open calls that do not wait for another agent."""
        return len(self._open) - len(self._suspended)

    @property
    def open_ids(self) -> list[str]:
        """Ids of the calls that have not ended."""
        return list(self._open)

    @property
    def in_foreground(self) -> int:
        """Number of open calls whose answer the talk waits for."""
        return len(self._foreground)

    @property
    def foreground_marks(self) -> list[int]:
        """Marks of the open calls whose answer the talk waits for."""
        return [self._marks[call_id] for call_id in self._foreground]

    @property
    def _foreground(self) -> set[str]:
        return self._open.keys() - self._background - self._cancelled - self._suspended

    def awaits(self, call_ids: set[str]) -> bool:
        """Return True while the answer of one of these calls makes the model go on.

        That may be after the talk with another agent.
        """
        return not call_ids.isdisjoint(self._open.keys() - self._background - self._cancelled)

    def is_awaited(self, call_id: str) -> bool:
        """Return True for an open call whose answer the talk waits for."""
        return call_id in self._foreground

    def mark_of(self, call_id: str) -> int:
        """Return the link's mark of an open call; 0 for another."""
        return self._marks.get(call_id, 0)

    def to_background(self, call_id: str) -> bool:
        """Note that the call was acknowledged, so the model no longer waits for it.

        Returns False when the call is not open or is cancelled.
        """
        if call_id not in self._open or call_id in self._cancelled:
            return False
        self._background.add(call_id)
        return True

    def is_background(self, call_id: str) -> bool:
        """Return True when the model does not wait for the call."""
        return call_id in self._background

    def suspend(self, call_id: str, suspended: bool) -> None:
        """Note that a call waits for another agent, or goes on."""
        if suspended and call_id in self._open:
            self._suspended.add(call_id)
        else:
            self._suspended.discard(call_id)

    def is_waiting(self, call_ids: set[str]) -> bool:
        """Return True when one of these calls waits for another agent."""
        return not self._suspended.isdisjoint(call_ids)

    def begin(self, call_id: str | None, name: str, mark: int = 0) -> str | None:
        """Register a call and return its id, or None for a call that was seen before.

        A call without an id gets one. `mark` is the link's.
        """
        if not call_id:
            self._unnumbered += 1
            call_id = f"{UNNUMBERED}{self._unnumbered}"
        if self._open.get(call_id) == name:
            # Asked again, it is a call of the server's present session. Another tool's has only the same id.
            self._marks[call_id] = max(mark, self._marks[call_id])
        # A repeated message must not run the tool again, however many calls came since.
        if call_id in self._seen or call_id in self._open or call_id in self._earlier:
            return None
        self._seen.append(call_id)
        self._open[call_id], self._marks[call_id] = name, mark
        if name in self.non_blocking:
            self._background.add(call_id)
        return call_id

    def remember(self, results: Mapping[str, dict[str, Any]]) -> None:
        """Note the results of calls that an earlier engine has ended."""
        for call_id, result in results.items():
            number = call_id.removeprefix(UNNUMBERED)
            if number != call_id and number.isdecimal() and len(number) < 10:
                self._unnumbered = max(self._unnumbered, int(number))
            else:
                self._earlier[call_id] = result

    def take_earlier(self, call_id: str | None) -> dict[str, Any] | None:
        """Return the result of a call that an earlier engine has ended; only once."""
        if call_id not in self._earlier:
            return None
        self._seen.append(call_id)
        return self._earlier.pop(call_id)

    def cancel(self, call_id: str) -> bool:
        """Note that the server cancelled a call; return False when it is not open."""
        if call_id not in self._open:
            return False
        self._cancelled.add(call_id)
        return True

    def take_open(self) -> list[tuple[str, str]]:
        """Close all open calls and return their ids and names."""
        taken = list(self._open.items())
        for waiting in (self._open, self._marks, self._background, self._cancelled, self._suspended):
            waiting.clear()
        return taken

    def finish(self, call_id: str) -> bool:
        """Close a call and return True when its answer is wanted."""
        self._open.pop(call_id, None)
        self._marks.pop(call_id, None)
        self._background.discard(call_id)
        self._suspended.discard(call_id)
        wanted = call_id not in self._cancelled
        self._cancelled.discard(call_id)
        return wanted
