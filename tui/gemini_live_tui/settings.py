"""Hold the settings and the outcome of a console.

The command line and the config file are turned into `ConsoleSettings` by `cli`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime.records import keyword_record, record

if TYPE_CHECKING:
    from gemini_live_tui.config import Config
    from gemini_live_tui.launcher import Choice, Starter


@keyword_record
class ConsoleSettings:
    """Settings of one console."""

    theme: str = ""
    """Theme's name; "" chooses by the terminal's colours."""
    themes_dir: Path | None = None
    """Folder of the user's own themes, which win over bundled ones of the same name; None for none."""
    config_path: Path | None = None
    """File for choices made in the console; None keeps none."""
    profile: str = "default"
    """Profile of this console's sessions."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys by action id, e.g. `{"mute": "k,f4"}`; faulty ones are reported and left out."""
    fps: int = 20
    """Frames a second at most, 1 to 60."""
    ascii: bool = False
    """True to draw with ASCII signs only."""
    replay: bool = False
    """True for a recording: no command can be sent, and there is no call to end."""
    attached: bool = False
    """True when another console started the engine: quitting asks before it hangs up."""
    hint: str = ""
    """Sentence for the empty transcript, e.g. about setting a key; `{id}` stands for the keys of an action."""
    tmux: bool = field(default_factory=lambda: bool(os.environ.get("TMUX")))
    """True inside tmux, whose prefix is ctrl+b: key names show the way past it."""
    recording: Path | None = None
    """Folder or file of the recording; None for a live session."""
    replay_speed: float | None = None
    """Factor at which a recording plays from its beginning; None shows its end."""
    memory: Path | None = None
    """File for the pane layout; None keeps none."""
    starter: Starter | None = None
    """Starter of further sessions; None for a recording or an attached engine."""
    first_screen: str = ""
    """Name of the screen that is open at first, before a session; "" starts the session."""
    bye_timeout_s: float = 5.0
    """Seconds without a message of the engine after which quitting no longer waits for its answer."""

    def devices(self) -> tuple[str, str]:
        """Return the microphone and the speaker of the next session, "" for the system's."""
        if self.starter is not None:
            return self.starter.devices()
        config = self._config()
        return config.audio_input, config.audio_output

    def headphones(self) -> bool:
        """Return True when the next session is for a user with headphones."""
        return self._config().headphones if self.starter is None else self.starter.headphones()

    def _config(self) -> Config:
        # Imported here, for no console needs it before its first paint.
        from gemini_live_tui.config import load

        return load(flags={"profile": self.profile}).config


@record
class ConsoleOutcome:
    """Outcome of a console; `message` is a sentence to print on the restored terminal."""

    exit_code: int
    message: str = ""
    session_id: str = ""
    next: Choice | None = None
    """Session to start next, chosen in the console."""
    replay: Path | None = None
    """Recording to show next; None for none."""
    session: Path | None = None
    """Folder of the recorded session to go on with next, in the engine that runs it or in another; None for none."""
    folder: str = ""
    """Folder of the session's own recording; "" for none."""
    missing: str = ""
    """Sentences about events that are missing in the recording; "" for none."""
