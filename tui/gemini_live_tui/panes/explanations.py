"""Show explanations, trees of `events.agent`: the decisive part or an outline.

Trees come from the agent's code: their content is text to show, and parts of an unknown shape are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Run

MAX_DEPTH = 12
MAX_VALUE = 80
"""Characters of a value on one line."""

_TEXT = 300
_MAX_NODES = 400

Tree = Mapping[str, Any]


def value_text(value: object, limit: int = MAX_VALUE) -> str:
    """Return a JSON value on one line, fit to show."""
    return sanitise_line(json.dumps(value, ensure_ascii=False, default=str), limit)


def text_of(tree: Tree) -> str:
    """Return a node's condition."""
    return sanitise_line(str(tree.get("text", "")), _TEXT)


def children_of(tree: Tree) -> list[Tree]:
    """Return a node's parts."""
    parts = tree.get("children")
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, Sequence) else []


def reads_of(tree: Tree) -> list[Tree]:
    """Return the reads of a node itself."""
    reads = tree.get("reads")
    return [read for read in reads if isinstance(read, Mapping)] if isinstance(reads, Sequence) else []


def all_reads(tree: Tree, depth: int = 0) -> Iterator[Tree]:
    """Yield all reads of a tree, in order."""
    yield from reads_of(tree)
    if depth < MAX_DEPTH:
        for part in children_of(tree):
            yield from all_reads(part, depth + 1)


def decisive(tree: Tree) -> Tree:
    """Return the first part without parts that made a tree true or false."""
    for _ in range(MAX_DEPTH):
        parts = [part for part in children_of(tree) if isinstance(part.get("value"), bool)]
        if not parts or reads_of(tree):
            return tree
        truth = bool(tree.get("value"))
        tree = next((part for part in parts if part["value"] is truth), parts[0])
    return tree


def read_text(read: Tree) -> str:
    """Return the result of a read: `now 0.31`, `not set`."""
    return f"now {value_text(read.get('value'), 40)}" if read.get("present", True) else "not set"


def live_value(tree: Tree) -> str:
    """Return the decisive part with its reads, e.g. `app:anger > 0.7 (now 0.31)`."""
    leaf = decisive(tree)
    problem = sanitise_line(str(leaf.get("problem") or ""), _TEXT)
    reads = reads_of(leaf)
    if problem and not (reads and not reads[0].get("present", True)):
        return f"{text_of(leaf)}: {problem}"
    if len(reads) == 1:
        return f"{text_of(leaf)} ({read_text(reads[0])})"
    if reads:
        found = ", ".join(f"{sanitise_line(str(read.get('key', '')), 80)} {read_text(read)}" for read in reads[:3])
        return f"{text_of(leaf)} ({found})"
    return text_of(leaf)


def outline(tree: Tree, glyphs: Glyphs) -> Iterator[tuple[int, list[Run]]]:
    """Yield the indentation and the runs of every part, each below its parent."""
    for count, line in enumerate(_outline(tree, glyphs, 0)):
        if count >= _MAX_NODES:
            yield 0, [("There is more than can be shown here; the event has it whole.", "quiet")]
            return
        yield line


def _outline(tree: Tree, glyphs: Glyphs, depth: int) -> Iterator[tuple[int, list[Run]]]:
    indent = 2 * depth
    value = tree.get("value")
    if isinstance(value, bool):
        runs = [verdict(value, glyphs), (f" {text_of(tree)}", "said")]
    else:
        runs = [(f"{text_of(tree)}: ", "quiet"), (value_text(value), "said")]
    problem = sanitise_line(str(tree.get("problem") or ""), _TEXT)
    if problem:
        runs.append((f" {glyphs.separator} {problem}", "warn"))
    yield indent, runs
    for read in reads_of(tree):
        yield indent + 6, _read(read)
    parts = children_of(tree)
    if parts and depth >= MAX_DEPTH:
        yield indent + 2, [("nested too deeply to show", "quiet")]
        return
    for part in parts:
        yield from _outline(part, glyphs, depth + 1)


def _read(read: Tree) -> list[Run]:
    key = sanitise_line(str(read.get("key", "")), 80)
    if not read.get("present", True):
        return [(key, "key"), (" is not set", "said")]
    by = sanitise_line(str(read.get("by") or ""), 80)
    runs: list[Run] = [(key, "key"), (" = ", "quiet"), (value_text(read.get("value")), "said")]
    return [*runs, (f"  by {by}", "quiet")] if by else runs


def verdict(value: bool, glyphs: Glyphs) -> Run:
    """Return a truth as sign and word, six cells wide with the space of an outline."""
    return (f"{glyphs.yes} yes", "good") if value else (f"{glyphs.no} no ", "warn")
