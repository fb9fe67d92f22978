"""Show the agent's state by scope, with keys to change it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.widgets import Input

from gemini_live_runtime.journal.fold.agent_view import AgentView
from gemini_live_runtime.journal.fold.packing import real_key, unpack
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.json_values import escaped
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import EditKey, ExplainEvent, KeysChanged, SendOrder, ShowHint
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.painted import Guarded
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.panes import state_rows as rows
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.panes.state_listing import StateListing
from gemini_live_tui.saved_layout import recall, remember
from gemini_live_tui.session_data.breakpoints import breaks_on, shown_key, toggle_breakpoint
from gemini_live_tui.widgets.filter_line import FilterLine
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from pathlib import Path

    from gemini_live_runtime.journal.fold.agent_view import KeyCell

MAX_CACHED_ROWS = 512
"""Number of painted rows that are kept."""


_FOR_A_KEY = frozenset(("state-edit", "state-delete", "state-break", "state-pin", "state-copy"))
"""Ids of actions that need a key under the cursor."""


class StateRows(RowList):
    """List of the pane; the pane paints its rows."""

    def __init__(self, pane: StatePane) -> None:
        super().__init__()
        self._pane = pane
        self._was_moved = False

    def set_rows(self, rows: Sequence[str]) -> None:
        """List other rows; until it is moved, the cursor is on the first key."""
        super().set_rows(rows)
        first = next((at for at, row in enumerate(rows) if row[:1] in "-^"), None)
        if not self._was_moved and first is not None:
            self.cursor = first
            self.touch()

    def _put_cursor(self, index: int) -> None:
        self._was_moved = True
        super()._put_cursor(index)
        self._pane.tell_usable()

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return the runs of one row."""
        return self._pane.row_runs(row, width)

    def selectable(self, row: str) -> bool:
        """Return True for keys and headings."""
        return row[:1] in "=-^"


