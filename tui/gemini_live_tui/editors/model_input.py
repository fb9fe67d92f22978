"""MessageScreen the model something by hand: context that it does not answer, or another instruction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Static, TextArea

from gemini_live_runtime.journal.agent_view import unpack
from gemini_live_runtime.text import sanitise
from gemini_live_tui.actions import bindings
from gemini_live_tui.widgets.box_screen import BOX_STYLES, BoxScreen
from gemini_live_tui.widgets.json_area import JsonArea

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.events import Event, Payload
    from gemini_live_tui.context import ConsoleContext


class _TellingScreen(BoxScreen):
    """Several lines; what is typed stays until it was taken or left twice."""

    CSS_PATH: ClassVar[CSSPathType | None] = [BOX_STYLES, "model_input.tcss"]
    HINT = "{send-telling} sends, esc leaves"
    ABOUT = ""
    NOTHING = ""
    TAKEN = ""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False), *bindings("telling")]

    def __init__(self, console: ConsoleContext, text: str = "") -> None:
        super().__init__(console)
        self.area = JsonArea(text, id="telling-area")
        self._first = text
        self._leaving = False
        self._sent = ""

    def order(self, text: str) -> Order:
        """What is sent."""
        raise NotImplementedError

    def answer(self) -> type[Payload]:
        """The event that tells that it was taken."""
        raise NotImplementedError

    def contents(self) -> Iterator[Widget]:
        """What it is for, then where one writes."""
        yield Static(self.ABOUT, classes="quiet", markup=False)
        yield self.area

    def on_mount(self) -> None:
        """Write."""
        self.console.store.listen(self.answer(), self._taken)
        self.area.move_cursor(self.area.document.end)
        self.area.focus()

    def on_unmount(self) -> None:
        """Listen no more."""
        self.console.store.unlisten(self.answer(), self._taken)

    @on(TextArea.Changed)
    def _typed(self) -> None:
        """What was said of what stood there before is said of something else now."""
        self._leaving = False
        if not self._sent:
            self.say("")

    def action_send(self) -> None:
        """Send what is written."""
        text = self.area.text.strip()
        if self.console.settings.replay:
            self.say("This is a recording: nothing can be changed.", "error")
        elif not text:
            self.say(self.NOTHING, "warning")
        else:
            self._sent = self.console.order(self.order(text))
            if self._sent:
                self.say("Sent.", "info")
            else:
                self.say("Not sent: the session does not take commands now.", "error")

    def _taken(self, event: Event) -> None:
        if self._sent and self.is_mine(event):
            self.dismiss()
            self.console.say_below(self.TAKEN)

    def is_mine(self, event: Event) -> bool:
        """Whether the event tells of what was sent here."""
        return True

    def refused(self, command_id: str, reason: str) -> bool:
        """What is written stays, with the reason below it."""
        if not command_id or command_id != self._sent:
            return False
        self._sent = ""
        self.say(f"Not sent: {reason}", "error")
        return True

    @property
    def unsaved(self) -> bool:
        """Whether something typed would be lost."""
        return self.area.text != self._first

    def action_leave(self) -> None:
        """Leave; what was typed is left only when asked for twice."""
        if self.unsaved and not self._leaving:
            self._leaving = True
            self.say("It was not sent yet: esc once more leaves it.", "warning")
        else:
            self.dismiss()


class GiveContextScreen(_TellingScreen):
    """Context for the model."""

    HEADING = "Give context"
    ABOUT = "The model is told this and does not answer it; it knows it from its next answer on."
    NOTHING = "Write what the model should know."
    TAKEN = "The model was given the context."

    @classmethod
    def of(cls, console: ConsoleContext) -> GiveContextScreen:
        """An empty page."""
        return cls(console)

    def order(self, text: str) -> Order:
        """The context."""
        from gemini_live_runtime.commands import GiveContext

        return GiveContext(text=text)

    def answer(self) -> type[Payload]:
        """It went out, or waits for the turn's end."""
        from gemini_live_runtime.events import ContextSent

        return ContextSent

    def is_mine(self, event: Event) -> bool:
        """The agent gives context, too."""
        return self.area.text.strip() in getattr(event.payload, "texts", ())


class InstructionScreen(_TellingScreen):
    """The agent's own instruction."""

    HEADING = "Edit the instruction"
    HINT = "{send-telling} replaces it, esc leaves"
    ABOUT = "The agent's own instruction. What its phases and modifiers add stays."
    NOTHING = "An instruction cannot be empty."
    TAKEN = "The model has its new instruction."

    @classmethod
    def of(cls, console: ConsoleContext) -> InstructionScreen:
        """With the instruction as it is."""
        agent = console.store.view.agent_view
        described = unpack(agent.shape)
        own = described.get("instruction") if isinstance(described, dict) else None
        text = own if isinstance(own, str) else unpack(agent.instruction)
        return cls(console, sanitise(text) if isinstance(text, str) else "")

    def order(self, text: str) -> Order:
        """The instruction."""
        from gemini_live_runtime.commands import SetInstruction

        return SetInstruction(text=text)

    def answer(self) -> type[Payload]:
        """The agent is described anew."""
        from gemini_live_runtime.events import AgentDescribed

        return AgentDescribed
