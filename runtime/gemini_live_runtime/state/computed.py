"""Computed values: state that follows from other state, kept under `derived:` and never out of step with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from gemini_live_runtime.errors import AgentError, GuardError, caller_place
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.state.explanation import Explanation, Read
from gemini_live_runtime.state.functions import function_name
from gemini_live_runtime.state.guards import Guard, as_guard
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.reading import ReadRecorder
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.terms import Term
from gemini_live_runtime.state.values import MISSING, copy_value, to_json

if TYPE_CHECKING:
    from gemini_live_runtime.state.store import State

Compute: TypeAlias = "Callable[[State], Any] | Guard | Term"
"""A plain function of the state that gives a JSON value or None, or a guard, which gives its truth."""


@dataclass(frozen=True, slots=True)
class ComputedVar:
    """A value `derived:<name>` computed from other keys; `None` removes it, since a value that stays would be a lie.

    `depends_on` lists the keys it reads, as text or `StateKey`: `"app:score"`, or for another computed value its name,
    bare or with `derived:`. A guard brings its own keys. The function may only read; it is called again whenever a
    dependency changed. Raises `AgentError` for a name, function or dependency that cannot be used.
    """

    name: str
    compute: Compute
    depends_on: Iterable[str | Term] | Term = ()
    defined_at: str = field(default_factory=caller_place, kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        name = self.name.removeprefix("derived:") if isinstance(self.name, str) else self.name
        if not isinstance(name, str) or not name or ":" in name:
            raise AgentError(
                f"A computed value cannot be named {self.name!r}",
                remedy="Give a bare name; it is kept under derived:",
                field="name",
                value=self.name,
            )
        object.__setattr__(self, "name", name)
        compute = self.compute
        if isinstance(compute, Guard | Term):
            object.__setattr__(self, "compute", compute := as_guard(compute))
        elif not callable(compute) or iscoroutinefunction(compute):
            raise AgentError(
                f"Computed value {name}: {'an async function' if callable(compute) else repr(compute)} cannot compute",
                remedy="Give a plain function of the state, or a guard",
                field="compute",
                value=compute,
            )
        given = self.depends_on
        listed = (given,) if isinstance(given, str | Term) else tuple(given)
        keys = {check_key(item.key if isinstance(item, Term) else item): None for item in listed}
        if isinstance(compute, Guard):
            keys.update(dict.fromkeys(sorted(compute.keys)))
        if not keys:
            raise AgentError(
                f"Computed value {name} depends on nothing",
                remedy="List the keys it reads in depends_on; it is computed again when one of them changes",
                field="depends_on",
                value=(),
            )
        object.__setattr__(self, "depends_on", tuple(keys))

    @property
    def key(self) -> str:
        """Where the value is kept: `derived:<name>`."""
        return f"derived:{self.name}"

    @property
    def inputs(self) -> tuple[str, ...]:
        """The keys it depends on, as text."""
        return tuple(map(str, cast("tuple[str, ...]", self.depends_on)))


@dataclass(frozen=True, slots=True)
class ComputeFault:
    """Computing `name` went wrong. `key`: it was read without being listed, so its changes would pass unnoticed.

    Otherwise `error` is what the function raised, and the value was removed.
    """

    name: str
    problem: str
    key: str = ""
    error: BaseException | None = None
    defined_at: str = ""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What recomputing did: the names whose value is another now or gone, in the order of computing, and the faults."""

    changed: tuple[str, ...] = ()
    faults: tuple[ComputeFault, ...] = ()


