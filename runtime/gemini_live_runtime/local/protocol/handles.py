"""Issue and look up session resumption handles."""

from __future__ import annotations

import secrets
from collections import OrderedDict

from gemini_live_runtime.local.protocol.conversation import Memory
from gemini_live_runtime.records import record

HANDLE_LIFE_S = 7200.0
"""Validity of a handle in seconds: two hours, as Google documents."""

MAX_HANDLES = 2000
"""Most handles of a server; the oldest are dropped."""

HANDLES_A_SESSION = 16
"""Most handles of a session; the oldest are dropped."""


@record
class _Entry:
    memory: Memory
    until: float


class Handles:
    """Resumption handles of a server; times are the event loop's."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._of_session: dict[str, list[str]] = {}

    def keep(self, memory: Memory, now: float) -> str:
        """Return a new handle for `memory`."""
        handle = secrets.token_urlsafe(24)
        self._entries[handle] = _Entry(memory, now + HANDLE_LIFE_S)
        handles = self._of_session.setdefault(memory.session_id, [])
        handles.append(handle)
        if len(handles) > HANDLES_A_SESSION:
            self._forget(handles[0])
        while len(self._entries) > MAX_HANDLES or next(iter(self._entries.values())).until < now:
            self._forget(next(iter(self._entries)))
        return handle

    def find(self, handle: str, now: float) -> Memory | None:
        """Return the memory of `handle`; None when unknown or expired."""
        entry = self._entries.get(handle)
        return entry.memory if entry is not None and entry.until >= now else None

    def clear(self) -> None:
        """Forget all handles."""
        self._entries.clear()
        self._of_session.clear()

    def _forget(self, handle: str) -> None:
        session_id = self._entries.pop(handle).memory.session_id
        handles = self._of_session[session_id]
        handles.remove(handle)
        if not handles:
            del self._of_session[session_id]
