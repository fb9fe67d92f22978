"""Events of the session: connection, turns, transcript, tools, controls."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from gemini_live_runtime.events.base import (
    Actor,
    CutRule,
    EndedBy,
    Mode,
    Payload,
    Record,
    Side,
    StateWord,
    UserState,
    Wire,
)
from gemini_live_runtime.records import keyword_record

__all__ = [
    "CommandRefused",
    "ConnectionClosed",
    "ConnectionGoAway",
    "ConnectionOpening",
    "ConnectionReady",
    "ConnectionResumable",
    "ControlChanged",
    "GenerationCompleted",
    "LimitReached",
    "Log",
    "Notice",
    "RecordingTrimmed",
    "SessionEnded",
    "SessionEnding",
    "SessionResumed",
    "SessionStarted",
    "SessionState",
    "TextSent",
    "ToolCalled",
    "ToolFinished",
    "TranscriptDelta",
    "TurnCompleted",
    "TurnInterrupted",
    "TurnStarted",
    "Unknown",
    "UsageReported",
    "UserStateChanged",
    "WireAudio",
    "WireMessage",
]


@keyword_record
class SessionStarted(Payload):
    """First event of every session. `wall` is seconds since the Unix epoch at t = 0."""

    type: ClassVar[str] = "session.started"
    session_id: str
    agent: str
    model: str
    backend: str
    wall: float
    record: Record
    mode: Mode
    program: str
    phrases: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


@keyword_record
class SessionResumed(Payload):
    """Another engine goes on with the session.

    `kept` is the number of the last event that the engine before has recorded. `after` is how that one ended: in a
    `crash`, or by an orderly `end`. `wall` is the time in seconds since the Unix epoch.
    """

    type: ClassVar[str] = "session.resumed"
    kept: int
    after: Literal["crash", "end"]
    wall: float
    record: Record
    program: str


@keyword_record
class SessionState(Payload):
    """The session's state changed to `word`; `reason` says why in a few words."""

    type: ClassVar[str] = "session.state"
    word: StateWord
    reason: str = ""


@keyword_record
class UserStateChanged(Payload):
    """The user began to speak, fell silent, or is away.

    The user is away when both sides have been silent for the agent's `user_away_timeout`, and comes back with a voice,
    a transcript or a typed text. A session begins with the user listening.
    """

    type: ClassVar[str] = "user.state_changed"
    old: UserState
    new: UserState


@keyword_record
class SessionEnding(Payload):
    """The session begins to end: texts that wait are refused, and calls are cancelled."""

    type: ClassVar[str] = "session.ending"


@keyword_record
class SessionEnded(Payload):
    """Last event of a session that ended in an orderly way.

    `exit_code` is 0 for a normal end. `by` is what ended it: a `request` of the operator or the program, a `drain`
    that has finished all that was owed, a `limit`, or an `error`.
    """

    type: ClassVar[str] = "session.ended"
    reason: str
    exit_code: int = 0
    by: EndedBy = "request"


@keyword_record
class ConnectionOpening(Payload):
    """A connection attempt begins. `url` carries no credential."""

    type: ClassVar[str] = "connection.opening"
    url: str
    resuming: bool = False


@keyword_record
class ConnectionReady(Payload):
    """The server answered `setupComplete`, `ms` after the attempt began.

    `resumed`: the server resumed the session. `context` says what it knows of the conversation: `new` before there is
    any, `resumed` all or most by itself, `rebuilt` what the client tells it now.
    """

    type: ClassVar[str] = "connection.ready"
    ms: float
    server_session: str = ""
    resumed: bool = False
    context: Literal["", "new", "resumed", "rebuilt"] = ""


@keyword_record
class ConnectionClosed(Payload):
    """The connection ended.

    `reason` is the server's own text, `sentence` and `remedy` are ours. `requested`: we closed it.
    `moved`: we left it for another one.
    """

    type: ClassVar[str] = "connection.closed"
    close_code: int
    reason: str = ""
    sentence: str = ""
    remedy: str = ""
    requested: bool = False
    moved: bool = False


