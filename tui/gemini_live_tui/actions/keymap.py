"""Apply and check a keymap: the keys that the config gives to actions by their id."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence

from textual.keys import _character_to_key

from gemini_live_runtime.errors import ConfigError
from gemini_live_tui.actions import ACTIONS, BY_ID, LETTERS, PLACES, no_key, separates_letters
from gemini_live_tui.actions.action import Action

UNREACHABLE = {
    "ctrl+i": "terminals send it as tab",
    "ctrl+m": "terminals send it as enter",
    "ctrl+h": "terminals send it as backspace",
    "ctrl+left_square_bracket": "terminals send it as escape",
    "ctrl+[": "terminals send it as escape",
}
"""Keys that terminals send as another key, with the reason."""

SWALLOWED = {
    "ctrl+a": "screen keeps it",
    "ctrl+b": "tmux keeps it",
    "ctrl+p": "docker attach keeps it",
    "ctrl+q": "flow control and docker attach keep it",
    "ctrl+s": "flow control keeps it",
    "ctrl+z": "shells keep it",
}
"""Keys that terminals, multiplexers and shells may keep for themselves: an action needs a second key beside one."""

_MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")
_SIGNS = frozenset(_character_to_key(sign) for sign in string.punctuation)
_NAMED_KEYS = frozenset(
    (
        *("backspace", "delete", "end", "enter", "escape", "home", "insert", "pagedown", "pageup", "space", "tab"),
        *("down", "left", "right", "up"),
        *(f"f{number}" for number in range(1, 25)),
    )
)
"""Keys that have a name and no sign."""
GONE = {
    "continue-here": "continue",
    "events-follow": "follow",
    "mark-here": "mark",
    "pause-here": "pause",
    "step-here": "step",
    "step-turn-here": "step-turn",
    "watcher-open": "open-row",
}
"""Ids that keymaps of earlier versions may have, with the action to use instead."""

_LABELS = {
    "escape": "esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "question_mark": "?",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "comma": ",",
    "full_stop": ".",
    "slash": "/",
    "backslash": "\\",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "delete": "del",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "asterisk": "*",
    "at": "@",
}
_NAMED = re.compile(r"\{([a-z0-9-]+)\}")
_ARROWS = ("up", "down", "left", "right")


def keys_of(action: Action, keymap: Mapping[str, str]) -> list[str]:
    """Return the keys that trigger an action under a keymap."""
    return [key.strip() for key in keymap.get(action.id, action.keys).split(",") if key.strip()]


def is_typed(key: str) -> bool:
    """Return True for a key that writes a character into a field."""
    return key == "space" or (len(_spelled(key)) == 1 and key not in _ARROWS)


def split_keymap(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return a keymap for the bindings of `actions.bindings`.

    They separate letters from other keys.
    """
    found = {}
    for ident in keymap:
        keys, action = keys_of(BY_ID[ident], keymap), BY_ID[ident]
        if separates_letters(action):
            found[ident] = ",".join(key for key in keys if not is_typed(key)) or no_key(ident)
            found[f"{ident}{LETTERS}"] = ",".join(filter(is_typed, keys)) or no_key(ident)
        else:
            found[ident] = ",".join(keys)
    return found


def key_label(key: str, *, ascii_only: bool = False) -> str:
    """Return a key as people write it: `^b`, `F2`, `esc`."""
    if ascii_only and key in _ARROWS:
        return key
    if key in _LABELS:
        return _LABELS[key]
    if key.startswith("ctrl+") and len(key) == 6:
        return f"^{key[5:]}"
    if key.startswith("f") and key[1:].isdigit():
        return key.upper()
    return key


def hints(parts: Iterable[str], keymap: Mapping[str, str], *, ascii_only: bool = False) -> list[str]:
    """Replace each `{id}` in parts of a line by the keys of that action.

    Leaves out a part that names an action without keys.
    """
    found = []
    for part in parts:
        names = _NAMED.findall(part)
        keys = {name: _named(keys_of(BY_ID[name], keymap)) for name in names}
        if all(keys.values()):
            labels = {name: " or ".join(key_label(key, ascii_only=ascii_only) for key in keys[name]) for name in names}
            found.append(_NAMED.sub(lambda match: labels[match[1]], part))  # noqa: B023
    return found


def _named(keys: list[str]) -> list[str]:
    """Return the keys for a hint, without backspace beside delete.

    Keyboards without a key for delete have that.
    """
    return [key for key in keys if key != "backspace" or "delete" not in keys]


def check_keymap(keymap: Mapping[str, str]) -> None:
    """Raise `ConfigError` naming the first entry of `keymap` that cannot work."""
    for fault in _faults(keymap):
        raise fault


