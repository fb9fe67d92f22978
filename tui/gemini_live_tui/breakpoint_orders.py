"""Breakpoints as panes and rooms meet them: is there one on this thing, and what to order to change that.

Names are those of a view, which are fit to show; keys are spelled as in `MindView.keys`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gemini_live_runtime.journal.mind_view import real_key
from gemini_live_runtime.text import sanitise_line

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.journal.mind_view import Breakpoint, MindView

Kind = Literal["watcher", "phase", "transition", "tool", "key", "expression"]

KINDS: tuple[Kind, ...] = ("watcher", "phase", "transition", "tool", "key", "expression")

MAX_TARGET = 200
"""Characters of a target that a view keeps."""


def breakpoint_on(mind: MindView, kind: Kind, target: str) -> Breakpoint | None:
    """The breakpoint on a thing, switched on or off; None for none. A transition's target is `from>to`."""
    shown = _as_shown(kind, target)
    return next((item for item in mind.breakpoints if item.kind == kind and item.target == shown), None)


def breaks_on(mind: MindView, kind: Kind) -> frozenset[str]:
    """The targets of a kind at which the agent will be held: for the signs in a pane's rows.

    Keys are as people write them; ask for one with `shown_key`.
    """
    return frozenset(item.target for item in mind.breakpoints if item.kind == kind and item.enabled)


def shown_key(key: str) -> str:
    """A key of `MindView.keys` as a breakpoint's target has it."""
    return _as_shown("key", key)


def toggle_breakpoint(mind: MindView, kind: Kind, target: str) -> Order:
    """The order that takes a breakpoint away, or sets one where there is none or one that is off."""
    from gemini_live_runtime.commands import RemoveBreakpoint, SetBreakpoint

    there = breakpoint_on(mind, kind, target)
    if there is not None and there.enabled:
        return RemoveBreakpoint(id=there.id)
    return SetBreakpoint(kind=kind, target=real_key(target) if kind == "key" else target)


def _as_shown(kind: Kind, target: str) -> str:
    return sanitise_line(real_key(target) if kind == "key" else target, MAX_TARGET)
