"""Decide what a session does: events in, effects out.

No I/O, no clock of its own.

Every method that decides takes the time (`now`, clock seconds) and returns the effects to perform, in order. The live
session performs them and reports back. The parts share one `CoreState`:

- `connection`: a connection is made, renewed or lost; typed texts wait for it
- `server`: what the server says
- `tools`: calls and their answers
- `interruptions`: the user's voice over the model's speech
- `audio`: playback, voice marks, devices
- `commands`: what the operator orders
- `cancelled`: speeches that were interrupted before they began
- `turn_detection`: who finds the user's turns
"""

from __future__ import annotations

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.audio_events import AudioEvents
from gemini_live_runtime.session.core.cancelled_speech import CancelledSpeeches
from gemini_live_runtime.session.core.commands import CoreCommands
from gemini_live_runtime.session.core.connection_events import ConnectionEvents
from gemini_live_runtime.session.core.effects import Effect, Send
from gemini_live_runtime.session.core.interruptions import Interruptions
from gemini_live_runtime.session.core.microphone import apply_microphone
from gemini_live_runtime.session.core.missing_answer import awaits_answer, stopped_since
from gemini_live_runtime.session.core.server_events import ServerEvents
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S, OWED_PATIENCE_S
from gemini_live_runtime.session.core.tool_events import ToolEvents
from gemini_live_runtime.session.core.turn_detection import TurnDetectionChanges


