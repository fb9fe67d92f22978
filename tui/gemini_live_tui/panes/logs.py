"""List log lines of the engine, libraries, the agent's code and the console."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from gemini_live_runtime.journal.fold.view import Dirty, LogLine, SessionView
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import PaneChanged, ShowDetails, ShowHint
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.widgets.row_list import RowList

EMPTY = "Nothing was printed or logged so far."
LEVELS = ("debug", "info", "warning", "error")
_STYLES = {"debug": "quiet", "info": "said", "warning": "warn", "error": "error"}
_WORDS = {"debug": "debug", "info": "info ", "warning": "warn ", "error": "error"}


class Logs(RowList):
    """Log lines, a row each, newest last; the end is followed.

    Lines below the chosen level are hidden.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("logs")]
    dirty = Dirty.LOG

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._level = "debug"
        self._view = SessionView()
        self._said: Sequence[LogLine] = ()
        self._until = float("inf")
        self._lines: dict[str, LogLine] = {}
        self._total = 0

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """List the lines of `view`; keep the end in sight if it was."""
        self._view, self._said = view, frame.said
        self._until = frame.elapsed if frame.whole is not None else float("inf")
        self._list()
        return None

    def _list(self) -> None:
        least = LEVELS.index(self._level)
        at_end = self.cursor >= len(self.rows) - 1
        lines = self._view.log
        if self._said:
            # The console's messages belong to no event: order them by time.
            said = (line for line in self._said if line.t <= self._until)
            lines = sorted((*lines, *said), key=lambda line: line.t)
        self._total = len(lines)
        self._lines = {str(line.seq): line for line in lines if _rank(line) >= least}
        rows = list(self._lines) or [self._empty()]
        self.set_rows(rows)
        if at_end:
            self.go_to(rows[-1])

    def _empty(self) -> str:
        hidden = self._total
        return f"Nothing from {self._level} on; {hidden} lines below it are hidden." if hidden else EMPTY

    def note(self) -> str:
        """Return the level and the number of hidden lines."""
        hidden = self._total - len(self._lines)
        sign = self._glyphs.separator
        count = f"{len(self._lines)} line{'s' if len(self._lines) != 1 else ''}" + (
            f" {sign} {hidden} hidden" if hidden else ""
        )
        return f"{self._level} and above {sign} {count}" if self._total else ""

    def selectable(self, row: str) -> bool:
        """Return True for a line, False for the sentence of an empty list."""
        return row in self._lines

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return time, level, source and text."""
        line = self._lines.get(row)
        if line is None:
            return [(f"  {fit(row, width - 2, self._glyphs.ellipsis)}", "quiet")]
        word = _WORDS.get(line.level, line.level[:5].ljust(5))
        left = f" {clock_text(line.t)}  {word}  "
        source = f"{line.source}  "
        style = _STYLES.get(line.level, "said")
        return [
            (left, "quiet" if style == "said" else style),
            (source, "quiet"),
            (fit(line.text, width - len(left) - len(source), self._glyphs.ellipsis), style),
        ]

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Show the whole of a line."""
        message.stop()
        line = self._lines.get(message.row)
        if line is not None:
            title = f"{line.level} at {clock_text(line.t)}, {sanitise_line(line.source, 60)}"
            copy = {"t": line.t, "level": line.level, "source": line.source, "text": line.text}
            self.post_message(ShowDetails(title, [("", line.text)], copy))

    def action_log_level(self) -> None:
        """Raise the level; after the last one show all again."""
        self._level = LEVELS[(LEVELS.index(self._level) + 1) % len(LEVELS)]
        self._list()
        self.post_message(PaneChanged("logs"))

    def action_copy_log(self) -> None:
        """Copy the listed lines, if there are any."""
        if not self._lines:
            self.post_message(ShowHint("No line is listed: the clipboard stays as it is."))
            return
        text = "\n".join(
            f"{clock_text(line.t)} {line.level} {line.source}: {line.text}" for line in self._lines.values()
        )
        self.app.copy_to_clipboard(text)
        count = len(self._lines)
        self.post_message(ShowHint(f"Copied {count:,} line{'s' if count != 1 else ''}."))

    def on_mount(self) -> None:
        """List the sentence of an empty list."""
        self.set_rows([EMPTY])


def _rank(line: LogLine) -> int:
    return LEVELS.index(line.level) if line.level in LEVELS else 1
