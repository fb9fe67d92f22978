"""Hold what the user has said until the model answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(slots=True)
class UnansweredInput:
    """Text or words of the user that the model has not answered.

    `mark` is that of the link when it was sent, 0 when the connection could not send it.
    """

    kind: Literal["text", "speech"]
    mark: int
    text: str
    command_id: str = ""
