"""Define an action of the console."""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime.records import record

Scope = str
"""Name of the `places.Place` in which an action's keys work."""

Group = Literal["Talk", "Write", "Read", "Inspect", "Change", "Debug", "Time", "Session", "Set up", "Console"]
Bar = Literal["", "always", "voice", "prompt", "panes", "pane", "pane-wide", "wide"]

GROUPS: tuple[Group, ...] = (
    "Talk",
    "Write",
    "Read",
    "Inspect",
    "Change",
    "Debug",
    "Time",
    "Session",
    "Set up",
    "Console",
)

BEFORE_A_SESSION: tuple[Group, ...] = ("Set up", "Console")
"""Groups whose actions make sense without a session."""

_FOR_CALLS: tuple[Group, ...] = ("Talk", "Write", "Change", "Debug")
_READING = ("marks", "breakpoints")


@record
class Action:
    """Action of the console, with its keys, texts and command."""

    id: str
    keys: str
    """Key names with commas between them; "" for none."""
    action: str
    """Name of the method `action_…` of the scope's application, screen or widget, with arguments where it takes some;
    "" when the action needs arguments that only the prompt can take."""
    title: str
    """Title of one or two words, for the key bar and the palette."""
    description: str
    """Description in one line without a period, for help, palette and docs."""
    group: Group
    scope: Scope = "console"
    anywhere: bool = False
    """True when its keys, except letters, take priority over those of the focused widget, the prompt included."""
    yields: bool = False
    """True when a pane may use its keys for an action of its own."""
    bar: Bar = ""
    """Case in which the key bar shows it: in voice mode, while the prompt has the cursor, while no field has it
    (`panes`), while the pane of its scope has the focus (`pane`), where there is room left (`wide`), or both
    (`pane-wide`)."""
    bar_in: tuple[Scope, ...] = ()
    """Further panes in which the key bar shows it."""
    palette: bool = True
    slash: str = ""
    """Command in the prompt, without the slash: a name, then a word in capitals for each argument, in brackets where
    it is optional, e.g. `goto PHASE`, `set KEY = JSON`, `theme [THEME]`; see `slash.form_of`."""
    takes: str = ""
    """Name of the method `action_…` that gets the command's arguments as texts; without any, `action` is called."""

    @property
    def is_for_calls(self) -> bool:
        """True when it acts on a call: in a recording there is nothing for it to do."""
        return (self.group in _FOR_CALLS and self.id not in _READING) or self.id == "detach"
