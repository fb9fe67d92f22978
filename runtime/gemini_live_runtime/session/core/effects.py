"""What the core decides and the runner performs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from gemini_live_runtime.events import Payload
from gemini_live_runtime.wire.messages import ClientMessage

InterruptedBy = Literal["server", "operator", "typed"]


@dataclass(frozen=True, slots=True)
class Emit:
    """Make `payload` an event of this turn and generation."""

    payload: Payload
    turn: int
    gen: int


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message to the model; `command_id` and `text` are those of typed text, reported when it cannot go out."""

    message: ClientMessage
    command_id: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Play:
    """Queue model audio (s16le at `rate` Hz) of a generation."""

    gen: int
    pcm: bytes
    rate: int


@dataclass(frozen=True, slots=True)
class EndOfAudio:
    """No more audio of this generation will come."""

    gen: int


@dataclass(frozen=True, slots=True)
class Cut:
    """Drop all audio of generations below `cut_below`; then report back with `SessionCore.cut_performed`."""

    cut_below: int
    by: InterruptedBy
    turn: int
    victim: int
    """The generation that was being spoken; 0 when none was."""


@dataclass(frozen=True, slots=True)
class Microphone:
    """Take microphone audio or not."""

    on: bool


@dataclass(frozen=True, slots=True)
class Speaker:
    """Let the model be heard or not."""

    on: bool


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run a call."""

    call_id: str
    name: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CancelTool:
    """Cancel a call; its outcome still arrives."""

    call_id: str


@dataclass(frozen=True, slots=True)
class End:
    """End the session."""

    reason: str
    exit_code: int


Effect = Emit | Send | Play | EndOfAudio | Cut | Microphone | Speaker | RunTool | CancelTool | End
