"""Show the call that waits for consent, with its arguments and the keys to answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.paint import Paint
from gemini_live_tui.painting.painted import Painted, strip_of
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit, wrap

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.harness_view import ConsentCard

CALL_ROWS = 4
"""Rows of the call at most; of a longer one the transcript shows the rest."""

_LEAVES = "complete"
"""Action that leaves the prompt when there is nothing to complete."""

VOICE_ROWS = 2
"""Rows at most that say whether the voice counts."""

_ANSWERS = (("consent-yes", "run it"), ("consent-no", "refuse"), ("consent-always", "always"))


class ConsentRow(Painted):
    """Rows of the open question.

    ` MAY THIS RUN? · A run it · X refuse · W always`, the call below, and what the voice has to do with it.
    """

    DEFAULT_CSS = """
    ConsentRow { display: none; width: 1fr; background: $background; color: $foreground; }
    ConsentRow.-shown { display: block; }
    """

    def __init__(self, *, keymap: Mapping[str, str], glyphs: Glyphs, ascii_only: bool, id: str | None = None) -> None:
        super().__init__(id=id)
        self.card: ConsentCard | None = None
        """Question that is on the screen."""
        self.since = 0.0
        """Console time since which it is, and no other screen covers it."""
        self._separator = f" {glyphs.separator} "
        self._ellipsis = glyphs.ellipsis
        self._keys = {
            ident: key_label(keys[0], ascii_only=ascii_only)
            for ident in (_LEAVES, *(answer for answer, _ in _ANSWERS))
            if (keys := keys_of(BY_ID[ident], keymap))
        }
        self._operable = True
        self._typing = False
        self._rows: list[Sequence[Run]] = []
        self._paint = Paint(self)

    def show(self, card: ConsentCard | None, now: float, *, operable: bool, typing: bool = False) -> None:
        """Show the open question, or none.

        `operable`: it can be answered, which is impossible in a recording. `typing`: the keys write into the prompt
        until it is left.
        """
        if (card, operable, typing) == (self.card, self._operable, self._typing):
            return
        if card is None or self.card is None or card.id != self.card.id:
            self.since = now
        self.card, self._operable, self._typing = card, operable, typing
        self.set_class(card is not None, "-shown")
        if self.is_attached:
            self._lay_out(self.screen.size.width)

    def _lay_out(self, width: int) -> None:
        card = self.card
        if card is None or width < 4:
            return
        lines = [card.text[start:end] for start, end in wrap(card.text, width - 2)]
        if len(lines) > CALL_ROWS:
            rest = f" {self._ellipsis} the rest is in the transcript"
            lines = [*lines[: CALL_ROWS - 1], fit(lines[CALL_ROWS - 1], width - 2 - cell_len(rest), "") + rest]
        self._rows = [self._question(card, width), *([("  ", ""), (line, "strong")] for line in lines)]
        if voice := _voice_words(card):
            said = [voice[start:end] for start, end in wrap(voice, width - 2)][:VOICE_ROWS]
            self._rows += [[("  ", ""), (line, "said" if card.voice == "listening" else "quiet")] for line in said]
        self.styles.height = len(self._rows)
        self.refresh()

    def _question(self, card: ConsentCard, width: int) -> list[Run]:
        runs: list[Run] = [(" ", ""), (" MAY THIS RUN? ", "held")]
        if self._operable:
            if self._typing and _LEAVES in self._keys:
                runs += [(self._separator, "quiet"), (self._keys[_LEAVES], "key"), (" first", "quiet")]
            for ident, words in _ANSWERS:
                if ident in self._keys:
                    runs += [(self._separator, "quiet"), (self._keys[ident], "key"), (f" {words}", "quiet")]
        room = width - sum(cell_len(text) for text, _ in runs) - len(self._separator)
        if room >= 12:
            runs.append((f"{self._separator}{fit(card.reason, room, self._ellipsis)}", "said"))
        return runs

    def on_resize(self) -> None:
        """Lay the rows out for the new width."""
        self._lay_out(self.size.width)

    def paint_line(self, y: int) -> Strip:
        """Paint one row."""
        if y >= len(self._rows):
            return Strip.blank(self.size.width, self._paint.style(""))
        segments = [Segment(text, self._paint.style(name)) for text, name in self._rows[y] if text]
        return strip_of(segments, self.size.width, self._paint.style(""))

    def notify_style_update(self) -> None:
        """Forget the painted rows: their colours changed."""
        super().notify_style_update()
        self._paint.forget()


def _voice_words(card: ConsentCard) -> str:
    """Return whether a spoken answer counts, in words; "" for a tool that takes none."""
    match card.voice:
        case "asking":
            return f"The model asks aloud: {card.question}"
        case "listening":
            return f"Say yes or no: {card.question}"
        case "off":
            return f"By key only: {card.voice_reason}."
    return ""