@keyword_record
class ConnectionGoAway(Payload):
    """The server announced that it will close the connection.

    It does so in `time_left_s` seconds (null: it did not say).
    """

    type: ClassVar[str] = "connection.go_away"
    time_left_s: float | None = None


@keyword_record
class ConnectionResumable(Payload):
    """The server offers to resume this session, or no longer (`resumable` false).

    The handle is a secret and not in it. `last_consumed` is the server's own count of our messages, if it sends one.
    """

    type: ClassVar[str] = "connection.resumable"
    resumable: bool
    last_consumed: int | None = None


@keyword_record
class WireMessage(Payload):
    """Message as it was on the wire: `frame` is its JSON with secrets redacted.

    Audio bytes inside are replaced by `{"$audio": {"track": ..., "first": ..., "count": ...}}` in samples of the track.
    `size` is the frame's length in bytes; `problems` are what the reader tolerated.
    """

    type: ClassVar[str] = "wire.message"
    direction: Wire
    kinds: tuple[str, ...]
    frame: Any
    size: int
    problems: tuple[str, ...] = ()


@keyword_record
class WireAudio(Payload):
    """Run of consecutive messages that carried nothing but audio.

    Samples [`first`, `first` + `count`) of `track` at `rate` Hz; `frames` is run-length encoded: pairs of
    (samples in a frame, number of such frames in a row). Of the microphone's sound, `late_ms` is the time from the
    capture of the last sample to this event.
    """

    type: ClassVar[str] = "wire.audio"
    direction: Wire
    track: Side
    rate: int
    first: int
    count: int
    frames: tuple[tuple[int, int], ...]
    mime_type: str
    late_ms: float = 0.0


@keyword_record
class TurnStarted(Payload):
    """A turn begins: the user spoke or typed, or the model spoke unasked.

    The event's `turn` is its number.
    """

    type: ClassVar[str] = "turn.started"
    by: Literal["voice", "typed", "model"]


@keyword_record
class GenerationCompleted(Payload):
    """The model has generated all of its answer; playback may continue.

    `samples` is the length of its sound at 24 kHz.
    """

    type: ClassVar[str] = "generation.completed"
    samples: int = 0


@keyword_record
class TurnInterrupted(Payload):
    """The model's answer was interrupted.

    Heard and unheard are by the playback clock: 24 kHz samples and transcript text. `by` `device`: the loudspeaker was
    lost; the model was not told. `by` `voice`: our own rules cut it. `rule` says why: the user's `words`, the
    `duration` of a voice that our detector passed on, the `server`'s detector, a text that was `typed`, a `key` or
    code; "" in older sessions, and for a lost device.
    """

    type: ClassVar[str] = "turn.interrupted"
    by: Literal["server", "operator", "typed", "device", "voice"]
    cut_below: int
    heard_samples: int
    unheard_samples: int
    heard_text: str
    unheard_text: str
    rule: CutRule | Literal[""] = ""


@keyword_record
class TurnCompleted(Payload):
    """A turn is over.

    `latency_ms` is that of `turn.measured`; null when the turn has none, or its sound is yet to be played.
    `broke_off`: the connection, or the engine, ended in the middle of the answer; `unspoken` is the end of its
    transcript, from the first word whose sound has not wholly arrived.
    """

    type: ClassVar[str] = "turn.completed"
    outcome: Literal["complete", "interrupted", "empty"]
    latency_ms: float | None = None
    reason: str = ""
    broke_off: bool = False
    unspoken: str = ""


