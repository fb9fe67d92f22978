"""Find screens by name; a screen's module is imported when it first opens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from textual.screen import Screen

from gemini_live_tui.context import ConsoleContext

SCREENS: Mapping[str, str] = {
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
    "profiles": "pickers.profiles:ProfilesScreen",
    "sessions": "pickers.sessions:SessionsScreen",
    "themes": "pickers.themes:ThemesScreen",
    "state-editor": "editors.state:StateEditor",
    "vertex": "dialogs.vertex:VertexScreen",
    "welcome": "dialogs.first_run:WelcomeScreen",
    "why": "dialogs.why:WhyScreen",
}
"""Module below this package and class of each screen, by the name that actions give to `open`."""

EDITORS = frozenset(("give-context", "import-state", "instruction", "phase-override", "state-editor"))
"""Screens that change a session, which a recording cannot be."""


def screen_class(name: str) -> type[Screen[None]]:
    """Return the screen class called `name`; raise KeyError for an unknown name."""
    module, _, cls = SCREENS[name].partition(":")
    found: type[Screen[None]] = getattr(import_module(f"gemini_live_tui.{module}"), cls)
    return found


def make_screen(name: str, console: ConsoleContext) -> Screen[None]:
    """Return a new screen called `name`, by its class method `of` where it has one."""
    cls = screen_class(name)
    make: Callable[[ConsoleContext], Screen[None]] = getattr(cls, "of", cls)
    return make(console)
