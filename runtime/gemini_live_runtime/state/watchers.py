"""Decide when watchers fire: a value, or the truth of a guard, changed.

Watchers see net changes: (old, new) by key since the last evaluation, so a value that changed and changed back fires
nothing. A guard fires when its truth differs from the last evaluation; the registry keeps these truths. Evaluation
decides only; the session runs the actions, whose writes are the changes of the next evaluation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from copy import copy
from dataclasses import field
from typing import Any, NamedTuple

from gemini_live_runtime.author_code import USER_ERRORS, exact_text
from gemini_live_runtime.errors import AgentError, GuardError, caller_place
from gemini_live_runtime.records import frozen_record, record
from gemini_live_runtime.state.explanation import Explanation
from gemini_live_runtime.state.functions import check_action, check_flag, check_name
from gemini_live_runtime.state.guards import WatchPredicate
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.names import duplicate_names
from gemini_live_runtime.state.reading import KeySet, Readable
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.values import MISSING, copy_value

__all__ = ["Change", "Firing", "NearMiss", "WatchFault", "WatchPredicate", "WatchResult", "Watcher", "WatcherRegistry"]

_make = tuple.__new__
"""Makes a named tuple of a tuple, in a quarter of the time that its own constructor takes."""

Action = Callable[..., Awaitable[Any] | Any]
"""A plain or async function taking nothing, `(state)` or `(state, change)`."""


@frozen_record
class Change:
    """Argument of an action: a key with its old and new value, None if missing."""

    key: str
    old: Any
    new: Any


@frozen_record
class Watcher:
    """An action to run when a change matches `predicate`.

    `then` is a plain or async function taking `()`, `(state)` or `(state, change)`. While a `blocking` one runs the
    turn waits; others run on their own. `name` identifies it to people; its predicate when empty.
    Raises `AgentError` for a predicate or an action that cannot be used.
    """

    predicate: WatchPredicate
    then: Action
    name: str = field(default="", kw_only=True)
    blocking: bool = field(default=False, kw_only=True)
    defined_at: str = field(default_factory=caller_place, kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        predicate: Any = self.predicate
        if not isinstance(predicate, WatchPredicate):
            remedy = "Say which change, for example .became_true() or .changed()"
            if not hasattr(predicate, "became_true"):
                remedy = 'Begin with key("..."), for example key("app:score").crossed_above(10)'
            raise AgentError(
                f"A watcher waits for a change; {predicate!r} is none",
                remedy=remedy,
                field="predicate",
                value=predicate,
            )
        check_flag("blocking of a watcher", self.blocking, field="blocking")
        if self.name != "":
            check_name("A watcher", self.name)
        object.__setattr__(self, "name", exact_text(self.name))
        check_action(f"Watcher {self.name or self.predicate.text}", self.then, "(state, change)")


class Firing(NamedTuple):
    """A watcher whose predicate matched, or that the operator forced for a `reason`.

    For guards, `old` and `new` are the values of the key whose change decided it. They are the state's own: not to be
    changed.
    """

    watcher: Watcher
    name: str
    key: str
    old: Any
    new: Any
    reason: str = ""

    @property
    def change(self) -> Change:
        """Argument of the action, which may change it."""
        return Change(self.key, copy_value(self.old), copy_value(self.new))

    def explain(self, state: State) -> Explanation:
        """Explain it by the state that decided, before any action ran."""
        if self.reason:
            return Explanation(self.reason, True)
        return self.watcher.predicate.explain(self.key, self.old, self.new, state)


class NearMiss(NamedTuple):
    """A change of a watched key that did not match.

    `before` and `after` are what the predicate compared: values, or the truths of its guard. Values are the state's
    own: not to be changed.
    """

    watcher: Watcher
    name: str
    key: str
    old: Any
    new: Any
    before: Any
    after: Any

    def missing(self, state: State) -> str:
        """Describe what it lacked in the state that decided: `0.65 is 0.05 below 0.7`."""
        return self.watcher.predicate.missing(self.before, self.after, state)

    def share(self, state: State) -> float | None:
        """Return how near a number came to the threshold, 0 to 1, or None without both."""
        return self.watcher.predicate.share(state)


@record
class WatchFault:
    """A function of a watcher's predicate that raised; the watcher did not fire."""

    watcher: Watcher
    name: str
    error: BaseException


