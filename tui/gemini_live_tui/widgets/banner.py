"""The message row above the transcript: one sentence about what went wrong or needs an answer, else hidden."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.glyphs import UNICODE, Glyphs
from gemini_live_tui.telling import Level

_WORDS: dict[Level, str] = {"info": "note", "warning": "warning", "error": "error"}
MAX_CHARACTERS = 600


class Banner(Static):
    """At most three rows. A message stays until it is cleared, replaced, or its time is over."""

    DEFAULT_CSS = """
    Banner {
        display: none;
        height: auto;
        max-height: 3;
        padding: 0 1;
        color: $foreground;
        background: $background;
        &.-shown { display: block; }
        &.-error { color: $failure; text-style: bold; }
        &.-warning { color: $caution; text-style: bold; }
    }
    """

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self.message = ""
        self.level: Level = "info"
        self.until: float | None = None
        """When the message goes away by itself, by the console's clock; None: it stays."""

    def say(self, message: str, level: Level = "info", *, until: float | None = None) -> None:
        """Show one sentence."""
        message = sanitise_line(message, MAX_CHARACTERS)
        self.until = until
        if (message, level) == (self.message, self.level):
            return
        self.message, self.level = message, level
        sign = self._glyphs.states["error"] if level == "error" else self._glyphs.prompt
        self.update(Content(f"{sign} {_WORDS[level]}: {message}"))
        self.set_class(True, "-shown")
        self.set_class(level == "error", "-error")
        self.set_class(level == "warning", "-warning")

    def clear(self) -> bool:
        """Hide; whether there was something to hide."""
        if not self.message:
            return False
        self.message, self.until = "", None
        self.set_class(False, "-shown")
        return True

    def expire(self, now: float) -> float | None:
        """Hide what is over; seconds until something will be, or None."""
        if self.until is None:
            return None
        if now >= self.until:
            self.clear()
            return None
        return self.until - now + 0.01
