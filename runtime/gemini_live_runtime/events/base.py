"""Base class of payloads and the types that they share."""

from __future__ import annotations

from typing import ClassVar, Literal

__all__ = [
    "FORMAT",
    "VERSION",
    "Actor",
    "CutRule",
    "EndedBy",
    "Mode",
    "Payload",
    "Record",
    "Side",
    "SoundProblem",
    "StateWord",
    "UserState",
    "Wire",
]

FORMAT = "gemini-live-tui/events"
VERSION = 0
"""Version of the vocabulary; 0 may still change. Readers refuse a newer one by name."""

StateWord = Literal[
    "offline", "connecting", "dormant", "listening", "hearing", "thinking", "speaking", "interrupted", "text", "error"
]
CutRule = Literal["words", "duration", "protected", "server", "typed", "key", "false"]
"""Rule by which a speech is cut, or is not."""
UserState = Literal["speaking", "listening", "away"]
Mode = Literal["voice", "text"]
Record = Literal["off", "text", "audio"]
Actor = Literal["operator", "agent", "server", "engine"]
Side = Literal["user", "model"]
EndedBy = Literal["request", "drain", "limit", "error"]
SoundProblem = Literal["echo", "clipping", "no-signal", "drift", "lost"]
Wire = Literal["sent", "received"]


class Payload:
    """Base of every payload; `type` is its name on the wire."""

    __slots__ = ()
    type: ClassVar[str] = ""
