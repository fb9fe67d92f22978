"""The part of the core that hears the server: connection, content, interruptions, calls, usage."""

from __future__ import annotations

import json
from math import isfinite
from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError
from gemini_live_runtime.session.core.base import CoreBase
from gemini_live_runtime.session.core.effects import (
    CancelTool,
    Effect,
    EndOfAudio,
    Play,
    RunTool,
    Send,
)
from gemini_live_runtime.session.core.generation import Generation
from gemini_live_runtime.session.ports.messages import context_message
from gemini_live_runtime.tools.background import ToolAnswer
from gemini_live_runtime.tools.dispatch import Outcome
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.codec import pcm_rate
from gemini_live_runtime.wire.messages import (
    AudioFrame,
    Blob,
    FunctionCall,
    ServerContent,
    ServerMessage,
    SessionResumptionUpdate,
    VoiceActivityType,
)


class ServerSide(CoreBase):
    """What the server does to a session."""

    def preparing(self, now: float) -> list[Effect]:
        """What a connection needs is being made ready: a server of our own, a token."""
        self._facts.status, self._facts.why = "connecting", ""
        return self._flush(now)

    def connecting(self, now: float, url: str, *, resuming: bool = False) -> list[Effect]:
        """A connection attempt begins."""
        self._facts.status, self._facts.why = "connecting", "reconnecting" if self._was_connected else ""
        self._emit(ev.ConnectionOpening(url=url, resuming=resuming))
        return self._flush(now)

    def connected(
        self, now: float, *, ms: float, server_session: str, resumed: bool = False, hold: bool = False
    ) -> list[Effect]:
        """`setupComplete` arrived; `resumed`: the server knows the conversation so far.

        With `hold`, typed texts wait until `release`: the model is first told what it has to know.
        """
        self._facts.status = "ready"
        self._was_connected = True
        self._completion_owed = False
        if self.ledger.current_opened:
            # What the lost connection was sending ended with it.
            self._out.append(EndOfAudio(self.ledger.number))
            self.ledger.advance()
        self._facts.why = "" if self.input_open or self.mode == "text" else self._input_problem
        self._emit(ev.ConnectionReady(ms=ms, server_session=server_session, resumed=resumed))
        self._apply_microphone(now)
        if not resumed:
            self._stranded = {call_id for call_id in self._calls.open_ids if self._calls.is_background(call_id)}
            self._stranded |= {call_id for call_id, _, _ in self._unsent_answers}
        self._holding = hold
        return self._flush(now) if hold else self.release(now)

    def release(self, now: float) -> list[Effect]:
        """What has waited for the connection may go out: answers of tools, then typed texts."""
        self._holding = False
        if self._facts.status == "ready":
            answers, self._unsent_answers = self._unsent_answers, []
            for call_id, name, answer in answers:
                self._answer(call_id, name, answer)
                if answer.scheduling != "SILENT":
                    self._owe(now)
            queued, self._queued_texts = self._queued_texts, []
            for command_id, text in queued:
                self._send_text(command_id, text, now)
        return self._flush(now)

    @property
    def unsettled(self) -> bool:
        """Whether the connection is still being made, or the model still being told what it has to know."""
        return self._facts.status in ("offline", "connecting") or self._holding

    @property
    def awaits_tools(self) -> bool:
        """Whether the model waits for the answer of a call."""
        return self._calls.in_foreground > 0

    @property
    def owes_answer(self) -> bool:
        """Whether the model has been asked and has not begun to answer."""
        return self._facts.owed

    def disconnected(self, now: float, error: GeminiLiveError, *, retrying: bool = False) -> list[Effect]:
        """The connection failed or ended unasked: `error` says how. With `retrying` it will be made again."""
        code, reason = 1006, ""
        ended = error if isinstance(error, ConnectionClosedError) else error.__cause__
        if isinstance(ended, ConnectionClosedError):
            code, reason = ended.close_code, ended.reason
        self._emit(ev.ConnectionClosed(close_code=code, reason=reason, sentence=error.message, remedy=error.remedy))
        self._facts.status, self._facts.why = ("connecting", "reconnecting") if retrying else ("error", error.message)
        self._facts.owed = False
        self._facts.voice_ended_at = None
        self._streaming_audio = False
        self._apply_microphone(now)
        if not retrying:
            self._refuse_queued("Not sent, the connection ended")
            self._unsent_answers.clear()
        for call_id in self._calls.open_ids:
            # Nobody waits for a background call: it may still be answered on the next connection.
            if not (retrying and self._calls.is_background(call_id)):
                self._cancel_call(call_id)
        self._close_turn(self.turns.cut_short(), reason="the connection ended")
        return self._flush(now)

    def audio_frame(self, now: float, frame: AudioFrame) -> list[Effect]:
        """The hot path: a message with nothing but model audio."""
        self._model_audio(frame.data, frame.rate)
        return self._flush(now)

    def server_message(self, now: float, message: ServerMessage) -> list[Effect]:
        """Any other message: everything in it counts, content before flags."""
        for problem in message.problems:
            self._emit(
                ev.Notice(level="warning", code="protocol", text=f"Part of a message was not understood: {problem}")
            )
        if message.server_content is not None:
            self._content(message.server_content, now)
        if message.tool_call is not None:
            for call in message.tool_call.function_calls:
                self._tool_call(call)
        if message.tool_call_cancellation is not None:
            for call_id in message.tool_call_cancellation.ids:
                self._cancel_call(call_id)
        if message.voice_activity is not None:
            self._server_voice(message.voice_activity.type, now)
        if message.session_resumption_update is not None:
            self._resumption(message.session_resumption_update)
        if message.go_away is not None:
            self._emit(ev.ConnectionGoAway(time_left_s=_seconds(message.go_away.time_left)))
        if message.usage_metadata is not None:
            self._emit(self._usage.add(message.usage_metadata, self._price))
            self._check_limits(now)
        return self._flush(now)

    def _content(self, content: ServerContent, now: float) -> None:
        if content.input_transcription is not None and content.input_transcription.text:
            self._user_said(content.input_transcription.text, now)
        if content.model_turn is not None:
            for part in content.model_turn.parts:
                if part.inline_data is not None:
                    self._media(part.inline_data)
                if part.text:
                    self._model_said(part.text, "thought" if part.thought else "text")
                if part.function_call is not None:
                    self._tool_call(part.function_call)
        if content.output_transcription is not None and content.output_transcription.text:
            self._model_said(content.output_transcription.text, "speech")
        if content.generation_complete:
            self._generation_complete()
        if content.interrupted:
            self._server_interrupted(now)
        if content.turn_complete:
            self._turn_complete(content, now)

    def _media(self, blob: Blob) -> None:
        mime_type = blob.mime_type or ""
        rate = pcm_rate(mime_type)
        if rate is not None:
            self._model_audio(blob.data, rate)
        else:
            text = f"The model sent {len(blob.data)} bytes of {mime_type or 'unnamed media'}, which cannot be played"
            self._emit(ev.Notice(level="warning", code="media", text=text))

    def _user_said(self, text: str, now: float) -> None:
        if not text.strip() and not self.turns.is_open:
            return
        if not self.turns.is_open:
            self._open_turn("voice")
        self._facts.voice_ended_at = None
        self._owe(now)
        if self.turns.input_ended_at is None:
            self.turns.input_ended_at = now
        self._emit(ev.TranscriptDelta(side="user", text=text))

    def _model_audio(self, pcm: bytes, rate: int) -> None:
        generation = self._model_content()
        generation.received += len(pcm) // 2 * 24_000 // rate
        if not self.ledger.current_is_cut:
            if not generation.drained:
                # After its end nothing more of it is played: waiting for that would never end.
                self._playing.add(generation.number)
                self._facts.speaking = True
            self._out.append(Play(generation.number, pcm, rate))

    def _model_said(self, text: str, channel: Literal["speech", "text", "thought"]) -> None:
        if channel == "thought":
            # Thinking aloud is not speaking, and the answer is still owed.
            if not self.turns.is_open and not self.ledger.current_is_cut:
                self._open_turn("model")
            generation = self.ledger.current(self.turns.number)
        else:
            generation = self._model_content()
            generation.text.append(text)
            # Words may come later than their sound.
            if not self.ledger.current_is_cut and (not generation.complete or self._playing):
                self._facts.speaking = True
        self._emit(ev.TranscriptDelta(side="model", text=text, channel=channel), turn=generation.turn)

    def _model_content(self) -> Generation:
        """The generation that content arriving now belongs to; opens a turn when the model speaks unasked."""
        if not self.ledger.current_is_cut:
            if not self.turns.is_open:
                self._open_turn("model")
            self.turns.has_content = True
            self._facts.owed = False
            self._facts.voice_ended_at = None
            self._facts.interrupted_at = None
            self._completion_owed = False
        generation = self.ledger.current(self.turns.number)
        if not generation.opened:
            # It may have been known before it began to speak, from a thought in a turn that is over.
            generation.opened, generation.turn = True, self.turns.number
        return generation

    def _generation_complete(self) -> None:
        generation = self.ledger.current(self.turns.number)
        generation.complete = True
        self._out.append(EndOfAudio(generation.number))
        if not self.ledger.current_is_cut:
            self._emit(ev.GenerationCompleted())
        if not self._playing:
            self._facts.speaking = False

    def _server_interrupted(self, now: float) -> None:
        already_cut = self.ledger.current_is_cut
        had_content = self.ledger.current_opened
        superseded = self._superseded == self.ledger.number
        if not already_cut:
            self._cut("server", now)
        self._completion_owed = had_content or self.turns.is_open
        if had_content:
            if superseded:
                # It was the answer to an earlier text; the one to the newest is still to come.
                self.turns.has_content = False
                self._owe(now)
            elif self.turns.is_open and self.turns.has_content:
                self._close_turn("interrupted")
            self.ledger.advance()

    def _turn_complete(self, content: ServerContent, now: float) -> None:
        if not self.ledger.current_opened and (self._completion_owed or not self.turns.is_open):
            # The completion of an answer that is already over.
            self._completion_owed = False
            return
        self._completion_owed = False
        self._out.append(EndOfAudio(self.ledger.number))
        was_cut = self.ledger.current_is_cut
        self.ledger.advance()
        if not self._playing:
            self._facts.speaking = False
        status = content.interaction_status
        interaction_over = status is None or str(status) == "IDLE"
        if interaction_over and not was_cut:
            reason = str(content.turn_complete_reason or "")
            self._close_turn("complete" if self.turns.has_content else "empty", reason=reason)

    def _server_voice(self, kind: VoiceActivityType | str | None, now: float) -> None:
        if str(kind) in ("ACTIVITY_START", "ACTIVITY_END"):
            speaking = str(kind) == "ACTIVITY_START"
            self._emit(ev.VoiceMarked(speaking=speaking, source="server"))
            self._voice_changed(now, speaking)

    def _resumption(self, update: SessionResumptionUpdate) -> None:
        if update.resumable and update.new_handle:
            self.resumption_handle = update.new_handle
        self._emit(
            ev.ConnectionResumable(
                resumable=bool(update.resumable and update.new_handle),
                last_consumed=update.last_consumed_client_message_index,
            )
        )

    def _tool_call(self, call: FunctionCall) -> None:
        name = call.name or ""
        call_id = self._calls.begin(call.id, name)
        if call_id is None:
            return
        self._facts.calls_open = self._calls.in_foreground
        # A call of an answer that was cut is still run, but it belongs to a turn that is over.
        if not self.ledger.current_is_cut:
            if not self.turns.is_open:
                self._open_turn("model")
            self._completion_owed = False
            self._facts.owed = False
            self._facts.voice_ended_at = None
        args = dict(call.args)
        self._emit(ev.ToolCalled(call_id=call_id, name=name, args=args))
        self._out.append(RunTool(call_id, name, args))

    def _cancel_call(self, call_id: str) -> None:
        if self._calls.cancel(call_id):
            self._out.append(CancelTool(call_id))

    def tool_acknowledged(self, now: float, call_id: str, name: str, answer: ToolAnswer) -> list[Effect]:
        """A background call runs: the model is told so and waits no longer."""
        deliver = self._calls.to_background(call_id) and self._facts.status == "ready"
        self._facts.calls_open = self._calls.in_foreground
        if deliver:
            self._answer(call_id, name, answer)
        self._emit(ev.ToolAcknowledged(call_id=call_id, name=name, delivered=deliver))
        return self._flush(now)

    def tool_finished(self, now: float, outcome: Outcome, answer: ToolAnswer) -> list[Effect]:
        """A call ended; its one final answer goes out unless the server has cancelled it."""
        background = self._calls.is_background(outcome.call_id)
        cancelled = not self._calls.finish(outcome.call_id)
        status = outcome.status
        if status == "cancelled" and not cancelled and not self._ended:
            # The tool gave up by itself; the model still waits for an answer.
            status = "error"
        self._facts.calls_open = self._calls.in_foreground
        deliver = not cancelled and self._facts.status == "ready"
        if background and not cancelled and self._facts.status == "connecting" and not self._ended:
            self._unsent_answers.append((outcome.call_id, outcome.name, answer))
            text = f"The answer of {outcome.name} goes out with the next connection"
            self._emit(ev.Log(source="engine", level="info", text=text))
        if deliver:
            self._answer(outcome.call_id, outcome.name, answer)
            if (self.turns.is_open and not self._facts.speaking and not background) or (
                background and answer.scheduling != "SILENT"
            ):
                self._owe(now)
        self._emit(
            ev.ToolFinished(
                call_id=outcome.call_id,
                name=outcome.name,
                status="cancelled" if cancelled else status,
                result=answer.response if status == "error" and not outcome.result else outcome.result,
                ms=round(outcome.ms, 3),
                delivered=deliver,
            )
        )
        if outcome.cause and not cancelled:
            self._emit(ev.Log(source="engine", level="warning", text=f"tool {outcome.name}: {outcome.cause}"))
            if outcome.trace:
                self._emit(ev.Log(source="engine", level="debug", text=outcome.trace))
        return self._flush(now)

    def calls_abandoned(self, now: float) -> list[Effect]:
        """The session is over: calls that nobody came to decide about have their end too."""
        for call_id, name in self._calls.take_open():
            self._emit(
                ev.ToolFinished(call_id=call_id, name=name, status="cancelled", result={}, ms=0.0, delivered=False)
            )
        return self._flush(now)

    def _answer(self, call_id: str, name: str, answer: ToolAnswer) -> None:
        if call_id in self._stranded:
            # A server refuses the answer of a call that it has not made; the model can still be told.
            self._stranded.discard(call_id)
            text = f"[Result of {name}] {json.dumps(answer.response, ensure_ascii=False)}"
            asked = answer.scheduling != "SILENT" and not self.turns.is_open
            self._out.append(Send(context_message((text,), prompt=asked)))
            return
        response = compose.function_response(
            call_id, name, answer.response, scheduling=answer.scheduling, will_continue=answer.will_continue
        )
        self._out.append(Send(compose.tool_responses(response)))

    def prompted(self, now: float) -> list[Effect]:
        """The model was asked to speak."""
        self._owe(now)
        return self._flush(now)

    def soft_turn(self, now: float, reason: str) -> list[Effect]:
        """The model keeps silent and that is its answer: the open turn ends, if the model said nothing in it."""
        if self.turns.is_open and not self.turns.has_content and not len(self._calls):
            self._facts.owed = False
            self._facts.voice_ended_at = None
            self._close_turn("empty", reason=reason)
        return self._flush(now)


def _seconds(duration: str | None) -> float | None:
    """The seconds of a proto3 JSON duration such as `"49.9s"`; None for none, or one that is not understood."""
    try:
        seconds = float((duration or "").removesuffix("s"))
    except ValueError:
        return None
    return seconds if isfinite(seconds) else None
