"""Edit one key's value as JSON, with a preview and conflict resolution."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from textual import on
from textual.containers import Horizontal
from textual.content import Content
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static

from gemini_live_runtime.journal.fold.packing import plain_key, real_key, unpack
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.editors.base import Edit, EditorScreen
from gemini_live_tui.editors.value_parser import key_problem, read_value, schema_words
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.panes.explanations import value_text
from gemini_live_tui.panes.state_rows import SCOPES, scope_of
from gemini_live_tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.agent_view import KeyCell
    from gemini_live_runtime.journal.fold.view import SessionView
    from gemini_live_tui.context import ConsoleContext

_WRITABLE = tuple(scope for scope in SCOPES if scope not in ("derived", "other"))


class _Keys(Suggester):
    """Suggester of scopes, then of keys."""

    def __init__(self, screen: StateEditor) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._screen = screen

    async def get_suggestion(self, value: str) -> str | None:
        """Return the first completion of `value`."""
        names = (*(f"{scope}:" for scope in _WRITABLE), *self._screen.known_keys())
        return next((name for name in names if value and name.startswith(value) and name != value), None)


class StateEditor(EditorScreen):
    """Editor of one key; the name of a new key is typed above the value."""

    def __init__(self, console: ConsoleContext, key: str = "") -> None:
        self._key = key
        self._adding = not key
        self._agent = console.store.view.agent_view
        cell = self._agent.keys.get(key)
        self._base: KeyCell | None = cell
        """Cell that is edited; an edit of another one is refused."""
        super().__init__(console, _as_text(cell), placeholder='a value as JSON, e.g. 42, true, "gold"')
        self.area.submits_line = True
        self.key_field = LineInput(
            placeholder=f"scope:name, a scope is one of {', '.join(_WRITABLE)}", max_length=200, suggester=_Keys(self)
        )
        self.about = Static("", id="editor-about", markup=False)
        self.conflict = Static("", id="editor-conflict", markup=False)
        described = unpack(self._agent.shape)
        self._shape: dict[str, Any] = described if isinstance(described, dict) else {}

    def hint(self) -> str:
        """Return the keys for the box's lower edge; enter applies a value of one line."""
        applies = self.area.document.line_count == 1 and not self.console.settings.replay
        return f"enter, {super().hint()}" if applies else super().hint()

    def known_keys(self) -> Sequence[str]:
        """Return the keys to complete."""
        return [key for key in self._agent.keys if scope_of(key) in _WRITABLE]

    def contents(self) -> Iterator[Widget]:
        """Yield the key or its facts, then the fields of every editor."""
        if self._adding:
            yield Horizontal(Static("key", markup=False), self.key_field, id="editor-key")
        yield self.about
        yield from super().contents()
        yield self.conflict

    def on_mount(self) -> None:
        """Show the key that is edited."""
        self._describe()
        if self._read_only:
            self.area.read_only = True

    def begin_at(self) -> Widget:
        """Return the name of a new key, else the value."""
        return self.key_field if self._adding else self.area

    @property
    def _read_only(self) -> bool:
        return scope_of(self._key) == "derived" or self.console.settings.replay

    def _describe(self) -> None:
        box = self.query_one("#box")
        now = value_text(unpack(self._base.value), 40) if self._base is not None else "not set"
        name, replay = sanitise_line(self._key, 50), self.console.settings.replay
        box.border_title = Content("Add a key" if self._adding else f"{'' if replay else 'Edit '}{name} ({now})")
        self.about.update(Content(self._about()))

    def _about(self) -> str:
        key, parts = self._key, []
        if scope_of(key) == "derived":
            item = self._item("computed")
            inputs = ", ".join(sanitise_line(str(name), 60) for name in (item or {}).get("inputs") or ())
            return f"It is computed{f' from {inputs}: edit those instead' if inputs else ', so it cannot be edited'}."
        item = self._item("keys")
        if item is not None and (words := schema_words(item.get("type"))):
            parts.append(f"declared as {words}")
        if item is not None and item.get("description"):
            parts.append(sanitise_line(str(item["description"]), 120))
        if self._base is not None:
            by = f"{self._base.origin} {self._base.by}".strip()
            parts.append(f"written by {by} at {clock_text(self._base.t)}")
        if scope_of(key) == "turn":
            parts.append("turn: keys are forgotten when the next turn begins")
        if not parts:
            parts.append("any JSON value" if key else "derived: keys are computed and cannot be added")
        return f" {self.signs.separator} ".join(parts)

    def _item(self, part: str) -> dict[str, Any] | None:
        real = real_key(self._key) if self._key else ""
        items = self._shape.get(part) or ()
        return next((item for item in items if isinstance(item, dict) and item.get("key") == real), None)

    # -- reading -----------------------------------------------------------------------------------------------------

    def read(self) -> tuple[tuple[Edit, ...], str]:
        """Return one edit, which applies only if the key is unchanged."""
        if self._read_only:
            return (), self._about()
        key = real_key(self._key) if self._key else self.key_field.value.strip()
        if problem := key_problem(key):
            return (), problem
        if self._adding and plain_key(key) in self._agent.keys:
            return (), f"{sanitise_line(key, 60)} is there already: leave, and press e on it."
        value = read_value(self.area.text)
        if value.problem:
            return (), value.problem
        seen = {"expect_absent": True} if self._base is None else {"expect": unpack(self._base.value)}
        return ({"key": key, "value": value.value, **seen},), ""

    def touched(self) -> bool:
        """Return True when a key or a value was typed."""
        return super().touched() or (self._adding and bool(self.key_field.value))

    def reads_well(self, edits: Sequence[Edit]) -> str:
        """Return the value as it is understood."""
        return f"{edits[0]['key'] if self._adding else 'it reads as'} {value_text(edits[0]['value'], 48)}"

    @on(Input.Changed)
    def _named(self, message: Input.Changed) -> None:
        message.stop()
        self.say("")
        self.look()

    @on(Input.Submitted)
    def _key_done(self, message: Input.Submitted) -> None:
        message.stop()
        self.area.focus()

    # -- the agent meanwhile -----------------------------------------------------------------------------------------

    def show_view(self, view: SessionView) -> None:
        """Look for a change of the key by the agent."""
        super().show_view(view)
        self._agent = view.agent_view
        if self._adding or self._applying:
            return
        cell = view.agent_view.keys.get(self._key)
        other = _packed(cell) != _packed(self._base)
        if self._read_only and other:
            self._base = cell
            self.area.text = self._first = _as_text(cell)
            self._describe()
            return
        if other:
            now = "removed it" if cell is None else f"changed it to {value_text(unpack(cell.value), 40)}"
            by = "" if cell is None else f" ({cell.origin} {cell.by})".replace(" )", ")")
            settings = self.console.settings
            named = ("{editor-keep-mine} keeps mine", "{editor-take-theirs} takes theirs")
            ways = ", ".join(hints(named, settings.keymap, ascii_only=settings.ascii))
            self.conflict.update(Content(f"The agent has {now}{by} meanwhile: {ways}."))
        self.conflict.set_class(other, "-shown")

    def action_keep_mine(self) -> None:
        """Keep the typed value over the agent's."""
        self._base = self._agent.keys.get(self._key)
        self._settle()

    def action_take_theirs(self) -> None:
        """Take the agent's value."""
        self._base = self._agent.keys.get(self._key)
        self.area.text = self._first = _as_text(self._base)
        self._settle()

    def _settle(self) -> None:
        self.conflict.set_class(False, "-shown")
        self.say("")
        self._asked = None
        self._describe()
        self.look()


def _as_text(cell: KeyCell | None) -> str:
    """Return a value for editing, escaped; long ones on several lines."""
    if cell is None:
        return ""
    value = unpack(cell.value)
    text = json.dumps(value, ensure_ascii=True)
    readable = json.dumps(value, ensure_ascii=False)
    if readable.isprintable():
        text = readable
    if len(text) > 60 and isinstance(value, dict | list):
        text = json.dumps(value, ensure_ascii=not readable.isprintable(), indent=2)
    return text


def _packed(cell: KeyCell | None) -> str:
    return "" if cell is None else cell.value
