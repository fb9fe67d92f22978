"""Show one message above the transcript; without a message the row is hidden."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.messages import Level
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.wrapping import fit, wrap

_WORDS: dict[Level, str] = {"info": "note", "warning": "warning", "error": "error"}
MAX_CHARACTERS = 2000
MAX_ROWS = 3


class Banner(Static):
    """Message of at most three rows; a suffix says where a longer one is shown whole.

    A message stays until it is cleared, replaced, or its time is over.
    """

    DEFAULT_CSS = """
    Banner {
        display: none;
        padding: 0 1;
        color: $foreground;
        background: $background;
        &.-shown { display: block; }
        &.-error { color: $failure; text-style: bold; }
        &.-warning { color: $caution; text-style: bold; }
    }
    """

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE, rest: str = "") -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._rest = rest
        self.message = ""
        self.level: Level = "info"
        self.until: float | None = None
        """Console time in seconds at which the message disappears; None to keep it."""

    def say(self, message: str, level: Level = "info", *, until: float | None = None) -> None:
        """Show one sentence."""
        message = sanitise_line(message, MAX_CHARACTERS)
        self.until = until
        if (message, level) == (self.message, self.level):
            return
        self.message, self.level = message, level
        self._write(self.app.size.width)
        self.set_class(True, "-shown")
        self.set_class(level == "error", "-error")
        self.set_class(level == "warning", "-warning")

    def on_resize(self) -> None:
        """Fit the message to the new width."""
        if self.message:
            self._write(self.app.size.width)

    def _write(self, width: int) -> None:
        sign = self._glyphs.states["error"] if self.level == "error" else self._glyphs.prompt
        text, room = f"{sign} {_WORDS[self.level]}: {self.message}", max(1, width - 2)
        rows = [text[start:end].rstrip() for start, end in wrap(text, room)]
        if len(rows) > MAX_ROWS:
            left = " ".join(rows[MAX_ROWS - 1 :])
            short = fit(left, max(1, room - len(self._rest) - 1), self._glyphs.ellipsis)
            rows = [*rows[: MAX_ROWS - 1], f"{short} {self._rest}"]
        self.styles.height = len(rows)
        self.update(Content("\n".join(rows)))

    def clear(self) -> bool:
        """Hide the message; return False when there was none."""
        if not self.message:
            return False
        self.message, self.until = "", None
        self.set_class(False, "-shown")
        return True

    def expire(self, now: float) -> float | None:
        """Hide an expired message; return the seconds until the next expires, or None."""
        if self.until is None:
            return None
        if now >= self.until:
            self.clear()
            return None
        return self.until - now + 0.01
