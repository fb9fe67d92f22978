"""Derive what listeners get from a session's events and its transcript."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.chat import (
    AgentHandoff,
    ChatItem,
    ChatMessage,
    FunctionCall,
    FunctionCallOutput,
    items_of,
)
from gemini_live_runtime.session.agent.listeners.session_events import (
    AgentState,
    AgentStateChangedEvent,
    CloseEvent,
    CloseReason,
    ConversationItemAddedEvent,
    ErrorEvent,
    ErrorSource,
    FunctionToolsExecutedEvent,
    MetricsCollectedEvent,
    SessionEvent,
    SpeechCreatedEvent,
    UserInputTranscribedEvent,
    UserStateChangedEvent,
    agent_state_of,
    listener_place,
)
from gemini_live_runtime.session.agent.problems import ProblemFinder

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.transcript import TranscriptBuffer

_REASONS: dict[str, CloseReason] = {
    "request": CloseReason.USER_INITIATED,
    "drain": CloseReason.TASK_COMPLETED,
    "limit": CloseReason.LIMIT_REACHED,
    "error": CloseReason.ERROR,
}

OF_ERRORS = listener_place(ErrorEvent.type)

MAX_TURNS = 100
"""Turns whose told items are remembered."""


@dataclass(slots=True)
class _Batch:
    """Calls of one turn and generation, and the ends of some of them."""

    of: tuple[int, int]
    calls: dict[str, ev.ToolCalled] = field(default_factory=dict)
    ended: dict[str, ev.ToolFinished] = field(default_factory=dict)


class EventViews:
    """Views of one session's events, in their order."""

    KINDS = (
        ev.SessionStarted,
        ev.AgentHandedOff,
        ev.SessionState,
        ev.UserStateChanged,
        ev.TranscriptDelta,
        ev.TextSent,
        ev.SpeechChanged,
        ev.TurnInterrupted,
        ev.TurnCompleted,
        ev.ToolCalled,
        ev.ToolFinished,
        ev.TurnMeasured,
        ev.UsageReported,
        ev.SessionEnded,
        ev.CodeFailed,
        ev.ConnectionClosed,
        *ProblemFinder.KINDS,
    )

    def __init__(
        self,
        transcript: TranscriptBuffer,
        speech_of: Callable[[ev.SpeechChanged], Any],
        publish: Callable[[SessionEvent], None],
    ) -> None:
        """`speech_of(changed)` returns the handle of the speech that an event is about."""
        self._transcript = transcript
        self._speech_of = speech_of
        self._publish = publish
        self._problems = ProblemFinder()
        self._has_begun = False
        self._speeches: dict[str, int] = {}
        """Speeches that are not over, with their turns."""
        self._told: dict[int, int] = {}
        """Number of items told of, by turn; the user's is the first."""
        self._batches: dict[str, _Batch] = {}
        """Calls that were not told of, with those of the same turn and generation."""
        self._newest = _Batch((0, 0))
        self.agent_state: AgentState = "initializing"

    def on_event(self, event: ev.Event) -> None:
        """Publish the views of an event."""
        at, payload = event.t, event.payload
        match payload:
            case ev.SessionStarted(agent=agent):
                self._add(at, AgentHandoff("", agent))
            case ev.AgentHandedOff(previous=previous, agent=agent):
                self._add(at, AgentHandoff(previous, agent))
            case ev.SessionState(word=word):
                self._on_word(at, word)
            case ev.UserStateChanged(old=old, new=new):
                self._publish(UserStateChangedEvent(created_at=at, old_state=old, new_state=new))
            case ev.TranscriptDelta(side="user"):
                self._transcribe(at, event.turn, is_final=False)
            case ev.TextSent():
                self._tell_user(at, event.turn)
            case ev.SpeechChanged():
                self._on_speech(at, event.turn, payload)
            case ev.TurnInterrupted():
                self._tell_model(at, event.turn)
            case ev.TurnCompleted():
                self._tell_user(at, event.turn)
                if event.turn not in self._speeches.values():
                    self._tell_model(at, event.turn)
            case ev.ToolCalled(call_id=call_id):
                self._tell_user(at, event.turn)
                if self._newest.of != (event.turn, event.gen):
                    self._newest = _Batch((event.turn, event.gen))
                self._newest.calls[call_id] = payload
                self._batches[call_id] = self._newest
            case ev.ToolFinished():
                self._on_finished(at, payload)
            case ev.TurnMeasured() | ev.UsageReported():
                self._publish(MetricsCollectedEvent(created_at=at, metrics=payload))
            case ev.SessionEnded(reason=reason, by=by):
                error = reason if by == "error" else ""
                self._publish(CloseEvent(created_at=at, reason=_REASONS[by], error=error))
            case _:
                self._on_problem(at, payload)

    def _add(self, at: float, item: ChatItem) -> None:
        self._publish(ConversationItemAddedEvent(created_at=at, item=item))

    # -- states ------------------------------------------------------------------------------------------------------

    def _on_word(self, at: float, word: ev.StateWord) -> None:
        state, old = agent_state_of(word, has_begun=self._has_begun), self.agent_state
        self._has_begun = self._has_begun or state != "initializing"
        if state != old:
            self.agent_state = state
            self._publish(AgentStateChangedEvent(created_at=at, old_state=old, new_state=state))

    # -- messages ----------------------------------------------------------------------------------------------------

    def _transcribe(self, at: float, number: int, *, is_final: bool) -> None:
        turn = self._transcript.turn(number)
        if turn is not None and turn.user.strip():
            self._publish(UserInputTranscribedEvent(created_at=at, transcript=turn.user.strip(), is_final=is_final))

    def _tell_user(self, at: float, number: int) -> None:
        """Add the user's message of a turn, once it has one."""
        turn = self._transcript.turn(number)
        if turn is None or number in self._told or not turn.user.strip():
            return
        self._note(number, 1)
        self._transcribe(at, number, is_final=True)
        self._add(at, ChatMessage("user", turn.user.strip()))

    def _tell_model(self, at: float, number: int) -> None:
        """Add the model's messages of a turn that were not added yet."""
        self._tell_user(at, number)
        turn = self._transcript.turn(number)
        if turn is None:
            return
        said = [item for item in items_of(turn) if isinstance(item, ChatMessage) and item.role == "assistant"]
        told = self._told.get(number, 1)
        for item in said[told - 1 :]:
            self._add(at, item)
        self._note(number, max(told, len(said) + 1))

    def _note(self, number: int, count: int) -> None:
        self._told[number] = count
        while len(self._told) > MAX_TURNS:
            del self._told[next(iter(self._told))]

    def _on_speech(self, at: float, number: int, changed: ev.SpeechChanged) -> None:
        if changed.id not in self._speeches:
            handle = self._speech_of(changed)
            self._publish(
                SpeechCreatedEvent(
                    created_at=at,
                    user_initiated=changed.source == "reply",
                    source=changed.source,
                    speech_handle=handle,
                )
            )
            self._speeches[changed.id] = -1
        if changed.status == "speaking":
            self._speeches[changed.id] = number
        elif changed.status in ("done", "interrupted", "dropped"):
            turn = self._speeches.pop(changed.id)
            if changed.status == "done":
                # Of one that was cut, it is known a moment later what was heard.
                self._tell_model(at, turn)

    # -- tools -------------------------------------------------------------------------------------------------------

    def _on_finished(self, at: float, finished: ev.ToolFinished) -> None:
        # A server may make thousands of calls at once: each ends in a step that does not look at the others.
        if (batch := self._batches.get(finished.call_id)) is None:
            return
        batch.ended[finished.call_id] = finished
        if len(batch.ended) < len(batch.calls):
            return
        calls = tuple(call_of(call) for call in batch.calls.values())
        outputs = tuple(output_of(batch.ended[call_id]) for call_id in batch.calls)
        for call_id in batch.calls:
            # A server may use an id again, for a call of a later generation.
            if self._batches.get(call_id) is batch:
                del self._batches[call_id]
        # What is called in the same generation from here on is told of by itself.
        self._newest = _Batch((0, 0)) if batch is self._newest else self._newest
        self._publish(FunctionToolsExecutedEvent(created_at=at, function_calls=calls, function_call_outputs=outputs))

    # -- faults ------------------------------------------------------------------------------------------------------

    def _on_problem(self, at: float, payload: ev.Payload) -> None:
        source: ErrorSource = "session"
        match payload:
            case ev.CodeFailed(where=where) if where == OF_ERRORS:
                # A listener that fails at everything would be called for its own failure, without end.
                return
            case ev.CodeFailed(where=where, error=error):
                source, text = "code", f"{where}: {error}"
            case ev.ConnectionClosed(requested=False, moved=False, reason=reason, sentence=sentence):
                source, text = "connection", sentence or reason or "The connection was lost"
            case ev.PartHealth(part=part):
                source, text = part, self._problems.text_of(payload)
            case ev.SoundHealth() | ev.OutboxChanged():
                source, text = "sound", self._problems.text_of(payload)
            case _:
                text = self._problems.text_of(payload)
        if text:
            self._publish(ErrorEvent(created_at=at, error=text, source=source))


def call_of(called: ev.ToolCalled) -> FunctionCall:
    """Return a call as an item of the conversation."""
    return FunctionCall(called.call_id, called.name, json.dumps(called.args, ensure_ascii=False))


def output_of(finished: ev.ToolFinished) -> FunctionCallOutput:
    """Return the answer of a call as an item of the conversation."""
    output = json.dumps(finished.result, ensure_ascii=False)
    return FunctionCallOutput(finished.call_id, finished.name, output, finished.status)
