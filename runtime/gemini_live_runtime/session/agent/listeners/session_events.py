"""Define what listeners of an `AgentSession` get: views of its events."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from gemini_live_runtime import events as ev
from gemini_live_runtime.choices import nearest
from gemini_live_runtime.conversation.chat import ChatItem, FunctionCall, FunctionCallOutput
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import keyword_record

if TYPE_CHECKING:
    from gemini_live_runtime.session.core.speech_queue import SpeechSource

AgentState = Literal["initializing", "idle", "listening", "thinking", "speaking"]
ErrorSource = Literal["session", "connection", "code", "tool", "extractor", "sound"]


class CloseReason(Enum):
    """Reason why a session has closed."""

    ERROR = "error"
    USER_INITIATED = "user_initiated"
    TASK_COMPLETED = "task_completed"
    LIMIT_REACHED = "limit_reached"


@keyword_record
class AgentStateChangedEvent:
    """Agent's state changed.

    `idle` is a session without a connection; `initializing` one that had none yet.
    """

    type: ClassVar[str] = "agent_state_changed"
    created_at: float
    """Seconds since the session's start, as in all of these."""
    old_state: AgentState
    new_state: AgentState


@keyword_record
class UserStateChangedEvent:
    """User began to speak, fell silent, or is away."""

    type: ClassVar[str] = "user_state_changed"
    created_at: float
    old_state: ev.UserState
    new_state: ev.UserState


@keyword_record
class UserInputTranscribedEvent:
    """User's words of a turn so far.

    `is_final`: its answer is over, or calls a tool.
    """

    type: ClassVar[str] = "user_input_transcribed"
    created_at: float
    transcript: str
    is_final: bool


@keyword_record
class ConversationItemAddedEvent:
    """Message or hand-off of the conversation that will not change any more.

    The model's messages are added when they were heard, or cut.
    """

    type: ClassVar[str] = "conversation_item_added"
    created_at: float
    item: ChatItem


@keyword_record
class FunctionToolsExecutedEvent:
    """Calls of one generation with their answers, once all have ended.

    Raises `AgentError` where there are not as many answers as calls.
    """

    type: ClassVar[str] = "function_tools_executed"
    created_at: float
    function_calls: tuple[FunctionCall, ...]
    function_call_outputs: tuple[FunctionCallOutput, ...]

    def __post_init__(self) -> None:
        calls, outputs = len(self.function_calls), len(self.function_call_outputs)
        if calls != outputs:
            raise AgentError(
                f"{calls} calls cannot have {outputs} answers",
                remedy="Give one answer for each call, in the same order",
                field="function_call_outputs",
                value=outputs,
            )

    def zipped(self) -> list[tuple[FunctionCall, FunctionCallOutput]]:
        """Return each call with its answer."""
        return list(zip(self.function_calls, self.function_call_outputs, strict=True))


@keyword_record
class MetricsCollectedEvent:
    """Latency of a turn, or tokens of a usage message."""

    type: ClassVar[str] = "metrics_collected"
    created_at: float
    metrics: ev.TurnMeasured | ev.UsageReported


@keyword_record
class SpeechCreatedEvent:
    """Speech was asked for, or the model began one; `speech_handle` follows it."""

    type: ClassVar[str] = "speech_created"
    created_at: float
    user_initiated: bool
    """True for a reply that code asked for."""
    source: SpeechSource
    speech_handle: Any


@keyword_record
class ErrorEvent:
    """Something failed; `error` is a sentence. The session goes on unless it closes."""

    type: ClassVar[str] = "error"
    created_at: float
    error: str
    source: ErrorSource


@keyword_record
class CloseEvent:
    """Session closed; `error` is a sentence, "" for a normal end."""

    type: ClassVar[str] = "close"
    created_at: float
    reason: CloseReason
    error: str = ""


SessionEvent: TypeAlias = (
    AgentStateChangedEvent
    | UserStateChangedEvent
    | UserInputTranscribedEvent
    | ConversationItemAddedEvent
    | FunctionToolsExecutedEvent
    | MetricsCollectedEvent
    | SpeechCreatedEvent
    | ErrorEvent
    | CloseEvent
)

EVENT_NAMES: tuple[str, ...] = tuple(
    kind.type
    for kind in (
        AgentStateChangedEvent,
        UserStateChangedEvent,
        UserInputTranscribedEvent,
        ConversationItemAddedEvent,
        FunctionToolsExecutedEvent,
        MetricsCollectedEvent,
        SpeechCreatedEvent,
        ErrorEvent,
        CloseEvent,
    )
)
"""Names that a program can listen to."""


def listener_place(name: str) -> str:
    """Return the place that faults of listeners to an event name."""
    return f"listener of {name}"


def check_event_name(name: object) -> str:
    """Return `name`; raise `AgentError` for one that no event has."""
    if isinstance(name, str) and name in EVENT_NAMES:
        return name
    near = nearest(name, EVENT_NAMES, cutoff=0.5)
    raise AgentError(
        f"There is no event {name!r:.60}",
        remedy=f"Did you mean {near!r}?" if near else f"Use one of {', '.join(EVENT_NAMES)}",
        field="event",
        value=name,
    )


def agent_state_of(word: ev.StateWord, *, has_begun: bool) -> AgentState:
    """Return the agent's state for the session's status word.

    `has_begun`: there has been a connection.
    """
    if word in ("offline", "connecting", "dormant", "error"):
        return "idle" if has_begun else "initializing"
    return "thinking" if word == "thinking" else "speaking" if word == "speaking" else "listening"
