"""The session's decisions: what happened goes in, effects come out. No I/O, no clock of its own.

Every public method takes the time (`now`, clock seconds) and returns the effects to perform, in order. The runner
performs them and reports back.
"""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError
from gemini_live_runtime.session.calls import CallLedger
from gemini_live_runtime.session.capabilities import Capabilities
from gemini_live_runtime.session.effects import (
    CancelTool,
    Cut,
    Effect,
    Emit,
    End,
    EndOfAudio,
    InterruptedBy,
    Microphone,
    Play,
    RunTool,
    Send,
    Speaker,
)
from gemini_live_runtime.session.generation import Generation, GenerationLedger
from gemini_live_runtime.session.limits import Limits
from gemini_live_runtime.session.pricing import Price
from gemini_live_runtime.session.state_word import Facts
from gemini_live_runtime.session.turns import OpenedBy, TurnLedger
from gemini_live_runtime.session.turns import Outcome as TurnOutcome
from gemini_live_runtime.session.usage import UsageTotals
from gemini_live_runtime.tools.dispatch import Outcome
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.messages import (
    AudioFrame,
    FunctionCall,
    ServerContent,
    ServerMessage,
    SessionResumptionUpdate,
    VoiceActivityType,
)

MAX_QUEUED_TEXTS = 32
"""Texts accepted before the connection is ready."""


