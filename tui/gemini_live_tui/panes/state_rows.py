"""Show the state as rows: scopes as headings, keys with value, type and writer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from gemini_live_runtime.journal.fold.packing import unpack
from gemini_live_runtime.records import record
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.painting.formatting import spark
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Run, cut, filled, fitted, spread
from gemini_live_tui.panes.explanations import value_text

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.agent_view import KeyCell

SCOPES: Mapping[str, str] = {
    "app": "",
    "user": "",
    "session": "",
    "turn": "begins anew with each turn",
    "bg": "background work",
    "temp": "kept for a moment",
    "derived": "computed from other keys",
    "other": "",
}
"""Scopes in the order of listing, with a description of each."""

PINNED = "pinned"
FLASH_S = 2.0
"""Seconds for which a change is marked."""

SPARK = 8
NAME = 30
"""Most cells of a key's name."""

EMPTY = ("Nothing is known yet.", "Agents write their keys as they learn.")

_TYPES = {"string": "text", "integer": "number", "boolean": "bool", "array": "list"}


def scope_of(key: str) -> str:
    """Return the scope that a key is listed under."""
    prefix, colon, _ = key.partition(":")
    return prefix if colon and prefix in SCOPES else "other"


@record
class Declared:
    """Declarations of an agent's keys: type in a word, and inputs of computed keys."""

    types: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, shape: str) -> Declared:
        """Read a packed `agent.described`; parts of an unknown shape are left out."""
        described = unpack(shape)
        if not isinstance(described, dict):
            return cls()
        keys = [item for item in described.get("keys") or () if isinstance(item, dict)]
        computed = [item for item in described.get("computed") or () if isinstance(item, dict)]
        return cls(
            {str(item.get("key", "")): word for item in keys if (word := type_word(item.get("type")))},
            {
                str(item.get("key", "")): ", ".join(_bare(str(name)) for name in item.get("inputs") or ())
                for item in computed
            },
        )


def type_word(schema: Any) -> str:
    """Return a JSON schema in a word or two; "" where it says nothing."""
    if not isinstance(schema, dict):
        return ""
    if schema.get("enum"):
        return "choice"
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind] if isinstance(kind, str) else []
    for option in schema.get("anyOf") or ():
        kinds.append(option.get("type") if isinstance(option, dict) else None)
    words = [_TYPES.get(word, word) for word in kinds if isinstance(word, str) and word != "null"]
    return sanitise_line("/".join(dict.fromkeys(words)), 24)


def _bare(key: str) -> str:
    return sanitise_line(key.partition(":")[2] or key, 60)


def wanted(keys: Mapping[str, KeyCell], text: str) -> list[str]:
    """Return the keys that a filter lets through.

    A glob must match the whole key, other text is found in key or value.
    """
    if not text:
        return list(keys)
    if any(sign in text for sign in "*?["):
        return [key for key in keys if fnmatchcase(key, text)]
    low = text.casefold()
    return [key for key, cell in keys.items() if low in key.casefold() or low in cell.text.casefold()]


def rows_of(
    keys: Mapping[str, KeyCell],
    *,
    text: str = "",
    folded: Collection[str] = (),
    pinned: Sequence[str] = (),
    changed_first: bool = False,
) -> tuple[list[str], dict[str, int]]:
    """Return row ids, and the number of keys of each scope.

    Ids are `=SCOPE` for a heading, `-KEY` for a key, `^KEY` for a pinned one.
    """
    if not keys:
        return [f"!{number}" for number in range(len(EMPTY))], {}
    found = wanted(keys, text)
    scopes: dict[str, list[str]] = {}
    for key in found:
        scopes.setdefault(scope_of(key), []).append(key)
    counts = {scope: len(names) for scope, names in scopes.items()}
    rows: list[str] = []
    top = [key for key in pinned if key in keys]
    if top:
        counts[PINNED] = len(top)
        rows.append(f"={PINNED}")
        if PINNED not in folded:
            rows += [f"^{key}" for key in top]
    for scope in SCOPES:
        names = scopes.get(scope)
        if not names:
            continue
        rows.append(f"={scope}")
        if scope not in folded:
            # The dictionary is ordered by first writes: sort by name, or by the latest change.
            ordered = sorted(names, key=lambda key: -keys[key].seq) if changed_first else sorted(names)
            rows += [f"-{key}" for key in ordered]
    if not rows:
        rows.append("?")
    return rows, counts


