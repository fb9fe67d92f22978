"""Bind the keys that move through rows."""

from __future__ import annotations

from textual.binding import Binding

MOVES = tuple(
    Binding(key, f"move('{step}')", step, show=False)
    for key, step in (
        ("up", "up"),
        ("down", "down"),
        ("pageup", "page_up"),
        ("pagedown", "page_down"),
        ("home", "home"),
        ("end", "end"),
    )
)
"""Bindings of arrow and page keys to the action `move`, for a screen without a list that has the focus."""
