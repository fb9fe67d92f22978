"""Give an agent's parts what they may ask of core, speaker and connection."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gemini_live_runtime.audio.interface import AudioIO
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.events import UserState
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.effects import Effect
from gemini_live_runtime.session.core.speech_queue import Speech, SpeechQueue
from gemini_live_runtime.session.core.turn_options import TurnOptions
from gemini_live_runtime.session.core.turn_rules import TurnRules
from gemini_live_runtime.session.definition.definition import Definition
from gemini_live_runtime.session.link.controller import LinkPosition
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.tools.background import ToolAnswer
from gemini_live_runtime.tools.dispatch import Outcome, ToolCall

SOFT_TURN = "soft turn"
"""Reason of a turn's end when the model kept silent and that is fine."""


DORMANT = "the session is dormant"
"""Reason why the model cannot speak while no connection is needed."""


class SessionHost:
    """Session of one agent, as the agent sees it."""

    def __init__(
        self,
        core: SessionCore,
        audio: AudioIO,
        clock: Clock,
        *,
        perform: Callable[[list[Effect]], None],
        reconnect: Callable[[], None],
        move: Callable[[bool], None],
        until: Callable[[Callable[[], bool]], Awaitable[None]],
        speaks_with: Callable[[Definition, Definition], bool],
        on_change: Callable[[], None],
    ) -> None:
        """`perform` carries out effects, `reconnect` makes a new connection.

        The new connection begins with the present instruction. `move(fresh)` leaves the connection at once.
        `until(condition)` returns once a condition holds, or the session is over. `speaks_with` returns True when the
        same model serves two agents.

        `on_change` is called when something moved that quietness depends on.
        """
        self._core = core
        self._audio = audio
        self._clock = clock
        self._perform = perform
        self.reconnect = reconnect
        self.until = until
        self.speaks_with = speaks_with
        self._move = move
        self.on_change = on_change

    @property
    def turn_options(self) -> TurnOptions:
        """Turn detection that is in force."""
        return self._core.state.turn_options

    @property
    def rules(self) -> TurnRules:
        """Rules of turns that are in force."""
        return self._core.state.rules

    def take_rules_of(self, rules: TurnRules) -> None:
        """Let those rules hold that are an agent's own, since it has begun to speak."""
        self._perform(self._core.commands.take_rules_of(self._clock.now(), rules))

    @property
    def is_microphone_on(self) -> bool:
        """True while the microphone is not muted; in text mode it is closed all the same."""
        return self._core.state.microphone_on

    @property
    def is_speaker_on(self) -> bool:
        """True while the speaker is not muted."""
        return self._core.state.speaker_on

    @property
    def link_policy(self) -> LinkPolicy:
        """Policy of the link that is in force."""
        return self._core.state.link.policy

    @property
    def turn(self) -> int:
        """Number of the current turn."""
        return self._core.state.turns.number

    @property
    def user_state(self) -> UserState:
        """State of the user: speaking, listening or away."""
        return self._core.state.presence.state

    @property
    def is_draining(self) -> bool:
        """True when the session ends once all that is owed is said."""
        return self._core.state.is_draining

    @property
    def is_given_up(self) -> bool:
        """True when the link was given up: no connection is made until it is asked for."""
        return self._core.state.facts.status == "error"

    @property
    def turn_open(self) -> bool:
        """True while a turn is going on."""
        return self._core.state.turns.is_open

    @property
    def cut_below(self) -> int:
        """First generation number that is not cut."""
        return self._core.state.ledger.cut_below

    @property
    def resumption_handle(self) -> str:
        """Handle to resume the server's session with; a secret, "" for none."""
        return self._core.state.link.handle

    @property
    def link_position(self) -> LinkPosition:
        """Position of the link to the server."""
        return self._core.state.link.position(self._core.state.ledger.number)

    def resume_with(self, handle: str) -> None:
        """Let the first connection resume the session of `handle`."""
        self._core.state.link.on_handle(handle)

    @property
    def awaits_tools(self) -> bool:
        """True while the model waits for the answer of a call.

        The model of a server that does not know the call does not.
        """
        state = self._core.state
        link = state.link
        if not (state.calls or link.outbox.answers or state.unread_answers):
            return False
        marks = state.calls.foreground_marks
        marks += [answer.mark for answer in link.outbox.answers if not answer.background]
        lost = [unread.answer for unread in state.unread_answers if not link.knows(unread.mark)]
        marks += [answer.mark for answer in lost if not answer.background]
        return any(map(link.knows, marks))

    def awaits_call(self, call_id: str) -> bool:
        """Return True while the model waits for the answer of this call."""
        calls = self._core.state.calls
        return calls.is_awaited(call_id) and self._core.state.link.knows(calls.mark_of(call_id))

    def mark(self) -> int:
        """Return the link's mark of something that the model gets now."""
        return self._core.state.link.mark()

    def server_knows(self, mark: int) -> bool:
        """Return True when the server's present session knows what has this mark."""
        return self._core.state.link.knows(mark)

    @property
    def known_turn(self) -> int:
        """Newest turn that a server knows which resumes with the present handle."""
        return self._core.state.handle_turn

    def note_handle_turn(self, number: int) -> None:
        """Note the newest turn that a restored handle stands for."""
        self._core.state.handle_turn = number

    @property
    def is_turn_untold(self) -> bool:
        """True when the model had called tools in the open turn.

        After a loss it is not sent again, but told.
        """
        turns = self._core.state.turns
        return turns.is_open and bool(turns.calls)

    def is_answer_pending(self) -> bool:
        """Return True while an answer is owed, generated or still to be played.

        So it is while the model waits for a tool: the tool's answer makes it speak.
        """
        return self.awaits_tools or self._core.server.is_answering or self._audio.playing

    def is_floor_taken(self) -> bool:
        """Return True while an answer is pending, or a typed text is about to be sent."""
        return self.is_answer_pending() or self.has_waiting_text

    @property
    def why_unheard(self) -> str:
        """Reason why user and model cannot hear each other, in words; "" for none."""
        state = self._core.state
        if not state.input_open:
            return "there is no microphone"
        if state.mode != "voice":
            return "the session is in text mode"
        if not state.microphone_on:
            return "the microphone is off"
        return "" if state.speaker_on else "the speaker is off"

    @property
    def is_aloud(self) -> bool:
        """True while a loudspeaker plays what the model says."""
        state = self._core.state
        return state.mode == "voice" and state.speaker_on and state.output_open

    def levels(self) -> MeterSample:
        """Return the sound's meters as they are now."""
        return self._audio.levels()

    @property
    def is_over(self) -> bool:
        """True when the session has ended, or is about to."""
        return self._core.is_over()

    @property
    def why_not_free(self) -> str:
        """Reason why the model cannot speak unprompted now, in words; "" for none."""
        state = self._core.state
        facts = state.facts
        if state.ended or state.is_draining:
            return "the session is ending"
        if state.link.is_dormant:
            return DORMANT
        if not state.link.is_open or facts.status != "ready":
            return "there is no connection"
        if state.is_held:
            return "the agent is held"
        if facts.voice:
            return "the user is speaking"
        if state.playing or facts.speaking or self._audio.playing:
            return "the model is speaking"
        if self.awaits_tools:
            return "a tool is running"
        is_owed = facts.owed or facts.answer_possible_since is not None
        if is_owed or state.turns.is_open or state.link.outbox.texts:
            return "the user is to be answered first"
        return ""

    def move(self, *, fresh: bool) -> None:
        """Go on at once on another connection.

        A `fresh` one does not resume the server's session. What the model said is over: it was another agent's.
        """
        self._perform(self._core.server.end_agent(self._clock.now()))
        self._move(fresh)

    @property
    def is_heard(self) -> bool:
        """True while something of the model's is played."""
        return self._audio.playing

    def acknowledge(self, call: ToolCall, answer: ToolAnswer) -> None:
        """Tell the model that a background call runs."""
        self._perform(self._core.tools.acknowledge(self._clock.now(), call.call_id, call.name, answer))

    def suspend_call(self, call_id: str, suspended: bool) -> None:
        """Note that a call waits for another agent, or goes on."""
        self._perform(self._core.tools.suspend(self._clock.now(), call_id, suspended))

    def answer(self, outcome: Outcome, answer: ToolAnswer) -> None:
        """Give a call its final answer."""
        self._perform(self._core.tools.finish(self._clock.now(), outcome, answer))

    def release(self) -> None:
        """Let typed texts go out: the model knows what it has to know."""
        self._perform(self._core.connection.release(self._clock.now()))

    def note_prompt(self) -> None:
        """Note that the model was asked to speak."""
        self._perform(self._core.server.on_prompt_sent(self._clock.now()))

    @property
    def speeches(self) -> SpeechQueue:
        """Speeches that wait, and the present one."""
        return self._core.state.speeches

    def interrupt(self) -> None:
        """Stop what the model is saying."""
        self._perform(self._core.commands.interrupt(self._clock.now()))

    def cancel(self, speech: Speech) -> None:
        """Let nothing be heard of a speech that was asked for and has not begun."""
        self._perform(self._core.cancelled.cancel(self._clock.now(), speech))

    def type_text(self, command_id: str, text: str) -> None:
        """Send a text of a program's as the user's, also during a drain."""
        self._perform(self._core.commands.take_text(self._clock.now(), command_id, text))

    @property
    def has_waiting_text(self) -> bool:
        """True when the user has typed what waits for a connection."""
        return bool(self._core.state.link.outbox.texts)

    def forget_prompt(self) -> None:
        """Forget that the model was asked to speak: another prompt follows."""
        self._core.state.prompted = False

    def wake(self, by: str) -> None:
        """Make the connection again that a dormant session has closed."""
        state = self._core.state
        state.wake(by)
        self._perform(state.flush(self._clock.now()))

    def withdraw(self, speech: Speech) -> None:
        """Ask no other connection for a speech that a lost one was asked for."""
        state = self._core.state
        if state.speeches.current is speech and speech.status == "asked":
            state.prompted = False
            state.tell_speeches(state.speeches.on_given_up())
            self._perform(state.flush(self._clock.now()))

    def take_soft_turn(self) -> None:
        """End the user's turn although the model kept silent."""
        self._perform(self._core.server.soft_turn(self._clock.now(), SOFT_TURN))
