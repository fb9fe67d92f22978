"""List, add, change, switch and remove breakpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Static
from textual.widgets.option_list import Option

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.session_data.breakpoints import KINDS, MAX_TARGET, Kind, completed, names_for
from gemini_live_tui.widgets.chooser import Chooser
from gemini_live_tui.widgets.line_input import LineInput
from gemini_live_tui.widgets.modal import TopModalScreen
from gemini_live_tui.widgets.option_list import OptionList

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.journal.fold.agent_view import Breakpoint
    from gemini_live_runtime.journal.fold.view import SessionView
    from gemini_live_tui.context import ConsoleContext

MAX_SAID = 1000
"""Characters of a refusal that are shown."""

TARGET_WIDTH = 40
"""Cells of a target in the list."""

_PLACEHOLDERS = {
    "watcher": "which watcher or pattern",
    "phase": "which phase, entered or left",
    "transition": "from>to",
    "tool": "which tool, called or answered",
    "key": "which key, e.g. app:balance",
    "expression": "e.g. app:balance > 1000 and turn:n >= 3",
}


class _Names(Suggester):
    """Suggester of the agent's own names."""

    def __init__(self, screen: BreakpointsScreen) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._screen = screen

    async def get_suggestion(self, value: str) -> str | None:
        """Return the first name that begins with `value`."""
        return completed(self._screen.names(), self._screen.kind, value) or None


