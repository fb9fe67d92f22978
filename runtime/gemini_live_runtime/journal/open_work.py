"""Follow what a session has begun and not finished.

When its engine dies, the next one takes this up: texts without an answer, calls without a result, results that wait for
a connection, an open turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.records import record


@record
class OpenCall:
    """Tool call without a result."""

    call_id: str
    name: str
    args: dict[str, Any]
    turn: int


@record
class OpenResult:
    """Result of a tool call that waits for a connection."""

    call_id: str
    name: str
    result: dict[str, Any]


@dataclass(slots=True)
class OpenInput:
    """Text that was sent, or words that were understood, without an answer so far."""

    kind: Literal["text", "speech"]
    text: str
    command_id: str = ""


@dataclass(slots=True)
class OpenWork:
    """Unfinished work of a session after the events that it was given."""

    turn: int = 0
    gen: int = 0
    is_turn_open: bool = False
    opened_by: Literal["voice", "typed", "model"] = "voice"
    has_content: bool = False
    """True when the model has said something in the open turn."""
    turn_calls: set[str] = field(default_factory=set)
    """Ids of the calls that were made in the open turn."""
    calls: dict[str, OpenCall] = field(default_factory=dict)
    results: dict[str, OpenResult] = field(default_factory=dict)
    unanswered: list[OpenInput] = field(default_factory=list)
    waiting: dict[str, str] = field(default_factory=dict)
    """Texts that wait for a connection, by the ids of their commands."""
    _cut_below: int = 0

    def apply(self, event: ev.Event) -> None:
        """Take in the next event."""
        self.turn, self.gen = max(self.turn, event.turn), max(self.gen, event.gen)
        match event.payload:
            case ev.TranscriptDelta(side="user", text=text):
                self._add_words(text)
            case ev.TranscriptDelta(channel=channel) if channel != "thought":
                self._hear(event)
            case ev.PlaybackStarted():
                self._hear(event)
            case ev.GenerationCompleted(samples=samples) if samples:
                self._hear(event)
            case ev.TurnInterrupted(cut_below=cut_below):
                self._cut_below = max(self._cut_below, cut_below)
            case ev.SendIntended(kind="text", ref=ref, text=text):
                self.waiting[ref] = text
            case ev.TextSent(text=text, command_id=command_id):
                self.waiting.pop(command_id, None)
                self.unanswered.append(OpenInput("text", text, command_id))
            case ev.CommandRefused(command_id=command_id):
                self.waiting.pop(command_id, None)
            case ev.TurnStarted(by=by):
                self.is_turn_open, self.opened_by, self.has_content = True, by, False
                self.turn_calls = set()
            case ev.TurnCompleted(outcome=outcome):
                self.is_turn_open = False
                if outcome != "empty":
                    self.unanswered.clear()
            case ev.ToolCalled(call_id=call_id, name=name, args=args):
                self.calls[call_id] = OpenCall(call_id, name, args, event.turn)
                if self.is_turn_open:
                    self.turn_calls.add(call_id)
            case ev.ToolFinished(call_id=call_id, name=name, status=status, result=result, delivered=delivered):
                self.calls.pop(call_id, None)
                if not delivered and status != "cancelled":
                    self.results[call_id] = OpenResult(call_id, name, result)
            case ev.SendSettled(kind="answer", ref=call_id):
                self.results.pop(call_id, None)
            case ev.SessionEnded():
                # What was open then was told to be lost.
                self.is_turn_open = False
                self.calls.clear()
                self.results.clear()
                self.unanswered.clear()
                self.waiting.clear()
            case _:
                pass

    def _hear(self, event: ev.Event) -> None:
        # What arrives late of an answer that was cut answers nothing.
        if event.turn == self.turn and event.gen >= self._cut_below:
            self.has_content = True
            self.unanswered.clear()

    def _add_words(self, text: str) -> None:
        if self.unanswered and self.unanswered[-1].kind == "speech":
            self.unanswered[-1].text += text
        else:
            self.unanswered.append(OpenInput("speech", text))
