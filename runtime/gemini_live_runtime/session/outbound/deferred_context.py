"""Context for a model that takes none in mid-session: it goes along with a text that is answered, or with a setup.

Such a model hears only what the user says or types. So context waits here for the next text, the user's or a prompt,
and is put in front of it, or it becomes part of the instruction that the next connection begins with.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from gemini_live_runtime.session.outbound.context_queue import MAX_NOTES
from gemini_live_runtime.session.ports.messages import CONTEXT_MARK

MAX_KEPT = 20
"""Notes of earlier setups that a later one still carries, the newest."""

GO_ON = "[Please go on]"
"""What a prompt says where only text is answered."""


class DeferredContext:
    """What one session's model has not been told yet (`waiting`), and what only a setup has told it."""

    def __init__(self) -> None:
        self.waiting: deque[str] = deque(maxlen=MAX_NOTES)
        self._kept: deque[str] = deque(maxlen=MAX_KEPT)
        self._so_far = ""
        self._offered: tuple[str, tuple[str, ...], tuple[str, ...]] = ("", (), ())
        self._since = 0
        """Notes that came after those of `_offered`."""

    def hold(self, texts: Iterable[str]) -> int:
        """Let `texts` wait; how many older ones were dropped for want of room."""
        before = len(self.waiting)
        added = list(texts)
        self._since += len(added)
        self.waiting.extend(added)
        return before + len(added) - len(self.waiting)

    def in_front_of(self, text: str) -> str:
        """`text` with all that waits in front of it, a paragraph of its own. `take` it once that is posted."""
        return f"{_marked(self.waiting)}\n\n{text}" if self.waiting else text

    def prompt(self) -> str:
        """What waits, and that the model is to speak. `take` it once that is posted."""
        return "\n".join((*(CONTEXT_MARK + text for text in self.waiting), GO_ON))

    def take(self) -> tuple[str, ...]:
        """What has waited; nothing waits any more."""
        taken = tuple(self.waiting)
        self.waiting.clear()
        return taken

    def in_setup(self, instruction: str, *, resuming: bool, so_far: str = "") -> str:
        """`instruction` with what else the connection has to begin with; `carried` tells that it did.

        A session that is resumed still knows what was said, but not what an earlier setup carried: that is carried
        again. One that begins anew is told `so_far`, what was said.
        """
        kept = tuple(self._kept) if resuming else ()
        so_far = so_far or (self._so_far if resuming else "")
        self._offered = (so_far, kept, tuple(self.waiting))
        self._since = 0
        return "\n\n".join(part for part in (instruction, so_far, _marked((*kept, *self.waiting))) if part)

    def carried(self) -> tuple[str, ...]:
        """The connection is ready: what its setup carried has been told. What is told for the first time."""
        so_far, kept, offered = self._offered
        while len(self.waiting) > self._since:
            self.waiting.popleft()
        self._kept = deque((*kept, *offered), MAX_KEPT)
        news = (so_far, *offered) if so_far != self._so_far and so_far else offered
        self._so_far, self._offered = so_far, ("", (), ())
        return news


def _marked(texts: Iterable[str]) -> str:
    return "\n".join(CONTEXT_MARK + text for text in texts)
