"""Hold the state and the changes that the parts of a core share.

Changes add effects to `out`; `flush` hands them over, after the session's status word when that has changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.barge_in import BargeIn
from gemini_live_runtime.session.core.effects import (
    Cut,
    Effect,
    Emit,
    End,
    InterruptedBy,
    Pause,
    WakeConnection,
)
from gemini_live_runtime.session.core.generation import Generation, GenerationLedger
from gemini_live_runtime.session.core.limits import Limits
from gemini_live_runtime.session.core.overtaking import OvertakenAnswers
from gemini_live_runtime.session.core.pricing import Price
from gemini_live_runtime.session.core.speech import SpokenInput
from gemini_live_runtime.session.core.speech_pace import SpeakingRate
from gemini_live_runtime.session.core.speech_queue import Speech, SpeechQueue
from gemini_live_runtime.session.core.status import StatusInputs
from gemini_live_runtime.session.core.tool_calls import CallLedger
from gemini_live_runtime.session.core.tool_steps import ToolSteps
from gemini_live_runtime.session.core.turn_options import TurnOptions
from gemini_live_runtime.session.core.turn_rules import TurnRules
from gemini_live_runtime.session.core.turns import OpenedBy, TurnLedger
from gemini_live_runtime.session.core.turns import Outcome as TurnOutcome
from gemini_live_runtime.session.core.unanswered import BrokenAnswer, UnansweredInput, UnreadAnswer
from gemini_live_runtime.session.core.usage import UsageTotals
from gemini_live_runtime.session.core.user_presence import UserPresence
from gemini_live_runtime.session.link.controller import RealtimeSessionController
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.session.link.watchdog import AnswerWatchdog
from gemini_live_runtime.session.ports.capabilities import Capabilities


class CoreState:
    """State of one session's core."""

    def __init__(
        self,
        *,
        mode: ev.Mode,
        capabilities: Capabilities,
        limits: Limits,
        price: Price | None,
        prices_as_of: str = "",
        started_at: float,
        turns: TurnOptions | None = None,
        voice: str = "",
        link_policy: LinkPolicy | None = None,
        rules: TurnRules | None = None,
    ) -> None:
        """`started_at` is the clock time (s), `prices_as_of` the month of `price`.

        `turns` says who finds the user's turns: the server, our own detector (in `endpointing`) or the microphone
        switch. `voice` goes ahead of the agents' own.
        """
        self.mode: ev.Mode = mode
        self.turn_options = turns or TurnOptions()
        self.voice = voice
        self.microphone_on = not self.manual_activity
        self.speaker_on = True
        self.turns = TurnLedger()
        self.speech = SpokenInput()
        self.ledger = GenerationLedger()
        self.speeches = SpeechQueue()
        self.unwanted_until = 0.0
        """Clock time (s) until which an answer may come that was given up: it is cut."""
        self.speaking_rate = SpeakingRate()
        self.link = RealtimeSessionController(link_policy)
        self.set_rules(rules or TurnRules())
        self.link.age_limit_s = capabilities.connection_limit_s
        self.input_open = self.output_open = False
        self.capabilities = capabilities
        self.limits = limits
        self.usage = UsageTotals(prices_as_of=prices_as_of)
        self.price = price
        self.started_at = started_at
        self.facts = StatusInputs()
        self.presence = UserPresence()
        self.barge_in: BargeIn | None = None
        """Voice over the model of which it is not certain yet that it interrupts."""
        self.word: tuple[str, str] = ("offline", "")
        self.completion_owed = False
        self.result_sent_at: float | None = None
        """Time of a tool's last result, until the model says something."""
        self.overtaken = OvertakenAnswers()
        self.playing: set[int] = set()
        self.calls = CallLedger()
        self.tool_steps = ToolSteps()
        self.unanswered: list[UnansweredInput] = []
        """Words and texts of the user, until the model says something."""
        self.watchdog = AnswerWatchdog(self.link.policy)
        self.is_held = False
        """True while the operator holds the agent."""
        self.completed_at: float | None = None
        """Time at which the server ended its newest answer."""
        self.asked = ""
        """Words of the user that the newest answer is to."""
        self.broken: BrokenAnswer | None = None
        """Answer that a lost connection broke off, until it or the talk goes on."""
        self.continued = 0
        """Number of times that the model was asked for the rest of its answer to the same input."""
        self.unread_answers: list[UnreadAnswer] = []
        """Answers of calls, until the model says something after them."""
        self.prompted = False
        """True from a prompt until the model or the user says something."""
        self.set_aside: set[str] = set()
        """Ids of commands whose texts are given up, because a server may have refused them."""
        self.handle_turn = 0
        """Newest turn that the resumption handle stands for."""
        self.streaming_audio = False
        self.server_voice = False
        """True between the server's marks of the user's voice."""
        self.ended = False
        self.is_draining = False
        """True once the session ends when all that is owed is said: nothing of the user's is taken."""
        self.is_finishing = False
        """True once the user has left, and the session only waits for its tasks."""
        self.input_problem = ""
        self.voice_returns = False
        """True in text mode for want of a microphone: voice mode returns with it."""
        self.deaf_reason = ""
        self.out: list[Effect] = []

    @property
    def manual_activity(self) -> bool:
        """True while the microphone switch marks the user's turns."""
        return self.turn_options.detection == "manual"

    def set_rules(self, rules: TurnRules) -> None:
        """Let other rules of turns hold from now on."""
        self.rules = rules
        self.speeches.allows_interruptions = rules.allow_interruptions
        self.link.limit_errors(rules.max_unrecoverable_errors)

    @property
    def client_activity(self) -> bool:
        """True while our own detector finds the user's turns."""
        return self.turn_options.detection == "client"

    @property
    def taking_audio(self) -> bool:
        """True while microphone audio is to be sent."""
        # Before the first connection nothing listens: what a microphone file says must not be lost. Between two
        # connections it is kept.
        listens = self.facts.status == "ready" or self.link.keeps_audio
        return (
            listens
            and not (self.ended or self.is_draining)
            and self.mode == "voice"
            and self.microphone_on
            and self.input_open
        )

    def wake(self, by: str) -> None:
        """Have a connection made again that was closed because nothing went on."""
        if self.link.is_dormant and not self.ended:
            self.out.append(WakeConnection(by))

    def cut(self, by: InterruptedBy, now: float, rule: ev.CutRule) -> None:
        """Cut playback of everything before the next generation."""
        self.broken = None
        played = self._end_heard()
        victim = self.ledger.audible()
        turn = victim.turn if victim is not None else self.turns.number
        bound = self.ledger.cut()
        self.playing = {number for number in self.playing if number >= bound}
        self.tell_speeches(self.speeches.on_cut(bound))
        self.facts.speaking = bool(self.playing)
        if by in ("operator", "voice"):
            # What the server still breaks off, it breaks off for that.
            self.overtaken.clear()
        if victim is not None:
            self.facts.interrupted_at = now
        number, chars = (0, 0) if victim is None else (victim.number, victim.chars)
        self.out.append(Cut(bound, by, turn, number, rule, chars))
        for gen in played:
            # Behind the cut: what waits for the floor is asked for then, and there is one speech at a time.
            self.emit(ev.PlaybackDrained(of=gen))
        self.end_barge_in()

    def is_read(self, generation: Generation) -> bool:
        """Return True for an answer of which the user hears nothing, but reads all."""
        return self.mode == "text" and not (self.output_open and generation.received)

    def end_playback(self, gen: int) -> None:
        """Note that all of a generation was played, and report it."""
        self._note_played(gen)
        self.emit(ev.PlaybackDrained(of=gen))

    def _note_played(self, gen: int) -> None:
        self.playing.discard(gen)
        if self.barge_in is not None and self.barge_in.gen == gen:
            # A speech that was heard to its end all the same.
            self.end_barge_in()
        self.tell_speeches(self.speeches.on_played(gen))
        generation = self.ledger.get(gen)
        if generation is not None:
            generation.drained = True

    def _end_heard(self) -> list[int]:
        """Return generations heard to their end before the device says so; note it."""
        played = []
        for gen in sorted(self.playing):
            generation = self.ledger.get(gen)
            if generation is not None and generation.complete and not generation.unheard:
                self._note_played(gen)
                played.append(gen)
        return played

    @property
    def answer_word(self) -> str:
        """State of what the model says, in a word; "" when it is as always."""
        return "paused" if self.facts.paused else "protected" if self.speeches.is_protected else ""

    @property
    def decides_interruptions(self) -> bool:
        """True while our rules decide what interrupts the model, not its server."""
        return self.client_activity and self.rules.are_ours

    def end_barge_in(self, *, goes_on: bool = False) -> None:
        """Forget a voice over the model; what is paused `goes_on` or was cut."""
        ended, self.barge_in = self.barge_in, None
        if ended is not None and ended.is_paused:
            self.facts.paused = False
            self.out.append(Pause(False, ended.gen if goes_on else 0))

    def ignore_interruption(
        self,
        rule: Literal["duration", "words", "protected", "false"],
        of: int,
        *,
        voice_s: float | None = None,
        words: int = 0,
        needed: float = 0.0,
    ) -> None:
        """Add an event of a voice that did not interrupt generation `of`."""
        generation, current = self.ledger.get(of), self.speeches.current
        speech = current.id if current is not None and of in current.gens else ""
        seconds = None if voice_s is None else round(voice_s, 2)
        ignored = ev.InterruptionIgnored(
            rule=rule, of=of, speech=speech, voice_s=seconds, words=words, needed=round(needed, 2)
        )
        self.emit(ignored, turn=None if generation is None else generation.turn, gen=of)

    def on_answer_begun(self) -> None:
        """Note that the model begins to speak: what the user has said before is answered."""
        self.turns.has_content = True
        self.speech.began_since_answer = False
        self.link.schedule.failures = 0
        asked = " ".join(item.text.strip() for item in self._forget_answered())
        if asked or self.broken is None:
            # The rest of an answer is to what its beginning was to.
            self.asked = asked
        self.broken = None
        self.link.outbox.audio.on_answered()

    def _forget_answered(self) -> list[UnansweredInput]:
        """Forget the input that is answered, and return it."""
        # What this connection was not sent yet is not answered by it.
        knows, newer = self.link.knows, self.overtaken.texts
        answered = [item for item in self.unanswered if item not in newer and item.mark and knows(item.mark)]
        self.unanswered = [item for item in self.unanswered if item not in answered]
        return answered

    def note_words(self, text: str, now: float) -> bool:
        """Note words of the user's that the server has understood; an answer is owed.

        Returns False for a transcript that the server repeats.
        """
        self.link.outbox.audio.on_heard()
        has_spoken = self.speech.began is not None
        self.speech.clear()
        last = self.unanswered[-1] if self.unanswered else None
        if last is not None and last.is_repeat(text) and not has_spoken:
            # A server that has lost its way repeats a transcript: the answer is owed since the first.
            if not self.facts.owed:
                self.owe(now)
            # A single word may be said twice where no voice is marked.
            return not (self.speech.is_marked or " " in text.strip())
        is_late = self.speech.may_be_answered(None if self.completed_at is None else now - self.completed_at)
        if last is not None and last.kind == "speech":
            last.text += text
            last.is_late = last.is_late and is_late
        else:
            self.unanswered.append(UnansweredInput("speech", self.link.mark(), text, is_late=is_late))
        self.owe(now)
        return True

    def owe(self, now: float) -> None:
        """Note that the model owes an answer from now on."""
        self.unwanted_until = 0.0
        self.facts.owed, self.facts.owed_at = True, now

    def end(self, reason: str, exit_code: int, by: ev.EndedBy = "request") -> None:
        """End the session, once; texts that wait are refused."""
        if self.ended:
            return
        self.ended = True
        # What is paused does not go on while everything is closed.
        self.barge_in = None
        self.emit(ev.SessionEnding())
        self.link.close()
        self.link.outbox.audio.drop()
        self.emit_outbox()
        unsent = [(item.command_id, item.text) for item in self.unanswered if not item.mark and item.kind == "text"]
        unsent += [(waiting.command_id, waiting.text) for waiting in self.link.outbox.take_texts()]
        for command_id, text in unsent:
            self.refuse(command_id, cmd.SendText.command, f"Not sent, the session ended: {reason}: {text[:200]}")
        self.tell_speeches(self.speeches.end())
        self.out.append(End(reason, exit_code, "error" if exit_code and by == "request" else by))

    def tell_speeches(self, changed: Iterable[Speech]) -> None:
        """Add an event for each speech that has changed."""
        for speech in changed:
            self.emit(speech.event())

    def emit_outbox(self) -> None:
        """Add events of what waits, where that has changed."""
        for kind, now in self.link.outbox.news():
            self.emit(
                ev.OutboxChanged(
                    kind=kind,
                    capacity=now.capacity,
                    queued=now.queued,
                    dropped=now.dropped,
                    gated=now.gated,
                    policy=now.policy,
                )
            )

    def open_turn(self, by: OpenedBy) -> None:
        """Open a turn."""
        if by != "model":
            self.tool_steps.begin_again()
            self.broken, self.continued = None, 0
            if self.speeches.cancelled is not None:
                # What the model says from here on may be the answer to the user.
                self.tell_speeches(self.speeches.on_given_up())
        self.prompted = self.prompted and by == "model"
        self.emit(self.turns.open(by))

    def close_turn(
        self,
        outcome: TurnOutcome,
        *,
        reason: str = "",
        is_superseded: bool = False,
        broke_off: bool = False,
        unspoken: str = "",
    ) -> None:
        """Close the open turn, if there is one; no answer is owed then.

        With `is_superseded` the user went on before the model said anything: the next answer is to all of it.
        `broke_off`: it ends in the middle of its answer, before the words `unspoken`.
        """
        completed = self.turns.close(outcome, reason, broke_off=broke_off, unspoken=unspoken)
        if completed is not None:
            if not is_superseded:
                self._forget_answered()
            if not self.link.is_open and self.link.state != "gated":
                for item in self.unanswered:
                    self.give_up(item)
                self.unanswered.clear()
            self.facts.owed = False
            # First: with the end of the turn another speech may begin at once.
            self._end_speech(outcome, is_superseded=is_superseded)
            self.emit(completed)

    def give_up(self, item: UnansweredInput) -> None:
        """Report that it is not known whether something of the user's has arrived."""
        self.emit(ev.SendSettled(kind=item.kind, outcome="unknown", ref=item.command_id, text=item.text))

    def give_up_prompted(self) -> bool:
        """Leave to the user what a resumed session was asked to answer; False for nothing."""
        in_vain = [item for item in self.unanswered if item.is_prompted]
        for item in in_vain:
            self.give_up(item)
        self.unanswered = [item for item in self.unanswered if not item.is_prompted]
        # The prompt was for these.
        self.prompted = self.prompted and bool(self.unanswered or not in_vain)
        return bool(in_vain)

    def end_overtaken_speech(self) -> None:
        """End the speech of an answer that a text has overtaken; its turn goes on."""
        self.turns.has_content = False
        self.tell_speeches(self.speeches.on_turn_closed(self.playing, awaits_call=True))

    def _end_speech(self, outcome: TurnOutcome, *, is_superseded: bool) -> None:
        """End the speech of a turn that was closed, unless its sound or its calls go on."""
        # What is asked for goes on being asked for where a newer text supersedes the turn.
        is_silent = outcome == "empty" and not is_superseded
        if not self.calls.in_foreground:
            self.tell_speeches(
                self.speeches.on_empty_turn(self.playing) if is_silent else self.speeches.on_turn_closed(self.playing)
            )
        elif not is_silent:
            self.tell_speeches(self.speeches.on_turn_closed(self.playing, awaits_call=True))

    def check_limits(self, now: float) -> None:
        """Warn of a limit that is near, and end the session at one that is reached."""
        for due in self.limits.check(cost=self.usage.cost_usd, minutes=(now - self.started_at) / 60):
            self.emit(due)
            if due.stage == "hang-up" and not self.ended:
                self.end(f"the {due.kind} limit was reached", 0, "limit")

    def emit_controls(self, actor: ev.Actor, reason: str = "") -> None:
        """Add an event with mode and switches as they are."""
        self.emit(
            ev.ControlChanged(
                mode=self.mode, microphone=self.microphone_on, speaker=self.speaker_on, actor=actor, reason=reason
            )
        )

    def refuse(self, command_id: str, command: str, reason: str) -> None:
        """Add an event that refuses a command."""
        self.emit(ev.CommandRefused(command_id=command_id, command=command, reason=reason))

    def emit(self, payload: ev.Payload, *, turn: int | None = None, gen: int | None = None) -> None:
        """Add an event, of the current turn and generation unless others are given."""
        self.out.append(
            Emit(payload, self.turns.number if turn is None else turn, self.ledger.number if gen is None else gen)
        )

    def flush(self, now: float) -> list[Effect]:
        """Take the effects added so far, and a changed status word."""
        word = self.facts.word(now)
        if word != self.word:
            self.word = word
            self.emit(ev.SessionState(word=word[0], reason=word[1]))
        changed = self.presence.update(
            now,
            has_voice=self.facts.voice,
            # A tool may run in the background while the model listens.
            is_awaited=word[0] == "listening" and not (len(self.calls) or self.playing),
            away_after_s=self.rules.user_away_timeout_s,
        )
        if changed is not None:
            self.emit(changed)
        out, self.out = self.out, []
        return out