@keyword_record
class TranscriptDelta(Payload):
    """More text of one side. Deltas of a side in a turn are concatenated as they are.

    `channel`: `speech` is a transcription, `text` what a text model wrote, `thought` a thought summary.

    `sample` is where in its generation's sound (24 kHz) the model speaks the text, and `samples` for how long. Both are
    estimates; `sample` is null for text that is not spoken.
    """

    type: ClassVar[str] = "transcript.delta"
    side: Side
    text: str
    channel: Literal["speech", "text", "thought"] = "speech"
    sample: int | None = None
    samples: int = 0


@keyword_record
class TextSent(Payload):
    """Text that the operator typed was sent; `command_id` is that of its command."""

    type: ClassVar[str] = "text.sent"
    text: str
    command_id: str = ""
    actor: Actor = "operator"


@keyword_record
class ToolCalled(Payload):
    """The model called a tool."""

    type: ClassVar[str] = "tool.called"
    call_id: str
    name: str
    args: dict[str, Any]


@keyword_record
class ToolFinished(Payload):
    """A tool call has its answer; each call gets exactly one.

    `delivered`: the answer was sent; that of a cancelled call is not. `status` `refused`: the tool was not run (unknown
    name, bad arguments). `task` is the id of the task as which the call goes on after this answer. `ms` is null where
    it is not known how long the call ran: its engine died, or the session ended.
    """

    type: ClassVar[str] = "tool.finished"
    call_id: str
    name: str
    status: Literal["ok", "error", "timeout", "cancelled", "refused"]
    result: dict[str, Any]
    ms: float | None
    delivered: bool
    task: str = ""


@keyword_record
class UsageReported(Payload):
    """Token counts of one usage message, and the session's estimated cost so far.

    `prompt` and `response` are token counts by modality. `cost_usd` is the estimate in US dollars, null when the price
    of the model is unknown, `prices_as_of` the month (`YYYY-MM`) of its prices.
    """

    type: ClassVar[str] = "usage.reported"
    prompt_tokens: int
    response_tokens: int
    total_tokens: int
    prompt: dict[str, int]
    response: dict[str, int]
    cost_usd: float | None
    cached_tokens: int = 0
    prices_as_of: str = ""


@keyword_record
class ControlChanged(Payload):
    """Controls of the operator, all of them, after a change.

    `microphone` and `speaker`: false is muted.
    """

    type: ClassVar[str] = "control.changed"
    mode: Mode
    microphone: bool
    speaker: bool
    actor: Actor = "operator"
    reason: str = ""


@keyword_record
class Log(Payload):
    """Line of output of the agent, a library or the engine."""

    type: ClassVar[str] = "log"
    source: Literal["stdout", "stderr", "logging", "engine"]
    level: Literal["debug", "info", "warning", "error"]
    text: str


@keyword_record
class Notice(Payload):
    """Message for the operator, in one sentence, with a remedy."""

    type: ClassVar[str] = "notice"
    level: Literal["info", "warning", "error"]
    code: str
    text: str
    remedy: str = ""


@keyword_record
class LimitReached(Payload):
    """A limit of the operator is near or reached.

    `stage` is `warning` at 80 %, `hang-up` at 100 %. `used` and `limit` are US dollars for `cost`, minutes for
    `minutes`.
    """

    type: ClassVar[str] = "limit.reached"
    kind: Literal["cost", "minutes"]
    stage: Literal["warning", "hang-up"]
    used: float
    limit: float


@keyword_record
class CommandRefused(Payload):
    """A command was not carried out; `reason` is a sentence."""

    type: ClassVar[str] = "command.refused"
    command_id: str
    command: str
    reason: str


@keyword_record
class RecordingTrimmed(Payload):
    """Old sound was deleted to stay under the cap, or the recording of sound ended.

    `reason` is a sentence that says which.
    """

    type: ClassVar[str] = "recording.trimmed"
    session_ids: tuple[str, ...]
    bytes_freed: int
    reason: str


@keyword_record
class Unknown(Payload):
    """Payload of a type that this version does not know, kept whole."""

    type: ClassVar[str] = "unknown"
    name: str
    data: Any