class ComputedRegistry:
    """Computed values in the order of their dependencies; among independent ones in the order given.

    Raises one `AgentError` that lists every fault: names given twice, cycles (each from end to end), dependencies on
    computed values that do not exist.
    """

    __slots__ = ("_by_name", "_dependents", "_order", "_plain", "_told")

    def __init__(self, variables: Iterable[ComputedVar] = ()) -> None:
        listed = tuple(variables)
        self._by_name = {item.name: item for item in listed}
        links = {item.name: _links(item, self._by_name) for item in self._by_name.values()}
        faults = [*_duplicates(listed), *_unknown(listed, self._by_name)]
        order = _sorted(links)
        if len(order) < len(links):
            faults += _cycles(links, self._by_name)
        if faults:
            raise AgentError("; ".join(faults), remedy="Correct the computed values", field="computed")
        self._order = tuple(self._by_name[name] for name in order)
        self._dependents: dict[str, list[int]] = {}
        for index, item in enumerate(self._order):
            for key in item.inputs:
                for spelling in spellings(key):
                    self._dependents.setdefault(spelling, []).append(index)
        self._plain = frozenset(
            item.name for item in self._order if isinstance(item.compute, Guard) and not item.compute.has_function
        )
        self._told: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self._order)

    def copy(self) -> ComputedRegistry:
        """One that computes the same and remembers by itself what it has told."""
        other = copy(self)
        other._told = set(self._told)
        return other

    @property
    def plain(self) -> bool:
        """Whether all of them are guards without functions."""
        return len(self._plain) == len(self._order)

    @property
    def variables(self) -> tuple[ComputedVar, ...]:
        """The computed values in the order of computing."""
        return self._order

    @property
    def observed_keys(self) -> frozenset[str]:
        """The keys whose change makes something be computed again."""
        return frozenset(self._dependents)

    def recompute(self, state: State) -> Recomputed:
        """Compute everything."""
        faults: list[ComputeFault] = []
        changed = tuple([item.name for item in self._order if self._compute(item, state, faults)])
        return Recomputed(changed, tuple(faults))

    def recompute_affected(self, state: State, changed_keys: Iterable[str]) -> Recomputed:
        """Compute what depends on `changed_keys`, and what depends on that, stopping where a value stays the same."""
        waiting = {index for key in changed_keys for index in self._dependents.get(key, ())}
        if not waiting:
            return _NOTHING
        heap = list(waiting)
        heapify(heap)
        changed: list[str] = []
        faults: list[ComputeFault] = []
        while heap:
            item = self._order[heappop(heap)]
            if self._compute(item, state, faults):
                changed.append(item.name)
                for index in self._dependents.get(item.key, ()):
                    if index not in waiting:
                        waiting.add(index)
                        heappush(heap, index)
        return Recomputed(tuple(changed), tuple(faults))

    def explain(self, name: str, state: State) -> Explanation:
        """The value computed afresh, with every key it read; nothing is written. Raises `KeyError` for no such name."""
        item = self._by_name[name.removeprefix("derived:")]
        text = f"{item.name} from {', '.join(item.inputs)}"
        if isinstance(item.compute, Guard):
            tree = item.compute.explain(state)
            return Explanation(text, tree.value, children=(tree,), failed=tree.failed)
        recorder = ReadRecorder(state)
        value, problem = None, ""
        try:
            value = copy_value(item.compute(recorder))  # type: ignore[arg-type, operator]
        except (Exception, SystemExit) as error:
            problem = f"it failed: {type(error).__name__}: {error}"
        reads = []
        for key in dict.fromkeys((*recorder.keys_read, *item.inputs)):
            raw = state.get_raw(key)
            present = key in state
            reads.append(Read(key, copy_value(raw) if present else None, present, state.written_by(key)))
        return Explanation(text, value, tuple(reads), problem=problem, failed=bool(problem))

    def _compute(self, item: ComputedVar, state: State, faults: list[ComputeFault]) -> bool:
        compute = item.compute
        value: Any = MISSING
        if item.name in self._plain:
            value = compute.holds(state)  # type: ignore[union-attr]
        else:
            recorder = ReadRecorder(state)
            try:
                found = compute.holds(recorder) if isinstance(compute, Guard) else compute(recorder)  # type: ignore[arg-type, operator]
                if found is not None:
                    value = to_json(item.name, found)
            except (Exception, SystemExit) as error:
                faults.append(_failure(item, error))
            faults += self._undeclared(item, recorder.keys_read)
        if same_value(state.get_raw(item.key), value):
            return False
        with writing_as(Origin("computed", item.name)):
            return state.remove_derived(item.name) if value is MISSING else state.set_derived(item.name, value)

    def _undeclared(self, item: ComputedVar, keys: Iterable[str]) -> list[ComputeFault]:
        found = []
        for key in keys:
            if (item.name, key) not in self._told and not any(k in item.inputs for k in spellings(key)):
                self._told.add((item.name, key))
                problem = f"It reads {key}, which depends_on does not list: its changes would pass unnoticed"
                found.append(ComputeFault(item.name, problem, key=key, defined_at=item.defined_at))
        return found


