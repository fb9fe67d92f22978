"""The screens that actions open, by name. Each is imported when it is first opened, so that starting stays quick."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from textual.screen import Screen

if TYPE_CHECKING:
    from gemini_live_runtime.journal.view import SessionView
    from gemini_live_tui.app import ConsoleApp


class Room(Protocol):
    """A screen class that can be opened by name."""

    @classmethod
    def of(cls, app: ConsoleApp) -> Screen[None]:
        """The screen as it is to be shown now."""
        ...


@runtime_checkable
class Showing(Protocol):
    """A room that shows something of the session: it is brought up to date with every frame while it is open."""

    def show_view(self, view: SessionView) -> None:
        """Show a view."""
        ...


@runtime_checkable
class Ordering(Protocol):
    """A room that gives orders: while it is in front it is told of those that were refused."""

    def refused(self, command_id: str, reason: str) -> bool:
        """An order was not carried out; whether it was this room's, which says so itself then."""
        ...


ROOMS: Mapping[str, str] = {
    "breakpoints": "breakpoints:BreakpointsScreen",
    "devices": "devices:DevicesScreen",
    "diff": "diff:DiffScreen",
    "echo-test": "trial:EchoTest",
    "events-filter": "events_filter:EventsFilterScreen",
    "export": "export:ExportScreen",
    "gallery": "gallery:GalleryScreen",
    "give-context": "telling_model:GiveContextScreen",
    "go-to": "go_to:GoToScreen",
    "help": "help:HelpScreen",
    "instruction": "telling_model:InstructionScreen",
    "jump": "jump:JumpScreen",
    "import-state": "import_state:ImportState",
    "key": "key:KeyScreen",
    "mark": "mark:MarkScreen",
    "marks": "marks:MarksScreen",
    "meters": "meters:MetersScreen",
    "microphone-test": "trial:MicrophoneTest",
    "palette": "palette:CommandsScreen",
    "phase-override": "phase_override:PhaseOverride",
    "sessions": "sessions:SessionsScreen",
    "themes": "themes:ThemesScreen",
    "state-editor": "state_editor:StateEditor",
    "vertex": "vertex:VertexScreen",
    "welcome": "welcome:WelcomeScreen",
    "why": "why:WhyScreen",
}
"""Module (in `screens`) and class of each room by its name: what `open('…')` in the action table means."""


def room(name: str) -> type[Room]:
    """The class of the room called `name`."""
    module, _, cls = ROOMS[name].partition(":")
    found: type[Room] = getattr(import_module(f"gemini_live_tui.screens.{module}"), cls)
    return found