class SessionCore:
    """One session's mind. `started_at` is the clock time of the session's start."""

    def __init__(
        self,
        *,
        mode: ev.Mode,
        capabilities: Capabilities,
        limits: Limits,
        price: Price | None,
        started_at: float,
        manual_activity: bool = False,
    ) -> None:
        self.mode: ev.Mode = mode
        self.microphone_on = not manual_activity
        self.speaker_on = True
        self.turns = TurnLedger()
        self.ledger = GenerationLedger()
        self.resumption_handle = ""
        self.input_open = False
        self._manual = manual_activity
        self._capabilities = capabilities
        self._limits = limits
        self._usage = UsageTotals()
        self._price = price
        self._started_at = started_at
        self._facts = Facts()
        self._word: tuple[str, str] = ("offline", "")
        self._completion_owed = False
        self._playing: set[int] = set()
        self._calls = CallLedger()
        self._queued_texts: list[tuple[str, str]] = []
        self._streaming_audio = False
        self._ended = False
        self._input_problem = ""
        self._out: list[Effect] = []

    # -- what others ask ---------------------------------------------------------------------------------------------

    @property
    def taking_audio(self) -> bool:
        """Whether microphone chunks are to be sent."""
        return self._facts.status == "ready" and self._mic_effective

    @property
    def quiet(self) -> bool:
        """Nothing is going on and nothing is owed: the moment to stop, or to send the next scripted text."""
        facts = self._facts
        return (
            facts.status in ("ready", "error")
            and not self.turns.is_open
            and not self._playing
            and not len(self._calls)
            and not self._queued_texts
            and not facts.voice
            and not facts.owed
            and facts.voice_ended_at is None
        )

    def deadline(self, now: float) -> float | None:
        """Seconds until `tick` has something to do; None when nothing depends on time."""
        waits = [self._facts.next_change(now), self._limits.next_check((now - self._started_at) / 60)]
        due = [wait for wait in waits if wait is not None]
        return min(due) if due else None

    def tick(self, now: float) -> list[Effect]:
        """Time passed."""
        facts = self._facts
        if facts.voice_ended_at is not None and not facts.waiting(now):
            facts.voice_ended_at = None
        self._check_limits(now)
        return self._flush(now)

    # -- connection --------------------------------------------------------------------------------------------------

    def connecting(self, now: float, url: str) -> list[Effect]:
        """A connection attempt begins."""
        self._facts.status, self._facts.why = "connecting", ""
        self._emit(ev.ConnectionOpening(url=url))
        return self._flush(now)

    def connected(self, now: float, *, ms: float, server_session: str) -> list[Effect]:
        """`setupComplete` arrived."""
        self._facts.status = "ready"
        self._facts.why = "" if self.input_open or self.mode == "text" else self._input_problem
        self._emit(ev.ConnectionReady(ms=ms, server_session=server_session))
        queued, self._queued_texts = self._queued_texts, []
        for command_id, text in queued:
            self._send_text(command_id, text, now)
        return self._flush(now)

    def disconnected(self, now: float, error: GeminiLiveError) -> list[Effect]:
        """The connection failed or ended unasked: `error` says how."""
        code, reason = 1006, ""
        if isinstance(error, ConnectionClosedError):
            code, reason = error.close_code, error.reason
        self._emit(ev.ConnectionClosed(close_code=code, reason=reason, sentence=error.message, remedy=error.remedy))
        self._facts.status, self._facts.why = "error", error.message
        self._facts.owed = False
        self._facts.voice_ended_at = None
        self._streaming_audio = False
        for command_id, text in self._queued_texts:
            self._refuse(command_id, cmd.SendText.command, f"Not sent, the connection ended: {text[:200]}")
        self._queued_texts.clear()
        for call_id in self._calls.open_ids:
            self._cancel_call(call_id)
        self._close_turn(self.turns.cut_short(), reason="the connection ended")
        return self._flush(now)

    def ending(self, now: float, reason: str, exit_code: int) -> list[Effect]:
        """The session is to end."""
        if not self._ended:
            self._ended = True
            self._out.append(End(reason, exit_code))
        return self._flush(now)

    # -- what the server says ----------------------------------------------------------------------------------------

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
            self._emit(ev.ConnectionGoAway(time_left_s=compose.seconds(message.go_away.time_left)))
        if message.usage_metadata is not None:
            self._emit(self._usage.add(message.usage_metadata, self._price))
            self._check_limits(now)
        return self._flush(now)

    def _content(self, content: ServerContent, now: float) -> None:
        if content.input_transcription is not None and content.input_transcription.text:
            self._user_said(content.input_transcription.text, now)
        if content.model_turn is not None:
            for part in content.model_turn.parts:
                if part.inline_data is not None and (part.inline_data.mime_type or "").startswith("audio/"):
                    self._model_audio(part.inline_data.data, compose.pcm_rate(part.inline_data.mime_type))
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

    def _user_said(self, text: str, now: float) -> None:
        if not text.strip() and not self.turns.is_open:
            return
        if not self.turns.is_open:
            self._open_turn("voice")
        self._facts.voice_ended_at = None
        self._facts.owed = True
        if self.turns.input_ended_at is None:
            self.turns.input_ended_at = now
        self._emit(ev.TranscriptDelta(side="user", text=text))

    def _model_audio(self, pcm: bytes, rate: int) -> None:
        generation = self._model_content()
        generation.received += len(pcm) // 2 * 24_000 // rate
        if not self.ledger.current_is_cut:
            self._playing.add(generation.number)
            self._facts.speaking = True
            self._out.append(Play(generation.number, pcm, rate))

    def _model_said(self, text: str, channel: Literal["speech", "text", "thought"]) -> None:
        generation = self._model_content()
        if channel != "thought":
            generation.text.append(text)
        if not self.ledger.current_is_cut:
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
        generation.opened = True
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
        if not already_cut:
            self._cut("server", now)
        if had_content:
            if self.turns.is_open and self.turns.has_content:
                self._close_turn("interrupted")
            self.ledger.advance()
        self._completion_owed = True

    def _turn_complete(self, content: ServerContent, now: float) -> None:
        if self._completion_owed and not self.ledger.current_opened:
            # The completion of the answer that `interrupted` has already ended.
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
        if str(kind) == "ACTIVITY_START":
            self.voice(now, True, emit=False)
        elif str(kind) == "ACTIVITY_END":
            self.voice(now, False, emit=False)

    def _resumption(self, update: SessionResumptionUpdate) -> None:
        if update.resumable and update.new_handle:
            self.resumption_handle = update.new_handle
        self._emit(ev.ConnectionResumable(resumable=bool(update.resumable and update.new_handle)))

    # -- tools -------------------------------------------------------------------------------------------------------

    def _tool_call(self, call: FunctionCall) -> None:
        name = call.name or ""
        call_id = self._calls.begin(call.id, name)
        if call_id is None:
            return
        if not self.turns.is_open:
            self._open_turn("model")
        self._facts.calls_open = len(self._calls)
        self._facts.owed = False
        self._facts.voice_ended_at = None
        args = dict(call.args)
        self._emit(ev.ToolCalled(call_id=call_id, name=name, args=args))
        self._out.append(RunTool(call_id, name, args))

    def _cancel_call(self, call_id: str) -> None:
        if self._calls.cancel(call_id):
            self._out.append(CancelTool(call_id))

    def tool_finished(self, now: float, outcome: Outcome) -> list[Effect]:
        """A call ended; its one answer goes out unless the server has cancelled it."""
        cancelled = not self._calls.finish(outcome.call_id) or outcome.status == "cancelled"
        self._facts.calls_open = len(self._calls)
        deliver = not cancelled and self._facts.status == "ready"
        if deliver:
            scheduling = self._capabilities.scheduling_of(outcome.name)
            self._out.append(
                Send(compose.tool_response(outcome.call_id, outcome.name, outcome.result, scheduling=scheduling))
            )
            self._facts.owed = self.turns.is_open and not self._facts.speaking
        self._emit(
            ev.ToolFinished(
                call_id=outcome.call_id,
                name=outcome.name,
                status="cancelled" if cancelled else outcome.status,
                result=outcome.result,
                ms=round(outcome.ms, 3),
                delivered=deliver,
            )
        )
        if outcome.cause and not cancelled:
            self._emit(ev.Log(source="engine", level="warning", text=f"tool {outcome.name}: {outcome.cause}"))
        return self._flush(now)

    # -- sound -------------------------------------------------------------------------------------------------------

    def audio_opened(self, now: float, opened: ev.AudioOpened, *, wanted: bool) -> list[Effect]:
        """Sound was opened as far as it could be; without a microphone a voice session begins in text mode."""
        self.input_open = bool(opened.input)
        self._emit(opened)
        if wanted and not self.input_open and self.mode == "voice":
            self.mode = "text"
            self._input_problem = opened.problems[0] if opened.problems else "No microphone is open"
            self._facts.why = "no microphone"
        self._apply_microphone()
        self._emit_controls("engine")
        return self._flush(now)

    def device_lost(self, now: float, direction: str, reason: str) -> list[Effect]:
        """A device vanished: the session goes on without it."""
        self._emit(ev.AudioLost(direction="input" if direction == "input" else "output", reason=reason))
        if direction == "input":
            self.input_open = False
            self._input_problem = reason
            self._facts.voice = False
            self._facts.why = "no microphone"
            self._end_audio_stream()
            if self.mode == "voice":
                self.mode = "text"
            self._emit_controls("engine", reason)
        else:
            self._playing.clear()
            self._facts.speaking = (
                self.ledger.audible() is not None and not self.ledger.current(self.turns.number).complete
            )
        self._apply_microphone()
        return self._flush(now)

    def voice(self, now: float, speaking: bool, *, emit: bool = True) -> list[Effect]:
        """The local voice mark, or the server's, changed."""
        facts = self._facts
        if emit:
            self._emit(ev.VoiceMarked(speaking=speaking))
        if facts.voice and not speaking:
            self.turns.input_ended_at = now
            if self.taking_audio and not facts.speaking:
                facts.voice_ended_at = now
        if speaking:
            facts.voice_ended_at = None
        facts.voice = speaking
        return self._flush(now)

    def echo_warning(self, now: float, leaking: bool) -> list[Effect]:
        """Echo is reduced too little while the model plays, or again enough."""
        self._emit(ev.EchoLeaking(leaking=leaking))
        return self._flush(now)

    def playback_started(self, now: float, gen: int) -> list[Effect]:
        """The device consumed the first sample of a generation."""
        generation = self.ledger.get(gen)
        turn = generation.turn if generation is not None else self.turns.number
        self.turns.heard(turn, now)
        self._emit(ev.PlaybackStarted(), turn=turn, gen=gen)
        return self._flush(now)

    def playback_heard(self, now: float, gen: int, first: int, count: int) -> list[Effect]:
        """The device consumed samples of a generation."""
        generation = self.ledger.get(gen)
        if generation is not None:
            generation.heard = max(generation.heard, first + count)
        self._emit(ev.PlaybackHeard(of=gen, first=first, count=count, muted=not self.speaker_on))
        return self._flush(now)

    def playback_drained(self, now: float, gen: int) -> list[Effect]:
        """Everything of a generation was played."""
        self._playing.discard(gen)
        if not self._playing:
            self._facts.speaking = False
        self._emit(ev.PlaybackDrained(of=gen))
        return self._flush(now)

    # -- what the operator wants -------------------------------------------------------------------------------------

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
        elif self._facts.status == "ready":
            self._send_text(command_id, text, now)
        elif self._facts.status == "error":
            self._refuse(command_id, cmd.SendText.command, f"Not sent, there is no connection: {self._facts.why}")
        elif len(self._queued_texts) >= MAX_QUEUED_TEXTS:
            self._refuse(command_id, cmd.SendText.command, "Not sent: too many texts are waiting for the connection")
        else:
            self._queued_texts.append((command_id, text))

    def _send_text(self, command_id: str, text: str, now: float) -> None:
        if self._facts.speaking or self._playing:
            self._cut("typed", now)
        if self.turns.is_open:
            self._close_turn(self.turns.cut_short())
        self._open_turn("typed")
        self._emit(ev.TextSent(text=text, command_id=command_id))
        self._out.append(Send(compose.text_turn(text, realtime=self._capabilities.text_is_realtime)))
        self.turns.input_ended_at = now
        self._facts.owed = True
        self._facts.interrupted_at = None
        self._facts.voice_ended_at = None

    def _order_mode(self, command_id: str, mode: ev.Mode, now: float) -> None:
        if mode == "voice" and not self.input_open:
            problem = self._input_problem or "No microphone is open"
            self._refuse(command_id, cmd.SetMode.command, f"Staying in text mode. {problem}")
            return
        self.mode = mode
        self._apply_microphone()
        self._emit_controls("operator")

    def _order_microphone(self, command_id: str, on: bool, now: float) -> None:
        if self.mode == "text":
            self._refuse(command_id, cmd.SetMicrophone.command, "The microphone is off in text mode")
            return
        self.microphone_on = on
        self._apply_microphone()
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
            if self._mic_effective or (self.mode == "voice" and self.input_open):
                self.microphone_on = True
                self._streaming_audio = True
                self._apply_microphone()
                self._emit_controls("operator")
            else:
                self._out.append(Send(compose.activity_end()))

    # -- shared parts ------------------------------------------------------------------------------------------------

    @property
    def _mic_effective(self) -> bool:
        return self.mode == "voice" and self.microphone_on and self.input_open

    def audio_flows(self) -> list[Effect]:
        """Called before the first chunk of a stretch of audio: what must precede it."""
        if not self._streaming_audio:
            self._streaming_audio = True
            if self._manual:
                self._out.append(Send(compose.activity_start()))
        out, self._out = self._out, []
        return out

    def _apply_microphone(self) -> None:
        on = self._mic_effective
        self._facts.microphone = on
        self._out.append(Microphone(on))
        if not on:
            self._facts.voice = False
            self._end_audio_stream()
            if self._facts.status == "ready":
                self._facts.why = "text mode" if self.mode == "text" else "microphone muted"

    def _end_audio_stream(self) -> None:
        if self._streaming_audio:
            self._streaming_audio = False
            if self._facts.status == "ready":
                self._out.append(Send(compose.activity_end() if self._manual else compose.audio_stream_end()))

    def _cut(self, by: InterruptedBy, now: float) -> None:
        victim = self.ledger.audible()
        turn = victim.turn if victim is not None else self.turns.number
        bound = self.ledger.cut()
        self._playing = {number for number in self._playing if number >= bound}
        self._facts.speaking = bool(self._playing)
        if victim is not None:
            self._facts.interrupted_at = now
        self._out.append(Cut(bound, by, turn, victim.number if victim is not None else 0))

    def cut_performed(self, now: float, cut: Cut) -> list[Effect]:
        """The runner has cut playback and reported what was heard up to it."""
        generation = self.ledger.get(cut.victim)
        if generation is None:
            return []
        heard, unheard = generation.split_text()
        self._emit(
            ev.TurnInterrupted(
                by=cut.by,
                cut_below=cut.cut_below,
                heard_samples=generation.heard,
                unheard_samples=generation.unheard,
                heard_text=heard,
                unheard_text=unheard,
            ),
            turn=cut.turn,
            gen=generation.number,
        )
        return self._flush(now)

    def _open_turn(self, by: OpenedBy) -> None:
        self._emit(self.turns.open(by))

    def _close_turn(self, outcome: TurnOutcome, *, reason: str = "") -> None:
        completed = self.turns.close(outcome, reason)
        if completed is not None:
            self._facts.owed = False
            self._emit(completed)

    def _check_limits(self, now: float) -> None:
        for due in self._limits.check(cost=self._usage.cost_usd, minutes=(now - self._started_at) / 60):
            self._emit(due)
            if due.stage == "hang-up" and not self._ended:
                self._ended = True
                self._out.append(End(f"the {due.kind} limit was reached", 0))

    def _emit_controls(self, actor: ev.Actor, reason: str = "") -> None:
        self._emit(
            ev.ControlChanged(
                mode=self.mode, microphone=self.microphone_on, speaker=self.speaker_on, actor=actor, reason=reason
            )
        )

    def _refuse(self, command_id: str, command: str, reason: str) -> None:
        self._emit(ev.CommandRefused(command_id=command_id, command=command, reason=reason))

    def _emit(self, payload: ev.Payload, *, turn: int | None = None, gen: int | None = None) -> None:
        self._out.append(
            Emit(payload, self.turns.number if turn is None else turn, self.ledger.number if gen is None else gen)
        )

    def _flush(self, now: float) -> list[Effect]:
        word = self._facts.word(now)
        if word != self._word:
            self._word = word
            self._emit(ev.SessionState(word=word[0], reason=word[1]))
        out, self._out = self._out, []
        return out
