"""Find breakpoints on things that panes show, and make commands that change them.

Names are those of a view, which are fit to show; keys are spelled as in `AgentView.keys`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime.journal.fold.packing import real_key, unpack
from gemini_live_runtime.text import sanitise_line

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.journal.fold.agent_view import AgentView, Breakpoint

Kind = Literal["watcher", "phase", "transition", "tool", "key", "expression"]

KINDS: tuple[Kind, ...] = ("watcher", "phase", "transition", "tool", "key", "expression")

MAX_TARGET = 500
"""Characters of a target that a view keeps."""


def breakpoint_on(agent: AgentView, kind: Kind, target: str) -> Breakpoint | None:
    """Return the breakpoint on a thing, enabled or not; None for none.

    A transition's target is `from>to`.
    """
    shown = _as_shown(kind, target)
    return next((item for item in agent.breakpoints if item.kind == kind and item.target == shown), None)


def breaks_on(agent: AgentView, kind: Kind) -> frozenset[str]:
    """Return the targets of enabled breakpoints of a kind, for the signs in rows.

    Keys are in the agent's spelling; get one with `shown_key`.
    """
    return frozenset(item.target for item in agent.breakpoints if item.kind == kind and item.enabled)


def shown_key(key: str) -> str:
    """Return a key of `AgentView.keys` as a breakpoint's target."""
    return _as_shown("key", key)


def toggle_breakpoint(agent: AgentView, kind: Kind, target: str) -> Order:
    """Return the command that removes an enabled breakpoint, or sets one."""
    from gemini_live_runtime.commands import RemoveBreakpoint, SetBreakpoint

    there = breakpoint_on(agent, kind, target)
    if there is not None and there.enabled:
        return RemoveBreakpoint(id=there.id)
    return SetBreakpoint(kind=kind, target=real_key(target) if kind == "key" else target)


def describe_change(before: Sequence[Breakpoint], after: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about changed breakpoints; "" where only hits were counted."""
    was = {item.id: (item.kind, item.target) for item in before if item.enabled}
    now = {
        str(item.get("id", "")): (str(item.get("kind", "")), str(item.get("target", "")))
        for item in after
        if item.get("enabled", True)
    }
    added = [now[ident] for ident in now if now[ident] != was.get(ident)]
    gone = [was[ident] for ident in was if ident not in now]
    if added:
        kind, target = added[-1]
        return f"The agent will be held at the {kind} {target}."
    if len(gone) > 1:
        return f"{len(gone)} breakpoints hold the agent no longer."
    return f"The agent is no longer held at the {gone[0][0]} {gone[0][1]}." if gone else ""


def names_for(agent: AgentView, kind: Kind) -> list[str]:
    """Return the possible targets of a kind, in the agent's order.

    For an expression, the keys that it may read.
    """
    shape: dict[str, Any] = unpack(agent.shape) or {}
    phases: list[dict[str, Any]] = shape.get("phases", [])
    found: Iterable[Any]
    if kind == "watcher":
        found = (*agent.watchers, *agent.patterns)
    elif kind == "phase":
        found = (phase.get("name", "") for phase in phases)
    elif kind == "transition":
        found = (f"{phase.get('name', '')}>{way.get('to', '')}" for phase in phases for way in phase.get("ways", ()))
    elif kind == "tool":
        found = (tool.get("name", "") for tool in shape.get("tools", ()))
    else:
        declared = (item.get("key", "") for item in shape.get("keys", ()))
        found = sorted({*map(real_key, agent.keys), *declared})
    return list(dict.fromkeys(name for item in found if (name := sanitise_line(str(item), MAX_TARGET))))


def completed(names: Sequence[str], kind: Kind, written: str) -> str:
    """Return `written` with its name completed to the first that fits; "" for none.

    Of an expression the last word counts.
    """
    start = written
    if kind == "expression":
        start = re.split(r"[\s()<>=!,]", written)[-1]
    if not start:
        return ""
    name = next((name for name in names if name.startswith(start) and name != start), "")
    return f"{written[: len(written) - len(start)]}{name}" if name else ""


def _as_shown(kind: Kind, target: str) -> str:
    return sanitise_line(real_key(target) if kind == "key" else target, MAX_TARGET)
