"""Resumption handles: what brings a conversation back on another connection."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass

from gemini_live_runtime.local.conversation import Memory

HANDLE_LIFE_S = 7200.0
"""How long a handle is good for: two hours, as Google says."""

MAX_HANDLES = 2000
"""Handles a server keeps; the oldest go first."""

HANDLES_A_SESSION = 16
"""Handles of one session that are kept; the oldest go first."""


@dataclass(frozen=True, slots=True)
class _Kept:
    memory: Memory
    until: float


class Handles:
    """The handles of one server. Times are the event loop's."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._of_session: dict[str, list[str]] = {}

    def keep(self, memory: Memory, now: float) -> str:
        """A new handle for `memory`."""
        handle = secrets.token_urlsafe(24)
        self._kept[handle] = _Kept(memory, now + HANDLE_LIFE_S)
        mine = self._of_session.setdefault(memory.session_id, [])
        mine.append(handle)
        if len(mine) > HANDLES_A_SESSION:
            self._forget(mine[0])
        while len(self._kept) > MAX_HANDLES or next(iter(self._kept.values())).until < now:
            self._forget(next(iter(self._kept)))
        return handle

    def find(self, handle: str, now: float) -> Memory | None:
        """What `handle` stands for; None when it is unknown or too old."""
        kept = self._kept.get(handle)
        return kept.memory if kept is not None and kept.until >= now else None

    def _forget(self, handle: str) -> None:
        session_id = self._kept.pop(handle).memory.session_id
        mine = self._of_session[session_id]
        mine.remove(handle)
        if not mine:
            del self._of_session[session_id]