class BreakpointsScreen(TopModalScreen[None]):
    """List of breakpoints with the form below it."""

    CSS_PATH = "breakpoints.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        *bindings("breakpoints"),
    ]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self._send = console.order
        self._settings = console.settings
        self._signs = glyphs(console.settings.ascii)
        self._view = console.store.view
        self._shown: tuple[object, ...] = ()
        self._changing = ""
        """Id of the breakpoint that the form changes; "" for a new one."""
        self._asked = ""
        """Id of the command that the form waits for."""
        self.list = OptionList(id="breakpoints-list")
        self.empty = Static("", id="no-breakpoints", markup=False)
        self.chooser = Chooser(KINDS, id="kind")
        self.target = LineInput(id="target", select_on_focus=False, max_length=MAX_TARGET, suggester=_Names(self))
        self.known = Static("", id="known", markup=False)
        self.problem = Static("", id="problem", markup=False)

    def compose(self) -> ComposeResult:
        """Yield a box with the list and the form, which is hidden at first."""
        with Vertical(id="breakpoints-box") as box:
            box.border_title = "Breakpoints"
            yield self.empty
            yield self.list
            with Vertical(id="breakpoint-form"):
                yield self.chooser
                with Horizontal(id="target-row"):
                    yield Static(f"{self._signs.prompt} ", id="target-sign", markup=False)
                    yield self.target
                yield self.known
            yield self.problem

    def on_mount(self) -> None:
        """Focus the list."""
        self._show_form(False)
        self.show_view(self._view)

    # -- the list ----------------------------------------------------------------------------------------------------

    def show_view(self, view: SessionView) -> None:
        """List a view's breakpoints; close the form when its breakpoint is among them."""
        self._view = view
        agent = view.agent_view
        shown = (agent.breakpoints, agent.held.by if agent.held is not None else "", self._form_open)
        if shown == self._shown:
            return
        changed = bool(self._shown) and shown[0] != self._shown[0]
        self._shown = shown
        if changed and self._asked:
            self._show_form(False)
        at = self.list.highlighted
        self.list.clear_options()
        self.list.add_options(Option(self._line(item), id=item.id) for item in agent.breakpoints)
        count = len(agent.breakpoints)
        self.list.highlighted = min(at or 0, count - 1) if count else None
        self.list.display = bool(count)
        self.empty.display = not count and not self._form_open
        replay = self._settings.replay
        add = "" if replay else " a adds one; b on a phase, watcher, key or tool in its pane does, too."
        self.empty.update(Content(f"The agent is held nowhere.{add}"))
        self._name_keys()
        if not self._form_open and count and self.focused is not self.list:
            self.list.focus()

    def _line(self, item: Breakpoint) -> Content:
        held = self._view.agent_view.held
        here = held is not None and held.by == item.id
        sign = self._signs.arrow if here else self._signs.stop if item.enabled else " "
        state = "held here" if here else "" if item.enabled else "off"
        target = fit(item.target, TARGET_WIDTH, self._signs.ellipsis)
        hits = f"{item.hits} hit{'' if item.hits == 1 else 's'}"
        # Unstyled, so that the cursor's colours cover the whole row.
        return Content(f"{sign:<2} {item.kind:<11}{target:<{TARGET_WIDTH}} {state:<9} {hits:>8}")

    def _name_keys(self) -> None:
        parts = ["esc closes"]
        if self._form_open:
            parts = ["tab between kind and name", "enter sets it", "esc cancels"]
        elif not self._settings.replay:
            some = ("enter changes", "{breakpoint-switch} on or off", "{breakpoint-forget} forgets")
            named = ("{breakpoint-add} adds", *(some if self._view.agent_view.breakpoints else ()), "esc closes")
            parts = hints(named, self._settings.keymap, ascii_only=self._settings.ascii)
        self.query_one("#breakpoints-box").border_subtitle = f" {self._signs.separator} ".join(parts)

    @property
    def _highlighted(self) -> Breakpoint | None:
        at = self.list.highlighted
        items = self._view.agent_view.breakpoints
        return items[at] if at is not None and at < len(items) and not self._form_open else None

    def action_back(self) -> None:
        """Close the form, or the screen."""
        if self._form_open:
            self._show_form(False)
        else:
            self.dismiss()

    def action_add(self) -> None:
        """Open the form for a new breakpoint."""
        if not self._form_open and not self._settings.replay:
            self._changing = ""
            self.target.value = ""
            self._show_form(True)

    def action_change(self) -> None:
        """Open the form for the breakpoint under the cursor."""
        item = self._highlighted
        if item is not None and not self._settings.replay:
            self._changing = item.id
            self.chooser.word = item.kind
            self.target.value = item.target
            self._show_form(True)

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.action_change()

    def action_switch(self) -> None:
        """Disable the breakpoint, or enable it."""
        from gemini_live_runtime.commands import SetBreakpoint

        item = self._highlighted
        if item is not None:
            kind = cast(Kind, item.kind)
            self._order(SetBreakpoint(kind=kind, target="", enabled=not item.enabled, id=item.id))

    def action_forget(self) -> None:
        """Remove the breakpoint."""
        from gemini_live_runtime.commands import RemoveBreakpoint

        item = self._highlighted
        if item is not None:
            self._order(RemoveBreakpoint(id=item.id))

    # -- the form ----------------------------------------------------------------------------------------------------

    @property
    def _form_open(self) -> bool:
        return self.has_class("-writing")

    @property
    def kind(self) -> Kind:
        """Kind chosen in the form."""
        return cast(Kind, self.chooser.word)

    def names(self) -> list[str]:
        """Return the possible targets of the chosen kind."""
        return names_for(self._view.agent_view, self.kind)

    def _show_form(self, shown: bool) -> None:
        self._asked = ""
        self.set_class(shown, "-writing")
        self._say("")
        if shown:
            self._kind_chosen()
            (self.target if self._changing else self.chooser).focus()
        elif self._view.agent_view.breakpoints:
            self.list.focus()
        else:
            self.set_focus(None)
        self._shown = ()
        self.show_view(self._view)

    @on(Chooser.Chosen)
    def _kind_chosen(self) -> None:
        self.target.placeholder = _PLACEHOLDERS[self.kind]
        self._show_known()
        self._say("")

    @on(LineInput.Changed)
    def _show_known(self) -> None:
        """List the names that fit the text, as far as they fit the box."""
        written = self.target.value
        start = "" if self.kind == "expression" else written
        fitting = [name for name in self.names() if name.startswith(start) and name != written]
        text = f" {self._signs.separator} ".join(fitting)
        if not self.names():
            text = "The agent has none." if self.kind not in ("key", "expression") else ""
        self.known.update(Content(fit(text, 2 * (TARGET_WIDTH - 8), self._signs.ellipsis)))
        if written:
            self._say("")

    def key_enter(self) -> None:
        """Go from the kind's row to the name."""
        if self._form_open and self.focused is self.chooser:
            self.target.focus()

    @on(LineInput.Submitted)
    def _set(self) -> None:
        from gemini_live_runtime.commands import SetBreakpoint

        target = self.target.value.strip()
        if not target:
            self._say(f"It is not said yet: {_PLACEHOLDERS[self.kind]}.")
        elif self._points_at_fault(target):
            pass
        else:
            self._asked = self._order(SetBreakpoint(kind=self.kind, target=target, id=self._changing))

    def _points_at_fault(self, target: str) -> bool:
        """Show the fault of an expression and put the cursor there."""
        if self.kind != "expression":
            return False
        from gemini_live_runtime.state.expressions import ExpressionError, parse_expression

        try:
            parse_expression(target)
        except ExpressionError as error:
            before = len(self.target.value) - len(self.target.value.lstrip())
            self.target.cursor_position = before + error.column - 1
            self._say(str(error))
            return True
        return False

    def refused(self, command_id: str, reason: str) -> bool:
        """Show the reason in the form."""
        if not command_id or command_id != self._asked:
            return False
        self._asked = ""
        self._say(reason)
        return True

    def _order(self, order: Order) -> str:
        self._say("")
        return self._send(order)

    def _say(self, text: str) -> None:
        self.problem.update(
            Content(f"{self._signs.states['error']} {sanitise_line(text, MAX_TARGET * 3)}" if text else "")
        )
        self.problem.display = bool(text)