def heading_row(scope: str, count: int, width: int, glyphs: Glyphs, *, folded: bool) -> list[Run]:
    """Return a scope's heading with the number of its keys."""
    sign = glyphs.folded if folded else glyphs.unfolded
    style = f"scope-{scope}" if scope in SCOPES and scope != "other" else "scope"
    about = SCOPES.get(scope, "")
    runs: list[Run] = [(f"{sign} {scope}", style), (f"  {count}", "quiet")]
    if folded:
        about = "folded"
    return spread(runs, [(about, "quiet")] if about else [], width, glyphs.ellipsis)


def plain_row(row: str, width: int, glyphs: Glyphs) -> list[Run]:
    """Return a sentence in place of keys."""
    if row == "?":
        return [(cut(" No key fits the filter; esc takes it away.", width, glyphs.ellipsis), "said")]
    number = int(row[1:])
    return [(cut(f" {EMPTY[number]}", width, glyphs.ellipsis), "quiet" if number else "said")]


def key_row(
    key: str,
    cell: KeyCell,
    width: int,
    glyphs: Glyphs,
    *,
    declared: Declared,
    elapsed: float,
    whole: bool = False,
    broken: bool = False,
) -> list[Run]:
    """Return a key's row; `whole` writes its scope, too.

    For `FLASH_S` seconds after a change it is marked and shows the old value.
    """
    fresh = 0 <= elapsed - cell.t < FLASH_S
    mark = glyphs.stop if broken else glyphs.changed if fresh else " "
    name = key if whole or scope_of(key) == "other" else key.partition(":")[2]
    room = max(8, min(NAME, width * 2 // 5))
    left: list[Run] = [(mark, "break" if broken else "changed" if fresh else ""), (" ", "")]
    left.append((f"{filled(name, room, glyphs.ellipsis)} ", "said"))
    rest = width - room - 3
    column = max(6, rest * 7 // 20)
    # A long value extends beyond its column, at the cost of the note.
    value = cut(cell.text, max(column, rest * 3 // 4 - 2), glyphs.ellipsis)
    left.append((value, "strong" if fresh else "value"))
    left.append((" " * max(2, column + 2 - cell_len(value)), ""))
    return fitted([*left, *_note(key, cell, glyphs, declared, fresh)], width, glyphs.ellipsis)


def _note(key: str, cell: KeyCell, glyphs: Glyphs, declared: Declared, fresh: bool) -> list[Run]:
    runs: list[Run] = []
    if cell.kind == "number" and (line := spark(cell.numbers, SPARK, glyphs)):
        runs.append((f"{line} ", "spark"))
    kind = declared.types.get(key, cell.kind)
    if fresh:
        runs.append((f"was {value_text(unpack(cell.was), 24)}" if cell.was else "new", "said"))
    elif inputs := declared.inputs.get(key):
        runs.append((f"{kind} {'<-' if glyphs.arrow == '->' else '←'} {inputs}", "quiet"))
    else:
        writer = f"{cell.origin} {cell.by}".strip()
        runs.append((f"{kind} {glyphs.separator} {writer}" if writer else kind, "quiet"))
    return runs


def scope_json(keys: Mapping[str, KeyCell], scope: str) -> dict[str, Any]:
    """Return the values of a scope, by key."""
    from gemini_live_runtime.journal.fold.packing import real_key

    return {real_key(key): unpack(cell.value) for key, cell in keys.items() if scope_of(key) == scope}
