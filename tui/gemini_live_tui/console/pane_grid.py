"""Lay the panes out and show those in sight."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import NULL_OFFSET, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.message import Message
from textual.widget import Widget

from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_tui.pane_layout import PANES, Arrangement, PaneLayout, arrange
from gemini_live_tui.panes.base import Frame, Pane
from gemini_live_tui.settings import ConsoleSettings
from gemini_live_tui.widgets.filter_line import FilterLine

_NO_MARGIN = Spacing(0, 0, 0, 0)
_NAMES = tuple(pane.id for pane in PANES)


class PaneGridLayout(Layout):
    """Layout of the panes, see `pane_layout.arrange`."""

    name = "pane-grid"

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        """Return a placement for each pane in sight."""
        assert isinstance(parent, PaneGrid)
        arrangement = parent.arranged(size)
        by_name = {child.pane: child for child in children if isinstance(child, Pane)}
        return [
            WidgetPlacement(slot.region, NULL_OFFSET, _NO_MARGIN, by_name[slot.shown])
            for slot in arrangement.slots
            if slot.shown in by_name
        ]


class PaneGrid(Container):
    """Container of the panes; `state` is the layout that the operator chose."""

    class Changed(Message):
        """The arrangement or the pane in front changed."""

    DEFAULT_CSS = """
    PaneGrid { height: 1fr; width: 1fr; background: $background; overflow: hidden; }
    """

    def __init__(
        self,
        transcript: Widget,
        bodies: Callable[[], Mapping[str, Widget]],
        settings: ConsoleSettings,
        state: PaneLayout,
    ) -> None:
        """`bodies` makes the bodies of the other panes, by their names."""
        super().__init__(id="pane-grid")
        self._make_bodies = bodies
        self.state = state
        self.arrangement = Arrangement()
        self.panes = {"transcript": Pane("transcript", transcript, settings)}
        self._settings = settings
        self._marks = dict.fromkeys(self.panes, ~Dirty.NONE)
        self._again: dict[str, float] = {}
        self._shown: dict[str, tuple[float, int]] = {}
        self._layout = PaneGridLayout()
        self.lends_to: Sequence[Widget] = ()
        """Widgets below and above that are shown for a while, each with a fixed height."""

    @property
    def layout(self) -> Layout:
        """Layout of the grid; Textual's style sheets know only its own layouts by name."""
        return self._layout

    def compose(self) -> ComposeResult:
        """Yield the panes of the first paint."""
        yield from self.panes.values()

    async def complete(self) -> None:
        """Add the other panes, after the first paint.

        They take as long to make as everything before.
        """
        added = {name: Pane(name, body, self._settings) for name, body in self._make_bodies().items()}
        for pane in added.values():
            pane.display = False
        await self.mount_all(added.values())
        self.panes |= added
        self._marks |= dict.fromkeys(added, ~Dirty.NONE)
        self.settle(self.size.width, self.size.height)
        self.refresh(layout=True)

    # -- layout -----------------------------------------------------------------------------------------------------

    def arranged(self, size: Size) -> Arrangement:
        """Return the arrangement for `size`."""
        # Their styles, not their sizes: those are of the layout before.
        shown = (widget.styles.height for widget in self.lends_to if widget.is_attached and widget.display)
        taken = sum((height.cells or 1) if height is not None else 1 for height in shown)
        return arrange(size.width, size.height, self.state, _NAMES, taken=taken)

    def settle(self, width: int, height: int) -> None:
        """Apply a size and the state: show the panes that have a place."""
        new = self.arranged(Size(width, height))
        old, self.arrangement = self.arrangement, new
        shown = {slot.shown for slot in new.slots}
        for name, pane in self.panes.items():
            pane.display = name in shown
        for slot in new.slots:
            if slot.shown in self.panes:
                self.panes[slot.shown].name_tabs(slot.panes, framed=not new.tabs, width=slot.region.width)
        if new != old:
            self.refresh(layout=True)
            self.post_message(self.Changed())

    def on_resize(self, event: events.Resize) -> None:
        """Apply the new size."""
        self.settle(event.size.width, event.size.height)
        self.forget()

    def go_to(self, name: str) -> None:
        """Show a pane and focus it."""
        if name in self.panes:
            self.change(self.state.used(name))
            self.panes[name].focus_body()

    def change(self, state: PaneLayout) -> None:
        """Apply another layout."""
        self.state = state
        self.settle(self.size.width, self.size.height)

    @property
    def focused_pane(self) -> str:
        """Id of the pane with the focus; "" for none."""
        focused = self.screen.focused
        while focused is not None and not isinstance(focused, Pane):
            focused = focused.parent if isinstance(focused.parent, Widget) else None
        return focused.pane if focused is not None else ""

    @property
    def unusable_actions(self) -> Collection[str]:
        """Ids of the focused pane's actions that mean nothing there now."""
        pane = self.panes.get(self.focused_pane)
        found: Collection[str] = getattr(pane.body, "unusable", ()) if pane is not None else ()
        return found

    @property
    def filter_in_use(self) -> FilterLine | None:
        """Filter or search line that is shown in the focused pane; None for none."""
        pane = self.panes.get(self.focused_pane)
        return None if pane is None else next((line for line in pane.query(FilterLine) if line.in_use), None)

    # -- painting ----------------------------------------------------------------------------------------------------

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """Show the panes in sight that changed; return the seconds until the next change."""
        waits: list[float] = []
        for name, pane in self.panes.items():
            happened = frame.marks | frame.news if getattr(pane.body, "whole", False) else frame.marks
            self._marks[name] |= happened & pane.body.dirty  # type: ignore[attr-defined]
            if not pane.display:
                continue
            due = self._again.get(name)
            if not self._marks[name] and (due is None or due > frame.now):
                if due is not None:
                    waits.append(due - frame.now)
                continue
            rest = self._resting(name, pane, frame)
            if rest:
                waits.append(rest)
                continue
            marks, self._marks[name] = self._marks[name], Dirty.NONE
            self._shown[name] = (frame.now, frame.epoch)
            again = pane.show(view, replace(frame, marks=marks))
            self._again.pop(name, None)
            if again is not None:
                self._again[name] = frame.now + again
                waits.append(again)
        return min(waits) if waits else None

    def _resting(self, name: str, pane: Pane, frame: Frame) -> float:
        """Return the seconds for which a pane with `every_s` stays as it is.

        0 when another moment is shown.
        """
        at, epoch = self._shown.get(name, (frame.now, -1))
        passed = frame.now - at
        if passed <= 0 or epoch != frame.epoch or self._marks[name] == ~Dirty.NONE:
            return 0.0
        every: float = getattr(pane.body, "every_s", 0.0)
        return max(0.0, every - passed)

    def show_again(self, name: str) -> None:
        """Show one pane again with the next frame."""
        self._marks[name] = ~Dirty.NONE

    def forget(self) -> None:
        """Show all panes again with the next frame."""
        self._marks = dict.fromkeys(self.panes, ~Dirty.NONE)
