"""Keep breakpoints as data: targets, matches, hits.

Holding the agent is the pause gate's part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Literal

from gemini_live_runtime.errors import AgentError, StateError
from gemini_live_runtime.records import mutable_record
from gemini_live_runtime.state.expressions import parse_expression
from gemini_live_runtime.state.guards import Guard
from gemini_live_runtime.state.protocols import Reader
from gemini_live_runtime.state.scopes import check_key

Kind = Literal["watcher", "phase", "transition", "tool", "key", "expression"]

KnownNames = Callable[[Kind], Collection[str]]

MAX_BREAKPOINTS = 100
"""Breakpoints of one session."""

MAX_TARGET = 500
"""Characters of a target."""


@mutable_record
class Breakpoint:
    """Breakpoint. `guard` is an expression's, `held` its value when last read."""

    id: str
    kind: Kind
    target: str
    enabled: bool = True
    hits: int = 0
    guard: Guard | None = None
    held: bool = False

    def to_json(self) -> dict[str, Any]:
        """As `breakpoints.changed` has it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "target": self.target,
            "enabled": self.enabled,
            "hits": self.hits,
        }


class Breakpoints:
    """All breakpoints of one session, in the order in which they were set."""

    def __init__(self) -> None:
        self._all: dict[str, Breakpoint] = {}
        self._last_number = 0
        self.watches_state = False
        """True when a breakpoint is set on a key or an expression."""

    def __len__(self) -> int:
        return len(self._all)

    def to_json(self) -> tuple[dict[str, Any], ...]:
        """As `breakpoints.changed` has them."""
        return tuple(item.to_json() for item in self._all.values())

    def set(
        self, kind: Kind, target: str, *, enabled: bool, ident: str, reader: Reader, known: KnownNames
    ) -> Breakpoint:
        """Make one, or change the one with this id, or with this kind and target.

        `known` returns the names of a kind that the agent has; keys and expressions are not among the kinds.

        Raises `StateError` for a target that cannot be (an `ExpressionError` with its column for a bad expression), and
        `AgentError` for a name that the agent does not have or an id that nothing has.
        """
        if ident and ident not in self._all:
            raise AgentError(f"There is no breakpoint {ident:.40}", field="id", value=ident)
        if ident and not target:
            kind, target = self._all[ident].kind, self._all[ident].target
        target, guard = _checked(kind, target, known)
        equal = next((item for item in self._all.values() if (item.kind, item.target) == (kind, target)), None)
        if ident and equal is not None and equal.id != ident:
            del self._all[equal.id]
        item = self._all[ident] if ident else equal
        if item is None:
            if len(self._all) >= MAX_BREAKPOINTS:
                raise AgentError(f"There are {MAX_BREAKPOINTS} breakpoints already", remedy="Remove one first")
            self._last_number += 1
            item = self._all[f"b{self._last_number}"] = Breakpoint(f"b{self._last_number}", kind, target)
        elif (item.kind, item.target) != (kind, target):
            item.kind, item.target, item.hits = kind, target, 0
        item.enabled, item.guard = enabled, guard
        # It is hit when it becomes true, not because it was true before anybody asked.
        item.held = guard is not None and guard.holds(reader)
        self._count_kinds()
        return item

    def remove(self, ident: str) -> None:
        """Forget one, or all with ""; raises `AgentError` for an id that nothing has."""
        if not ident:
            self._all.clear()
        elif ident not in self._all:
            raise AgentError(f"There is no breakpoint {ident:.40}", field="id", value=ident)
        else:
            del self._all[ident]
        self._count_kinds()

    def hit(self, *reached: tuple[Kind, str]) -> Breakpoint | None:
        """Count a hit of each match; return the first enabled one, or None."""
        found = [item for item in self._all.values() if item.enabled and (item.kind, item.target) in reached]
        for item in found:
            item.hits += 1
        return found[0] if found else None

    def became_true(self, reader: Reader, *, counts: bool) -> list[Breakpoint]:
        """Return expressions that became true since the last reading.

        With `counts` each is a hit.
        """
        found = []
        for item in self._all.values():
            if item.guard is None:
                continue
            before, item.held = item.held, item.guard.holds(reader)
            if item.held and not before and item.enabled and counts:
                item.hits += 1
                found.append(item)
        return found

    def _count_kinds(self) -> None:
        self.watches_state = any(item.kind in ("key", "expression") for item in self._all.values())


def _checked(kind: Kind, target: str, known: KnownNames) -> tuple[str, Guard | None]:
    target = target.strip()
    if not target:
        raise StateError(f"A breakpoint on {_an(kind)} needs to know which", field="target", value=target)
    if len(target) > MAX_TARGET:
        raise StateError(f"A breakpoint's target has at most {MAX_TARGET} characters", field="target")
    if kind == "expression":
        return target, parse_expression(target)
    if kind == "key":
        return check_key(target), None
    if kind == "transition":
        source, sign, to = (part.strip() for part in target.partition(">"))
        if not (source and sign and to):
            raise StateError(
                f"{target:.80} names no transition", remedy="Write it as from>to", field="target", value=target
            )
        _check_names("phase", (source, to), known)
        return f"{source}>{to}", None
    _check_names(kind, (target,), known)
    return target, None


def _check_names(kind: Kind, names: Iterable[str], known: KnownNames) -> None:
    there = known(kind)
    for name in names:
        if name not in there:
            raise AgentError(
                f"There is no {kind} {name:.80}",
                remedy=f"Use one of {', '.join(there)}" if there else f"This agent has no {kind}s",
                field="target",
                value=name,
            )


def _an(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
