"""What can stand for each kind of argument of a command, for completion. A kind that is not here is free text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.journal.agent_view import unpack
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.session_data.breakpoints import KINDS as KINDS_OF_BREAKPOINTS

if TYPE_CHECKING:
    from gemini_live_runtime.journal.view import SessionView

FORMATS = ("markdown", "text", "json", "wav")
"""Formats of an export, as they are written behind its command."""

MAX_CHOICES = 500
"""Choices offered; of more one sees no end anyway."""


def _described(view: SessionView) -> list[Mapping[str, Any]]:
    shape = unpack(view.agent_view.shape)
    return list(shape.get("phases", ())) if isinstance(shape, dict) else []


def _phases(view: SessionView) -> Sequence[str]:
    return [str(phase["name"]) for phase in _described(view)]


def _transitions(view: SessionView) -> Sequence[str]:
    return [f"{phase['name']}>{way['to']}" for phase in _described(view) for way in phase.get("ways", ())]


KINDS: Mapping[str, Callable[[SessionView], Sequence[str]]] = {
    "PHASE": _phases,
    "TRANSITION": _transitions,
    "KEY": lambda view: list(view.agent_view.keys),
    "WATCHER": lambda view: list(view.agent_view.watchers),
    "TOOL": lambda view: view.tools,
    "KIND": lambda view: KINDS_OF_BREAKPOINTS,
    "FORMAT": lambda view: FORMATS,
}


def choices(kind: str, written: Sequence[str], view: SessionView, themes: Sequence[str] = ()) -> Sequence[str]:
    """The names that an argument of this kind can have now, after the arguments `written` before it.

    What a `TARGET` is, the argument before it says: `phase`, `tool` and so on.
    """
    if kind == "THEME":
        return themes
    if kind == "TARGET" and written:
        kind = written[-1].upper()
    names = KINDS.get(kind)
    # A name that cannot be shown as it is cannot be written either.
    return [name for name in names(view)[:MAX_CHOICES] if sanitise_line(name) == name] if names is not None else ()
