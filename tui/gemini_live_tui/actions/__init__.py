"""List all actions of the console.

They are the only source of bindings, key bar, palette, commands, help and docs. Each group has a module of its own.
Users change an action's keys by its id, see `keymap`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gemini_live_tui.actions import change, console, debug, inspect, read, session, set_up, talk, time, write
from gemini_live_tui.actions.action import BEFORE_A_SESSION, GROUPS, Action, Bar, Group, Scope
from gemini_live_tui.actions.places import PANES, PLACES, Place

if TYPE_CHECKING:
    from textual.binding import Binding

__all__ = [
    "ACTIONS",
    "BEFORE_A_SESSION",
    "BY_ID",
    "GROUPS",
    "PANES",
    "PLACES",
    "Action",
    "Bar",
    "Group",
    "Place",
    "Scope",
    "bindings",
    "in_group",
    "in_scope",
]

ACTIONS: tuple[Action, ...] = (
    *talk.ACTIONS,
    *write.ACTIONS,
    *read.ACTIONS,
    *inspect.ACTIONS,
    *change.ACTIONS,
    *debug.ACTIONS,
    *time.ACTIONS,
    *session.ACTIONS,
    *set_up.ACTIONS,
    *console.ACTIONS,
)

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def bindings(scope: Scope) -> list[Binding]:
    """Return Textual's bindings of a scope.

    An action without keys gets a binding, too, so that a keymap can give it some.
    """
    from textual.binding import Binding

    return [
        Binding(
            action.keys or f"no_key_{action.id}",
            action.action or f"screen.begin_command('{action.id}')",
            action.title,
            id=action.id,
            priority=action.anywhere,
        )
        for action in in_scope(scope)
    ]


def in_scope(scope: Scope) -> Iterable[Action]:
    """Return the actions of a scope, in their order."""
    return (action for action in ACTIONS if action.scope == scope)


def in_group(group: Group) -> Iterable[Action]:
    """Return the actions of a group, in their order."""
    return (action for action in ACTIONS if action.group == group)
