"""What an action is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scope = str
"""Where an action's keys hold: the name of a `places.Place`."""

Group = Literal["Talk", "Write", "Read", "Inspect", "Change", "Debug", "Time", "Session", "Set up", "Console"]
Bar = Literal["", "always", "voice", "text", "pane"]

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


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do."""

    id: str
    keys: str
    """Key names with commas between them; "" for none."""
    action: str
    """The method `action_…` that carries it out, on the application, the screen or the widget of the scope; arguments
    may be written behind it. "" for what needs arguments that only the prompt can take."""
    title: str
    """One or two words, for the key bar and the palette."""
    description: str
    """What it does, one line without a full stop."""
    group: Group
    scope: Scope = "console"
    anywhere: bool = False
    """Its keys go before those of whatever has the focus, the prompt included."""
    yields: bool = False
    """A pane may take its keys for itself."""
    panes_only: bool = False
    """Its letters are typed, not obeyed, while the transcript has the focus."""
    bar: Bar = ""
    """When the key bar shows it: `pane` while the pane of its scope has the focus."""
    bar_in: tuple[Scope, ...] = ()
    """Panes in which the key bar shows it, too."""
    palette: bool = True
    slash: str = ""
    """How it is written in the prompt, without the slash: a name, then a word in capitals for each argument, in
    brackets where it may be left out, e.g. `goto PHASE`, `set KEY = JSON`, `theme [THEME]`; see `slash.form_of`."""
    takes: str = ""
    """The method `action_…` that gets the written arguments, as texts; without arguments it is `action`."""
