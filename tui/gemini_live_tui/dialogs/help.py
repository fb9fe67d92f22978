"""Show the keys of the focused pane and of the console, and search all actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from gemini_live_tui.actions import ACTIONS, BEFORE_A_SESSION, BY_ID, PLACES, Scope, in_scope
from gemini_live_tui.actions.keymap import key_label
from gemini_live_tui.actions.rows import ROWS, Row, rows_of
from gemini_live_tui.actions.slash import form_of
from gemini_live_tui.painting.wrapping import wrap
from gemini_live_tui.widgets.line_input import LineInput
from gemini_live_tui.widgets.modal import TopModalScreen, TopScreen

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

WIDTH, EDGES = 72, 6
"""Most cells of a line inside the box, and the cells of its edges, see `help.tcss`."""

KEYS_WIDTH = 18
"""Cells for keys before a description."""

COLUMN, COLUMN_KEYS = 24, 9
"""Cells of a column of keys with titles, and those for keys."""

FRAME = 3
"""Rows of the box that are not text: frame and filter."""

_GENERAL = ("everywhere", "prompt")
_TALKING = ("console", "transcript", "prompt")
"""Places where phrases to say are shown, too."""

_INDENT = " " * KEYS_WIDTH

_BOX_STYLES = ("bold $foreground", "$foreground")
"""Styles of a dialog's title and keys."""


