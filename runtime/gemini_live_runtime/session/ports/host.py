"""What a mind needs from the session it belongs to: the moves it may ask for, and the means it works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.session.io.wire_writer import WireWriter
from gemini_live_runtime.tools.background import ToolAnswer
from gemini_live_runtime.tools.dispatch import Outcome, ToolCall

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.debugger.hot_reload import Source


class SessionHost(Protocol):
    """What the mind asks of the session that it belongs to."""

    @property
    def turn(self) -> int:
        """The number of the current turn."""
        ...

    @property
    def turn_open(self) -> bool:
        """Whether a turn is going on."""
        ...

    @property
    def cut_below(self) -> int:
        """Generations below this number are cut."""
        ...

    @property
    def resumption_handle(self) -> str:
        """What the server gave to resume this session with; a secret."""
        ...

    def resume_with(self, handle: str) -> None:
        """Let the first connection take up the session of `handle`."""
        ...

    def emit(self, payload: ev.Payload) -> None:
        """Make it an event, here and now."""
        ...

    def acknowledge(self, call: ToolCall, answer: ToolAnswer) -> None:
        """Tell the model that a background call runs."""
        ...

    def answer(self, outcome: Outcome, answer: ToolAnswer) -> None:
        """Give a call its final answer."""
        ...

    @property
    def awaits_tools(self) -> bool:
        """Whether the model waits for the answer of a call."""
        ...

    @property
    def owes_answer(self) -> bool:
        """Whether the model has been asked and has not begun to answer."""
        ...

    @property
    def sounding(self) -> bool:
        """Whether something of the model's is still to be played."""
        ...

    def release(self) -> None:
        """The model has been told what it has to know: typed texts may go out."""
        ...

    def prompted(self) -> None:
        """The model was asked to speak."""
        ...

    def soft_turn(self) -> None:
        """The user's turn counts although the model kept silent."""
        ...

    def reconnect(self) -> None:
        """Make a new connection, with the instruction as it is now."""
        ...

    def changed(self) -> None:
        """Something moved that `quiet` depends on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionServices:
    """What a mind works with."""

    clock: Clock
    writer: WireWriter
    async_tools: bool
    text_model: TextModel | None
    on_notify: Callable[[str, str], None]
    source: Source | None = None
    """Where the agent was read from; None for one that cannot be read again."""
