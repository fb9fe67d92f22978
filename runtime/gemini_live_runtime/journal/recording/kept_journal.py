"""Read the recording of a dead engine, for the one that goes on with its session."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import EngineError, JournalError
from gemini_live_runtime.journal.completion.completion_gate import RealtimeCompletionGate
from gemini_live_runtime.journal.completion.open_work import OpenWork
from gemini_live_runtime.journal.files.lines import EVENTS_FILE
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.recording.reader import EventLines, read_journal, regular
from gemini_live_runtime.journal.sessions.retention import is_running
from gemini_live_runtime.records import mutable_record

_FOLLOWED = (
    ev.SessionStarted,
    ev.StateChanged,
    ev.PhaseEntered,
    ev.HandoffRequested,
    ev.AgentHandedOff,
    ev.ChatReplaced,
    ev.SpeechChanged,
    ev.TurnStarted,
    ev.TurnCompleted,
    ev.TurnInterrupted,
    ev.TranscriptDelta,
    ev.TextSent,
    ev.ToolCalled,
    ev.ToolFinished,
)


@mutable_record
class KeptJournal:
    """Recording of a session: its view, unfinished work, completion, and newest event.

    `end` is the size in bytes of the whole lines; what follows them is torn. `events` are those that a snapshot may
    not know, in order.
    """

    folder: Path
    view: SessionView = field(default_factory=SessionView)
    work: OpenWork = field(default_factory=OpenWork)
    gate: RealtimeCompletionGate = field(default_factory=RealtimeCompletionGate)
    end: int = 0
    events: list[ev.Event] = field(default_factory=list)

    def add(self, event: ev.Event) -> None:
        """Take in the next event."""
        apply(self.view, event)
        self.work.apply(event)
        self.gate.apply_recorded(event)
        if isinstance(event.payload, _FOLLOWED):
            self.events.append(event)

    @property
    def is_ended(self) -> bool:
        """True when the session had an orderly end."""
        return bool(self.view.ended)


def read_kept(folder: Path) -> KeptJournal:
    """Read the recording in `folder`.

    Raises `EngineError` when an engine still writes it, `JournalError` when it holds no session.
    """
    journal = read_journal(folder)
    if is_running(folder):
        raise EngineError(
            f"The session {folder.name} is running",
            remedy=f"Attach to it with: gemini-live-tui attach {folder.name}",
            field="session id",
            value=folder.name,
        )
    if not journal.header:
        raise JournalError(
            f"The session {folder.name} cannot go on: the first line of its recording is damaged",
            remedy=f"Look at it with: gemini-live-tui replay {folder.name}",
            field="session id",
            value=folder.name,
        )
    kept = KeptJournal(folder)
    with regular(folder / EVENTS_FILE) as file:
        lines = EventLines(file, journal.report, has_header=True)
        for event, _, _ in lines:
            if event is not None:
                kept.add(event)
        kept.end = lines.offset
    if not kept.view.seq:
        raise JournalError(
            f"The session {folder.name} cannot go on: nothing is recorded of it",
            remedy="Start a new one",
            field="session id",
            value=folder.name,
        )
    return kept
