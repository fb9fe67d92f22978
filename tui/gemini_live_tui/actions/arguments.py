"""What can stand for each kind of argument of a command, for completion. A kind that is not here is free text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gemini_live_runtime.journal.mind_view import unpack
from gemini_live_tui.breakpoint_orders import KINDS as KINDS_OF_BREAKPOINTS

if TYPE_CHECKING:
    from gemini_live_runtime.journal.view import SessionView

MAX_CHOICES = 500
"""Choices offered; of more one sees no end anyway."""


def _phases(view: SessionView) -> Sequence[str]:
    shape = unpack(view.mind.shape) or {}
    return [str(phase["name"]) for phase in shape.get("phases", ())] if isinstance(shape, dict) else []


KINDS: Mapping[str, Callable[[SessionView], Sequence[str]]] = {
    "PHASE": _phases,
    "KEY": lambda view: list(view.mind.keys),
    "WATCHER": lambda view: list(view.mind.watchers),
    "TOOL": lambda view: view.tools,
    "KIND": lambda view: KINDS_OF_BREAKPOINTS,
}


def choices(kind: str, view: SessionView, themes: Sequence[str] = ()) -> Sequence[str]:
    """The names that an argument of this kind can have now."""
    if kind == "THEME":
        return themes
    names = KINDS.get(kind)
    return names(view)[:MAX_CHOICES] if names is not None else ()
