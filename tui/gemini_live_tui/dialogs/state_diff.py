"""Compare the state at two moments: a turn, marks, or from the cursor on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.fold.agent_view import KeyCell
from gemini_live_runtime.journal.fold.packing import unpack
from gemini_live_tui.actions import bindings
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.dialogs.details import DetailsScreen
from gemini_live_tui.dialogs.move_keys import MOVES
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.painting.glyphs import Glyphs, glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.session_data.state_diff import Difference, Pair, differences, mark_pair, turn_pair, who
from gemini_live_tui.widgets.modal import TopModalScreen
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

STYLES = {"added": "add", "removed": "del", "changed": "key"}
SIGNS = {"added": "+", "removed": "-", "changed": "~"}
KEY_WIDTH = 26


class DiffScreen(TopModalScreen[None]):
    """Screen of differences.

    Left and right choose the turn or the mark, tab the comparison.
    """

    CSS_PATH = "state_diff.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", show=False),
        *MOVES,
        Binding("enter", "open_row", "Open", show=False),
        *bindings("diff"),
    ]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__(id="diff")
        self.console = console
        self._store = console.store
        self._ascii = console.settings.ascii
        self._signs = glyphs(self._ascii)
        self._turn = console.store.shown.turn
        self._mark = len(console.store.view.agent_view.marks)
        self._mode = "since" if console.store.cursor.seq is not None else "turn"
        self.list = DiffList(self._signs)

    def compose(self) -> ComposeResult:
        """Yield one list."""
        with Vertical(id="diff-box"):
            yield self.list

    def on_mount(self) -> None:
        """Compare."""
        self.list.focus()
        self._compare()

    # -- what is compared --------------------------------------------------------------------------------------------

    @property
    def modes(self) -> list[str]:
        """Comparisons that are possible now."""
        agent, behind = self._store.view.agent_view, self._store.cursor.seq is not None
        there = {"since": behind, "turn": bool(agent.turns), "marks": bool(agent.marks)}
        return [mode for mode, can in there.items() if can]

    def _pair(self) -> Pair | None:
        view, cursor = self._store.view, self._store.cursor
        if self._mode == "since" and cursor.seq is not None:
            behind = f"{clock_text(cursor.view.t)} (event {cursor.seq:,})"
            return Pair(cursor.seq, view.seq, f"{behind} to the present")
        if self._mode == "marks":
            return mark_pair(view.agent_view, self._mark, view.seq)
        return turn_pair(view.agent_view, self._turn, view.seq)

    def _compare(self) -> None:
        history, pair = self._store.history, self._pair()
        found: list[Difference] = []
        said = ""
        if history is None or pair is None:
            said = "There is nothing to compare yet: no turn has begun."
        else:
            try:
                before, after = history.view_at(pair.first), history.view_at(pair.last)
                found = differences(before.agent_view, after.agent_view)
            except JournalError as error:
                said = f"{str(error).rstrip('.')}."
            said = said or "Nothing in the state is different."
        self.list.show_differences(found, said)
        box = self.query_one("#diff-box")
        box.border_title = Content(f"State: {pair.title}" if pair is not None else "State")
        counts = [f"{sum(one.how == how for one in found)} {how}" for how in ("added", "changed", "removed")]
        sign = f" {self._signs.separator} "
        named = ["{diff-mode} compares something else"] if len(self.modes) > 1 else []
        if self._mode in ("turn", "marks"):
            named.append(f"{{diff-earlier}} {{diff-later}} another {self._mode.rstrip('s')}")
        keymap = self.console.settings.keymap
        keys = hints((*named, "esc closes"), keymap, ascii_only=self._ascii)
        totals = [count for count in counts if found and not count.startswith("0 ")]
        while len(keys) > 1 and len(sign.join([*totals, *keys])) > self.size.width - 8:
            # The last key, to close, is always shown.
            del keys[-2]
        box.border_subtitle = Content(sign.join([*totals, *keys]))

    def action_diff_mode(self) -> None:
        """Compare other moments: turn, marks, or cursor and present."""
        modes = self.modes
        if modes:
            at = modes.index(self._mode) if self._mode in modes else -1
            self._mode = modes[(at + 1) % len(modes)]
            self._compare()

    def action_diff_move(self, step: int) -> None:
        """Choose the turn or mark before or after."""
        agent = self._store.view.agent_view
        if self._mode == "marks":
            self._mark = max(1, min(len(agent.marks), self._mark + step))
        elif self._mode == "turn" and agent.turns:
            turns = list(agent.turns)
            at = turns.index(self._turn) if self._turn in turns else len(turns) - 1
            self._turn = turns[max(0, min(len(turns) - 1, at + step))]
        self._compare()

    # -- the list ----------------------------------------------------------------------------------------------------

    def action_move(self, step: str) -> None:
        """Move the cursor."""
        self.list.move(step)

    def action_open_row(self) -> None:
        """Show the details of the key under the cursor."""
        self.list.open_row()

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Show old and new value as JSON."""
        message.stop()
        one = self.list.difference(message.row)
        if one is None:
            return
        parts: list[tuple[str, object]] = [("", one.how)]
        for heading, cell in (("Before", one.old), ("After", one.new)):
            if cell is not None:
                parts.append((f"{heading}, by {who(cell) or 'unknown'} at {clock_text(cell.t)}", _value(cell)))
        gone = one.removal
        if gone is not None:
            parts.append(
                (
                    f"Removed, by {who(gone) or 'unknown'} at {clock_text(gone.t)}",
                    gone.reason or "No reason was given.",
                )
            )
        whole = {"key": one.key, "how": one.how, "old": _value(one.old), "new": _value(one.new), "by": one.writer}
        self.console.enter(DetailsScreen(self.console.settings, one.key, parts, copy=whole))


class DiffList(RowList):
    """Differences, one key a row."""

    def __init__(self, signs: Glyphs) -> None:
        super().__init__(id="diff-list")
        self._signs = signs
        self._found: dict[str, Difference] = {}

    def show_differences(self, found: Sequence[Difference], said: str) -> None:
        """List differences, or a sentence in their place."""
        self._found = {one.key: one for one in found}
        self.set_rows(list(self._found) or [said])

    def difference(self, row: str) -> Difference | None:
        """Return the difference on a row."""
        return self._found.get(row)

    def selectable(self, row: str) -> bool:
        """Return True for a key, False for the sentence."""
        return row in self._found

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return sign, word, key, old and new value, and writer."""
        one = self._found.get(row)
        ellipsis = self._signs.ellipsis
        if one is None:
            return [(f"  {fit(row, width - 2, ellipsis)}", "quiet")]
        left = f" {SIGNS[one.how]} {one.how:<9}"
        key = f"{fit(one.key, KEY_WIDTH, ellipsis):<{KEY_WIDTH}} "
        cell = one.new or one.old
        writer = f"  {one.writer}" if one.writer else ""
        writer = fit(writer, 26, ellipsis)
        room = max(8, width - len(left) - len(key) - len(writer) - 1)
        if one.old is not None and one.new is not None:
            half = max(3, (room - 4) // 2)
            old = fit(one.old.text, half, ellipsis)
            values: list[Run] = [
                (old, "del"),
                (f" {self._signs.arrow} ", "quiet"),
                (fit(one.new.text, room - len(old) - 4, ellipsis), "add"),
            ]
        else:
            values = [(fit(cell.text if cell is not None else "", room, ellipsis), STYLES[one.how])]
        return [(left, STYLES[one.how]), (key, "strong"), *values, (writer, "quiet")]


def _value(cell: KeyCell | None) -> object:
    return None if cell is None else unpack(cell.value)
