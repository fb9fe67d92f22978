"""List all keys from the action table, those of the focused pane first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from gemini_live_tui.actions import BEFORE_A_SESSION, GROUPS, PLACES, Action, Scope, in_group, in_scope
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.actions.slash import COMMANDS, form_of
from gemini_live_tui.painting.wrapping import wrap

if TYPE_CHECKING:
    from gemini_live_runtime.events import Mode
    from gemini_live_tui.context import ConsoleContext

KEYS_WIDTH = 18
WIDTH = 68
"""Cells inside the box, see `help.tcss`."""

_GENERAL = ("everywhere", "prompt")
_INDENT = " " * KEYS_WIDTH


class HelpScreen(ModalScreen[None]):
    """Keys by group, closed with escape, F1, ? and q."""

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
        place: Scope = "console",
        phrases: Sequence[str] = (),
        waiting: bool = False,
    ) -> None:
        super().__init__()
        self._phrases = phrases
        self._mode = mode
        self._keymap = keymap
        self._ascii = ascii_only
        self._tmux = tmux
        self._replay = replay
        self._place = PLACES[place]
        self._waiting = waiting

    @classmethod
    def of(cls, console: ConsoleContext) -> HelpScreen:
        """Return the screen with the keys of this moment."""
        settings, view = console.settings, console.store.view
        return cls(
            mode=view.mode,
            keymap=settings.keymap,
            ascii_only=settings.ascii,
            tmux=settings.tmux,
            replay=settings.replay,
            place=getattr(console.screen, "place", "") or console.place,
            phrases=view.phrases,
            waiting=console.waiting,
        )

    def compose(self) -> ComposeResult:
        """Yield one scrolled box."""
        with VerticalScroll(id="help-box") as box:
            box.border_title = "Keys"
            box.border_subtitle = "esc closes"
            yield Static(Content("\n").join(self.lines()), id="help-text")

    def lines(self) -> Iterator[Content]:
        """Yield the lines of the box."""
        if self._place.kind in ("pane", "screen"):
            yield from self._section(self._place.title, in_scope(self._place.name), self._place.about)
            yield Content("")
        for line in self._situation():
            yield Content.styled(line, "$quiet")
        for group in GROUPS:
            if (self._replay and group in ("Talk", "Write")) or (self._waiting and group not in BEFORE_A_SESSION):
                continue
            yield from self._section(group, (one for one in in_group(group) if PLACES[one.scope].kind in _GENERAL))
        if not (self._replay or self._waiting):
            yield from self._commands()
        for place in PLACES.values():
            if place.kind not in _GENERAL and place is not self._place and not (self._waiting and place.kind == "pane"):
                title = f"{place.title} pane" if place.kind == "pane" else place.title
                yield from self._section(title, in_scope(place.name))
        if self._phrases and not self._replay:
            yield Content("")
            yield Content.styled("Try saying", "bold $foreground")
            for phrase in self._phrases:
                yield Content.styled(_hang(phrase, WIDTH), "$foreground")

    def _commands(self) -> Iterator[Content]:
        yield Content("")
        yield Content.styled("Commands, written in the prompt", "bold $foreground")
        for action in dict.fromkeys(COMMANDS.values()):
            usage = form_of(action).usage
            gap = " " * (KEYS_WIDTH - len(usage)) if len(usage) < KEYS_WIDTH else f"\n{_INDENT}"
            yield Content.assemble(
                (f"{usage}{gap}", "bold $key"), (_hang(action.description, WIDTH - KEYS_WIDTH), "$foreground")
            )

    def _section(self, title: str, actions: Iterable[Action], about: str = "") -> Iterator[Content]:
        """Yield a heading, a sentence and keys; nothing without keys."""
        lines = [self._line(action) for action in actions if keys_of(action, self._keymap)]
        if lines or about:
            if not about:
                yield Content("")
            yield Content.styled(title, "bold $foreground")
        if about:
            yield Content.styled("\n".join(about[start:end] for start, end in wrap(about, WIDTH)), "$quiet")
        yield from lines

    def _line(self, action: Action) -> Content:
        keys = "  ".join(key_label(key, ascii_only=self._ascii) for key in keys_of(action, self._keymap))
        description = action.description
        if action.id == "text-mode" and self._tmux:
            description += " (tmux keeps ^b: press it twice, or use F2)"
        return Content.assemble(
            (f"{keys:<{KEYS_WIDTH}}", "bold $key"), (_hang(description, WIDTH - KEYS_WIDTH), "$foreground")
        )

    def _situation(self) -> list[str]:
        if self._waiting:
            return ["There is no session yet: choose what to talk to."]
        if self._replay:
            return ["This is a recording: it can be read, nothing in it can be changed."]
        if self._mode == "text":
            return ["Text mode: the microphone is off, the speaker is as you left it."]
        return [
            "Voice mode: just speak. Single keys are commands while the prompt is",
            "not focused; any other letter typed in the transcript opens it.",
        ]


def _hang(text: str, width: int) -> str:
    """Return `text` wrapped to `width`, later lines indented below the first."""
    return f"\n{_INDENT}".join(text[start:end] for start, end in wrap(text, width))
