"""Hold what the user has said until the model answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(slots=True)
class UnansweredInput:
    """Text or words of the user that the model has not answered.

    `mark` is that of the link when it was sent, 0 when the connection could not send it. `is_late`: the words may
    belong to speech that was answered before they came. `asked_again`: silence has led to another attempt.
    """

    kind: Literal["text", "speech"]
    mark: int
    text: str
    command_id: str = ""
    is_late: bool = False
    asked_again: bool = False

    def is_repeat(self, words: str) -> bool:
        """Return True for words that are all of this speech once more."""
        words = words.strip()
        return self.kind == "speech" and " " in words and words == self.text.strip()
