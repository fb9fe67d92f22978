"""Events of an agent's decisions: state, phases, watchers, steering, extraction.

An explanation is the tree that `state.explanation.Explanation.to_json` makes: `{"text", "value", "reads", "children",
"problem"}`, where each read names the key, its value and who wrote it.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Literal

from gemini_live_runtime.events.base import Payload
from gemini_live_runtime.records import keyword_record

__all__ = [
    "AgentFinished",
    "CodeFailed",
    "CodeSlow",
    "ContextSent",
    "DeliveryDropped",
    "ExtractionFailed",
    "ExtractionFinished",
    "InstructionUpdated",
    "PartHealth",
    "PatternFired",
    "PhaseBlocked",
    "PhaseEntered",
    "PromotionDecided",
    "PromptChanged",
    "ReactionPerformed",
    "RepairActed",
    "SnapshotRestored",
    "SnapshotSaved",
    "SoftTurnTaken",
    "StateChanged",
    "TelemetryReported",
    "ToolAcknowledged",
    "TurnMeasured",
    "WatcherFired",
    "WatchersMissed",
]


@keyword_record
class StateChanged(Payload):
    """A key of state changed.

    `mutation` counts changes, dense from 1 in a session. `origin` is a kind of writer, `by` the writer's name. `added`:
    the key had no value before; `removed`: it has none now.
    """

    type: ClassVar[str] = "state.changed"
    key: str
    old: Any
    new: Any
    mutation: int
    origin: str
    by: str = ""
    reason: str = ""
    added: bool = False
    removed: bool = False


@keyword_record
class PhaseEntered(Payload):
    """The conversation entered a phase.

    `explanation` is that of the guard that allowed it, null without one. `seconds` is how long the previous phase
    lasted; `tools` are those allowed now, null for all.
    """

    type: ClassVar[str] = "phase.entered"
    phase: str
    previous: str = ""
    trigger: Literal["initial", "guard", "programmatic", "operator", "restored"]
    because: str = ""
    explanation: dict[str, Any] | None = None
    seconds: float = 0.0
    needs: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    terminal: bool = False


@keyword_record
class PhaseBlocked(Payload):
    """A transition is allowed, but `target` still requires the keys `missing`.

    `preparing` names the agent's code that runs to provide them.
    """

    type: ClassVar[str] = "phase.blocked"
    phase: str
    target: str
    missing: tuple[str, ...]
    preparing: tuple[str, ...] = ()


@keyword_record
class WatcherFired(Payload):
    """A watcher's condition came true."""

    type: ClassVar[str] = "watcher.fired"
    watcher: str
    key: str
    old: Any
    new: Any
    explanation: dict[str, Any]
    blocking: bool = False
    muted: bool = False


@keyword_record
class WatchersMissed(Payload):
    """Watched keys changed without the watchers' conditions coming true.

    Each of `misses` has `watcher`, `key`, `old`, `new`, and `missing`, a text that says by how much or why. For a
    number with a threshold, `share` is how near it came, 0 to 1.
    """

    type: ClassVar[str] = "watchers.missed"
    misses: tuple[dict[str, Any], ...]


@keyword_record
class PatternFired(Payload):
    """A temporal pattern matched; `text` has the measured numbers."""

    type: ClassVar[str] = "pattern.fired"
    pattern: str
    text: str


@keyword_record
class InstructionUpdated(Payload):
    """The model's instruction was replaced.

    `via` is how it was sent; `setup` is the first message of a connection. `ref` is that of `send.intended`.
    """

    type: ClassVar[str] = "instruction.updated"
    text: str
    via: Literal["setup", "context_update", "system_content", "user_note", "reconnect"]
    reasons: tuple[str, ...] = ()
    ref: str = ""


@keyword_record
class ContextSent(Payload):
    """Context was sent to the model.

    `queued`: it waits for the user's next input or for the turn's end. `ref` is that of `send.intended`.
    """

    type: ClassVar[str] = "context.sent"
    texts: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    queued: bool = False
    ref: str = ""


@keyword_record
class PromptChanged(Payload):
    """A prompt, which makes the model speak unasked, changed its state.

    `armed`: it waits for silence; `sent`: it went out; `cancelled`: it never will.
    """

    type: ClassVar[str] = "prompt.changed"
    state: Literal["armed", "sent", "cancelled"]
    reason: str = ""


@keyword_record
class ExtractionFinished(Payload):
    """An extractor read the conversation as of turn `of_turn`.

    `refused` are fields that failed validation, with reasons. `merged` counts earlier requests that found it busy and
    are answered by this one.
    """

    type: ClassVar[str] = "extraction.finished"
    extractor: str
    trigger: str
    of_turn: int
    value: dict[str, Any]
    refused: dict[str, str]
    ms: float
    merged: int = 0


