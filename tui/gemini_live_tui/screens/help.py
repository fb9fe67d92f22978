"""All keys, from the action table, and what they mean right now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from gemini_live_tui.actions import GROUPS, Action, in_group, key_label, keys_of
from gemini_live_tui.wrapping import wrap

if TYPE_CHECKING:
    from gemini_live_runtime.events import Mode
    from gemini_live_tui.app import ConsoleApp

KEYS_WIDTH = 18
WIDTH = 68
"""Cells inside the box, see `help.tcss`."""

_INDENT = " " * KEYS_WIDTH


class HelpScreen(ModalScreen[None]):
    """The keys by group. Any of escape, F1, ? and q closes it."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,question_mark,q,enter", "dismiss", "Close", show=False),
    ]

    def __init__(
        self,
        *,
        mode: Mode,
        keymap: Mapping[str, str],
        ascii_only: bool,
        tmux: bool,
        replay: bool,
        phrases: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._phrases = phrases
        self._mode = mode
        self._keymap = keymap
        self._ascii = ascii_only
        self._tmux = tmux
        self._replay = replay

    @classmethod
    def of(cls, app: ConsoleApp) -> HelpScreen:
        """The keys as they are now."""
        settings, view = app.settings, app.store.view
        return cls(
            mode=view.mode,
            keymap=settings.keymap,
            ascii_only=settings.ascii,
            tmux=settings.tmux,
            replay=settings.replay,
            phrases=view.phrases,
        )

    def compose(self) -> ComposeResult:
        """One scrolled box."""
        self.set_class(self._ascii, "-ascii")
        with VerticalScroll(id="help-box") as box:
            box.border_title = "Keys"
            box.border_subtitle = "esc closes"
            yield Static(Content("\n").join(self.lines()), id="help-text")

    def lines(self) -> Iterator[Content]:
        """What is shown, line by line."""
        for line in self._situation():
            yield Content.styled(line, "$quiet")
        for group in GROUPS:
            if self._replay and group in ("Talk", "Write"):
                continue
            yield Content("")
            yield Content.styled(group, "bold $foreground")
            for action in in_group(group):
                yield self._line(action)
        if self._phrases and not self._replay:
            yield Content("")
            yield Content.styled("Try saying", "bold $foreground")
            for phrase in self._phrases:
                yield Content.styled(_hang(phrase, WIDTH), "$foreground")

    def _line(self, action: Action) -> Content:
        keys = "  ".join(key_label(key, ascii_only=self._ascii) for key in keys_of(action, self._keymap))
        description = action.description
        if action.id == "text-mode" and self._tmux:
            description += " (tmux keeps ^b: press it twice, or use F2)"
        return Content.assemble(
            (f"{keys:<{KEYS_WIDTH}}", "bold $key"), (_hang(description, WIDTH - KEYS_WIDTH), "$foreground")
        )

    def _situation(self) -> list[str]:
        if self._replay:
            return ["This is a recording: it can be read, nothing in it can be changed."]
        if self._mode == "text":
            return ["Text mode: the microphone is off, the speaker is as you left it."]
        return [
            "Voice mode: just speak. Single keys are commands while the prompt is",
            "not focused; any other letter opens the prompt and is written there.",
        ]


def _hang(text: str, width: int) -> str:
    """`text` wrapped to `width`, later lines indented below the first."""
    return f"\n{_INDENT}".join(text[start:end] for start, end in wrap(text, width))
