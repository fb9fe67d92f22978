"""Follow what a session has begun and not finished.

When its engine dies, the next one takes this up: texts without an answer, calls without a result, results that wait for
a connection, an open turn.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.records import mutable_record, record

MAX_ENDED_CALLS = 64
"""Calls that have ended whose results are kept."""


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


@mutable_record
class OpenInput:
    """Text that was sent, or words that were understood, without an answer so far.

    `is_prompted`: a server that may not have known it was asked to answer it.
    """

    kind: Literal["text", "speech"]
    text: str
    command_id: str = ""
    is_prompted: bool = False


@mutable_record
class OpenWork:
    """Unfinished work of a session after the events that it was given."""

    turn: int = 0
    gen: int = 0
    is_turn_open: bool = False
    opened_by: Literal["voice", "typed", "model"] = "voice"
    has_content: bool = False
    """True when the model has said something in the open turn."""
    asked: str = ""
    """Words of the user that the newest answer is to."""
    is_whole: bool = False
    """True when all of that answer has arrived."""
    is_ended: bool = False
    """True when the session had an orderly end, and nothing was said since."""
    turn_calls: set[str] = field(default_factory=set)
    """Ids of the calls that were made in the open turn."""
    calls: dict[str, OpenCall] = field(default_factory=dict)
    ended_calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Newest calls that have ended, with their results: the server may repeat one."""
    results: dict[str, OpenResult] = field(default_factory=dict)
    unanswered: list[OpenInput] = field(default_factory=list)
    waiting_sound_s: float = 0.0
    """Seconds of sound that wait for a connection."""
    waiting: dict[str, str] = field(default_factory=dict)
    """Texts that wait for a connection, by the ids of their commands."""
    _cut_below: int = 0
    _t: float = 0.0
    _speaks: bool = False
    """True between the marks of the user's voice."""
    _unread_voice: float | None = None
    """Time of the newest mark of a voice of which there are no words and no answer."""

    def apply(self, event: ev.Event) -> None:
        """Take in the next event."""
        self.turn, self.gen, self._t = max(self.turn, event.turn), max(self.gen, event.gen), event.t
        match event.payload:
            case ev.TranscriptDelta(side="user", text=text):
                self._add_words(text)
                self._read_voice()
            case ev.TranscriptDelta(channel=channel) if channel != "thought":
                self.is_whole = False
                self._hear(event)
            case ev.VoiceMarked(speaking=speaking):
                self._speaks = speaking
                if speaking or self._unread_voice is not None:
                    self._unread_voice = event.t
            case ev.SpeechNotUnderstood():
                self._read_voice()
            case ev.OutboxChanged(kind="audio", queued=queued):
                self.waiting_sound_s = queued
            case ev.PlaybackStarted():
                self._hear(event)
            case ev.GenerationCompleted(samples=samples):
                self.is_whole = True
                if samples:
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
                self.turn_calls, self.is_ended = set(), False
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
                self._note_end(call_id, result)
                if not delivered and status != "cancelled":
                    self.results[call_id] = OpenResult(call_id, name, result)
            case ev.SendSettled(kind="answer", ref=call_id):
                self.results.pop(call_id, None)
            case ev.SendSettled(kind="text" | "speech" as kind, outcome="unknown", ref=ref):
                # It is the user's to say again.
                self.unanswered = [item for item in self.unanswered if (item.kind, item.command_id) != (kind, ref)]
            case ev.SendSettled(outcome="prompted", ref=ref):
                for item in self.unanswered:
                    item.is_prompted = item.is_prompted or item.command_id == ref
            case ev.SessionEnded():
                # What was open then was told to be lost.
                self.is_turn_open, self.is_ended = False, True
                self.calls.clear()
                self.results.clear()
                self.unanswered.clear()
                self.waiting.clear()
                self.waiting_sound_s, self._speaks, self._unread_voice = 0.0, False, None
            case ev.SessionResumed():
                # What was said to the engine before was told to be lost.
                self.waiting_sound_s, self._speaks, self._unread_voice = 0.0, False, None
            case _:
                pass

    def _note_end(self, call_id: str, result: dict[str, Any]) -> None:
        self.ended_calls[call_id] = result
        if len(self.ended_calls) > MAX_ENDED_CALLS:
            del self.ended_calls[next(iter(self.ended_calls))]

    def _hear(self, event: ev.Event) -> None:
        # What arrives late of an answer that was cut answers nothing.
        if event.turn == self.turn and event.gen >= self._cut_below:
            if not self.has_content:
                self.asked = " ".join(item.text.strip() for item in self.unanswered)
            self.has_content = True
            self.unanswered.clear()
            self._read_voice()

    def was_speaking(self, patience_s: float) -> bool:
        """Return True when a voice had no words and no answer yet, for less than that."""
        since = self._unread_voice
        return since is not None and (self._speaks or self._t - since < patience_s)

    def _read_voice(self) -> None:
        self._unread_voice = self._t if self._speaks else None

    def _add_words(self, text: str) -> None:
        if self.unanswered and self.unanswered[-1].kind == "speech":
            self.unanswered[-1].text += text
        else:
            self.unanswered.append(OpenInput("speech", text))
