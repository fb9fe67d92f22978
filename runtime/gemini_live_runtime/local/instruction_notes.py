"""What a client has told the model without speaking to it: its instruction, and the notes since."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gemini_live_runtime.local.words import folded

MAX_NOTES = 20
"""Notes since the instruction that are remembered; the oldest goes first."""

MAX_NOTE_CHARS = 20_000
"""Characters of a note that are looked at."""


class InstructionNotes:
    """Texts are kept folded (`words.folded`), because they are only ever searched."""

    def __init__(self) -> None:
        self._instruction = ""
        self._notes: deque[str] = deque(maxlen=MAX_NOTES)

    def instruct(self, text: str) -> None:
        """A new instruction: the old one and its notes are over."""
        self._instruction = folded(text)
        self._notes.clear()

    def note(self, text: str) -> None:
        """Something more to know."""
        if text := folded(text[:MAX_NOTE_CHARS]):
            self._notes.append(text)

    def newest_first(self) -> Iterator[str]:
        """Everything, the instruction last."""
        yield from reversed(self._notes)
        yield self._instruction

    def age(self, wanted: Iterable[str]) -> int | None:
        """How many texts are newer than the newest that holds one of `wanted` (folded); None when none does."""
        texts = enumerate(self.newest_first())
        return next((age for age, text in texts if any(part in text for part in wanted)), None)

    def snapshot(self) -> dict[str, Any]:
        """JSON state from which `restore` continues."""
        return {"instruction": self._instruction, "notes": list(self._notes)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a `snapshot`."""
        self.instruct(str(state.get("instruction", "")))
        self._notes.extend(str(note) for note in state.get("notes", []))
