"""Choose from a list with the arrow keys, also before the list is laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import OptionList as TextualOptionList

if TYPE_CHECKING:
    from textual._widget_navigation import Direction


def has_line(options: TextualOptionList) -> bool:
    """Return True when the highlighted option is laid out.

    Textual's page keys raise KeyError when it is not: right after the list opened or was filled, or without room.
    """
    return (options.highlighted or 0) in options._index_to_line


class OptionList(TextualOptionList):
    """Textual's list; its page keys do nothing before it is laid out."""

    def _move_page(self, direction: Direction) -> None:
        if has_line(self):
            super()._move_page(direction)
