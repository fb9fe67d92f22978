"""Name the keys of the screen of recorded sessions in its lowest row."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from textual.content import Content

from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import is_typed, key_label, keys_of
from gemini_live_tui.settings import ConsoleSettings

_ON_BAR = ("close", "open", "resume", "rename", "export", "delete", "trash", "filter", "undo")
_ON_TRASH_BAR = ("close", "open", "export", "trash", "filter")

_IN_TRASH = {"open": "Restore", "trash": "Sessions"}
"""Titles of the list's keys in the trash."""


def list_keys(settings: ConsoleSettings, width: int, *, in_trash: bool) -> Content:
    """Return the keys of the list that fit into `width`, the first ones."""
    named: list[tuple[str, str]] = []
    used = 1
    for name in _ON_TRASH_BAR if in_trash else _ON_BAR:
        action = BY_ID[f"sessions-{name}"]
        title = _IN_TRASH.get(name, action.title) if in_trash else action.title
        for key in keys_of(action, settings.keymap)[:1]:
            label = key_label(key, ascii_only=settings.ascii)
            used += cell_len(f"{label} {title}")
            if used > width:
                return _row(named)
            used += 2
            named.append((label, title))
    return _row(named)


def field_keys(settings: ConsoleSettings, *, is_title: bool) -> Content:
    """Return the keys of the field, in which letters are typed."""
    enter, back = ("Keep title", "Keep the old one") if is_title else ("To the list", "Clear filter")
    leaving = [key for key in keys_of(BY_ID["sessions-close"], settings.keymap) if not is_typed(key)]
    named = [("enter", enter), *((key_label(key, ascii_only=settings.ascii), back) for key in leaving[:1])]
    return _row(named)


def _row(named: list[tuple[str, str]]) -> Content:
    """Return keys and titles in their styles."""

    def parts() -> Iterator[tuple[str, str]]:
        for key, title in named:
            yield key, "bold $key"
            yield f" {title}  ", "$quiet"

    return Content.assemble(" ", *parts())
