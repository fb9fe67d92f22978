"""Tool calls of a session: each id is run once and answered once, or cancelled."""

from __future__ import annotations

from collections import deque

IDS_KEPT = 1024
"""Call ids remembered, so that a call that arrives twice runs once."""


class CallLedger:
    """Which calls are open and which of them the server has cancelled."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self._cancelled: set[str] = set()
        self._background: set[str] = set()
        self._seen: deque[str] = deque(maxlen=IDS_KEPT)
        self._made = 0

    def __len__(self) -> int:
        return len(self._open)

    @property
    def open_ids(self) -> list[str]:
        """Ids of calls that have not ended."""
        return list(self._open)

    @property
    def in_foreground(self) -> int:
        """Open calls that the model waits for."""
        return len(self._open) - len(self._background)

    def to_background(self, call_id: str) -> bool:
        """The call was acknowledged: the model no longer waits for it. False when it is not open, or cancelled."""
        if call_id not in self._open or call_id in self._cancelled:
            return False
        self._background.add(call_id)
        return True

    def is_background(self, call_id: str) -> bool:
        """Whether the call was acknowledged."""
        return call_id in self._background

    def begin(self, call_id: str | None, name: str) -> str | None:
        """Register a call and give its id (a made one when the server gave none); None when it was seen before."""
        if not call_id:
            self._made += 1
            call_id = f"unnumbered-{self._made}"
        if call_id in self._seen:
            return None
        self._seen.append(call_id)
        self._open[call_id] = name
        return call_id

    def cancel(self, call_id: str) -> bool:
        """The answer is no longer wanted; False when the call is not open."""
        if call_id not in self._open:
            return False
        self._cancelled.add(call_id)
        return True

    def take_open(self) -> list[tuple[str, str]]:
        """Id and name of every open call; none is open any more."""
        taken = list(self._open.items())
        self._open.clear()
        return taken

    def finish(self, call_id: str) -> bool:
        """The call ended; True when its answer is wanted."""
        self._open.pop(call_id, None)
        self._background.discard(call_id)
        wanted = call_id not in self._cancelled
        self._cancelled.discard(call_id)
        return wanted
