"""What a decision is explained with: the values that were read, who wrote them, and the tree of its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol


class _Missing:
    """The value of a key that is not there; false."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"

    def __copy__(self) -> _Missing:
        return self

    def __deepcopy__(self, memo: object) -> _Missing:
        return self


MISSING: Final = _Missing()


class Reader(Protocol):
    """What guards are evaluated against: a `State`, one of its overlays, or a recorder around them."""

    def get_raw(self, key: str, /) -> Any:
        """The value, which must not be changed, or `MISSING`."""
        ...

    def written_by(self, key: str, /) -> str:
        """Who wrote the value last, in a few words; "" when nobody is known to have."""
        ...


@dataclass(frozen=True, slots=True)
class Read:
    """One value that was read. `by` names its last writer."""

    key: str
    value: Any
    present: bool
    by: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision with its reasons: this node's own `reads`, and its parts. `problem` says what went wrong.

    `failed`: a function raised before the decision was made, so `value` is false and so would be its opposite.
    """

    text: str
    value: Any
    reads: tuple[Read, ...] = ()
    children: tuple[Explanation, ...] = ()
    problem: str = ""
    failed: bool = False

    def to_json(self) -> dict[str, Any]:
        """The tree as JSON, without what is empty."""
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
        """Every value that was read, in order."""
        yield from self.reads
        for child in self.children:
            yield from child.all_reads()


def read_of(reader: Reader, key: str) -> Read:
    """The value of `key` now, with its last writer."""
    value = reader.get_raw(key)
    present = value is not MISSING
    return Read(key, value if present else None, present, reader.written_by(key) if present else "")


def shown(value: Any) -> str:
    """A JSON value as it stands in a guard's text."""
    if isinstance(value, str):
        return f'"{value}"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def decisive_leaves(tree: Mapping[str, Any] | None) -> list[str]:
    """What decided an explanation in its JSON form, a few words each: the true parts of a true one, else the false.

    `app:plan is set` that is false reads `app:plan is not set`; a comparison tells the value that was read.
    """
    if not tree:
        return []
    return [_said(leaf) for leaf in _leaves(tree, bool(tree.get("value")))]


def _leaves(tree: Mapping[str, Any], wanted: bool) -> list[Mapping[str, Any]]:
    if bool(tree.get("value")) is not wanted:
        return []
    parts = [leaf for child in tree.get("children", ()) for leaf in _leaves(child, wanted)]
    return parts or [tree]


def _said(leaf: Mapping[str, Any]) -> str:
    text = str(leaf.get("text", ""))
    problem = f" ({leaf['problem']})" if leaf.get("problem") else ""
    reads = [read for read in leaf.get("reads", ()) if read.get("present")]
    values = ", ".join(f"{read['key']} is {shown(read['value'])}" for read in reads)
    if leaf.get("value"):
        by = ", ".join(dict.fromkeys(str(read["by"]) for read in reads if read.get("by")))
        return f"{text}{f' (written by {by})' if by else ''}{problem}"
    for said in (" is set", " is true"):
        if text.endswith(said):
            return f"{text.removesuffix(said)} is not {said.removeprefix(' is ')}{problem}"
    return f"{text} is false{f': {values}' if values else ''}{problem}"
