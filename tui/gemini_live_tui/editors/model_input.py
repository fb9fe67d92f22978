"""Send context to the model, or replace the agent's instruction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Static, TextArea

from gemini_live_runtime.journal.fold.packing import unpack
from gemini_live_runtime.text import sanitise
from gemini_live_tui.actions import bindings
from gemini_live_tui.widgets.box_screen import BOX_STYLES, BoxScreen
from gemini_live_tui.widgets.json_area import JsonArea

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.events import Event, Payload
    from gemini_live_tui.context import ConsoleContext


class _ModelInputScreen(BoxScreen):
    """Editor of several lines; typed text stays until it is taken, or left twice."""

    CSS_PATH: ClassVar[CSSPathType | None] = [BOX_STYLES, "model_input.tcss"]
    HINT = "{send-telling} sends, esc cancels"
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
        """Return the command that sends the text."""
        raise NotImplementedError

    def answer(self) -> type[Payload]:
        """Return the event that confirms the command."""
        raise NotImplementedError

    def contents(self) -> Iterator[Widget]:
        """Yield the description and the field."""
        yield Static(self.ABOUT, classes="quiet", markup=False)
        yield self.area

    def on_mount(self) -> None:
        """Focus the field."""
        self.console.store.listen(self.answer(), self._taken)
        self.area.move_cursor(self.area.document.end)
        self.area.focus()

    def on_unmount(self) -> None:
        """Unsubscribe."""
        self.console.store.unlisten(self.answer(), self._taken)

    @on(TextArea.Changed)
    def _typed(self) -> None:
        """Remove the message about the former text."""
        self._leaving = False
        if not self._sent:
            self.say("")

    def action_send(self) -> None:
        """Send the text."""
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
        """Return True when the event confirms this screen's command."""
        return True

    def refused(self, command_id: str, reason: str) -> bool:
        """Keep the text and show the reason below it."""
        if not command_id or command_id != self._sent:
            return False
        self._sent = ""
        self.say(f"Not sent: {reason}", "error")
        return True

    @property
    def unsaved(self) -> bool:
        """True when closing the screen would lose typed text."""
        return self.area.text != self._first

    def action_leave(self) -> None:
        """Close the screen; with typed text only the second time."""
        if self.unsaved and not self._leaving:
            self._leaving = True
            self.say("It was not sent yet: esc once more leaves it.", "warning")
        else:
            self.dismiss()


class GiveContextScreen(_ModelInputScreen):
    """Editor of context for the model."""

    HEADING = "Give context"
    ABOUT = "The model is told this and does not answer it; it knows it from its next answer on."
    NOTHING = "Write what the model should know."
    TAKEN = "The model was given the context."

    def order(self, text: str) -> Order:
        """Return the command that gives context."""
        from gemini_live_runtime.commands import GiveContext

        return GiveContext(text=text)

    def answer(self) -> type[Payload]:
        """Return the event of context that was sent or queued."""
        from gemini_live_runtime.events import ContextSent

        return ContextSent

    def is_mine(self, event: Event) -> bool:
        """Return True for the operator's context: the agent gives some, too."""
        return self.area.text.strip() in getattr(event.payload, "texts", ())


class InstructionScreen(_ModelInputScreen):
    """Editor of the agent's own instruction."""

    HEADING = "Edit the instruction"
    HINT = "{send-telling} replaces it, esc cancels"
    ABOUT = "The agent's own instruction. What its phases and modifiers add stays."
    NOTHING = "An instruction cannot be empty."
    TAKEN = "The model has its new instruction."

    @classmethod
    def of(cls, console: ConsoleContext) -> InstructionScreen:
        """Return the editor with the present instruction."""
        agent = console.store.view.agent_view
        described = unpack(agent.shape)
        own = described.get("instruction") if isinstance(described, dict) else None
        text = own if isinstance(own, str) else unpack(agent.instruction)
        return cls(console, sanitise(text) if isinstance(text, str) else "")

    def order(self, text: str) -> Order:
        """Return the command that sets the instruction."""
        from gemini_live_runtime.commands import SetInstruction

        return SetInstruction(text=text)

    def answer(self) -> type[Payload]:
        """Return the event that describes the agent again."""
        from gemini_live_runtime.events import AgentDescribed

        return AgentDescribed
