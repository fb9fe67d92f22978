"""List the possible values of a command's arguments, for completion.

A kind of argument that is not in `KINDS` is free text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.journal.fold.packing import unpack
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.session_data.breakpoints import KINDS as KINDS_OF_BREAKPOINTS

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.view import SessionView

FORMATS = ("markdown", "text", "json", "wav")
"""Formats that the command `/export` takes."""

DETECTORS = ("auto", "server", "client", "manual")
"""Detectors of turns that the command `/turns` takes."""

MAX_CHOICES = 500
"""Choices offered at most: a longer list cannot be read anyway."""


def _described(view: SessionView) -> list[Mapping[str, Any]]:
    shape = unpack(view.agent_view.shape)
    return list(shape.get("phases", ())) if isinstance(shape, dict) else []


def _phases(view: SessionView) -> Sequence[str]:
    return [str(phase["name"]) for phase in _described(view)]


def _transitions(view: SessionView) -> Sequence[str]:
    return [f"{phase['name']}>{way['to']}" for phase in _described(view) for way in phase.get("ways", ())]


def _agents(view: SessionView) -> Sequence[str]:
    shape = unpack(view.agent_view.shape)
    return [str(name) for name in shape.get("hands_over_to", ())] if isinstance(shape, dict) else []


KINDS: Mapping[str, Callable[[SessionView], Sequence[str]]] = {
    "AGENT": _agents,
    "PHASE": _phases,
    "TRANSITION": _transitions,
    "KEY": lambda view: list(view.agent_view.keys),
    "WATCHER": lambda view: list(view.agent_view.watchers),
    "TOOL": lambda view: view.tools,
    "KIND": lambda view: KINDS_OF_BREAKPOINTS,
    "FORMAT": lambda view: FORMATS,
    "DETECTOR": lambda view: DETECTORS,
}


def choices(kind: str, written: Sequence[str], view: SessionView, themes: Sequence[str] = ()) -> Sequence[str]:
    """Return the values that an argument of this kind can have now.

    `written` are the arguments before it; of a `TARGET` the last of them is the kind: `phase`, `tool` and so on.
    """
    if kind == "THEME":
        return themes
    if kind == "TARGET" and written:
        kind = written[-1].upper()
    names = KINDS.get(kind)
    # A name that the sanitiser changes could not be typed as it is shown.
    return [name for name in names(view)[:MAX_CHOICES] if sanitise_line(name) == name] if names is not None else ()
