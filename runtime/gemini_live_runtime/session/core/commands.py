"""Carry out the commands about the talk itself, or refuse them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.effects import Effect, InterruptModel, Send, Speaker
from gemini_live_runtime.session.core.microphone import apply_microphone
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.turn_rules import TurnRules
from gemini_live_runtime.session.core.typed_text import send_text
from gemini_live_runtime.wire import compose

Handler = Callable[[float, Any, str], list[Effect]]
"""Carries out an order at a time; the last argument is the command's id."""


class CoreCommands:
    """Operator's part of one session's core."""

    def __init__(self, state: CoreState) -> None:
        self._state = state

    def handlers(self) -> dict[type[cmd.Order], Handler]:
        """Return the handler of each kind of order."""
        return {
            cmd.SendText: self._send_text,
            cmd.SetMode: self._set_mode,
            cmd.SetMicrophone: self._set_microphone,
            cmd.SetSpeaker: self._set_speaker,
            cmd.Interrupt: self._interrupt,
            cmd.SetRules: self._set_rules,
            cmd.HangUp: self._hang_up,
        }

    def _set_speaker(self, now: float, order: cmd.SetSpeaker, command_id: str) -> list[Effect]:
        state = self._state
        state.speaker_on = order.on
        state.out.append(Speaker(order.on))
        state.emit_controls("operator")
        return state.flush(now)

    def _set_rules(self, now: float, order: cmd.SetRules, command_id: str) -> list[Effect]:
        state = self._state
        return self._adopt(now, state.rules.changed(order.changes, client=state.client_activity))

    def take_rules_of(self, now: float, rules: TurnRules) -> list[Effect]:
        """Let those rules hold that are an agent's own, since it has begun to speak."""
        own = self._state.rules.with_own(rules)
        return [] if own == self._state.rules else self._adopt(now, own)

    def _adopt(self, now: float, rules: TurnRules) -> list[Effect]:
        state = self._state
        state.set_rules(rules)
        state.emit(ev.RulesChanged(rules=rules.options()))
        return state.flush(now)

    def _hang_up(self, now: float, order: cmd.HangUp, command_id: str) -> list[Effect]:
        self._state.end(order.reason, 0)
        return self._state.flush(now)

    def _send_text(self, now: float, order: cmd.SendText, command_id: str) -> list[Effect]:
        state, text = self._state, order.text
        state.presence.on_sign(now)
        if not text.strip():
            state.refuse(command_id, order.command, "There is nothing to send: the text is empty")
        elif len(text) > cmd.MAX_TEXT:
            state.refuse(
                command_id,
                order.command,
                f"The text has {len(text)} characters, at most {cmd.MAX_TEXT} can be sent at once",
            )
        elif state.is_draining:
            state.refuse(command_id, order.command, "Not sent: the session ends once all that is owed is said")
        else:
            return self.take_text(now, command_id, text)
        return state.flush(now)

    def take_text(self, now: float, command_id: str, text: str) -> list[Effect]:
        """Send a text, or keep it until there is a connection."""
        state = self._state
        if state.link.is_open:
            send_text(state, command_id, text, now)
        # It waits there until the connection is ready and the model knows what it has to know.
        elif not state.link.outbox.add_text(command_id, text):
            count = state.link.policy.max_texts
            text = f"Not sent: {count} texts are waiting for a connection already"
            state.refuse(command_id, cmd.SendText.command, text)
        else:
            state.wake("a text")
        state.emit_outbox()
        return state.flush(now)

    def _set_mode(self, now: float, order: cmd.SetMode, command_id: str) -> list[Effect]:
        state = self._state
        if order.mode == "voice" and (state.deaf_reason or not state.input_open):
            problem = state.deaf_reason or state.input_problem or "No microphone is open"
            # The wish is kept: voice mode comes with the microphone.
            state.voice_returns = not state.deaf_reason
            state.refuse(command_id, order.command, f"Staying in text mode. {problem}")
        else:
            state.mode, state.voice_returns = order.mode, False
            apply_microphone(state, now)
            state.emit_controls("operator")
        return state.flush(now)

    def _set_microphone(self, now: float, order: cmd.SetMicrophone, command_id: str) -> list[Effect]:
        state = self._state
        if state.mode == "text":
            state.refuse(command_id, order.command, "The microphone is off in text mode")
        else:
            state.microphone_on = order.on
            apply_microphone(state, now)
            state.emit_controls("operator")
        return state.flush(now)

    def interrupt(self, now: float) -> list[Effect]:
        """Stop what the model is saying, protected or not; nothing when it is silent."""
        self._state.broken = None
        if self._state.facts.speaking or self._state.playing:
            self._cut(now)
        return self._state.flush(now)

    def _interrupt(self, now: float, order: cmd.Interrupt, command_id: str) -> list[Effect]:
        state = self._state
        if state.speeches.is_protected:
            state.refuse(command_id, order.command, "This answer may not be interrupted")
        elif state.facts.speaking or state.playing:
            self._cut(now)
        elif state.broken is not None:
            state.broken = None
        else:
            state.refuse(command_id, order.command, "There is nothing to interrupt")
        return state.flush(now)

    def _cut(self, now: float) -> None:
        state = self._state
        state.cut("operator", now, "key")
        if state.turns.is_open:
            state.close_turn("interrupted")
        if state.manual_activity and not state.streaming_audio and state.facts.status == "ready":
            state.out.append(InterruptModel())
            if state.mode == "voice" and state.input_open:
                # What is said next, once the microphone is opened, belongs to this activity.
                state.streaming_audio = True
            else:
                state.out.append(Send(compose.activity_end()))
