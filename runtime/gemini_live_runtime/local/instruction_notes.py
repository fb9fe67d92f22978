"""Keep the instruction and the notes that a client has sent since."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gemini_live_runtime.local.words import folded

MAX_NOTES = 20
"""Most notes kept since the instruction; the oldest are dropped."""

MAX_NOTE_CHARS = 20_000
"""Characters of a note that are kept."""


class InstructionNotes:
    """Instruction and notes, kept folded (`words.folded`) for searching."""

    def __init__(self) -> None:
        self._instruction = ""
        self._notes: deque[str] = deque(maxlen=MAX_NOTES)

    def instruct(self, text: str) -> None:
        """Replace the instruction and clear the notes."""
        self._instruction = folded(text)
        self._notes.clear()

    def note(self, text: str) -> None:
        """Add a note."""
        if text := folded(text[:MAX_NOTE_CHARS]):
            self._notes.append(text)

    def fact(self, before: str, after: str) -> str:
        """Return the word between two texts in the newest that has them, "" without one."""
        pattern = re.compile(rf"{re.escape(before)} (\S+) {re.escape(after)}")
        return next((found[1] for text in self.newest_first() if (found := pattern.search(text))), "")

    def newest_first(self) -> Iterator[str]:
        """Yield the notes, newest first, then the instruction."""
        yield from reversed(self._notes)
        yield self._instruction

    def age(self, wanted: Iterable[str]) -> int | None:
        """Return the age of the newest text that contains one of `wanted` (folded).

        The age is the number of newer texts; None when no text contains one.
        """
        texts = enumerate(self.newest_first())
        return next((age for age, text in texts if any(part in text for part in wanted)), None)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as JSON for `restore`."""
        return {"instruction": self._instruction, "notes": list(self._notes)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the state of a `snapshot`."""
        self.instruct(str(state.get("instruction", "")))
        self._notes.extend(str(note) for note in state.get("notes", []))
