"""Put a letter on every pane and field; pressing it goes there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from gemini_live_runtime.records import record
from gemini_live_tui.widgets.modal import TopModalScreen

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext


@runtime_checkable
class JumpTarget(Protocol):
    """Widget that the overlay offers."""

    @property
    def jump_title(self) -> str:
        """Name, one word."""
        ...

    def jump(self) -> None:
        """Show the widget and focus it."""
        ...


@record
class Spot:
    """Target with its letter; `at` is the label's position, None while out of sight."""

    letter: str
    title: str
    target: JumpTarget
    at: Offset | None


def letters_for(titles: Sequence[str]) -> list[str]:
    """Return a letter for each title, at most 26, preferably an early one of its own."""
    found: list[str] = []
    for title in titles[: len(ascii_lowercase)]:
        own = [letter for letter in title.lower() if letter in ascii_lowercase]
        found.append(next(letter for letter in (*own, *ascii_lowercase) if letter not in found))
    return found


def spots_on(widgets: Iterable[Widget]) -> list[Spot]:
    """Return the targets among `widgets`, those in sight first."""
    targets = [widget for widget in widgets if isinstance(widget, JumpTarget) and widget.jump_title]
    letters = letters_for([widget.jump_title for widget in targets])
    spots = []
    for letter, widget in zip(letters, targets, strict=False):
        seen = all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
        at = widget.region.offset if seen and widget.region else None
        spots.append(Spot(letter, widget.jump_title, widget, at))
    return sorted(spots, key=lambda spot: spot.at is None)


class JumpScreen(TopModalScreen[None]):
    """Overlay of labels. A letter or a click goes to the target, escape closes it."""

    CSS_PATH = "jump.tcss"
    PASSING = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+o", "dismiss", "Stay", show=False)]

    def __init__(self, spots: Sequence[Spot]) -> None:
        super().__init__()
        self.spots = spots

    @classmethod
    def of(cls, console: ConsoleContext) -> JumpScreen:
        """Return the overlay for the screen in front."""
        return cls(spots_on(console.screen.query(Widget)))

    def compose(self) -> ComposeResult:
        """Yield labels for targets in sight, and a box with the others."""
        for spot in self.spots:
            if spot.at is not None:
                label = Label(spot)
                label.styles.offset = (spot.at.x + 1, spot.at.y)
                yield label
        hidden = [spot for spot in self.spots if spot.at is None]
        with Vertical(id="jump-box") as box:
            box.border_title = "Elsewhere" if hidden else "Jump"
            box.border_subtitle = "esc stays"
            box.display = bool(hidden) or not self.spots
            if not self.spots:
                yield Static("Nothing here to jump to.", markup=False)
            for spot in hidden:
                yield Label(spot)

    def on_key(self, event: events.Key) -> None:
        """Go to the letter's target."""
        for spot in self.spots:
            if event.key == spot.letter:
                event.stop()
                self._go(spot)

    def on_label_clicked(self, message: Label.Clicked) -> None:
        """Go to the label's target."""
        self._go(message.spot)

    def on_click(self, event: events.Click) -> None:
        """Close the overlay after a click beside the labels."""
        if event.widget is self:
            self.dismiss()

    def _go(self, spot: Spot) -> None:
        self.dismiss()
        spot.target.jump()


class Label(Static):
    """Letter and title."""

    class Clicked(Message):
        """A label was clicked."""

        def __init__(self, spot: Spot) -> None:
            super().__init__()
            self.spot = spot

    def __init__(self, spot: Spot) -> None:
        super().__init__(
            Content.assemble((f" {spot.letter} ", "bold reverse"), (f" {spot.title} ", "$foreground")),
            classes="-seen" if spot.at is not None else "",
        )
        self._spot = spot

    def on_click(self, event: events.Click) -> None:
        """Post `Clicked`."""
        event.stop()
        self.post_message(self.Clicked(self._spot))
