"""Change who finds the user's turns, at once or with the next connection."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.core.effects import ApplyTurnOptions, Effect, LeaveConnection, RenewConnection
from gemini_live_runtime.session.core.microphone import apply_microphone

if TYPE_CHECKING:
    from gemini_live_runtime.commands import SetOptions
    from gemini_live_runtime.session.core.state import CoreState
    from gemini_live_runtime.session.core.turn_options import TurnOptions


CLEARED = "cleared"
"""Reason of the end of a turn that was dropped."""


class TurnDetectionChanges:
    """Turn detection's part of one session's core.

    The server learns in the setup whether it finds the turns, so a change from or to its detector waits for the next
    connection. Until then the present detection stays in force.
    """

    def __init__(self, state: CoreState) -> None:
        self._state = state
        self._next: TurnOptions | None = None
        self._was_on = False

    @property
    def is_pending(self) -> bool:
        """True when a change waits for the next connection."""
        return self._next is not None

    def publish(self, now: float, *, asked: bool = False) -> list[Effect]:
        """Publish the turn detection in force, and the one to come."""
        state, options = self._state, self._next or self._state.turn_options
        coming = options.detection if self._next is not None else ""
        state.emit(
            ev.TurnsChanged(
                detection=state.turn_options.detection,
                next=coming,
                reason=options.reason,
                min_delay_s=options.min_delay_s,
                max_delay_s=options.max_delay_s,
                asked=asked,
            )
        )
        return state.flush(now)

    def accept(self, now: float, order: SetOptions, needs_own_turns: str = "") -> list[Effect]:
        """Take an order; raise `AgentError` for one that cannot be followed.

        What does not wait for a connection is then to be applied: `leave`, then `take`. `needs_own_turns` names what
        of the agent works only where the server does not end the turns.
        """
        state = self._state
        wanted = replace(self._next or state.turn_options, fixed=state.turn_options.fixed).changed(order)
        if needs_own_turns and wanted.detection == "server":
            raise AgentError(
                f"{needs_own_turns} needs turns that this session ends: turn_detection cannot become server",
                remedy="Use client or manual",
                field="turn_detection",
                value="server",
            )
        self._next = wanted
        if state.turn_options.needs_setup(wanted.detection):
            if state.link.has_adapter:
                state.out.append(RenewConnection())
            return self.publish(now, asked=True)
        return []

    @property
    def is_due(self) -> bool:
        """True when a change can be applied on the present connection."""
        return self._next is not None and not self._state.turn_options.needs_setup(self._next.detection)

    def leave(self, now: float) -> list[Effect]:
        """End what the user is saying under the present detection, before a change."""
        state = self._state
        self._was_on = state.microphone_on
        if self._next is not None and self._next.detection != state.turn_options.detection:
            state.microphone_on = False
            apply_microphone(state, now)
        return state.flush(now)

    def close_microphone(self, now: float) -> list[Effect]:
        """Close the microphone as its switch does, which ends the turn."""
        state = self._state
        state.microphone_on = False
        apply_microphone(state, now)
        state.emit_controls("operator", "the turn was committed")
        return state.flush(now)

    def clear(self, now: float, *, by: ev.ClearedBy, fresh: bool, reason: str = "") -> list[Effect]:
        """Drop the user's open turn, and let the server forget it on another connection.

        With `fresh` the newest handle knows part of the turn: a new server session gets the conversation so far.
        """
        state = self._state
        state.streaming_audio = state.facts.voice = False
        if state.manual_activity and state.microphone_on:
            state.microphone_on = False
            apply_microphone(state, now)
            state.emit_controls("engine", "the turn was cleared")
        state.facts.answer_possible_since = None
        state.speech.clear()
        state.link.outbox.audio.forget_turn()
        text = ""
        if state.turns.is_open and state.turns.opened_by == "voice" and not state.turns.has_content:
            text = "".join(item.text for item in state.unanswered if item.kind == "speech")
            state.unanswered = [item for item in state.unanswered if item.kind != "speech"]
            state.close_turn("empty", reason=CLEARED)
        state.emit(ev.TurnCleared(by=by, text=text, reason=reason))
        state.emit_outbox()
        if state.link.is_open:
            state.link.close_gate()
            if fresh:
                state.link.forget_handle()
            state.out.append(LeaveConnection("cleared"))
        return state.flush(now)

    def take(self, now: float) -> list[Effect]:
        """Let the change that waits take effect."""
        state, taken = self._state, self._next
        if taken is None:
            return []
        begins_by_hand = taken.detection == "manual" and not state.manual_activity
        is_same = taken.detection == state.turn_options.detection
        self._next, state.turn_options = None, taken
        if not is_same:
            # By hand the open microphone is a turn: it waits for its switch.
            state.microphone_on = self._was_on and not begins_by_hand
            apply_microphone(state, now)
            if state.microphone_on != self._was_on:
                state.emit_controls("engine", "turns are marked by the microphone switch")
            audio = state.link.outbox.audio
            if begins_by_hand and not audio.holds_speech:
                # The silence that is kept would be a turn of its own.
                audio.drop()
        state.out.append(ApplyTurnOptions())
        return self.publish(now, asked=True)
