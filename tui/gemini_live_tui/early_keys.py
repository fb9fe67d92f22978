"""Keep letters that are typed while a session is still being connected.

Its mode decides what they are: text for the prompt, or commands. As commands the letters of a sentence that is typed at
once would open screens, before there is anything to see in them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from gemini_live_tui.session_data.store import Store

MAX_EARLY = 1000
"""Keys that wait for the session; further ones are dropped."""

_FOLLOWING = ("enter", "backspace", "shift+enter", "ctrl+j")
"""Keys that belong to a text: behind kept letters they wait, too."""


class EarlyKeys:
    """Letters typed before the session's first state; all other keys act at once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: deque[events.Key] = deque()
        self._has_begun = False

    def keep(self, event: events.Key) -> bool:
        """Keep a key that was pressed where letters are commands.

        Return False when it acts at once.
        """
        if self._has_begun or not (event.is_printable or (self._kept and event.key in _FOLLOWING)):
            return False
        if len(self._kept) < MAX_EARLY:
            self._kept.append(event)
        return True

    def release(self) -> Sequence[events.Key]:
        """Return the kept keys, once, when the session has begun; drop them if it failed."""
        if self._has_begun or self._store.word in ("offline", "connecting"):
            return ()
        self._has_begun = True
        kept, self._kept = self._kept, deque()
        return () if self._store.word == "error" else tuple(kept)