def usable_keymap(keymap: Mapping[str, str]) -> tuple[dict[str, str], list[ConfigError]]:
    """Return the usable entries of `keymap`, and an error for each other entry."""
    if not keymap:
        return {}, []  # tests show that the default keys do not clash
    usable, faults = dict(keymap), []
    while (fault := next(_faults(usable), None)) is not None:
        faults.append(fault)
        del usable[fault.field.removeprefix("keymap.")]
    return {ident: ",".join(keys_of(BY_ID[ident], usable)) for ident in usable}, faults


def keymap_problem(faults: Sequence[ConfigError]) -> str:
    """Return a notice about entries that were left out."""
    rest = len(faults) - 1
    more = f" {rest} more entries of the keymap cannot be used: gemini-live-tui doctor lists them." if rest else ""
    return f"{faults[0]} This action keeps its default keys; the rest of the keymap is in use.{more}"


def is_key(key: str) -> bool:
    """Return True for a key as it arrives: its sign, or modifiers and a name."""
    *modifiers, name = key.split("+") if len(key) > 1 else [key]
    if not modifiers:
        return name in _NAMED_KEYS or name in _SIGNS or (len(name) == 1 and "!" <= name <= "~")
    # The order is that of events. Of shift and a sign only the sign arrives that both make.
    is_sign = name in _SIGNS or (len(name) == 1 and (name.isdigit() or "a" <= name <= "z"))
    return (
        [modifier for modifier in _MODIFIERS if modifier in modifiers] == modifiers
        and (name in _NAMED_KEYS or (is_sign and modifiers != ["shift"]))
    ) or key == "ctrl+@"


def _faults(keymap: Mapping[str, str]) -> Iterator[ConfigError]:
    """Yield an error for each faulty entry; its `field` is `keymap.` and the id."""
    for ident, keys in keymap.items():
        field = f"keymap.{ident}"
        if ident in GONE:
            said = f"{field}: the action {ident!r} is gone"
            yield ConfigError(said, remedy=f"Use {GONE[ident]} instead", field=field)
            continue
        if ident not in BY_ID:
            import difflib  # takes long to import, and few misspell

            close = difflib.get_close_matches(ident, BY_ID, n=1)
            remedy = f"Did you mean {close[0]}?" if close else "docs/keys.md lists them"
            yield ConfigError(f"{field}: unknown action {ident[:60]!r}", remedy=remedy, field=field)
            continue
        if not isinstance(keys, str) or not keys_of(BY_ID[ident], keymap):
            yield ConfigError(f"{field}: no key is given", remedy='Write e.g. "f4" or "k,f4"', field=field, value=keys)
            continue
        for key in keys_of(BY_ID[ident], keymap):
            if key in UNREACHABLE:
                yield ConfigError(
                    f"{field}: {key} cannot be used, {UNREACHABLE[key]}",
                    remedy="Choose another key",
                    field=field,
                    value=key,
                )
                break
            if not is_key(key):
                yield ConfigError(
                    f"{field}: {key[:40]!r} is not a key that terminals send",
                    remedy='Write e.g. "m", "M", "f4", "ctrl+n", "shift+tab" or "ctrl+shift+up"',
                    field=field,
                    value=key,
                )
                break
    yield from _clashes(keymap)


def _clashes(keymap: Mapping[str, str]) -> Iterator[ConfigError]:
    """Yield an error for each key that two actions would have in one place.

    A key press is offered to several scopes at once, e.g. to a pane, the console and the application; these are
    checked together.
    """
    everywhere = [action for action in ACTIONS if PLACES[action.scope].kind == "everywhere"]
    anywhere = [action for action in everywhere if action.anywhere]
    yield from _clashing(everywhere, keymap)
    for name, place in PLACES.items():
        own = [action for action in ACTIONS if action.scope == name]
        if place.kind == "prompt":
            yield from _clashing([*anywhere, *own], keymap)
        elif place.kind == "pane":
            yield from _clashing([*(action for action in everywhere if not action.yields), *own], keymap)
        elif place.kind == "screen":
            yield from _clashing([*(action for action in anywhere if action.scope == "app"), *own], keymap)


def _clashing(actions: list[Action], keymap: Mapping[str, str]) -> Iterator[ConfigError]:
    taken: dict[str, str] = {}
    for action in actions:
        for key in keys_of(action, keymap):
            other = taken.setdefault(_spelled(key), action.id)
            if other != action.id:
                changed = action.id if action.id in keymap else other
                yield ConfigError(
                    f"keymap.{changed}: {key} is the key of both {other} and {action.id}",
                    remedy="Give one of them another key",
                    field=f"keymap.{changed}",
                    value=key,
                )


def _spelled(key: str) -> str:
    """Return a key's sign where it can be written by its sign or by its name."""
    return _LABELS.get(key, key)
