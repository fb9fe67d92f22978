"""The jump overlay: a letter over every pane, and over whatever else can have the focus; the letter goes there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext


@runtime_checkable
class JumpTarget(Protocol):
    """A widget that the overlay offers."""

    @property
    def jump_title(self) -> str:
        """What it is called, one word."""
        ...

    def jump(self) -> None:
        """Bring it into sight and put the focus there."""
        ...


@dataclass(frozen=True, slots=True)
class Spot:
    """A target with its letter; `at` is where its label goes, None while it is out of sight."""

    letter: str
    title: str
    target: JumpTarget
    at: Offset | None


def letters_for(titles: Sequence[str]) -> list[str]:
    """A letter for each title: one of its own where that is free, the earlier the better. At most 26."""
    found: list[str] = []
    for title in titles[: len(ascii_lowercase)]:
        own = [letter for letter in title.lower() if letter in ascii_lowercase]
        found.append(next(letter for letter in (*own, *ascii_lowercase) if letter not in found))
    return found


def spots_on(widgets: Iterable[Widget]) -> list[Spot]:
    """What can be jumped to among `widgets`, those in sight first."""
    targets = [widget for widget in widgets if isinstance(widget, JumpTarget) and widget.jump_title]
    letters = letters_for([widget.jump_title for widget in targets])
    spots = []
    for letter, widget in zip(letters, targets, strict=False):
        seen = all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
        at = widget.region.offset if seen and widget.region else None
        spots.append(Spot(letter, widget.jump_title, widget, at))
    return sorted(spots, key=lambda spot: spot.at is None)


class JumpScreen(ModalScreen[None]):
    """Labels over the screen below. A letter or a click goes there, escape stays."""

    CSS_PATH = "jump.tcss"
    PASSING = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+o", "dismiss", "Stay", show=False)]

    def __init__(self, spots: Sequence[Spot], *, ascii_only: bool) -> None:
        super().__init__()
        self.spots = spots
        self._ascii = ascii_only

    @classmethod
    def of(cls, console: ConsoleContext) -> JumpScreen:
        """The places of the screen in front as it stands."""
        return cls(spots_on(console.screen.query(Widget)), ascii_only=console.settings.ascii)

    def compose(self) -> ComposeResult:
        """A label for what is in sight, and a box that names the rest."""
        self.set_class(self._ascii, "-ascii")
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
        """Go where the letter says."""
        for spot in self.spots:
            if event.key == spot.letter:
                event.stop()
                self._go(spot)

    def on_label_clicked(self, message: Label.Clicked) -> None:
        """Go there."""
        self._go(message.spot)

    def on_click(self, event: events.Click) -> None:
        """A click beside the labels stays."""
        if event.widget is self:
            self.dismiss()

    def _go(self, spot: Spot) -> None:
        self.dismiss()
        spot.target.jump()


class Label(Static):
    """A letter and a title."""

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
        """Say so."""
        event.stop()
        self.post_message(self.Clicked(self._spot))
