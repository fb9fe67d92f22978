"""The screens that actions open, by name. Each is imported when it is first opened, so that starting stays quick."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from textual.screen import Screen

if TYPE_CHECKING:
    from gemini_live_tui.app import ConsoleApp


class Room(Protocol):
    """A screen class that can be opened by name."""

    @classmethod
    def of(cls, app: ConsoleApp) -> Screen[None]:
        """The screen as it is to be shown now."""
        ...


ROOMS: Mapping[str, str] = {
    "devices": "devices:DevicesScreen",
    "echo-test": "trial:EchoTest",
    "gallery": "gallery:GalleryScreen",
    "help": "help:HelpScreen",
    "jump": "jump:JumpScreen",
    "key": "key:KeyScreen",
    "microphone-test": "trial:MicrophoneTest",
    "palette": "palette:CommandsScreen",
    "vertex": "vertex:VertexScreen",
    "welcome": "welcome:WelcomeScreen",
}
"""Module (in `screens`) and class of each room by its name: what `open('…')` in the action table means."""


def room(name: str) -> type[Room]:
    """The class of the room called `name`."""
    module, _, cls = ROOMS[name].partition(":")
    found: type[Room] = getattr(import_module(f"gemini_live_tui.screens.{module}"), cls)
    return found
