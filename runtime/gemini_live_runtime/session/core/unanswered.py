"""Hold what the user has said and tools have answered until the model goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from gemini_live_runtime.records import mutable_record, record
from gemini_live_runtime.session.link.outbox import WaitingAnswer

MAX_TOLD = 10_000
"""Length in characters of each quotation of a broken answer that the model gets."""


@mutable_record
class UnansweredInput:
    """Text or words of the user that the model has not answered.

    `mark` is that of the link when it was sent, 0 when the connection could not send it. `is_late`: the words may
    belong to speech that was answered before they came. `asked_again`: silence has led to another attempt.
    `is_prompted`: a resumed session was asked to answer it, whether or not it knew it.
    """

    kind: Literal["text", "speech"]
    mark: int
    text: str
    command_id: str = ""
    is_late: bool = False
    asked_again: bool = False
    is_prompted: bool = False

    def is_repeat(self, words: str) -> bool:
        """Return True for words that are all of this speech once more."""
        return self.kind == "speech" and words.strip() == self.text.strip()


def note_of(items: Sequence[UnansweredInput]) -> str:
    """Return the context that asks the model to answer what it may not know."""
    lines = [
        "The connection was lost before you had answered the user, whose last words may not have reached you. "
        "Answer them now, and do not take them as said twice."
    ]
    lines += [f"The user has said: {_quoted(item.text)}" for item in items]
    return "\n".join(lines)


@record
class BrokenAnswer:
    """Answer of the model that a lost connection broke off.

    `asked` is what the user had said, `said` what has arrived of the answer; either may be "".
    """

    asked: str
    said: str

    @property
    def note(self) -> str:
        """Return the context with which the model is asked for the rest."""
        lines = [
            "Your last answer broke off, because the connection was lost. Go on with it where it broke off: "
            "say only what is still missing, and do not repeat what you have said."
        ]
        if self.asked:
            lines.append(f"The user had said: {_quoted(self.asked[:MAX_TOLD])}")
        if self.said:
            lines.append(f"You have said so far: {_quoted(self.said[-MAX_TOLD:])}")
        return "\n".join(lines)


def _quoted(text: str) -> str:
    return json.dumps(text.strip(), ensure_ascii=False)


@record
class UnreadAnswer:
    """Answer of a call that was sent, of which the model has said nothing yet.

    `mark` is that of the link when it was sent, `gen` the first generation that may speak of it.
    """

    answer: WaitingAnswer
    mark: int
    gen: int