@keyword_record
class ExtractionFailed(Payload):
    """An extractor failed or returned an unusable result.

    `raised_at` is the line of the author's code, `file.py:12` or "". `ms` and `merged` are as in
    `extraction.finished`.
    """

    type: ClassVar[str] = "extraction.failed"
    extractor: str
    trigger: str
    of_turn: int
    reason: str
    raised_at: str = ""
    ms: float = 0.0
    merged: int = 0


@keyword_record
class PartHealth(Payload):
    """An extractor or tool failed five times within a minute, or works again (`well`).

    Such an extractor rests for a minute and is tried again then, or once the agent is reloaded; a tool runs on.
    """

    type: ClassVar[str] = "part.health"
    part: Literal["extractor", "tool"]
    name: str
    well: bool
    text: str = ""
    remedy: str = ""


@keyword_record
class PromotionDecided(Payload):
    """A field of an extraction was written to state, or not: `reason` says why."""

    type: ClassVar[str] = "promotion.decided"
    extractor: str
    field: str
    key: str
    value: Any
    accepted: bool
    reason: str


@keyword_record
class RepairActed(Payload):
    """The needs of a phase stay unfulfilled.

    `nudge`: the model is reminded to ask; `escalate`: the agent's escalation begins.
    """

    type: ClassVar[str] = "repair.acted"
    phase: str
    action: Literal["nudge", "escalate"]
    unfulfilled: tuple[str, ...]
    attempt: int = 0


@keyword_record
class ReactionPerformed(Payload):
    """A reactor rule performed an effect."""

    type: ClassVar[str] = "reaction.performed"
    rule: str
    effect: str
    detail: str = ""


@keyword_record
class CodeFailed(Payload):
    """Code of the agent raised an exception; the call continues.

    `where` is its role, `name` the function. `defined_at` is its place in the author's files, as `file.py:12`; "" when
    unknown. Code that runs again and again is reported after 1, 2, 4, 8 failures (`times`). The first report is
    followed by `log` lines with the traceback.
    """

    type: ClassVar[str] = "code.failed"
    where: str
    name: str
    error: str
    defined_at: str = ""
    times: int = 1


@keyword_record
class CodeSlow(Payload):
    """Code of the agent blocked the session for `ms`.

    `defined_at` and `times` are as in `code.failed`.
    """

    type: ClassVar[str] = "code.slow"
    where: str
    name: str
    ms: float
    defined_at: str = ""
    times: int = 1


@keyword_record
class ToolAcknowledged(Payload):
    """A call of a background tool was answered with "running".

    Its result follows as `tool.finished`.
    """

    type: ClassVar[str] = "tool.acknowledged"
    call_id: str
    name: str
    delivered: bool


@keyword_record
class AgentFinished(Payload):
    """A background agent ended."""

    type: ClassVar[str] = "agent.finished"
    name: str
    ok: bool
    text: str


@keyword_record
class SoftTurnTaken(Payload):
    """The user spoke and the model kept silent for `silence_s`.

    The turn counts for state, but the model is not prompted.
    """

    type: ClassVar[str] = "turn.soft"
    silence_s: float


@keyword_record
class TurnMeasured(Payload):
    """Latency of a turn by stages, and its tokens.

    `latency_ms` runs from the end of the user's speech, or the Enter key, to the first sample at the speaker; null when
    none was played. Without a speaker, or sound, it runs to the first words or sample handed over. The time for which
    the agent was held before the answer came is left out. `stages` are its parts in ms, null when not measured: they
    add up to it, exactly, which is `total`. `first_byte_ms` runs to the arrival of that sample; null in older journals,
    where `latency_ms` was that. `source` is what marked the end of the user's input, `end_of_speech_s` its time in
    seconds since the session's start. `duration_ms` runs from the turn's first activity to its end. `prompt` and
    `response` are tokens by modality.
    """

    type: ClassVar[str] = "turn.measured"
    of_turn: int
    latency_ms: float | None
    source: str
    stages: dict[str, float | None]
    prompt_tokens: int
    response_tokens: int
    duration_ms: float = 0.0
    end_of_speech_s: float | None = None
    first_byte_ms: float | None = None
    prompt: dict[str, int] = field(default_factory=dict)
    response: dict[str, int] = field(default_factory=dict)


@keyword_record
class TelemetryReported(Payload):
    """Figures of the session, as `SessionTelemetry.snapshot` returns them."""

    type: ClassVar[str] = "telemetry.reported"
    figures: dict[str, Any]


@keyword_record
class SnapshotRestored(Payload):
    """The snapshot of an earlier session was restored."""

    type: ClassVar[str] = "snapshot.restored"
    saved_at: str
    keys: int
    phase: str
    turns: int
    resuming: bool


@keyword_record
class SnapshotSaved(Payload):
    """A snapshot was saved, from which the session can be restored."""

    type: ClassVar[str] = "snapshot.saved"
    turns: int


@keyword_record
class DeliveryDropped(Payload):
    """A subscriber was too slow: events were dropped.

    `count` is the number of events of the class `delivery` dropped since the last report.
    """

    type: ClassVar[str] = "delivery.dropped"
    subscriber: str
    delivery: str
    count: int
