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
    "breakpoints": "editors.breakpoints:BreakpointsScreen",
    "devices": "pickers.devices:DevicesScreen",
    "diff": "dialogs.state_diff:DiffScreen",
    "echo-test": "dialogs.audio_test:EchoTest",
    "events-filter": "dialogs.events_filter:EventsFilterScreen",
    "export": "editors.export:ExportScreen",
    "gallery": "pickers.gallery:GalleryScreen",
    "give-context": "editors.model_input:GiveContextScreen",
    "go-to": "dialogs.go_to:GoToScreen",
    "help": "dialogs.help:HelpScreen",
    "instruction": "editors.model_input:InstructionScreen",
    "jump": "pickers.jump:JumpScreen",
    "import-state": "editors.import_state:ImportState",
    "key": "dialogs.api_key:KeyScreen",
    "mark": "dialogs.mark:MarkScreen",
    "marks": "pickers.marks:MarksScreen",
    "meters": "dialogs.meters:MetersScreen",
    "microphone-test": "dialogs.audio_test:MicrophoneTest",
    "palette": "pickers.palette:CommandsScreen",
    "phase-override": "editors.phase_override:PhaseOverride",
    "sessions": "pickers.sessions:SessionsScreen",
    "themes": "pickers.themes:ThemesScreen",
    "state-editor": "editors.state:StateEditor",
    "vertex": "dialogs.vertex:VertexScreen",
    "welcome": "dialogs.first_run:WelcomeScreen",
    "why": "dialogs.why:WhyScreen",
}
"""Module (in this package) and class of each room by its name: what `open('…')` in the action table means."""


def room(name: str) -> type[Room]:
    """The class of the room called `name`."""
    module, _, cls = ROOMS[name].partition(":")
    found: type[Room] = getattr(import_module(f"gemini_live_tui.{module}"), cls)
    return found
