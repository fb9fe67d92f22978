"""Explain decisions: values read, their writers, and the tree of parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gemini_live_runtime.records import record
from gemini_live_runtime.state.protocols import Reader
from gemini_live_runtime.state.values import MISSING, format_value


@record
class Read:
    """A value that was read. `by` names its last writer."""

    key: str
    value: Any
    present: bool
    by: str = ""


@record
class Explanation:
    """A decision with its reasons: the node's own `reads` and its parts.

    `problem` names an error or a value that could not be compared. `failed`: a function raised before the decision was
    made, so `value` is false and so would be its opposite.
    """

    text: str
    value: Any
    reads: tuple[Read, ...] = ()
    children: tuple[Explanation, ...] = ()
    problem: str = ""
    failed: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the tree as JSON, without empty fields."""
        tree: dict[str, Any] = {"text": self.text, "value": self.value}
        if self.reads:
            tree["reads"] = [
                {"key": r.key, "value": r.value if r.present else None, "present": r.present, "by": r.by}
                for r in self.reads
            ]
        if self.children:
            tree["children"] = [child.to_json() for child in self.children]
        if self.problem:
            tree["problem"] = self.problem
        return tree

    def all_reads(self) -> Iterator[Read]:
        """Yield every value that was read, in order."""
        yield from self.reads
        for child in self.children:
            yield from child.all_reads()


def read_key(reader: Reader, key: str) -> Read:
    """Return the value of `key` now, with its last writer."""
    value = reader._raw(key)
    present = value is not MISSING
    return Read(key, value if present else None, present, reader.written_by(key) if present else "")


def decisive_leaves(tree: Mapping[str, Any] | None) -> list[str]:
    """Describe the leaves that decided an explanation, given as JSON.

    They are the true leaves of a true tree, else the false ones. A false `app:plan is set` reads `app:plan is not set`;
    a false comparison names the value that was read.
    """
    if not tree:
        return []
    return [_describe(leaf) for leaf in _leaves(tree, bool(tree.get("value")))]


def _leaves(tree: Mapping[str, Any], wanted: bool) -> list[Mapping[str, Any]]:
    if bool(tree.get("value")) is not wanted:
        return []
    leaves = [leaf for child in tree.get("children", ()) for leaf in _leaves(child, wanted)]
    return leaves or [tree]


def _describe(leaf: Mapping[str, Any]) -> str:
    text = str(leaf.get("text", ""))
    problem = f" ({leaf['problem']})" if leaf.get("problem") else ""
    reads = [read for read in leaf.get("reads", ()) if read.get("present")]
    if leaf.get("value"):
        by = ", ".join(dict.fromkeys(str(read["by"]) for read in reads if read.get("by")))
        return f"{text}{f' (written by {by})' if by else ''}{problem}"
    for test in (" is set", " is true"):
        if text.endswith(test):
            return f"{text.removesuffix(test)} is not {test.removeprefix(' is ')}{problem}"
    values = ", ".join(f"{read['key']} is {format_value(read['value'])}" for read in reads)
    return f"{text} is false{f': {values}' if values else ''}{problem}"