class WatchResult(NamedTuple):
    """Findings of one evaluation, in the order of registration.

    `muted` are the firings of muted watchers, whose actions do not run.
    """

    fired: list[Firing]
    muted: list[Firing]
    near_misses: list[NearMiss]
    faults: list[WatchFault]


@record
class WatcherStatus:
    """Description of a watcher; `suppressed` are its firings while muted."""

    name: str
    text: str
    keys: tuple[str, ...]
    blocking: bool
    muted: bool
    fired: int
    suppressed: int
    defined_at: str


class WatcherRegistry:
    """Watchers by the keys they watch.

    Evaluating costs as much as there are watchers of the changed keys; only those whose guard has a function are
    evaluated after every change. The truths of guards begin with `prime`, or without it with the state before the
    first changes. Raises `AgentError` when two watchers have the same name.
    """

    __slots__ = (
        "_always",
        "_by_key",
        "_entries",
        "_fired",
        "_may_repeat",
        "_muted",
        "_names",
        "_suppressed",
        "_truths",
        "_watchers",
    )

    def __init__(self, watchers: Iterable[Watcher] = ()) -> None:
        self._watchers = tuple(watchers)
        self._names = _unique_names(self._watchers)
        self._entries = tuple(
            (watcher, name, watcher.predicate.key, watcher.predicate.guard, watcher.predicate.matches)
            for name, watcher in zip(self._names, self._watchers, strict=True)
        )
        self._by_key: dict[str, list[int]] = {}
        for index, watcher in enumerate(self._watchers):
            for key in watcher.predicate.keys:
                self._by_key.setdefault(key, []).append(index)
        self._always = tuple(index for index, watcher in enumerate(self._watchers) if watcher.predicate.always)
        self._may_repeat = bool(self._always) or any(len(watcher.predicate.keys) > 1 for watcher in self._watchers)
        self._truths: dict[int, bool] = {}
        self._muted: set[str] = set()
        self._fired: Counter[str] = Counter()
        self._suppressed: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._watchers)

    def copy(self) -> WatcherRegistry:
        """Return an independent registry with the same watchers, truths and counts."""
        other = copy(self)
        other._truths, other._muted = dict(self._truths), set(self._muted)
        other._fired, other._suppressed = Counter(self._fired), Counter(self._suppressed)
        return other

    def continue_from(self, other: WatcherRegistry) -> None:
        """Take over counts and muting of watchers of the same names."""
        self._muted = {name for name in self._names if name in other._muted}
        self._fired = Counter({name: other._fired[name] for name in self._names})
        self._suppressed = Counter({name: other._suppressed[name] for name in self._names})

    @property
    def is_declarative(self) -> bool:
        """True when no author's function decides."""
        return all(watcher.predicate.is_declarative for watcher in self._watchers)

    @property
    def observed_keys(self) -> frozenset[str]:
        """Keys that are watched, as far as they are known."""
        return frozenset(self._by_key)

    @property
    def observes_all(self) -> bool:
        """True when some watcher is decided after every change: its keys are unknown."""
        return bool(self._always)

    @property
    def status(self) -> tuple[WatcherStatus, ...]:
        """Description of every watcher, in order."""
        return tuple(
            WatcherStatus(
                name,
                watcher.predicate.text,
                tuple(sorted(watcher.predicate.keys)),
                watcher.blocking,
                name in self._muted,
                self._fired[name],
                self._suppressed[name],
                watcher.defined_at,
            )
            for name, watcher in zip(self._names, self._watchers, strict=True)
        )

    def mute(self, name: str) -> None:
        """Count a watcher's firings without running them; raise `KeyError` if unknown."""
        self._muted.add(self._check_name(name))

    def unmute(self, name: str) -> None:
        """Let a watcher fire again; raise `KeyError` for an unknown name."""
        self._muted.discard(self._check_name(name))

    def recount_if_muted(self, name: str) -> bool:
        """Return True when a watcher was muted since it fired, and count it so."""
        if name not in self._muted:
            return False
        self._fired[name] -= 1
        self._suppressed[name] += 1
        return True

    def force(self, name: str, state: State, reason: str) -> Firing:
        """Return a firing made for `reason` and count it; raise `KeyError` if unknown."""
        index = self._names.index(self._check_name(name))
        watcher = self._watchers[index]
        key = watcher.predicate.key or next(iter(sorted(watcher.predicate.keys)), "")
        value = state.get(key) if key else None
        self._fired[name] += 1
        return Firing(watcher, name, key, value, value, reason)

    def prime(self, state: State) -> list[WatchFault]:
        """Set the guards' truths from `state`, so that none fires for holding already."""
        faults = []
        for index, watcher in enumerate(self._watchers):
            guard = watcher.predicate.guard
            if guard is not None:
                try:
                    self._truths[index] = guard.holds(state)
                except GuardError as error:
                    self._truths[index] = False
                    faults.append(WatchFault(watcher, self._names[index], error))
        return faults

    def evaluate(self, changed: Mapping[str, tuple[Any, Any]], state: State) -> WatchResult:
        """Return the watchers that fire on these net changes of `Changes.take`.

        A predicate over several changed keys is decided once. What they lacked and why they fired is described when it
        is asked for, which takes longer than all decisions.
        """
        result = _make(WatchResult, ([], [], [], []))
        by_key, entries, muted = self._by_key, self._entries, self._muted
        affected = [index for key in changed if key in by_key for index in by_key[key]]
        if changed and self._always:
            affected.extend(self._always)
        # In the order of registration, regardless of the order in which the keys changed, and each once.
        if self._may_repeat:
            affected = sorted(set(affected))
        else:
            affected.sort()
        for index in affected:
            watcher, name, key, guard, matches = entries[index]
            try:
                if key not in changed:
                    key = _first_changed(changed, watcher.predicate.keys)
                old, new = changed[key]
                if old is MISSING:
                    old = None
                if new is MISSING:
                    new = None
                before, after = old, new
                if guard is not None:
                    after = guard.holds(state)
                    # The remembered truth rather than that of the earlier values: a function may depend on more.
                    before = self._truths.get(index)
                    if before is None:
                        before = guard.holds(_EarlierState(state, changed))
                    self._truths[index] = after
                is_it = matches(before, after)
            except USER_ERRORS as error:
                result.faults.append(WatchFault(watcher, name, error))
                continue
            if not is_it:
                # A predicate with functions is evaluated after every change, so most of its misses are not near.
                if not watcher.predicate.always and name not in muted:
                    result.near_misses.append(_make(NearMiss, (watcher, name, key, old, new, before, after)))
            elif name in muted:
                self._suppressed[name] += 1
                result.muted.append(_make(Firing, (watcher, name, key, old, new, "")))
            else:
                self._fired[name] += 1
                result.fired.append(_make(Firing, (watcher, name, key, old, new, "")))
        return result

    def _check_name(self, name: str) -> str:
        if name not in self._names:
            raise KeyError(name)
        return name


