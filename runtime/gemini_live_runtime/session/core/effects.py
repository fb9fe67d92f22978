"""Effects that the core returns and the live session performs."""

from __future__ import annotations

from typing import Any, Literal

from gemini_live_runtime.events import CutRule, EndedBy, Payload
from gemini_live_runtime.records import record
from gemini_live_runtime.session.link.kept_audio import SoundChunk
from gemini_live_runtime.session.ports.messages import ContextRole
from gemini_live_runtime.wire.messages import ClientMessage

InterruptedBy = Literal["server", "operator", "typed", "voice"]


@record
class Emit:
    """Emit `payload` as an event of this turn and generation."""

    payload: Payload
    turn: int
    gen: int


@record
class Send:
    """Send a message to the model.

    `command_id` and `text` belong to typed text, which is reported when it cannot be sent.
    """

    message: ClientMessage
    command_id: str = ""
    text: str = ""


@record
class InterruptModel:
    """Ask the model to stop speaking."""


@record
class Tell:
    """Tell the model `text` as context of this role."""

    text: str
    reason: str
    role: ContextRole = "model"


@record
class Prompt:
    """Ask the model to speak."""

    reason: str


@record
class SendKeptAudio:
    """Send the microphone's sound that was kept for this connection."""

    chunks: tuple[SoundChunk, ...]


@record
class Play:
    """Queue model audio (s16le at `rate` Hz) of a generation."""

    gen: int
    pcm: bytes
    rate: int


@record
class EndOfAudio:
    """End a generation's audio: no more of it will follow."""

    gen: int


@record
class Cut:
    """Drop all audio of generations below `cut_below`: a barge-in cuts playback.

    `LiveSession` performs it, then calls `AudioEvents.on_cut` with the samples that were heard.
    """

    cut_below: int
    by: InterruptedBy
    turn: int
    victim: int
    """Number of the generation that was playing; 0 when none was."""
    rule: CutRule
    chars: int = 0
    """Characters of its transcript at the cut."""


@record
class Pause:
    """Consume no more of the speech, or go on with it.

    `LiveSession` performs it, then calls `Interruptions.on_paused` with the samples that were consumed of `gen`; for 0
    not, after a cut.
    """

    on: bool
    gen: int = 0


@record
class Microphone:
    """Switch the microphone's audio on or off."""

    on: bool


@record
class Speaker:
    """Switch the model's playback on or off."""

    on: bool


@record
class RunTool:
    """Run a tool call, or answer it with the `refusal`."""

    call_id: str
    name: str
    args: dict[str, Any]
    refusal: str = ""


@record
class CancelTool:
    """Cancel a tool call; its outcome still arrives."""

    call_id: str


@record
class LeaveConnection:
    """Leave the connection for another.

    `stalled`: at once, the server is silent. `stopped`: at once, it is silent in the middle of an answer. `old`: in a
    pause, the connection is near its age limit. `cleared`: at once, the server is to forget the user's open turn.
    """

    reason: Literal["stalled", "stopped", "old", "cleared"]


@record
class EndActivity:
    """End the user's turn that the microphone switch has marked."""


@record
class RenewConnection:
    """Go on with another connection in the next pause: the setup has changed."""


@record
class WakeConnection:
    """Make the connection of a dormant session again; `by` says for what."""

    by: str


@record
class ApplyTurnOptions:
    """Let the microphone's input follow the turn options in force."""


@record
class End:
    """End the session."""

    reason: str
    exit_code: int
    by: EndedBy = "request"


Effect = (
    Emit
    | Send
    | InterruptModel
    | Tell
    | Prompt
    | SendKeptAudio
    | Play
    | EndOfAudio
    | Cut
    | Pause
    | Microphone
    | Speaker
    | RunTool
    | CancelTool
    | LeaveConnection
    | EndActivity
    | RenewConnection
    | WakeConnection
    | ApplyTurnOptions
    | End
)
