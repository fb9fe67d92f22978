"""Show messages above the transcript and keep some of them among the logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_runtime.journal.fold.view import Dirty, LogLine
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.painting.formatting import clock_text

if TYPE_CHECKING:
    from gemini_live_tui.console.banner import Banner
    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.messages import Level

HINT_S = 4.0
"""Seconds for which a passing message is shown."""

MAX_PASSING = 160
"""Characters of the longest passing message that is not kept."""

MAX_CHARACTERS, MAX_LINES = 2000, 100
"""Limits of the kept messages: characters of one, and their number."""

SAME_EVENT_S = 0.25
"""Two messages within this time belong together."""


class Notices:
    """Messages of the console to its operator."""

    def __init__(self, banner: Banner, console: ConsoleContext) -> None:
        self._banner = banner
        self._store = console.store
        self._settings = console.settings
        self._clock = console.time
        self._past_note_at = float("-inf")
        self._count = 0
        self.lines: tuple[LogLine, ...] = ()
        """Kept messages, oldest first."""

    def past_note(self) -> str:
        """Return a warning about changing the present while showing the past, or ""."""
        behind = self._store.cursor.seq is not None and not self._settings.replay
        return f"You look at {clock_text(self._store.shown.t)}; this changes the present." if behind else ""

    def say_past_note(self) -> None:
        """Show the warning of `past_note`, when there is one."""
        if note := self.past_note():
            self.say(note, passing=True)
            self._past_note_at = self._clock.now()

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show a message above the transcript; a `passing` one disappears by itself."""
        now = self._clock.now()
        if passing and now - self._past_note_at < SAME_EVENT_S and (note := self.past_note()) != message:
            # A pane's message about its command would replace the warning about the past: show both.
            message = f"{message} {note}".rstrip()
        if not passing or len(message) > MAX_PASSING:
            self.keep(message, level)
        self._banner.say(message, level, until=now + HINT_S if passing else None)
        # The key bar names the key that closes a message which stays.
        self._store.dirty |= Dirty.CONTROLS
        self._store.wake()

    def action_close_notice(self) -> None:
        """Hide the message above the transcript."""
        self._banner.clear()
        self._store.dirty |= Dirty.CONTROLS
        self._store.wake()

    def keep(self, message: str, level: Level = "warning") -> None:
        """Add a message to the logs without showing it, unless it repeats the last one."""
        text = sanitise_line(message, MAX_CHARACTERS)
        if self.lines and (self.lines[-1].level, self.lines[-1].text) == (level, text):
            return
        # Negative numbers cannot clash with those of the session's own log lines.
        self._count += 1
        line = LogLine(self._store.elapsed(running=True), -self._count, "console", level, text)
        self.lines = (*self.lines, line)[-MAX_LINES:]
        self._store.dirty |= Dirty.LOG
        self._store.wake()
