"""Stage values of a profile, and apply them after saying what each one does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.records import record
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.config import Loaded, load
from gemini_live_tui.dialogs.confirm import ConfirmScreen
from gemini_live_tui.dialogs.move_keys import MOVES
from gemini_live_tui.painting.glyphs import Glyphs, glyphs
from gemini_live_tui.painting.runs import Run, filled, fitted
from gemini_live_tui.set_up import option_values as values
from gemini_live_tui.set_up.option_values import ValueRow
from gemini_live_tui.widgets.line_input import LineInput
from gemini_live_tui.widgets.modal import TopModalScreen
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.messages import Level

KEY_WIDTH = 27
LEAST_WIDTH = 12
"""Cells of the key's column, and least cells of a value's."""

SHOWN = 8
"""Staged values that the question before applying names."""

ADD = "+"
"""Row that adds an entry of a table."""

ADD_ABOUT = "Such as: consent.pay = deny, tools.folders.notes = ~/notes, tools.programs.build = make all"


@record
class Staged:
    """Value that waits to be applied, and why it was refused."""

    value: Any
    problem: str = ""


class ValueList(RowList):
    """Keys with their values that count, staged values and sources."""

    class Moved(Message):
        """The cursor went to another row."""

    def __init__(self, signs: Glyphs) -> None:
        super().__init__(id="values-list")
        self._signs = signs
        self._values: Mapping[str, ValueRow] = {}
        self._staged: Mapping[str, Staged] = {}

    def show(self, rows: Sequence[ValueRow], staged: Mapping[str, Staged]) -> None:
        """Show values, and entries that are only staged."""
        self._values, self._staged = {row.key: row for row in rows}, staged
        new = [key for key in staged if key not in self._values]
        self.set_rows([*self._values, *new, ADD])

    def _put_cursor(self, index: int) -> None:
        super()._put_cursor(index)
        self.post_message(self.Moved())

    def columns(self, width: int) -> int:
        """Return the width of a column of values."""
        return max(LEAST_WIDTH, (width - KEY_WIDTH - LEAST_WIDTH) // 2)

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return the runs of one row."""
        if row == ADD:
            return [("+ an entry of consent, tools or keymap", "quiet")]
        ellipsis, column = self._signs.ellipsis, self.columns(width)
        found, staged = self._values.get(row), self._staged.get(row)
        value = "" if found is None else sanitise_line(values.shown(found.value))
        waiting = "" if staged is None else sanitise_line(values.shown(staged.value)) or '""'
        source = "" if found is None else found.source
        runs: list[Run] = [
            (f"{filled(row, KEY_WIDTH - 1, ellipsis)} ", "said" if source == "default" else "strong"),
            (f"{filled(value, column - 1, ellipsis)} ", "said"),
            (f"{filled(waiting, column - 1, ellipsis)} ", "error" if staged is not None and staged.problem else "key"),
            (source.removeprefix("GEMINI_LIVE_TUI_"), "quiet"),
        ]
        return fitted(runs, width, ellipsis)


