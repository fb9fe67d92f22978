"""Keep computed values, which follow from other state, under `derived:`.

Values are computed in the order of their dependencies, so each sees the new values of those it reads and none is
computed twice in a pass. A value that stays the same stops its dependents from being computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import field
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias, cast

from gemini_live_runtime.author_code import USER_ERRORS, error_text, exact_text
from gemini_live_runtime.errors import AgentError, GuardError, caller_place
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.records import frozen_record, record
from gemini_live_runtime.state.explanation import Explanation, Read
from gemini_live_runtime.state.functions import check_decides, function_name
from gemini_live_runtime.state.guards import Guard, as_guard
from gemini_live_runtime.state.mutations import Origin, read_decision, writing_as
from gemini_live_runtime.state.names import duplicate_names, in_brackets
from gemini_live_runtime.state.reading import ReadRecorder
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import Term
from gemini_live_runtime.state.values import MISSING, copy_value, to_json

Compute: TypeAlias = Callable[[State], Any] | Guard | Term
"""A plain function of the state that returns a JSON value or None, or a guard, for its truth."""


@frozen_record
class ComputedVar:
    """A value `derived:<name>` computed from other keys.

    None removes it, since a value that stayed would be out of date. `depends_on` lists the keys it reads, as text or
    `StateKey`: `"app:score"`, or for another computed value its name, bare or with `derived:`. A guard brings its own
    keys. The function may only read; it is called again whenever a dependency changed. Raises `AgentError` for a name,
    function or dependency that cannot be used.
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
        object.__setattr__(self, "name", exact_text(name))
        compute = self.compute
        if isinstance(compute, Guard | Term):
            object.__setattr__(self, "compute", compute := as_guard(compute))
        elif not callable(compute):
            raise AgentError(
                f"Computed value {name}: {compute!r:.60} cannot compute",
                remedy="Give a plain function of the state, or a guard",
                field="compute",
                value=compute,
            )
        if not isinstance(compute, Guard):
            check_decides(f"Computed value {name}", compute, "(state)")
        given: Any = self.depends_on
        if not isinstance(given, str | Term | Iterable):
            raise AgentError(
                f"Computed value {name} cannot depend on {given!r:.60}",
                remedy="Give a key, or a list of keys",
                field="depends_on",
                value=given,
            )
        listed = (self.depends_on,) if isinstance(self.depends_on, str | Term) else tuple(self.depends_on)
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
        """Key of the value: `derived:<name>`."""
        return f"derived:{self.name}"

    @property
    def inputs(self) -> tuple[str, ...]:
        """Keys it depends on, as text."""
        return tuple(map(str, cast("tuple[str, ...]", self.depends_on)))


@record
class ComputeFault:
    """A problem in computing `name`.

    With `key`, the function read that key, which `depends_on` does not list, so its changes would pass unnoticed.
    Otherwise the function raised `error`, and the value was removed.
    """

    name: str
    problem: str
    key: str = ""
    error: BaseException | None = None
    defined_at: str = ""


@record
class RecomputeResult:
    """Names whose value changed or was removed, in the order of computing, and faults."""

    changed: tuple[str, ...] = ()
    faults: tuple[ComputeFault, ...] = ()


