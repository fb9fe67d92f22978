"""What the console is started with. The command line and the config file are turned into this elsewhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gemini_live_tui.launcher import Choice, Starter


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings:
    """Looks and manners of one console."""

    theme: str = ""
    """A theme's name; "" chooses by what the terminal can show."""
    themes_dir: Path | None = None
    """The user's own themes, they come before bundled ones of the same name; None is none."""
    config_path: Path | None = None
    """The file that keeps what is chosen in the console; None keeps nothing."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys by action id, e.g. `{"mute": "k,f4"}`; what cannot work is said and left out."""
    fps: int = 20
    """Most frames a second, 1 to 60."""
    ascii: bool = False
    """Draw with ASCII signs only."""
    replay: bool = False
    """The link shows a recording: nothing can be said or changed, nobody has to hang up."""
    detach_on_quit: bool = False
    """Leave the engine running when the console quits (it was not started by this console)."""
    hint: str = ""
    """One sentence for the empty transcript, e.g. how to set a key."""
    tmux: bool = field(default_factory=lambda: bool(os.environ.get("TMUX")))
    """Show how ctrl+b gets past tmux, whose prefix it is."""
    recording: Path | None = None
    """The folder or file that is replayed; None for a live session."""
    replay_speed: float | None = None
    """Play the recording from its beginning, so many times as fast; None shows its end."""
    memory: Path | None = None
    """The file in which the console's arrangement is remembered; None remembers nothing."""
    starter: Starter | None = None
    """Starts further sessions; None where there is nothing to start them with (a recording, somebody else's engine)."""
    first_room: str = ""
    """The room that is open at first, before there is a session; "" begins with the session."""
    bye_timeout_s: float = 2.0
    """How long quitting waits for the engine's last word."""


@dataclass(frozen=True, slots=True)
class ConsoleOutcome:
    """How a console ended, for whoever started it: `message` is a sentence to print once the terminal is restored."""

    exit_code: int
    message: str = ""
    session_id: str = ""
    next: Choice | None = None
    """What was chosen to be talked to after this session."""
    replay: Path | None = None
    """A recorded session that is to be shown next; None for none."""
