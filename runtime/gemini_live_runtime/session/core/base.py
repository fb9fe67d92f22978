"""What every part of the session core shares: its state, and the few moves that several parts make."""

from __future__ import annotations

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.effects import (
    Cut,
    Effect,
    Emit,
    End,
    InterruptedBy,
    Microphone,
    Send,
)
from gemini_live_runtime.session.core.generation import GenerationLedger
from gemini_live_runtime.session.core.limits import Limits
from gemini_live_runtime.session.core.pricing import Price
from gemini_live_runtime.session.core.status import Facts
from gemini_live_runtime.session.core.tool_calls import CallLedger
from gemini_live_runtime.session.core.turns import OpenedBy, TurnLedger
from gemini_live_runtime.session.core.turns import Outcome as TurnOutcome
from gemini_live_runtime.session.core.usage import UsageTotals
from gemini_live_runtime.session.outbound.capabilities import Capabilities
from gemini_live_runtime.tools.background import ToolAnswer
from gemini_live_runtime.wire import compose


class CoreBase:
    """The state of one session. `started_at` is the clock time (s) of its start, `prices_as_of` the month of `price`.

    With `manual_activity` the microphone switch marks the user's turns, with `client_activity` our own detector does
    (elsewhere); otherwise the server decides.
    """

    def __init__(
        self,
        *,
        mode: ev.Mode,
        capabilities: Capabilities,
        limits: Limits,
        price: Price | None,
        prices_as_of: str = "",
        started_at: float,
        manual_activity: bool = False,
        client_activity: bool = False,
    ) -> None:
        self.mode: ev.Mode = mode
        self.microphone_on = not manual_activity
        self.speaker_on = True
        self.turns = TurnLedger()
        self.ledger = GenerationLedger()
        self.resumption_handle = ""
        self.input_open = False
        self._manual = manual_activity
        self._client_activity = client_activity
        self._capabilities = capabilities
        self._limits = limits
        self._usage = UsageTotals(prices_as_of=prices_as_of)
        self._price = price
        self._started_at = started_at
        self._facts = Facts()
        self._word: tuple[str, str] = ("offline", "")
        self._completion_owed = False
        self._was_connected = False
        self._holding = False
        self._superseded = 0
        self._playing: set[int] = set()
        self._calls = CallLedger()
        self._queued_texts: list[tuple[str, str]] = []
        self._unsent_answers: list[tuple[str, str, ToolAnswer]] = []
        """Answers of background calls that ended between two connections."""
        self._stranded: set[str] = set()
        """Calls that the server's present session has never heard of."""
        self._streaming_audio = False
        self._ended = False
        self._input_problem = ""
        self._deaf = ""
        self._out: list[Effect] = []

    @property
    def over(self) -> bool:
        """Whether the session has ended, or is about to."""
        return self._ended

    @property
    def _mic_effective(self) -> bool:
        # Before the connection is ready nobody listens: what a microphone file says must not be lost.
        ready = self._facts.status == "ready"
        return ready and self.mode == "voice" and self.microphone_on and self.input_open

    def audio_flows(self) -> list[Effect]:
        """Called before the first chunk of a stretch of audio: what must precede it."""
        if not self._streaming_audio:
            self._streaming_audio = True
            if self._manual:
                self._out.append(Send(compose.activity_start()))
        out, self._out = self._out, []
        return out

    def _apply_microphone(self, now: float) -> None:
        on = self._mic_effective
        self._facts.microphone = on
        self._out.append(Microphone(on))
        if not on:
            if self._facts.status == "ready" and (self._facts.voice or (self._manual and self._streaming_audio)):
                # Closing the microphone ends what was being said, as a pause would.
                self.turns.input_ended_at = self._facts.voice_ended_at = now
            self._facts.voice = False
            self._end_audio_stream()
            if self._facts.status == "ready":
                absent = "" if self.input_open else "no microphone"
                self._facts.why = absent if self.mode == "text" else "microphone muted"

    def _end_audio_stream(self) -> None:
        if self._streaming_audio:
            self._streaming_audio = False
            if self._facts.status == "ready":
                if self._manual:
                    self._out.append(Send(compose.activity_end()))
                elif not self._client_activity:
                    self._out.append(Send(compose.audio_stream_end()))

    def _cut(self, by: InterruptedBy, now: float) -> None:
        victim = self.ledger.audible()
        turn = victim.turn if victim is not None else self.turns.number
        bound = self.ledger.cut()
        self._playing = {number for number in self._playing if number >= bound}
        self._facts.speaking = bool(self._playing)
        if victim is not None:
            self._facts.interrupted_at = now
        self._out.append(Cut(bound, by, turn, victim.number if victim is not None else 0))

    def _send_text(self, command_id: str, text: str, now: float) -> None:
        answering = self.ledger.get(self.ledger.number)
        begun = answering is not None and answering.opened
        finished = begun and answering is not None and answering.complete and not self._playing
        if self._facts.speaking or self._playing or begun:
            self._cut("typed", now)
        elif self.turns.is_open and not self.turns.has_content:
            self._superseded = self.ledger.number
        if self.turns.is_open:
            self._close_turn("complete" if finished else self.turns.cut_short())
        self._open_turn("typed")
        self._emit(ev.TextSent(text=text, command_id=command_id))
        realtime = self._capabilities.text_is_realtime
        message = compose.realtime_text(text) if realtime else compose.text_turn(text)
        self._out.append(Send(message, command_id, text))
        self.turns.input_ended_at = now
        self._owe(now)
        self._facts.interrupted_at = None
        self._facts.voice_ended_at = None

    def not_sent(self, now: float, send: Send) -> list[Effect]:
        """A message could not go out; typed text is reported."""
        if send.text:
            self._refuse(send.command_id, cmd.SendText.command, f"Not sent, the connection ended: {send.text[:200]}")
        return self._flush(now)

    def _owe(self, now: float) -> None:
        """The model owes an answer from now on."""
        self._facts.owed, self._facts.owed_at = True, now

    def cut_performed(self, now: float, cut: Cut, heard: int) -> list[Effect]:
        """The runner has cut playback, of which the device had consumed `heard` samples."""
        generation = self.ledger.get(cut.victim)
        if generation is None:
            return []
        generation.heard = max(generation.heard, heard)
        heard_text, unheard_text = generation.split_text()
        self._emit(
            ev.TurnInterrupted(
                by=cut.by,
                cut_below=cut.cut_below,
                heard_samples=generation.heard,
                unheard_samples=generation.unheard,
                heard_text=heard_text,
                unheard_text=unheard_text,
            ),
            turn=cut.turn,
            gen=generation.number,
        )
        return self._flush(now)

    @property
    def taking_audio(self) -> bool:
        """Whether microphone chunks are to be sent."""
        return self._mic_effective

    def ending(self, now: float, reason: str, exit_code: int) -> list[Effect]:
        """The session is to end."""
        if not self._ended:
            self._end(reason, exit_code)
        return self._flush(now)

    def _end(self, reason: str, exit_code: int) -> None:
        self._ended = True
        self._refuse_queued(f"Not sent, the session ended: {reason}")
        self._out.append(End(reason, exit_code))

    def _refuse_queued(self, why: str) -> None:
        queued, self._queued_texts = self._queued_texts, []
        for command_id, text in queued:
            self._refuse(command_id, cmd.SendText.command, f"{why}: {text[:200]}")

    def _open_turn(self, by: OpenedBy) -> None:
        self._emit(self.turns.open(by))

    def _close_turn(self, outcome: TurnOutcome, *, reason: str = "") -> None:
        completed = self.turns.close(outcome, reason)
        if completed is not None:
            self._facts.owed = False
            self._emit(completed)

    def _voice_changed(self, now: float, speaking: bool) -> None:
        facts = self._facts
        if facts.voice and not speaking:
            self.turns.input_ended_at = now
            if self.taking_audio and not facts.speaking:
                facts.voice_ended_at = now
        if speaking:
            facts.voice_ended_at = None
        facts.voice = speaking

    def _check_limits(self, now: float) -> None:
        for due in self._limits.check(cost=self._usage.cost_usd, minutes=(now - self._started_at) / 60):
            self._emit(due)
            if due.stage == "hang-up" and not self._ended:
                self._end(f"the {due.kind} limit was reached", 0)

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
