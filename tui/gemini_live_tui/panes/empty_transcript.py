"""Show what can be said, and how to type instead, while the transcript is empty."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.wrapping import fit, wrap

MARGIN = 5
"""Rows around the phrases: greeting, gaps and the key of text mode."""

MAX_ROWS = 16
MAX_COLUMNS = 2
GAP = 3


class Welcome(Static):
    """Centred greeting with as many phrases as fit."""

    DEFAULT_CSS = """
    Welcome {
        height: 1fr;
        width: 1fr;
        align: center middle;
        content-align: center middle;
        color: $quiet;
        background: $background;
        display: none;
        &.-shown { display: block; }
    }
    """

    def __init__(
        self,
        *,
        id: str | None = None,
        glyphs: Glyphs = UNICODE,
        hint: str = "",
        text_key: str = "F2",
        help_key: str = "F1",
        write_key: str = "i",
    ) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self.hint = hint
        self._text_key = text_key
        self._help_key = help_key
        self._write_key = write_key
        self._shown: tuple[object, ...] = ()

    def show(self, view: SessionView, *, connected: bool, replay: bool, over: bool = False) -> None:
        """Show a greeting for the state of `view`; `over`: the session has ended."""
        greeted = any(block.kind == "model" for block in view.blocks)
        key = (view.agent, tuple(view.phrases), view.mode, greeted, connected, replay, over, self.size)
        if key == self._shown or not self.size:
            return
        self._shown = key
        invites = replay or not over
        self.update(self._compose_text(view, connected=connected, replay=replay) if invites else Content(""))

    def _compose_text(self, view: SessionView, *, connected: bool, replay: bool) -> Content:
        width, height = self.size
        lines = [
            Content.styled(fit(line, width - 2, self._glyphs.ellipsis), "bold $foreground")
            for line in self._greeting(view, connected=connected, replay=replay)
        ]
        if connected and not replay:
            hint = [Content(self.hint[start:end]) for start, end in wrap(self.hint, width - 2)] if self.hint else []
            below = [Content(""), *hint] if hint else []
            lines.extend(self._phrases(view, width, height - len(lines) - len(below)))
            lines.extend(below)
        return Content("\n").join(lines)

    def _greeting(self, view: SessionView, *, connected: bool, replay: bool) -> list[str]:
        if replay:
            return ["Nothing was said in this recording."] if connected else ["Opening the recording"]
        if not connected:
            return [f"Connecting{self._glyphs.ellipsis}"]
        if view.mode == "text":
            return ["Type a message and press enter."]
        if any(block.kind == "model" for block in view.blocks):
            return [f"Answer aloud, or press {self._write_key} and type."]
        return [f"Say hello, or press {self._write_key} and type."]

    def _phrases(self, view: SessionView, width: int, room: int) -> list[Content]:
        lines: list[Content] = []
        room -= MARGIN
        if view.phrases and room >= 1:
            lines.extend((Content(""), Content("Try saying" if view.mode == "voice" else "Try writing")))
            lines.extend(self._columns(view.phrases, width, min(room, MAX_ROWS)))
        if view.mode == "voice":
            lines.extend((Content(""), Content(f"{self._text_key} turns the microphone off and types instead")))
        return lines

    def _columns(self, phrases: Sequence[str], width: int, rows: int) -> list[Content]:
        """Return the phrases that fit, in equal columns, and the number of others."""
        left, right = ("“", "”") if self._glyphs is UNICODE else ('"', '"')
        shown = [f"{left}{fit(phrase, width - 4, self._glyphs.ellipsis)}{right}" for phrase in phrases]
        cells = max(map(cell_len, shown)) + GAP
        columns = max(1, min(MAX_COLUMNS, (width - 2 + GAP) // cells))
        height = min(rows, -(-len(shown) // columns))
        chosen = shown[: height * columns]
        lines = []
        for row in range(height):
            line = "".join(phrase + " " * (cells - cell_len(phrase)) for phrase in chosen[row::height])
            lines.append(Content.styled(line.rstrip(), "$foreground"))
        rest = len(shown) - len(chosen)
        return [*lines, Content(f"and {rest} more, see {self._help_key}")] if rest else lines
