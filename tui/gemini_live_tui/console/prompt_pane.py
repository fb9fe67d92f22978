"""Frame the prompt, which is made after the first frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.wrapping import fit

if TYPE_CHECKING:
    from gemini_live_tui.console.prompt import Prompt

QUOTED = 60
"""Cells of a text that was not sent, in the question before quitting."""


class PromptPane(Container):
    """Framed prompt with unconfirmed messages and text length at its lower edge.

    Importing and styling the prompt would take a twentieth of the time to the first frame, which has a placeholder.
    """

    def __init__(self, make: Callable[[], Prompt], *, glyphs: Glyphs, text_key: str, write_key: str) -> None:
        super().__init__(id="prompt-pane")
        self.text_key = text_key
        self._make = make
        self._made: Prompt | None = None
        self._write_key = write_key
        self._glyphs = glyphs
        self._shown = ""
        self._hint = Static(id="prompt-hint", markup=False)
        self._note_above = ""

    @property
    def prompt(self) -> Prompt:
        """The prompt; a key may ask for it before `complete`."""
        return self.complete()

    @property
    def written(self) -> str:
        """First words of the text in the prompt; "" for none."""
        return "" if self._made is None else fit(sanitise_line(self._made.text), QUOTED, self._glyphs.ellipsis)

    def complete(self) -> Prompt:
        """Put the prompt in the place of its placeholder, and return it."""
        if self._made is None:
            self._made = self._make()
            self._made.placeholder = self._shown
            if self._hint.is_attached:
                self._hint.remove()
                self.mount(self._made)
        return self._made

    def compose(self) -> ComposeResult:
        """Yield the sign, and the prompt or its placeholder."""
        yield Static(self._glyphs.prompt, id="prompt-sign", markup=False)
        yield self._hint if self._made is None else self._made

    def show_note_above(self, note: str) -> None:
        """Show the note of a pane without a frame, which is above the prompt's."""
        if self._note_above != note:
            self._note_above = note
            self.border_title = Content(note)

    def show(self, mode: str, *, sending: int, limit: int) -> None:
        """Update placeholder and lower edge.

        `sending` is the number of unconfirmed messages; from 80 % of `limit` on, the length of the text is shown.
        """
        prompt = self._made
        way_in = f"{self._write_key} writes a message"
        if prompt is not None and prompt.has_focus:
            hint = "Write a message, enter sends it"
        else:
            hint = way_in if mode == "text" else f"{way_in}, {self.text_key} is text mode"
        if self._shown != hint:
            self._shown = hint
            if prompt is None:
                self._hint.update(hint)
            else:
                prompt.placeholder = hint
        parts = [f"sending {sending}"] if sending else []
        size = 0 if prompt is None else len(prompt.text)
        if 0 < limit * 0.8 < size:
            parts.append(f"{size:,} of {limit:,} characters")
        note = f" {self._glyphs.separator} ".join(parts)
        if self.border_subtitle != note:
            self.border_subtitle = note