class SessionCore:
    """Core of one session."""

    def __init__(self, state: CoreState) -> None:
        self.state = state
        self.tools = ToolEvents(state)
        self.connection = ConnectionEvents(state, self.tools)
        self.interruptions = Interruptions(state)
        self.server = ServerEvents(state, self.connection, self.tools, self.interruptions)
        self.audio = AudioEvents(state)
        self.commands = CoreCommands(state)
        self.cancelled = CancelledSpeeches(state)
        self.turn_detection = TurnDetectionChanges(state)

    def is_over(self) -> bool:
        """Return True when the session has ended, or is about to."""
        return self.state.ended

    @property
    def is_quiet(self) -> bool:
        """True when nothing is going on and nothing is owed.

        So it is while a call waits for another agent, with which the user talks, and once an answer was given up.
        """
        state, facts = self.state, self.state.facts
        # The turn of a call lasts as long as the call.
        is_turn_waiting = state.calls.is_waiting(state.turns.calls) and not state.ledger.current_opened
        is_turn_open = state.turns.is_open and not (is_turn_waiting or self._is_answer_given_up)
        return (
            facts.status in ("ready", "dormant", "error")
            and not state.playing
            and not len(state.calls)
            # Without a connection nothing more happens by itself.
            and (facts.status == "error" or not (is_turn_open or state.link.outbox.texts))
            and not facts.voice
            and not facts.owed
            and facts.answer_possible_since is None
        )

    def end(self, now: float, reason: str, exit_code: int, by: ev.EndedBy = "request") -> list[Effect]:
        """End the session."""
        self.state.end(reason, exit_code, by)
        return self.state.flush(now)

    def drain(self, now: float) -> list[Effect]:
        """Take nothing more of the user's: the session ends once all that is owed is said."""
        state = self.state
        if not (state.ended or state.is_draining):
            state.is_draining = True
            state.emit(ev.Notice(level="info", code="draining", text="The session ends once all that is owed is said"))
            if self._is_answer_given_up and state.facts.status == "ready":
                state.close_turn("empty", reason="no answer")
            apply_microphone(state, now)
        return state.flush(now)

    @property
    def _is_answer_given_up(self) -> bool:
        """True when the turn of a text or a call is open only for a late answer."""
        state = self.state
        is_owed = state.calls.open_ids or state.link.outbox.texts or self.server.is_answering
        return state.turns.is_open and state.turns.opened_by != "voice" and not is_owed

    def on_not_sent(self, now: float, send: Send) -> list[Effect]:
        """Take a typed text that could not go out: the next connection gets it."""
        state = self.state
        if send.text and send.command_id not in state.set_aside:
            item = next((item for item in state.unanswered if item.command_id == send.command_id), None)
            if item is not None and not state.ended:
                item.mark = 0
            elif not send.command_id:
                # Words that were sent again as text: no command is to be answered.
                state.emit(ev.SendSettled(kind="speech", outcome="unknown", text=send.text))
            else:
                ended = "session ended" if state.ended else "connection ended, and its turn was over"
                state.refuse(send.command_id, cmd.SendText.command, f"Not sent, the {ended}: {send.text[:200]}")
        return state.flush(now)

    def on_held(self, now: float, held: bool) -> list[Effect]:
        """Note that the operator holds the agent, or lets it go on."""
        self.state.is_held = held
        self.state.watchdog.on_sign(now)
        return self.state.flush(now)

    # -- time --------------------------------------------------------------------------------------------------------

    def deadline(self, now: float) -> float | None:
        """Return seconds until `tick` has something to do, or None."""
        state, facts = self.state, self.state.facts
        wait = facts.next_change(now)
        check = state.limits.next_check((now - state.started_at) / 60)
        if check is not None:
            wait = _sooner(wait, check)
        away = state.presence.next_check(now, state.rules.user_away_timeout_s)
        if away is not None:
            wait = _sooner(wait, away)
        goes_on = self.interruptions.next_check(now)
        if goes_on is not None:
            wait = _sooner(wait, goes_on)
        cancelled = self.cancelled.next_check(now)
        if cancelled is not None:
            wait = _sooner(wait, cancelled)
        if facts.owed and awaits_answer(state):
            wait = _sooner(wait, state.watchdog.next_check(facts.owed_at, now))
        if (since := stopped_since(state)) is not None:
            wait = _sooner(wait, state.watchdog.next_check(since, now))
        rotate_at = state.link.rotate_at
        if rotate_at is None or (wait is not None and wait <= rotate_at - now):
            return wait
        return rotate_at - now if rotate_at > now else 0.0

    def tick(self, now: float) -> list[Effect]:
        """Do what time calls for.

        Ask again, give up on answers that did not come, leave an old connection, check the limits.
        """
        state, facts = self.state, self.state.facts
        if facts.answer_possible_since is not None and now - facts.answer_possible_since >= ANSWER_PATIENCE_S:
            may_be_dead = state.link.may_be_dead(facts.answer_possible_since)
            facts.answer_possible_since = None
            state.speech.clear()
            if state.link.is_open and not may_be_dead:
                # The model has passed over it, and so would the next one.
                state.link.outbox.audio.on_heard()
                state.unread_answers.clear()
        self.interruptions.tick(now)
        self.cancelled.tick(now)
        self.connection.watch(now)
        has_waited = facts.owed and now - facts.owed_at >= OWED_PATIENCE_S
        # While the server's silence is watched, the watchdog decides.
        if has_waited and not (state.calls.in_foreground or awaits_answer(state) or state.link.leaving == "stalled"):
            self._give_up_answer()
        state.check_limits(now)
        return state.flush(now)

    def _give_up_answer(self) -> None:
        """Close the turn, or warn, when no answer arrived in time."""
        turns = self.state.turns
        self.state.facts.owed = False
        is_told = self.state.give_up_prompted()
        self.state.unread_answers.clear()
        self.state.prompted, self.state.broken = False, None
        self.state.tell_speeches(self.state.speeches.on_given_up("The model did not answer"))
        if turns.is_open and (turns.opened_by == "voice" or turns.call_cancelled):
            # Silence may be the model's answer to speech; typed text was certainly a question, unless it led to a call
            # that the server took back.
            self.state.close_turn("empty", reason="no answer")
            return
        if not is_told:
            text = f"The model has not answered for {OWED_PATIENCE_S:.0f} s"
            self.state.emit(ev.Notice(level="warning", code="no-answer", text=text, remedy="Wait, or send it again"))
        if self.state.is_draining and turns.is_open:
            # Nobody sends it again.
            self.state.close_turn("empty", reason="no answer")


def _sooner(one: float | None, other: float) -> float:
    return other if one is None else min(one, other)
