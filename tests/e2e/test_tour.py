"""The tour works in a real terminal, for a new user."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from tests.support import tour
from tests.support.tmux import Tmux, needs_tmux

ROOT = Path(__file__).resolve().parents[2]
KEYS = {"ctrl+o": "C-o", "ctrl+s": "C-s", "escape": "Escape", "tab": "Tab", "end": "End", "f6": "F6", "enter": "Enter"}

pytestmark = needs_tmux


class Visitor:
    """Takes the tour in tmux."""

    def __init__(self, tmux: Tmux) -> None:
        self.tmux = tmux

    def say(self, text: str) -> None:
        self.tmux.write(text)
        self.until(text)
        self.tmux.press("Enter")

    def press(self, *keys: str) -> None:
        for key in keys:
            if key in KEYS:
                self.tmux.press(KEYS[key])
            else:
                self.tmux.write(key)

    def type(self, text: str) -> None:
        self.tmux.write(text)

    def until(self, *texts: str, gone: str = "") -> None:
        self.tmux.until(*texts, gone=gone)

    def picture(self, name: str) -> None:
        pass


def test_the_tour_can_be_taken_from_the_first_screen_to_the_exported_file(tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    folder.mkdir()
    path = os.pathsep.join(str(ROOT / part) for part in ("tui", "runtime"))
    program = shlex.join([sys.executable, "-m", "gemini_live_tui", *tour.COMMAND])
    started = f"cd {shlex.quote(str(folder))} && {program}"
    with Tmux(started, tmp_path, size=tour.SIZE, environment={"PYTHONPATH": path, "COLORTERM": "truecolor"}) as tmux:
        tour.take(Visitor(tmux))
        (file,) = folder.glob("*.md")
        written = file.read_text("utf-8")
        tmux.press("Escape")
        tmux.press("C-q")
        tmux.until("The session is over")
    assert "you set app:monthly = 50" in written
    assert "Maria" not in written
    assert "redacted" in written
