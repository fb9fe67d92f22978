"""The part of the core that hears the operator: commands are carried out or refused with a reason."""

from __future__ import annotations

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.base import CoreBase
from gemini_live_runtime.session.core.effects import (
    Effect,
    Send,
    Speaker,
)
from gemini_live_runtime.wire import compose

MAX_QUEUED_TEXTS = 32
"""Texts accepted before the connection is ready."""


class OperatorSide(CoreBase):
    """What the operator does to a session."""

    def command(self, now: float, command: cmd.Command) -> list[Effect]:
        """Carry out a command, or say why not."""
        order = command.order
        if self._ended:
            self._refuse(command.id, order.command, "The session is over")
        elif isinstance(order, cmd.SendText):
            self._order_text(command.id, order.text, now)
        elif isinstance(order, cmd.SetMode):
            self._order_mode(command.id, order.mode, now)
        elif isinstance(order, cmd.SetMicrophone):
            self._order_microphone(command.id, order.on, now)
        elif isinstance(order, cmd.SetSpeaker):
            self.speaker_on = order.on
            self._out.append(Speaker(order.on))
            self._emit_controls("operator")
        elif isinstance(order, cmd.Interrupt):
            self._order_interrupt(command.id, now)
        elif isinstance(order, cmd.HangUp):
            return self.ending(now, order.reason, 0)
        else:
            self._refuse(command.id, order.command, f"This session cannot do {order.command}")
        return self._flush(now)

    def _order_text(self, command_id: str, text: str, now: float) -> None:
        if not text.strip():
            self._refuse(command_id, cmd.SendText.command, "There is nothing to send: the text is empty")
        elif len(text) > cmd.MAX_TEXT:
            self._refuse(
                command_id,
                cmd.SendText.command,
                f"The text has {len(text)} characters, at most {cmd.MAX_TEXT} can be sent at once",
            )
        elif self._facts.status == "ready" and not self._holding:
            self._send_text(command_id, text, now)
        elif self._facts.status == "error":
            self._refuse(command_id, cmd.SendText.command, f"Not sent, there is no connection: {self._facts.why}")
        elif len(self._queued_texts) >= MAX_QUEUED_TEXTS:
            self._refuse(command_id, cmd.SendText.command, "Not sent: too many texts are waiting for the connection")
        else:
            self._queued_texts.append((command_id, text))

    def _order_mode(self, command_id: str, mode: ev.Mode, now: float) -> None:
        if mode == "voice" and (self._deaf or not self.input_open):
            problem = self._deaf or self._input_problem or "No microphone is open"
            self._refuse(command_id, cmd.SetMode.command, f"Staying in text mode. {problem}")
            return
        self.mode = mode
        self._apply_microphone(now)
        self._emit_controls("operator")

    def _order_microphone(self, command_id: str, on: bool, now: float) -> None:
        if self.mode == "text":
            self._refuse(command_id, cmd.SetMicrophone.command, "The microphone is off in text mode")
            return
        self.microphone_on = on
        self._apply_microphone(now)
        self._emit_controls("operator")

    def _order_interrupt(self, command_id: str, now: float) -> None:
        if not (self._facts.speaking or self._playing):
            self._refuse(command_id, cmd.Interrupt.command, "There is nothing to interrupt")
            return
        self._cut("operator", now)
        if self.turns.is_open:
            self._close_turn("interrupted")
        if self._manual and not self._streaming_audio:
            self._out.append(Send(compose.activity_start()))
            if self.mode == "voice" and self.input_open:
                # What is said next, once the microphone is opened, belongs to this activity.
                self._streaming_audio = True
            else:
                self._out.append(Send(compose.activity_end()))
