"""List all actions of the console.

They are the only source of bindings, key bar, palette, commands, help and docs. Each group has a module of its own.
Users change an action's keys by its id, see `keymap`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gemini_live_tui.actions import (
    change,
    consent,
    console,
    debug,
    harness,
    inspect,
    read,
    session,
    set_up,
    talk,
    time,
    write,
)
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
    *consent.ACTIONS,
    *write.ACTIONS,
    *read.ACTIONS,
    *inspect.ACTIONS,
    *harness.ACTIONS,
    *change.ACTIONS,
    *debug.ACTIONS,
    *time.ACTIONS,
    *session.ACTIONS,
    *set_up.ACTIONS,
    *console.ACTIONS,
)

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


LETTERS = ":letters"
"""Ending of the id of an action's second binding, see `bindings`."""


def no_key(ident: str) -> str:
    """Return a name of no key, for the binding of an action without keys."""
    return f"no_key_{ident}"


def separates_letters(action: Action) -> bool:
    """Return True when an action has a binding of its own for letters.

    Its other keys take priority over those of a field that has the cursor; letters are typed there.
    """
    return action.anywhere and PLACES[action.scope].kind == "everywhere"


def bindings(scope: Scope) -> list[Binding]:
    """Return Textual's bindings of a scope, to be changed by `keymap.split_keymap`.

    An action without keys gets a binding, too, so that a keymap can give it some.
    """
    from textual.binding import Binding

    from gemini_live_tui.actions.keymap import split_keymap

    found: list[Binding] = []
    for action in in_scope(scope):
        method = action.action or f"screen.begin_command('{action.id}')"
        keys = split_keymap({action.id: action.keys})
        found.extend(
            Binding(names or no_key(action.id), method, action.title, id=ident, priority=action.anywhere)
            if ident == action.id
            else Binding(names, method, action.title, id=ident)
            for ident, names in keys.items()
        )
    return found


def in_scope(scope: Scope) -> Iterable[Action]:
    """Return the actions of a scope, in their order."""
    return (action for action in ACTIONS if action.scope == scope)


def in_group(group: Group) -> Iterable[Action]:
    """Return the actions of a group, in their order."""
    return (action for action in ACTIONS if action.group == group)
