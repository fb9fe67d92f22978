"""Choose one of a few words with the arrow keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from gemini_live_tui.painting.runs import Run
from gemini_live_tui.widgets.row import Row


class Chooser(Row, can_focus=True):
    """Words in a row; the chosen one has brackets and other colours."""

    class Chosen(Message):
        """Another word was chosen."""

        def __init__(self, word: str) -> None:
            super().__init__()
            self.word = word

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,up", "choose(-1)", "Previous", show=False),
        Binding("right,down", "choose(1)", "Next", show=False),
    ]

    def __init__(self, words: Sequence[str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._words = tuple(words)
        self._at = 0

    @property
    def word(self) -> str:
        """Chosen word."""
        return self._words[self._at]

    @word.setter
    def word(self, word: str) -> None:
        self._at = self._words.index(word)
        self.update_row()

    def action_choose(self, step: int) -> None:
        """Choose the word `step` further; wraps around at the ends."""
        self._at = (self._at + step) % len(self._words)
        self.update_row()
        self.post_message(self.Chosen(self.word))

    def runs(self, width: int) -> Sequence[Run]:
        """Return all words where they fit, else the chosen one."""
        style = "chosen" if self.has_focus else "strong"
        runs: list[Run] = []
        for index, word in enumerate(self._words):
            runs.append((f"[{word}]", style) if index == self._at else (f" {word} ", "quiet"))
        if sum(len(text) for text, _ in runs) > width:
            return [(f"[{self.word}]", style)]
        return runs

    def on_focus(self) -> None:
        """Show the focus."""
        self.update_row()

    def on_blur(self) -> None:
        """Hide the focus."""
        self.update_row()

    def on_click(self, event: events.Click) -> None:
        """Choose the word under the pointer."""
        run = self.run_at(event.x)
        word = run[0].strip(" []") if run is not None else ""
        if word in self._words and word != self.word:
            self.word = word
            self.post_message(self.Chosen(word))