class ComputedRegistry:
    """Computed values in the order of their dependencies.

    Independent ones keep their order. Raises one `AgentError` that lists every fault: names given twice, cycles (each
    from end to end), dependencies on computed values that do not exist.
    """

    __slots__ = ("_by_name", "_declarative", "_dependents", "_reported", "variables")

    def __init__(self, variables: Iterable[ComputedVar] = ()) -> None:
        listed = tuple(variables)
        self._by_name = {item.name: item for item in listed}
        inputs = {item.name: _computed_inputs(item, self._by_name) for item in self._by_name.values()}
        faults = duplicate_names("computed values", [(item.name, item.defined_at) for item in listed])
        faults += _unknown(listed, self._by_name)
        order = _dependency_order(inputs)
        if len(order) < len(inputs):
            faults += _cycles(inputs, self._by_name)
        if faults:
            raise AgentError("; ".join(faults), remedy="Correct the computed values", field="computed")
        self.variables = tuple(self._by_name[name] for name in order)
        """Computed values in the order of computing."""
        self._dependents: dict[str, list[int]] = {}
        for index, item in enumerate(self.variables):
            for key in item.inputs:
                for spelling in spellings(key):
                    self._dependents.setdefault(spelling, []).append(index)
        self._declarative = frozenset(
            item.name for item in self.variables if isinstance(item.compute, Guard) and not item.compute.has_function
        )
        self._reported: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self.variables)

    def copy(self) -> ComputedRegistry:
        """Return a registry that computes the same and reports faults on its own."""
        other = copy(self)
        other._reported = set(self._reported)
        return other

    @property
    def is_declarative(self) -> bool:
        """True when no author's function computes anything."""
        return len(self._declarative) == len(self.variables)

    @property
    def observed_keys(self) -> frozenset[str]:
        """Keys whose change makes some value be computed again."""
        return frozenset(self._dependents)

    def recompute(self, state: State) -> RecomputeResult:
        """Compute every value."""
        faults: list[ComputeFault] = []
        changed = tuple([item.name for item in self.variables if self._compute(item, state, faults)])
        return RecomputeResult(changed, tuple(faults))

    def recompute_affected(self, state: State, changed_keys: Iterable[str]) -> RecomputeResult:
        """Compute the values that depend on `changed_keys`, directly or through others.

        Dependents of a value that stays the same are not computed.
        """
        # A heap of positions in dependency order: each value is computed after all of its changed inputs, and once.
        waiting = {index for key in changed_keys for index in self._dependents.get(key, ())}
        if not waiting:
            return _NOTHING
        heap = list(waiting)
        heapify(heap)
        changed: list[str] = []
        faults: list[ComputeFault] = []
        while heap:
            item = self.variables[heappop(heap)]
            if self._compute(item, state, faults):
                changed.append(item.name)
                for index in self._dependents.get(item.key, ()):
                    if index not in waiting:
                        waiting.add(index)
                        heappush(heap, index)
        return RecomputeResult(tuple(changed), tuple(faults))

    def explain(self, name: str, state: State) -> Explanation:
        """Compute the value without writing it, and list every key it read.

        Raises `KeyError` for an unknown name.
        """
        item = self._by_name[name.removeprefix("derived:")]
        text = f"{item.name} from {', '.join(item.inputs)}"
        if isinstance(item.compute, Guard):
            tree = item.compute.explain(state)
            return Explanation(text, tree.value, children=(tree,), failed=tree.failed)
        recorder = ReadRecorder(state)
        value, problem = None, ""
        try:
            value = read_decision(partial(_stored, item.name), item.compute, recorder)  # type: ignore[arg-type]
        except USER_ERRORS as error:
            problem = f"it failed: {error_text(error)}"
        reads = []
        for key in dict.fromkeys((*recorder.keys_read, *item.inputs)):
            raw = state._raw(key)
            present = key in state
            reads.append(Read(key, copy_value(raw) if present else None, present, state.written_by(key)))
        return Explanation(text, value, tuple(reads), problem=problem, failed=bool(problem))

    def _compute(self, item: ComputedVar, state: State, faults: list[ComputeFault]) -> bool:
        compute = item.compute
        value: Any = MISSING
        if item.name in self._declarative:
            # A guard without functions reads its own keys only and cannot fail, so it needs no recorder.
            value = compute.holds(state)  # type: ignore[union-attr]
        else:
            recorder = ReadRecorder(state)
            try:
                if isinstance(compute, Guard):
                    value = compute.holds(recorder)
                else:
                    value = read_decision(partial(_stored, item.name), compute, recorder)  # type: ignore[arg-type]
                if value is None:
                    value = MISSING
            except USER_ERRORS as error:
                faults.append(_failure(item, error))
            faults += self._undeclared(item, recorder.keys_read)
        if same_value(state._raw(item.key), value):
            return False
        with writing_as(Origin("computed", item.name)):
            return state.remove_derived(item.name) if value is MISSING else state.set_derived(item.name, value)

    def _undeclared(self, item: ComputedVar, keys: Iterable[str]) -> list[ComputeFault]:
        found = []
        for key in keys:
            if (item.name, key) not in self._reported and not any(k in item.inputs for k in spellings(key)):
                self._reported.add((item.name, key))
                problem = f"It reads {key}, which depends_on does not list: its changes would pass unnoticed"
                found.append(ComputeFault(item.name, problem, key=key, defined_at=item.defined_at))
        return found


_NOTHING = RecomputeResult()


def _stored(name: str, value: Any) -> Any:
    """Return a computed value as state stores it; None is none."""
    return None if value is None else to_json(name, value)


def _failure(item: ComputedVar, error: BaseException) -> ComputeFault:
    cause = error.__cause__ if isinstance(error, GuardError) and error.__cause__ is not None else error
    compute = item.compute
    named = compute.text if isinstance(compute, Guard) else function_name(compute)  # type: ignore[arg-type]
    problem = f"{named} failed: {error_text(cause)}"
    return ComputeFault(item.name, problem, error=cause, defined_at=item.defined_at)


def spellings(key: str) -> tuple[str, ...]:
    """Return the keys whose change may show when `key` is read.

    A bare name shows the `derived:` value of that name.
    """
    bare = key.removeprefix("derived:")
    return (key,) if ":" in bare else (bare, f"derived:{bare}")


def _computed_inputs(item: ComputedVar, known: Mapping[str, ComputedVar]) -> tuple[str, ...]:
    """Return the names of the computed values that `item` depends on."""
    names = dict.fromkeys(key.removeprefix("derived:") for key in item.inputs)
    return tuple(name for name in names if name in known)


def _unknown(variables: tuple[ComputedVar, ...], known: Mapping[str, ComputedVar]) -> list[str]:
    return [
        f"Computed value {item.name}{in_brackets(item.defined_at)} depends on {key}, which nothing computes"
        for item in variables
        for key in item.inputs
        if key.startswith("derived:") and key.removeprefix("derived:") not in known
    ]


def _dependency_order(inputs: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return names so that each follows its inputs, without those behind a cycle."""
    names = list(inputs)
    place = {name: index for index, name in enumerate(names)}
    missing = {name: len(read) for name, read in inputs.items()}
    followers: dict[str, list[str]] = {name: [] for name in names}
    for name, read in inputs.items():
        for other in read:
            followers[other].append(name)
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


def _cycles(inputs: Mapping[str, tuple[str, ...]], known: Mapping[str, ComputedVar]) -> list[str]:
    """Return a sentence for each cycle, no value in two of them."""
    reported: set[str] = set()
    found = []
    for start in inputs:
        path = _shortest_cycle(start, inputs)
        if path and reported.isdisjoint(path):
            reported.update(path)
            steps = " -> ".join(f"{name}{in_brackets(known[name].defined_at)}" for name in path)
            found.append(f"Computed values depend on each other in a cycle: {steps} -> {start}")
    return found


def _shortest_cycle(start: str, inputs: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the names on the shortest cycle through `start`, `start` first, or []."""
    paths = [[start]]
    seen = {start}
    for path in paths:
        for name in inputs[path[-1]]:
            if name == start:
                return path
            if name not in seen:
                seen.add(name)
                paths.append([*path, name])
    return []