class _EarlierState(Readable):
    """The state before some changes."""

    __slots__ = ("_changed", "_state")

    def __init__(self, state: State, changed: Mapping[str, tuple[Any, Any]]) -> None:
        self._state = state
        self._changed = changed

    def _raw(self, key: str, /) -> Any:
        change = self._changed.get(key)
        return self._state._raw(key) if change is None else change[0]

    def written_by(self, key: str, /) -> str:
        """Return "": the writer of an earlier value is unknown."""
        return ""

    @property
    def declared(self) -> Mapping[str, StateKey[Any]]:
        return self._state.declared

    @property
    def turn_number(self) -> int:
        return self._state.turn_number

    def own_keys(self) -> KeySet:
        names = set(self._state.keys())
        for key, (old, _) in self._changed.items():
            (names.discard if old is MISSING else names.add)(key)
        return names


def _first_changed(changed: Mapping[str, tuple[Any, Any]], keys: frozenset[str]) -> str:
    """Return the first of `keys` that changed, else the first key that changed."""
    return next((key for key in changed if key in keys), "") or next(iter(changed))


def _unique_names(watchers: tuple[Watcher, ...]) -> tuple[str, ...]:
    """Return each watcher's name, else its predicate, numbered where that is taken."""
    named = [(watcher.name, watcher.defined_at) for watcher in watchers if watcher.name]
    duplicates = duplicate_names("watchers", named)
    if duplicates:
        raise AgentError("; ".join(duplicates), remedy="Give each its own name", field="name")
    taken = {name for name, _ in named}
    names = []
    for watcher in watchers:
        name = watcher.name
        if not name:
            name, number = watcher.predicate.text, 1
            while name in taken:
                number += 1
                name = f"{watcher.predicate.text} ({number})"
            taken.add(name)
        names.append(name)
    return tuple(names)
