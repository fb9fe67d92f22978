"""Show a named field on one row."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static


class FieldRow(Horizontal):
    """Name at the left, field at the right."""

    def __init__(self, name: str, field: Input, *, classes: str = "") -> None:
        super().__init__(classes=f"field {classes}".strip())
        self._label = name
        self._field = field

    def compose(self) -> ComposeResult:
        """Yield name and field."""
        yield Static(self._label, markup=False)
        yield self._field
