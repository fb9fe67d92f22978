"""The body of a mind: what the mind asks for, done by the session's core, sound and connections."""

from __future__ import annotations

from collections.abc import Callable

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import AudioIO
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.session.agent.turn_pipeline import SOFT_TURN
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.effects import Effect
from gemini_live_runtime.tools.background import ToolAnswer
from gemini_live_runtime.tools.dispatch import Outcome, ToolCall


class HostAdapter:
    """A `SessionHost` over one session: `perform` carries out what the core decides, `publish` makes events."""

    def __init__(
        self,
        core: SessionCore,
        audio: AudioIO,
        clock: Clock,
        *,
        perform: Callable[[list[Effect]], None],
        publish: Callable[[ev.Payload, int, int], None],
        reconnect: Callable[[], None],
        changed: Callable[[], None],
    ) -> None:
        self._core = core
        self._audio = audio
        self._clock = clock
        self._perform = perform
        self._publish = publish
        self.reconnect = reconnect
        self.changed = changed

    def emit(self, payload: ev.Payload) -> None:
        """Make it an event of the current turn and generation."""
        self._publish(payload, self._core.turns.number, self._core.ledger.number)

    @property
    def turn(self) -> int:
        """The number of the current turn."""
        return self._core.turns.number

    @property
    def turn_open(self) -> bool:
        """Whether a turn is going on."""
        return self._core.turns.is_open

    @property
    def cut_below(self) -> int:
        """Generations below this number are cut."""
        return self._core.ledger.cut_below

    @property
    def resumption_handle(self) -> str:
        """What the server gave to resume this session with; a secret."""
        return self._core.resumption_handle

    def resume_with(self, handle: str) -> None:
        """Let the first connection take up the session of `handle`."""
        self._core.resumption_handle = handle

    def acknowledge(self, call: ToolCall, answer: ToolAnswer) -> None:
        """Tell the model that a background call runs."""
        self._perform(self._core.tool_acknowledged(self._clock.now(), call.call_id, call.name, answer))

    def answer(self, outcome: Outcome, answer: ToolAnswer) -> None:
        """Give a call its final answer."""
        self._perform(self._core.tool_finished(self._clock.now(), outcome, answer))

    @property
    def awaits_tools(self) -> bool:
        """Whether the model waits for the answer of a call."""
        return self._core.awaits_tools

    @property
    def owes_answer(self) -> bool:
        """Whether the model has been asked and has not begun to answer."""
        return self._core.owes_answer

    @property
    def sounding(self) -> bool:
        """Whether something of the model's is still to be played."""
        return self._audio.playing

    def release(self) -> None:
        """The model has been told what it has to know: typed texts may go out."""
        self._perform(self._core.release(self._clock.now()))

    def prompted(self) -> None:
        """The model was asked to speak."""
        self._perform(self._core.prompted(self._clock.now()))

    def soft_turn(self) -> None:
        """The user's turn counts although the model kept silent."""
        self._perform(self._core.soft_turn(self._clock.now(), SOFT_TURN))