_NOTHING = Recomputed()


def _failure(item: ComputedVar, error: BaseException) -> ComputeFault:
    cause = error.__cause__ if isinstance(error, GuardError) and isinstance(error.__cause__, Exception) else error
    compute = item.compute
    named = compute.text if isinstance(compute, Guard) else function_name(compute)  # type: ignore[arg-type]
    problem = f"{named} failed: {type(cause).__name__}: {cause}"
    return ComputeFault(item.name, problem, error=cause, defined_at=item.defined_at)


def spellings(key: str) -> tuple[str, ...]:
    """The keys whose change may show when `key` is read: a bare name shows what `derived:` holds under it."""
    bare = key.removeprefix("derived:")
    return (key,) if ":" in bare else (bare, f"derived:{bare}")


def _links(item: ComputedVar, known: Mapping[str, ComputedVar]) -> tuple[str, ...]:
    """The computed values that `item` depends on."""
    names = dict.fromkeys(key.removeprefix("derived:") for key in item.inputs)
    return tuple(name for name in names if name in known)


def _at(place: str) -> str:
    return f" ({place})" if place else ""


def _duplicates(variables: tuple[ComputedVar, ...]) -> list[str]:
    places: dict[str, list[str]] = {}
    for item in variables:
        places.setdefault(item.name, []).append(item.defined_at)
    return [
        f"There are {len(found)} computed values named {name}{_at(', '.join(filter(None, found)))}"
        for name, found in places.items()
        if len(found) > 1
    ]


def _unknown(variables: tuple[ComputedVar, ...], known: Mapping[str, ComputedVar]) -> list[str]:
    return [
        f"Computed value {item.name}{_at(item.defined_at)} depends on {key}, which nothing computes"
        for item in variables
        for key in item.inputs
        if key.startswith("derived:") and key.removeprefix("derived:") not in known
    ]


def _sorted(links: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Names so that each comes after what it depends on; those on a cycle or behind one are left out."""
    place = {name: index for index, name in enumerate(links)}
    missing = {name: len(needs) for name, needs in links.items()}
    followers: dict[str, list[str]] = {name: [] for name in links}
    for name, needs in links.items():
        for need in needs:
            followers[need].append(name)
    names = list(links)
    ready = [place[name] for name, count in missing.items() if not count]
    heapify(ready)
    order = []
    while ready:
        name = names[heappop(ready)]
        order.append(name)
        for follower in followers[name]:
            missing[follower] -= 1
            if not missing[follower]:
                heappush(ready, place[follower])
    return order


def _cycles(links: Mapping[str, tuple[str, ...]], known: Mapping[str, ComputedVar]) -> list[str]:
    """A sentence for each cycle found on a walk from every name, no value in two of them."""
    told: set[str] = set()
    found = []
    for start in links:
        path = _way_back(start, links)
        if path and told.isdisjoint(path):
            told.update(path)
            way = " -> ".join(f"{name}{_at(known[name].defined_at)}" for name in path)
            found.append(f"Computed values depend on each other in a cycle: {way} -> {start}")
    return found


def _way_back(start: str, links: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The shortest way along dependencies from `start` to itself, `start` first; empty when there is none."""
    ways = [[start]]
    seen = {start}
    for way in ways:
        for need in links[way[-1]]:
            if need == start:
                return way
            if need not in seen:
                seen.add(need)
                ways.append([*way, need])
    return []