class ProfileValuesScreen(TopModalScreen[None]):
    """Editor of one profile: values are staged first, and applied together."""

    CSS_PATH = "profile_values.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("enter", "open_row", "Edit", show=False),
        *MOVES,
        *bindings("profile-values"),
    ]

    def __init__(self, console: ConsoleContext, profile: str) -> None:
        """Raise `ConfigError` for a profile that cannot be used."""
        super().__init__()
        self.console = console
        self.profile = profile
        self.staged: dict[str, Staged] = {}
        self._signs = glyphs(console.settings.ascii)
        self._loaded = self._load()
        self._rows = values.rows_of(self._loaded)
        self._editing = ""
        self._ordered: dict[str, dict[str, tuple[Any, Any]]] = {}
        """By the id of a command: its keys with their values in the file before it, and the new ones."""
        self.list = ValueList(self._signs)
        self._head = Static("", id="values-head", markup=False)
        self._about = Static("", id="values-about", markup=False)
        self._input = LineInput(id="values-input", select_on_focus=False, max_length=4096)
        sign = Static(f"{self._signs.prompt} ", id="values-sign", markup=False)
        self._field = Horizontal(sign, self._input, id="values-field")
        self._message = Static("", id="values-message", markup=False)

    @property
    def in_use(self) -> bool:
        """True when this console's sessions are of the profile."""
        return self.profile == self.console.settings.profile

    @property
    def _in_call(self) -> bool:
        console = self.console
        return not console.settings.replay and not console.waiting and not console.over

    def _load(self) -> Loaded:
        starter = self.console.settings.starter
        if starter is not None and self.in_use:
            return starter.load()
        return load(flags={"profile": self.profile})

    def compose(self) -> ComposeResult:
        """Yield the values, a line about the chosen one, and the field for another value."""
        with Vertical(id="values-box") as box:
            box.border_title = f"Profile {self.profile}{' (in use)' if self.in_use else ''}"
            yield self._head
            yield self.list
            yield self._about
            yield self._field
            yield self._message

    def on_mount(self) -> None:
        """Show the values."""
        self._field.display = False
        self._show()
        self.list.focus()
        self.call_after_refresh(self._show)

    def on_resize(self) -> None:
        """Fit the heading to the columns."""
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        self.list.show(self._rows, self.staged)
        column = self.list.columns(max(1, self.list.scrollable_content_region.width))
        heading = f"{'key':{KEY_WIDTH}}{'value':{column}}{'staged':{column}}source"
        self._head.update(Content(heading))
        self._name_keys()
        self._describe()

    def _name_keys(self) -> None:
        if self._editing:
            parts = ["enter stages it", "esc goes back"]
        else:
            some = (f"{{profile-apply}} applies {len(self.staged)}", "{profile-delete} discards one")
            named = ("enter edits", *(some if self.staged else ("{profile-delete} takes out",)), "esc closes")
            settings = self.console.settings
            parts = hints(named, settings.keymap, ascii_only=settings.ascii)
        self.query_one("#values-box").border_subtitle = Content(f" {self._signs.separator} ".join(parts))

    def _describe(self) -> None:
        """Show the help of the key under the cursor, or why its staged value was refused."""
        key = self._editing or self.list.row_at_cursor
        staged = self.staged.get(key)
        text = ADD_ABOUT if key == ADD else values.about(key)
        if staged is not None and staged.problem:
            text = staged.problem
        elif key and key != ADD:
            text = f"{text} ({values.EFFECTS[self._effect(key)]})"
        self._about.update(Content(sanitise_line(text, 400)))

    def _effect(self, key: str) -> values.Effect:
        return values.effect_of(key, in_use=self.in_use, in_call=self._in_call)

    @on(ValueList.Moved)
    def _moved(self) -> None:
        self._describe()

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show one sentence below the values; "" removes it."""
        sign = {"info": "", "warning": f"{self._signs.prompt} ", "error": f"{self._signs.states['error']} "}[level]
        self._message.update(Content(f"{sign}{sanitise_line(message, 600)}"))
        for name in ("info", "warning", "error"):
            self._message.set_class(name == level, f"-{name}")

    def action_move(self, step: str) -> None:
        """Move the cursor."""
        if not self._editing:
            self.list.move(step)

    def action_open_row(self) -> None:
        """Edit the value under the cursor."""
        if not self._editing:
            self._edit(self.list.row_at_cursor)

    # -- staging -----------------------------------------------------------------------------------------------------

    @on(RowList.Opened)
    def _on_opened(self, message: RowList.Opened) -> None:
        message.stop()
        self._edit(message.row)

    def _edit(self, key: str) -> None:
        self._editing = key
        staged, row = self.staged.get(key), self._row(key)
        value = staged.value if staged is not None else row.value if row is not None else ""
        self._input.value = "" if value is None else values.text_of(key, value)
        self._input.placeholder = "key = value" if key == ADD else 'leave empty for "the default"'
        # At once, so that the field gets the keys that come next.
        self._field.display = True
        self.set_focus(self._input)
        self._input.select_all()
        self.say("")
        self._name_keys()
        self._describe()

    def _row(self, key: str) -> ValueRow | None:
        return next((row for row in self._rows if row.key == key), None)

    @on(LineInput.Submitted, "#values-input")
    def _stage(self) -> None:
        key, text = self._editing, self._input.value.strip()
        if key == ADD:
            key, sign, text = (part.strip() for part in text.partition("="))
            if not sign or not key:
                self.say("Write key = value, such as consent.pay = deny", "error")
                return
        try:
            value = values.parse(key, text, self._loaded)
        except GeminiLiveError as error:
            self.say(str(error), "error")
            return
        row = self._row(key)
        if row is not None and row.value == value:
            self.staged.pop(key, None)
            said = f"{key} is that already."
        else:
            self.staged[key] = Staged(value)
            said = f"Staged {key}."
        self._leave_field()
        self.list.go_to(key)
        self._describe()
        self.say(said)

    def _leave_field(self) -> None:
        self._editing = ""
        self._field.display = False
        self.set_focus(self.list)
        self._show()

    def action_delete(self) -> None:
        """Discard the staged value under the cursor.

        Without one, stage taking the value out of the profile's file.
        """
        key = self.list.row_at_cursor
        if self._editing:
            return
        if self.staged.pop(key, None) is not None:
            self.say(f"Discarded the staged value of {key}.")
            self._show()
            return
        try:
            is_set = key != ADD and values.value_in_file(self.profile, key) is not None
        except GeminiLiveError as error:
            self.say(str(error), "error")
            return
        if is_set:
            self.staged[key] = Staged(None)
            self._show()
            self.say(f"Staged: {key} is taken out of the file. {self._keys('profile-delete')} again leaves it there.")
        else:
            self.say("Nothing is staged here, and the profile's file does not set it.")

    def _keys(self, ident: str) -> str:
        settings = self.console.settings
        return hints((f"{{{ident}}}",), settings.keymap, ascii_only=settings.ascii)[0]

    @property
    def unsaved(self) -> bool:
        """True while values are staged or typed."""
        return bool(self.staged or self._editing)

    def action_back(self) -> None:
        """Leave the field, or the screen; staged values are asked about."""
        if self._editing:
            self._leave_field()
            self.say("")
        elif self.staged:
            self.app.push_screen(ConfirmScreen(f"{_count(self.staged)} not applied.", "discards"), self._left)
        else:
            self.dismiss()

    def _left(self, yes: bool | None) -> None:
        if yes:
            self.dismiss()

    # -- applying ----------------------------------------------------------------------------------------------------

    def action_apply(self) -> None:
        """Ask, with the effect of each staged value, and apply them."""
        if not self.staged:
            self.say("Nothing is staged: enter edits a value.")
            return
        lines = [f"{key} {self._signs.arrow} {_named(staged.value)}: {self._when(key)}" for key, staged in self._some()]
        if len(self.staged) > SHOWN:
            lines.append(f"and {len(self.staged) - SHOWN} more")
        question = "\n".join(sanitise_line(line, 200) for line in lines)

        def answered(yes: bool | None) -> None:
            if yes:
                self._apply()

        self.app.push_screen(ConfirmScreen(question, "applies"), answered)

    def _some(self) -> list[tuple[str, Staged]]:
        return list(self.staged.items())[:SHOWN]

    def _when(self, key: str) -> str:
        row, starter = self._row(key), self.console.settings.starter
        source = "" if row is None or (starter is not None and self.in_use) else row.source
        return values.overriding(key, source) or values.EFFECTS[self._effect(key)]

    def _apply(self) -> None:
        before: dict[str, tuple[Any, Any]] = {}
        for key, staged in list(self.staged.items()):
            try:
                old = values.value_in_file(self.profile, key)
                values.write_value(self.profile, key, staged.value)
            except GeminiLiveError as error:
                self.staged[key] = replace(staged, problem=str(error))
                continue
            before[key] = (old, staged.value)
            del self.staged[key]
            starter = self.console.settings.starter
            if starter is not None and self.in_use:
                starter.on_saved(key)
        self._reload()
        self._use(before)
        self._show()
        if self.staged:
            self.say(next(iter(self.staged.values())).problem, "error")
        else:
            self.say(f"{_count(before)} kept in the profile {self.profile}.")

    def _reload(self) -> None:
        try:
            self._loaded = self._load()
            self._rows = values.rows_of(self._loaded)
        except GeminiLiveError as error:
            self.say(str(error), "error")

    def _use(self, before: Mapping[str, tuple[Any, Any]]) -> None:
        """Use the values that need no other session.

        The engine gets orders for those of the call.
        """
        from gemini_live_runtime.commands import (
            Order,
            SetConsentPolicies,
            SetDevices,
            SetOptions,
            SetProfileTools,
            SetVoice,
        )

        config = self._loaded.config
        now = {key for key in before if self._effect(key) in ("now", "connects again") and not self._is_overridden(key)}
        if "ui.theme" in now and config.theme:
            self.console.themes.switch_to(config.theme)
        if "ui.fps" in now:
            self.console.use_frame_rate(config.fps)
        orders: list[tuple[set[str], Order]] = []
        if devices := now & {"audio.input", "audio.output", "audio.headphones"}:
            chosen = SetDevices(input=config.audio_input, output=config.audio_output, headphones=config.headphones)
            orders.append((devices, chosen))
        if "turns" in now:
            orders.append(({"turns"}, SetOptions(turn_detection=config.turns)))  # type: ignore[arg-type]
        if "voice" in now:
            orders.append(({"voice"}, SetVoice(voice=config.voice)))
        if policies := {key for key in now if key.startswith("consent.")}:
            orders.append((policies, SetConsentPolicies(policies=dict(self._loaded.profile.consent))))
        if tools := {key for key in now if key.startswith("tools.")}:
            table = self._loaded.profile.tools
            enabled = SetProfileTools(enabled=table.enabled, folders=table.folders, programs=table.programs)
            orders.append((tools, enabled))
        for keys, order in orders:
            if ident := self.console.order(order):
                self._ordered[ident] = {key: before[key] for key in keys}
            else:
                self._take_back({key: before[key] for key in keys}, "The engine takes no orders now")

    def _is_overridden(self, key: str) -> bool:
        row = self._row(key)
        return row is not None and row.source not in ("profile", "file", "default")

    def refused(self, command_id: str, reason: str) -> bool:
        """Stage what the engine has refused again, with the reason."""
        taken = self._ordered.pop(command_id, None)
        if taken is None:
            return False
        self._take_back(taken, reason)
        self.say(reason, "error")
        return True

    def _take_back(self, taken: Mapping[str, tuple[Any, Any]], reason: str) -> None:
        for key, (old, new) in taken.items():
            self.staged[key] = Staged(new, reason)
            try:
                values.write_value(self.profile, key, old)
            except GeminiLiveError as error:
                self.say(str(error), "error")
        self._reload()
        self._show()


def _named(value: Any) -> str:
    return "taken out" if value is None else values.shown(value) or '""'


def _count(many: Mapping[str, object]) -> str:
    return "1 value is" if len(many) == 1 else f"{len(many)} values are"
