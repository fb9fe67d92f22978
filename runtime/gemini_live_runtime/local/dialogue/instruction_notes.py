"""Keep the instruction and the notes that a client has sent since."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gemini_live_runtime.local.language.words import folded
from gemini_live_runtime.records import record

MAX_NOTES = 20
"""Most notes kept since the instruction; the oldest are dropped."""

MAX_NOTE_CHARS = 20_000
"""Characters of a note that are kept."""


@record
class _Text:
    folded: str
    """Text for searching (`words.folded`)."""
    original: str
    """Text with single spaces."""


def _text(text: str) -> _Text:
    return _Text(folded(text), " ".join(text.split()))


class InstructionNotes:
    """Instruction and notes, kept for searching."""

    def __init__(self) -> None:
        self._instruction = _text("")
        self._notes: deque[_Text] = deque(maxlen=MAX_NOTES)

    def instruct(self, text: str) -> None:
        """Replace the instruction and clear the notes."""
        self._instruction = _text(text)
        self._notes.clear()

    def note(self, text: str) -> None:
        """Add a note."""
        note = _text(text[:MAX_NOTE_CHARS])
        if note.folded:
            self._notes.append(note)

    def fact(self, before: str, after: str) -> str:
        """Return the word between two texts in the newest that has them, "" without one.

        It is spelled as in the text, without quotation marks.
        """
        pattern = re.compile(rf"{re.escape(before)} (\S+) {re.escape(after)}", re.IGNORECASE)
        texts = (*reversed(self._notes), self._instruction)
        return next((found[1].strip('"') for text in texts if (found := pattern.search(text.original))), "")

    def newest_first(self) -> Iterator[str]:
        """Yield the notes, newest first, then the instruction, folded."""
        for text in (*reversed(self._notes), self._instruction):
            yield text.folded

    def age(self, wanted: Iterable[str]) -> int | None:
        """Return the age of the newest text that contains one of `wanted` (folded).

        The age is the number of newer texts; None when no text contains one.
        """
        texts = enumerate(self.newest_first())
        return next((age for age, text in texts if any(part in text for part in wanted)), None)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as JSON for `restore`."""
        return {"instruction": self._instruction.original, "notes": [note.original for note in self._notes]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the state of a `snapshot`."""
        self.instruct(str(state.get("instruction", "")))
        self._notes.extend(_text(str(note)) for note in state.get("notes", []))
