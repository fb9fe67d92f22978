"""Choose a phase to go to, with a preview of the consequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from gemini_live_runtime.journal.fold.packing import unpack
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.editors.base import WIDTH
from gemini_live_tui.editors.preview_rows import phase_lines
from gemini_live_tui.painting.paint import content
from gemini_live_tui.painting.runs import Run, cut, laid_out
from gemini_live_tui.widgets.box_screen import BOX_STYLES, BoxScreen
from gemini_live_tui.widgets.line_input import LineInput
from gemini_live_tui.widgets.option_list import OptionList

if TYPE_CHECKING:
    from typing import Literal

    from gemini_live_runtime.events import Event
    from gemini_live_tui.context import ConsoleContext

MAX_REASON = 200


class PhaseOverride(BoxScreen):
    """Phases with the engine's preview of going to the highlighted one."""

    CSS_PATH: ClassVar[CSSPathType | None] = [BOX_STYLES, "phase_override.tcss"]
    CHANGES = True
    HEADING = "Go to a phase"
    HINT = "enter: when the turn ends, {go-now}: now, esc stays"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("override")]

    def __init__(self, console: ConsoleContext, towards: str = "") -> None:
        super().__init__(console)
        agent = console.store.view.agent_view
        self._here = "" if agent.stay is None else agent.stay.phase
        self._phases = _phases(agent.shape)
        self._towards = towards
        self._asking = ""
        self._asked = ""
        self._going = ""
        self._target = ""
        self.list = OptionList(*(self._option(phase) for phase in self._phases), id="override-phases")
        self.reason = LineInput(placeholder="why, for the record", max_length=MAX_REASON)
        self.expected = Static("", id="override-preview", markup=False)

    @classmethod
    def of(cls, console: ConsoleContext) -> PhaseOverride:
        """Return the screen; the transition under the phase pane's cursor is highlighted."""
        from gemini_live_tui.panes.phase import PhasePane

        focused = console.console_screen.focused
        way = focused.transition_at_cursor if isinstance(focused, PhasePane) else None
        return cls(console, way.to if way is not None else "")

    def contents(self) -> Iterator[Widget]:
        """Yield the list, the reason and the preview."""
        if not self._phases:
            yield Static("This agent has no phases to go to.", markup=False)
            return
        yield self.list
        yield Horizontal(Static("reason", markup=False), self.reason, id="override-reason")
        yield self.expected

    def _option(self, phase: dict[str, Any]) -> Option:
        name = sanitise_line(str(phase.get("name", "")), 80)
        goal = sanitise_line(str(phase.get("goal", "")), 200)
        here = name == self._here
        mark = self.signs.here if here else " "
        words = "here" if here else "last" if phase.get("terminal") else ""
        text = f"{mark} {cut(name, 20, self.signs.ellipsis):<20} {words:<5} {goal}"
        return Option(Content(cut(text, WIDTH - 2, self.signs.ellipsis)), id=name)

    def on_mount(self) -> None:
        """Subscribe to previews; highlight the transition's target, or the next phase."""
        from gemini_live_runtime.events import PhaseEntered, PhasePreviewed

        self.console.store.listen(PhasePreviewed, self._previewed)
        self.console.store.listen(PhaseEntered, self._entered)
        names = [str(option.id) for option in self.list.options]
        if names:
            at = names.index(self._here) if self._here in names else -1
            self.list.highlighted = names.index(self._towards) if self._towards in names else (at + 1) % len(names)
            self.list.focus()

    def on_unmount(self) -> None:
        """Unsubscribe."""
        from gemini_live_runtime.events import PhaseEntered, PhasePreviewed

        self.console.store.unlisten(PhasePreviewed, self._previewed)
        self.console.store.unlisten(PhaseEntered, self._entered)

    # -- what it would do --------------------------------------------------------------------------------------------

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        # The list highlights its first phase before the wanted one: ask about the present highlight.
        at = self.list.highlighted
        target = "" if at is None else str(self.list.get_option_at_index(at).id or "")
        if target != self._target:
            self._target = target
            self.say("")
            self._ask()

    def _ask(self) -> None:
        """Request a preview; while one is pending only the last request is kept."""
        from gemini_live_runtime.commands import PreviewPhase

        if not self._target:
            return
        if self.console.settings.replay:
            self._show([[("This is a recording: nothing can be changed.", "warn")]])
        elif self._target == self._here:
            self._asked = self._target
            self._show([[("The conversation is here.", "quiet")]])
        elif not self._asking:
            self._asked = self._target
            self._asking = self.console.order(PreviewPhase(phase=self._target))
            self._show([[("looking at what would happen", "quiet")]])

    def _previewed(self, event: Event) -> None:
        from gemini_live_runtime.events import PhasePreviewed

        payload = event.payload
        if not isinstance(payload, PhasePreviewed) or payload.command_id != self._asking:
            return
        self._asking = ""
        if self._asked != self._target:
            self._ask()
            return
        width = max(20, min(WIDTH, self.size.width - 7))
        heading: list[Run] = [("What it would do", "note")]
        self._show([heading, *laid_out(phase_lines(payload, self.signs), width)])

    def _show(self, rows: Sequence[Sequence[Run]]) -> None:
        self.expected.update(content(rows))

    # -- going -------------------------------------------------------------------------------------------------------

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def _chosen(self) -> None:
        self._go("turn-end")

    def action_now(self) -> None:
        """Go to the phase at once."""
        self._go("now")

    def _go(self, when: Literal["now", "turn-end"]) -> None:
        from gemini_live_runtime.commands import GoToPhase

        if not self._target:
            return
        if self.console.settings.replay:
            self.say("This is a recording: nothing can be changed.", "error")
            return
        order = GoToPhase(phase=self._target, when=when, reason=self.reason.value.strip())
        self._going = self.console.order(order)
        if not self._going:
            self.say("The session does not take commands now.", "error")
        elif when == "turn-end":
            self.say(f"The conversation goes to {self._target} when the turn ends; esc closes this.", "info")

    def _entered(self, event: Event) -> None:
        from gemini_live_runtime.events import PhaseEntered

        payload = event.payload
        if isinstance(payload, PhaseEntered):
            if self._going and sanitise_line(payload.phase, 80) == self._target:
                self.dismiss()
            else:
                self._here = sanitise_line(payload.phase, 80)
                self._ask()

    def refused(self, command_id: str, reason: str) -> bool:
        """Show the reason."""
        if not command_id or command_id not in (self._going, self._asking):
            return False
        if command_id == self._asking:
            self._asking = ""
            self._show([[(f"No preview: {reason}"[:300], "warn")]])
        else:
            self._going = ""
            self.say(reason, "error")
        return True


def _phases(shape: str) -> list[dict[str, Any]]:
    described = unpack(shape)
    phases = described.get("phases") if isinstance(described, dict) else None
    named: dict[str, dict[str, Any]] = {}
    for phase in phases or ():
        if isinstance(phase, dict) and phase.get("name"):
            named.setdefault(sanitise_line(str(phase["name"]), 80), phase)
    return list(named.values())
