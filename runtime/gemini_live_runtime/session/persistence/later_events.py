"""Bring a snapshot up to the last event that its engine has recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.chat import messages_from_json, turns_of
from gemini_live_runtime.conversation.transcript import ToolCallSummary, TranscriptBuffer
from gemini_live_runtime.redactor import REDACTED
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot, is_persistent


def with_later_events(snapshot: SessionSnapshot, events: Sequence[ev.Event], now: float) -> SessionSnapshot:
    """Return the snapshot with what `events`, which follow it, have changed.

    `now` is the session's time (s). A value that an event has without its secrets, or cut, stays as the snapshot has
    it.
    """
    state: dict[str, Any] = dict(snapshot.state)
    phases, agent, handle = snapshot.phases, snapshot.agent, snapshot.handle
    is_task_speaking = False
    for event in events:
        match event.payload:
            case ev.StateChanged(key=key, removed=True):
                state.pop(key, None)
            case ev.StateChanged(key=key, new=value) if is_persistent(key) and not _is_altered(value):
                state[key] = value
            case ev.AgentHandedOff(by="task", previous=previous, agent=speaking):
                # Nobody awaits the task in the engine that goes on.
                agent = agent or previous
                is_task_speaking = speaking != agent
            case ev.AgentHandedOff(agent=speaking, chat=chat):
                agent, phases, is_task_speaking = speaking, None, False
                if chat == "fresh":
                    # The handle is of a server session that knows more.
                    handle = ""
            case ev.ChatReplaced():
                handle = ""
            case ev.PhaseEntered(phase=phase) if not is_task_speaking:
                before = dict(phases or {"history": []})
                phases = {**before, "current": phase, "entered": True, "seconds_in_phase": max(0.0, now - event.t)}
            case _:
                pass
    return replace(snapshot, state=state, phases=phases, agent=agent, handle=handle)


def waiting_handoff(events: Sequence[ev.Event]) -> ev.HandoffRequested | None:
    """Return the hand-off that still waits after `events`; None without one.

    None for that of a task as well: no code of the engine that goes on awaits it.
    """
    waiting: ev.HandoffRequested | None = None
    for event in events:
        match event.payload:
            case ev.HandoffRequested(problem="") as asked:
                waiting = asked
            case ev.HandoffRequested(agent=agent) if waiting is not None and agent == waiting.agent:
                waiting = None
            case ev.AgentHandedOff():
                waiting = None
            case _:
                pass
    return None if waiting is None or waiting.by == "task" else waiting


class TranscriptReplay:
    """Add to a snapshot's transcript what recorded events say of the talk."""

    def __init__(self, transcript: TranscriptBuffer, snapshot: SessionSnapshot) -> None:
        self._transcript = transcript
        self._seq = snapshot.seq
        self._args: dict[str, Any] = {}
        self.told_from = snapshot.told_from
        """Turns at the beginning of which a fresh server session learns nothing."""

    def add_all(self, events: Sequence[ev.Event]) -> None:
        """Add what the snapshot does not have of a session's events."""
        replaced = (event.seq for event in events if isinstance(event.payload, ev.ChatReplaced))
        has_from = max((seq for seq in replaced if seq <= self._seq), default=0)
        known = self._transcript.last_number
        for event in events:
            # A snapshot has no open turn, none of what came later, and nothing of what messages have replaced.
            if event.seq > self._seq or (event.seq > has_from and event.turn > known):
                self._add(event)

    def _add(self, event: ev.Event) -> None:
        transcript, turn = self._transcript, event.turn
        match event.payload:
            case ev.TurnStarted(by=by):
                transcript.begin_turn(turn, by, event.t)
            case ev.TranscriptDelta(side="user", text=text) | ev.TextSent(text=text):
                transcript.add_input(text, turn=turn)
            case ev.TranscriptDelta(channel=channel, text=text) if channel != "thought":
                transcript.add_output(text, turn=turn)
            case ev.ToolCalled(call_id=call_id, args=args):
                self._args[call_id] = args
            case ev.ToolFinished(call_id=call_id, name=name, status=status, result=result):
                args = self._args.pop(call_id, {})
                transcript.add_tool_call(ToolCallSummary.of(call_id, name, args, result, status), turn=turn)
            case ev.TurnInterrupted(heard_text=heard, unheard_text=unheard):
                transcript.interrupted(heard, unheard, turn)
            case ev.TurnCompleted(broke_off=broke_off, unspoken=unspoken):
                if broke_off:
                    transcript.break_off(unspoken)
                transcript.end_turn()
            case ev.SessionStarted(agent=agent) if event.seq > self._seq:
                transcript.add_handoff("", agent)
            case ev.AgentHandedOff(previous=previous, agent=agent, chat=chat) if event.seq > self._seq:
                transcript.add_handoff(previous, agent)
                if chat == "fresh":
                    self.told_from = transcript.count_so_far
            case ev.ChatReplaced(messages=messages):
                transcript.replace(turns_of(messages_from_json(messages), event.t))
                self.told_from = 0
            case _:
                pass


def _is_altered(value: Any) -> bool:
    """Return True when part of a value is missing in its event."""
    if isinstance(value, str):
        return REDACTED in value
    if isinstance(value, dict):
        return "$cut" in value or any(map(_is_altered, value.values()))
    return isinstance(value, list | tuple) and any(map(_is_altered, value))