class StatePane(Guarded, Container):
    """Filter line and list.

    Only rows in sight are painted, so the number of keys does not matter.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("state")]
    dirty = Dirty.STATE
    DEFAULT_CSS = """
    StatePane { background: $background; }
    """

    def __init__(self, *, id: str | None = "state", glyphs: Glyphs = UNICODE, memory: Path | None = None) -> None:
        """Create the pane; `memory` is the file of the listing's order, None for none."""
        super().__init__(id=id)
        self._glyphs = glyphs
        self._agent = AgentView()
        self._elapsed = 0.0
        self._live = False
        self._declared = rows.Declared()
        self._shape = ""
        self._counts: dict[str, int] = {}
        self._row_cache: dict[str, tuple[KeyCell, tuple[object, ...], Sequence[Run]]] = {}
        """Painted rows, each with the values it was painted from."""
        self._breaks: frozenset[str] = frozenset()
        self._again: float | None = None
        self._told_unusable: frozenset[str] = frozenset()
        self._listed: tuple[list[str], set[str], list[str]] | None = None
        """Values that the list was made from, while its order does not depend on the state."""
        self._memory = memory
        self.listing = StateListing.from_json(recall(memory).get("state"), (*rows.SCOPES, rows.PINNED))
        self.filter = FilterLine(placeholder="a word, or a glob such as app:*")
        self.list = StateRows(self)

    def compose(self) -> ComposeResult:
        """Yield the filter line and the list."""
        yield self.filter
        yield self.list

    def focus(self, scroll_visible: bool = True) -> StatePane:
        """Focus the list."""
        self.list.focus(scroll_visible)
        return self

    # -- showing -----------------------------------------------------------------------------------------------------

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """Show the state of `view`; recent changes are marked for a while."""
        self._agent, self._elapsed, self._live = view.agent_view, frame.elapsed, frame.live
        if view.agent_view.shape != self._shape:
            self._shape = view.agent_view.shape
            self._declared = rows.Declared.of(self._shape)
        self._breaks = breaks_on(view.agent_view, "key")
        self._again = None
        self._list()
        self.tell_usable()
        return self._again if frame.live else None

    def _list(self) -> None:
        text, names = self.filter.value.strip(), list(self._agent.keys)
        wanted = (names, set(self.listing.folded), list(self.listing.pinned))
        if not text and not self.listing.changed_first and wanted == self._listed:
            # Most often only values change: the same rows, some with another look.
            self.list.touch()
            return
        self._listed = None if text or self.listing.changed_first else wanted
        listed, self._counts = rows.rows_of(
            self._agent.keys,
            text=text,
            folded=self.listing.folded,
            pinned=self.listing.pinned,
            changed_first=self.listing.changed_first,
        )
        self.list.set_rows(listed)

    def _relist(self) -> None:
        """List the keys anew and save the listing."""
        self._list()
        remember(self._memory, state=self.listing.to_json())

    def note(self) -> str:
        """Return the number of keys, their order, and in the present the edits to undo."""
        agent, dot = self._agent, f" {self._glyphs.separator} "
        count = len(agent.keys)
        parts = [f"{count:,} keys" if count != 1 else "1 key"]
        if agent.keys_beyond:
            parts.append(f"{agent.keys_beyond:,} more not shown")
        if self.listing.changed_first:
            parts.append("changed first")
        if agent.undo and self._live:
            parts.append(f"{agent.undo} to undo")
        if agent.redo and self._live:
            parts.append(f"{agent.redo} to redo")
        return dot.join(parts)

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return the runs of one row of the list."""
        glyphs = self._glyphs
        if row.startswith("="):
            scope = row[1:]
            return rows.heading_row(
                scope, self._counts.get(scope, 0), width, glyphs, folded=scope in self.listing.folded
            )
        if row[:1] not in "-^":
            return rows.plain_row(row, width, glyphs)
        key = row[1:]
        cell = self._agent.keys.get(key)
        if cell is None:
            # The view lives on while the pane is not shown: the key was removed after the rows were listed.
            return ()
        age = self._elapsed - cell.t
        if 0 <= age < rows.FLASH_S:
            left = rows.FLASH_S - age + 0.01
            self._again = left if self._again is None else min(self._again, left)
        broken = bool(self._breaks) and shown_key(key) in self._breaks
        inputs = (width, 0 <= age < rows.FLASH_S, broken, self._declared)
        kept = self._row_cache.get(row)
        # A changed key has a new cell object, so identity suffices.
        if kept is not None and kept[0] is cell and kept[1] == inputs:
            return kept[2]
        if len(self._row_cache) > MAX_CACHED_ROWS:
            self._row_cache.clear()
        runs = rows.key_row(
            key,
            cell,
            width,
            glyphs,
            declared=self._declared,
            elapsed=self._elapsed,
            whole=row.startswith("^"),
            broken=broken,
        )
        self._row_cache[row] = (cell, inputs, runs)
        return runs

    # -- the cursor --------------------------------------------------------------------------------------------------

    @property
    def key_at_cursor(self) -> str:
        """Key under the cursor, as views spell it; "" for none."""
        row = self.list.row_at_cursor
        return row[1:] if row[:1] in ("-", "^") and row[1:] in self._agent.keys else ""

    @property
    def _scope_at_cursor(self) -> str:
        row = self.list.row_at_cursor
        return row[1:] if row.startswith("=") else rows.scope_of(row[1:]) if row[:1] in ("-", "^") else ""

    @property
    def unusable(self) -> frozenset[str]:
        """Ids of the pane's actions that mean nothing now, for the key bar."""
        found = frozenset() if self.key_at_cursor else _FOR_A_KEY
        if not (self._agent.undo and self._live):
            found |= {"state-undo"}
        return found

    def tell_usable(self) -> None:
        """Have the key bar shown anew when other keys mean something now."""
        if (unusable := self.unusable) != self._told_unusable:
            self._told_unusable = unusable
            self.post_message(KeysChanged())

    def _cell(self) -> tuple[str, KeyCell] | None:
        key = self.key_at_cursor
        if not key:
            self.post_message(ShowHint("Put the cursor on a key first."))
            return None
        return key, self._agent.keys[key]

    def explain(self) -> bool:
        """Explain who wrote the key under the cursor; return False without one."""
        cell = self._agent.keys.get(self.key_at_cursor)
        if cell is not None:
            self.post_message(ExplainEvent(cell.seq))
        return cell is not None

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        if message.row.startswith("="):
            self._fold(message.row[1:], message.row[1:] not in self.listing.folded)
        else:
            self.action_edit()

    # -- what is listed ----------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """Show and focus the filter line."""
        self.filter.begin()

    @on(FilterLine.Left)
    def _filtered(self, message: FilterLine.Left) -> None:
        message.stop()
        self.list.focus()

    @on(Input.Changed)
    def _filtering(self, message: Input.Changed) -> None:
        message.stop()
        self._list()

    def action_fold(self, fold: bool) -> None:
        """Fold the scope of the cursor, or unfold it."""
        scope = self._scope_at_cursor
        if scope:
            self._fold(rows.PINNED if self.list.row_at_cursor.startswith("^") else scope, fold)

    def _fold(self, scope: str, fold: bool) -> None:
        (self.listing.folded.add if fold else self.listing.folded.discard)(scope)
        self._relist()
        self.list.go_to(f"={scope}")

    def action_order(self) -> None:
        """Toggle the order: latest change first, or by name."""
        self.listing.changed_first = not self.listing.changed_first
        self._relist()
        self.post_message(
            ShowHint("What changed last comes first." if self.listing.changed_first else "Sorted by name.")
        )

    def action_pin(self) -> None:
        """Pin the key to the top, or unpin it."""
        if found := self._cell():
            key = found[0]
            (self.listing.pinned.remove if key in self.listing.pinned else self.listing.pinned.append)(key)
            self._relist()

    # -- copying -----------------------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        """Copy the value as JSON."""
        if found := self._cell():
            self._copy(json.dumps(unpack(found[1].value), ensure_ascii=False), f"the value of {found[0]}")

    def action_copy_scope(self) -> None:
        """Copy all keys of the scope as one JSON object."""
        scope = self._scope_at_cursor
        if scope == rows.PINNED:
            scope = ""
        if scope:
            text = json.dumps(rows.scope_json(self._agent.keys, scope), indent=2, ensure_ascii=False)
            self._copy(text, f"the scope {scope}")
        else:
            self.post_message(ShowHint("Put the cursor on a key of the scope first."))

    def _copy(self, text: str, what: str) -> None:
        # Escaped, because what is pasted into a terminal must not control it.
        text = escaped(text)
        self.app.copy_to_clipboard(text)
        self.post_message(ShowHint(f"Copied {what}, {len(text):,} characters."))

    # -- changing ----------------------------------------------------------------------------------------------------

    def action_edit(self) -> None:
        """Open the editor on the key."""
        if found := self._cell():
            self.post_message(EditKey(found[0]))

    def action_delete(self) -> None:
        """Remove the key without a question: the edit can be undone."""
        from gemini_live_runtime.commands import EditState

        if found := self._cell():
            key, cell = found
            edit = {"key": real_key(key), "remove": True, "expect": unpack(cell.value)}
            self.post_message(SendOrder(EditState(edits=(edit,))))
            self.post_message(ShowHint(f"Removing {key}; u brings it back."))

    def action_undo(self) -> None:
        """Undo the last edit."""
        from gemini_live_runtime.commands import UndoEdit

        self.post_message(SendOrder(UndoEdit()))

    def action_redo(self) -> None:
        """Redo the edit that was undone last."""
        from gemini_live_runtime.commands import RedoEdit

        self.post_message(SendOrder(RedoEdit()))

    def action_break(self) -> None:
        """Toggle a breakpoint on the key."""
        if found := self._cell():
            self.post_message(SendOrder(toggle_breakpoint(self._agent, "key", found[0])))