class HelpScreen(TopModalScreen[None]):
    """Keys of the focused pane, then those of the console; typing searches all."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss", "Close", show=False),
        *(
            # The filter keeps the cursor; it has ctrl+a and ctrl+e for its own ends.
            Binding(key, f"scroll_rows('{step}')", step, show=False, priority=True)
            for key, step in (
                ("up", "up"),
                ("down", "down"),
                ("pageup,shift+tab", "page_up"),
                ("pagedown,tab", "page_down"),
                ("home,ctrl+home", "home"),
                ("end,ctrl+end", "end"),
            )
        ),
    ]

    def __init__(
        self,
        *,
        keymap: Mapping[str, str],
        ascii_only: bool,
        tmux: bool,
        replay: bool,
        place: Scope = "console",
        phrases: Sequence[str] = (),
        box: tuple[str, str] = ("", ""),
        is_modal: bool = False,
        waiting: bool = False,
        in_text_mode: bool = False,
    ) -> None:
        """Create the screen; `box`: title and keys of a dialog without a place."""
        super().__init__()
        self._box = box
        self._is_modal = is_modal
        self._phrases = phrases
        self._keymap = keymap
        self._ascii = ascii_only
        self._tmux = tmux
        self._replay = replay
        self._place = PLACES[place]
        self._waiting = waiting
        self._in_text_mode = in_text_mode
        self._width = WIDTH
        self._frame = Container(id="help-box")
        self._frame.border_title = "Keys"
        self._text = Static("", id="help-text")
        self.field = LineInput(placeholder="type to search all keys and commands", max_length=60, id="help-filter")

    @classmethod
    def of(cls, console: ConsoleContext) -> HelpScreen:
        """Return the screen with the keys of this moment."""
        settings, view = console.settings, console.store.view
        screen = console.screen
        dialog = screen if isinstance(screen, TopScreen | TopModalScreen) else None
        return cls(
            keymap=settings.keymap,
            ascii_only=settings.ascii,
            tmux=settings.tmux,
            replay=settings.replay,
            place=console.place if dialog is None else _place_of(dialog),
            box=("", "") if dialog is None else _edges_of(dialog),
            is_modal=isinstance(dialog, TopModalScreen),
            phrases=view.phrases,
            waiting=console.waiting,
            in_text_mode=view.mode == "text",
        )

    def compose(self) -> ComposeResult:
        """Yield the filter above the text."""
        with self._frame:
            yield self.field
            with VerticalScroll(id="help-rows", can_focus=False) as rows:
                self._fit(rows)
                yield self._text

    def on_mount(self) -> None:
        """Focus the filter."""
        self.set_focus(self.field)

    def on_resize(self, event: events.Resize) -> None:
        """Fit the keys to the height."""
        self._fit(self.query_one("#help-rows"))

    @on(Input.Changed)
    def _search(self) -> None:
        self._fit(self.query_one("#help-rows"))
        self.query_one("#help-rows").scroll_home(animate=False)

    def _fit(self, rows: Widget) -> None:
        """Show what was searched for, else the keys, in rows that scroll."""
        height = max(1, self.app.size.height - FRAME)
        self._width = max(COLUMN, min(WIDTH, self.app.size.width - EDGES))
        rows.styles.max_height = height
        words = self.field.value.split()
        text = Content("\n").join(self.found(words) if words else self.lines(height))
        self._text.update(text)
        scrolls = "arrow keys, tab and end scroll, " if text.plain.count("\n") >= height else ""
        self._frame.border_subtitle = f"{scrolls}esc closes"

    def action_scroll_rows(self, step: str) -> None:
        """Scroll the keys."""
        rows = self.query_one("#help-rows", VerticalScroll)
        getattr(rows, f"scroll_{step}")(animate=False)

    # -- the keys of this place --------------------------------------------------------------------------------------

    def lines(self, height: int) -> Iterator[Content]:
        """Yield the keys of the place and of the console, in `height` rows if possible."""
        if self._waiting:
            yield Content.styled("There is no session yet: choose what to talk to.", "$quiet")
        elif self._replay:
            yield Content.styled("This is a recording: it can be read, nothing in it can be changed.", "$quiet")
        own = rows_of(in_scope(self._place.name)) if self._has_keys else []
        own = [row for row in own if self._is_offered(row) and self._keys(row)]
        general = list(self._columns(self._of_console()))
        if own:
            described = [line for row in own for line in self._described(row)]
            room = height - len(general) - 3 - (self._replay or self._waiting)
            yield Content.styled(self._place.title, "bold $foreground")
            yield from described if len(described) <= room else self._columns(own)
            yield Content("")
        elif self._place.name == "app" and any(self._box):
            yield from (Content.styled(text, style) for text, style in zip(self._box, _BOX_STYLES, strict=True) if text)
            yield Content("")
        headings = {"app": "Everywhere", "prompt": "In every pane (here letters are typed)"}
        yield Content.styled(headings.get(self._heading, "In every pane"), "bold $foreground")
        yield from general
        if self._phrases and not self._replay and self._place.name in _TALKING:
            yield Content("")
            yield Content.styled("Try writing" if self._in_text_mode else "Try saying", "bold $foreground")
            for phrase in self._phrases:
                yield Content.styled(_hang(phrase, self._width), "$foreground")

    @property
    def _is_dialog(self) -> bool:
        return self._place.kind == "screen" or self._place.name == "app"

    @property
    def _heading(self) -> str:
        return "app" if self._is_dialog else self._place.kind

    @property
    def _has_keys(self) -> bool:
        """True when the place has keys of its own; panes are empty before a session."""
        return self._place.kind != "everywhere" and not (self._waiting and self._place.kind == "pane")

    def _of_console(self) -> list[Row]:
        kinds = ("app",) if self._is_dialog else ("app", "console")
        # A modal dialog passes on no other keys of the application than those that work anywhere.
        general = rows_of(
            action for action in ACTIONS if action.scope in kinds and (action.anywhere or not self._is_modal)
        )
        return [row for row in general if self._is_offered(row) and self._keys(row)]

    def _is_offered(self, row: Row) -> bool:
        group = row.actions[0].group
        general = PLACES[row.actions[0].scope].kind in _GENERAL
        if self._waiting and general:
            return group in BEFORE_A_SESSION
        return not (self._replay and all(action.is_for_calls for action in row.actions))

    def _columns(self, rows: Sequence[Row]) -> Iterator[Content]:
        """Yield keys and titles in columns."""
        height = -(-len(rows) // max(1, self._width // COLUMN))
        for at in range(height):
            parts: list[tuple[str, str]] = []
            for row in rows[at::height]:
                keys = self._short(row)
                title = f"{row.title:<{COLUMN - max(COLUMN_KEYS, len(keys) + 1)}}"
                parts.extend(((f"{keys:<{COLUMN_KEYS}}", "bold $key"), (title, "$foreground")))
            yield Content.assemble(*parts)

    def _short(self, row: Row) -> str:
        """Return the keys that fit a column."""
        keys = self._keys(row)
        if len(keys) > 2 and all(key.isdecimal() for key in keys):
            return f"{keys[0]}-{keys[-1]}"
        while len(keys) > 1 and cell_len(" ".join(keys)) >= COLUMN_KEYS:
            keys.pop()
        return " ".join(keys)

    def _keys(self, row: Row) -> list[str]:
        keys = row.keys(self._keymap)
        if self._tmux and "f2" in keys:
            # tmux takes ctrl+b and passes it on only when pressed twice.
            keys = [key for key in keys if key != "ctrl+b"]
        return [key_label(key, ascii_only=self._ascii) for key in keys]

    # -- searching ---------------------------------------------------------------------------------------------------

    def found(self, words: Sequence[str]) -> Iterator[Content]:
        """Yield the rows with every word in their keys, names, commands or texts."""
        wanted = [word.casefold() for word in words]
        some = False
        for row in ROWS:
            if self._is_offered(row) and all(word in self._searched(row) for word in wanted):
                some = True
                yield from self._described(row, everywhere=True)
        if not some:
            yield Content.styled("Nothing is called that.", "$quiet")

    def _searched(self, row: Row) -> str:
        commands = " ".join(form_of(action).usage for action in row.actions if action.slash)
        names = " ".join(f"{action.id} {action.title} {action.description}" for action in row.actions)
        return f"{row.title} {row.description} {names} {' '.join(self._keys(row))} {commands}".casefold()

    def _described(self, row: Row, *, everywhere: bool = False) -> Iterator[Content]:
        text = row.description
        if everywhere:
            places = dict.fromkeys(PLACES[action.scope] for action in row.actions)
            names = ", ".join(place.title for place in places if place.kind != "everywhere")
            text = f"{row.title}: {text}{f' ({names})' if names else ''}"
        keys = "  ".join(self._keys(row))
        if everywhere:
            commands = ", ".join(form_of(action).usage for action in row.actions if action.slash)
            keys, text = (keys, f"{text}. {commands}" if commands else text) if keys else (commands, text)
        gap = f"\n{_INDENT}" if cell_len(keys) >= KEYS_WIDTH else " " * (KEYS_WIDTH - cell_len(keys))
        whole = Content.assemble(
            (f"{keys}{gap}", "bold $key"), (_hang(text, max(COLUMN, self._width - KEYS_WIDTH)), "$foreground")
        )
        yield from whole.split("\n")


def _place_of(screen: Screen[Any]) -> Scope:
    """Return the scope of a dialog's keys; "app" when they are in no table."""
    idents = (active.binding.id or "" for active in screen.active_bindings.values())
    scopes = (BY_ID[ident].scope for ident in idents if ident in BY_ID)
    return next((scope for scope in scopes if PLACES[scope].kind == "screen"), "app")


def _edges_of(screen: Screen[Any]) -> tuple[str, str]:
    """Return title and keys from the frame of a dialog's box."""
    for widget in screen.walk_children(Widget):
        if widget.border_title:
            return str(widget.border_title), str(widget.border_subtitle or "")
    return "", ""


def _hang(text: str, width: int) -> str:
    """Return `text` wrapped to `width`, later lines indented below the first."""
    return f"\n{_INDENT}".join(text[start:end] for start, end in wrap(text, width))
