"""Hold context for models that take none during a session.

Such a model reads only what the user says or types, and the instruction of its setup. So a note waits here until one of
two carriers takes it. A text, the user's or a prompt, carries all waiting notes in front of it; they are removed once
the text is posted (`take`). A setup carries them in its instruction; they are removed only once the server has accepted
the connection (`confirm_setup`), because a refused setup has told the model nothing. Notes that arrive between sending
a setup and its acceptance are not part of it: `_since` counts them, and they stay.

A resumed session remembers its dialogue but not the notes of an earlier setup, so the newest `MAX_KEPT` are carried
again by each later one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from gemini_live_runtime.session.outbound.context_queue import MAX_NOTES
from gemini_live_runtime.session.ports.messages import CONTEXT_MARK

MAX_KEPT = 20
"""Limit of notes of earlier setups that a later one still carries; the newest stay."""

GO_ON = "[Please go on]"
"""Text of a prompt for a model that answers only text."""


class DeferredContext:
    """Notes that wait for a carrier, and those that an earlier setup carried."""

    def __init__(self) -> None:
        self.waiting: deque[str] = deque(maxlen=MAX_NOTES)
        self._kept: deque[str] = deque(maxlen=MAX_KEPT)
        self._so_far = ""
        self._offered: tuple[str, tuple[str, ...], tuple[str, ...]] = ("", (), ())
        self._since = 0
        """Number of notes that arrived after those of `_offered`."""

    def hold(self, texts: Iterable[str]) -> int:
        """Queue `texts`; return the number of older ones dropped at the limit."""
        before = len(self.waiting)
        added = list(texts)
        self._since += len(added)
        self.waiting.extend(added)
        return before + len(added) - len(self.waiting)

    def with_text(self, text: str) -> str:
        """Return `text` behind all waiting notes; call `take` once it is posted."""
        return f"{_marked(self.waiting)}\n\n{text}" if self.waiting else text

    def prompt(self) -> str:
        """Return the waiting notes and a request to speak; call `take` once it is posted."""
        return "\n".join((*(CONTEXT_MARK + text for text in self.waiting), GO_ON))

    def take(self) -> tuple[str, ...]:
        """Remove and return the waiting notes."""
        taken = tuple(self.waiting)
        self.waiting.clear()
        return taken

    def with_instruction(self, instruction: str, *, resuming: bool, so_far: str = "") -> str:
        """Return `instruction` with the notes that a new connection has to begin with.

        Call `confirm_setup` once the server has accepted it. A resumed session still knows the dialogue, but not the
        notes of an earlier setup: they are repeated. A session that begins anew gets `so_far`, a summary of the
        dialogue.
        """
        kept = tuple(self._kept) if resuming else ()
        so_far = so_far or (self._so_far if resuming else "")
        self._offered = (so_far, kept, tuple(self.waiting))
        self._since = 0
        return "\n\n".join(part for part in (instruction, so_far, _marked((*kept, *self.waiting))) if part)

    def confirm_setup(self) -> tuple[str, ...]:
        """Note that the server accepted the setup; return its new notes."""
        so_far, kept, offered = self._offered
        while len(self.waiting) > self._since:
            self.waiting.popleft()
        self._kept = deque((*kept, *offered), MAX_KEPT)
        news = (so_far, *offered) if so_far != self._so_far and so_far else offered
        self._so_far, self._offered = so_far, ("", (), ())
        return news


def _marked(texts: Iterable[str]) -> str:
    return "\n".join(CONTEXT_MARK + text for text in texts)
