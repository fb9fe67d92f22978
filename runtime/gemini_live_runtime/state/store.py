"""The state store: JSON values by key, every change a record of what, from what, by whom."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar, overload

from gemini_live_runtime.errors import NotSetError, StateError
from gemini_live_runtime.json_values import same
from gemini_live_runtime.state.explaining import MISSING
from gemini_live_runtime.state.keys import StateKey, check_key
from gemini_live_runtime.state.reading import SHARED, Names, Readable, copied
from gemini_live_runtime.state.terms import Term

if TYPE_CHECKING:
    from gemini_live_runtime.state.transaction import Overlay, Transaction

T = TypeVar("T")

OriginKind = Literal[
    "tool",
    "extractor",
    "phase",
    "watcher",
    "operator",
    "signal",
    "callback",
    "agent",
    "computed",
    "restored",
    "initial",
    "program",
]

MAX_DEPTH = 64
"""Deepest nesting of a value."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Who writes: a kind, the name of the one of that kind, and why."""

    kind: OriginKind
    name: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


PROGRAM = Origin("program")
_writer: ContextVar[Origin] = ContextVar("state_writer", default=PROGRAM)


@contextmanager
def writing_as(origin: Origin) -> Iterator[None]:
    """Writes to any state in this context, and in tasks started from it, are `origin`'s."""
    token = _writer.set(origin)
    try:
        yield
    finally:
        _writer.reset(token)


class Mutation(NamedTuple):
    """One change. `old` or `new` is `MISSING` where the key was or is absent; `sequence` is dense from 1 in a state."""

    sequence: int
    key: str
    old: Any
    new: Any
    origin: Origin
    turn: int


_Record: TypeAlias = tuple[int, str, Any, Any, Origin, int]
"""The fields of a `Mutation`: a plain tuple is made three times as fast, and most are never looked at."""


class Changes:
    """What changed since the last `take`, collapsed to one old value a key."""

    __slots__ = ("_old", "_state")

    def __init__(self, state: State) -> None:
        self._state = state
        self._old: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._old)

    def copy(self, state: State) -> Changes:
        """The same record for a copy of the state, which goes on from here."""
        other = state.track()
        other._old = dict(self._old)
        return other

    def take(self) -> dict[str, tuple[Any, Any]]:
        """Keys that read otherwise now, with (old, new) (`MISSING` for absent), in the order of the first change.

        A `derived:` value that shows through a bare name is listed under both names.
        """
        state = self._state
        own = state._own_reader()
        changed = {}
        showing = False
        with state._lock:
            taken, self._old = self._old, {}
            for key, old in taken.items():
                new = own(key, MISSING)
                kind = type(new)
                if kind is type(old) and kind in SHARED:
                    if new == old:
                        continue
                elif same_value(old, new):
                    continue
                changed[key] = (old, new)
                if ":" not in key or key[0] == "d":
                    showing = True
            return self._showing(taken, changed) if showing else changed

    def _showing(self, taken: dict[str, Any], changed: dict[str, tuple[Any, Any]]) -> dict[str, tuple[Any, Any]]:
        """The changes as readers of bare names see them, which show what `derived:` holds when they hold nothing."""
        own = self._state._own
        seen: dict[str, tuple[Any, Any]] = {}
        for key in changed:
            bare = key.removeprefix("derived:")
            if bare != key:
                seen[key] = changed[key]
            if ":" not in bare:
                under = f"derived:{bare}"
                new = own(bare)
                old = taken.get(bare, new)
                old = taken.get(under, own(under)) if old is MISSING else old
                new = own(under) if new is MISSING else new
                if not same_value(old, new):
                    seen[bare] = (old, new)
            elif bare == key:
                seen[key] = changed[key]
        return seen


_NO_NAMES: Names = set()
_PLAIN = frozenset((str, int, bool, type(None)))


class State(Readable):
    """Values by key. Keys are `scope:name` or a bare name; reading a bare name falls back to `derived:name`.

    Values are JSON; what goes in and what comes out is a copy, so no change passes unseen. Writing is safe from any
    thread. `turn_number` is stamped into every mutation. Errors: `StateError` for keys and values that cannot be used.
    """

    __slots__ = (
        "_checked_names",
        "_data",
        "_declared",
        "_last",
        "_live",
        "_lock",
        "_report",
        "_scopes",
        "_sequence",
        "_trackers",
        "_unreported",
        "turn_number",
    )

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._data: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._scopes: dict[str, set[str]] = {}
        """The keys that exist by scope: clearing one must not look at all."""
        self._sequence = 0
        self._last: dict[str, _Record] = {}
        self._trackers: tuple[Changes, ...] = ()
        self._checked_names: set[str] = set()
        self._declared: dict[str, StateKey[Any]] = {}
        self._live: dict[str, Callable[[], Any]] = {}
        self._report: Callable[[], None] | None = None
        self._unreported: list[_Record] = []
        self.turn_number = 0
        for key, value in (values or {}).items():
            self.set(key, value)

    # -- reading ---------------------------------------------------------------------------------------------------

    @overload
    def get(self, key: StateKey[T], default: T) -> T: ...
    @overload
    def get(self, key: StateKey[T], default: T | None = None) -> T | None: ...
    @overload
    def get(self, key: str | Term, default: Any = None) -> Any: ...
    def get(self, key: Any, default: Any = None) -> Any:
        """As `Readable.get`."""
        try:
            value = self._data[key]
        except (KeyError, TypeError):
            if isinstance(key, Term):
                return self._get_term(key, default)
            value = self._elsewhere(key)
            if value is MISSING:
                return default
        return value if type(value) in SHARED else deepcopy(value)

    def get_raw(self, key: str, /) -> Any:
        """The stored value itself, which must not be changed, or `MISSING`."""
        value = self._data.get(key, MISSING)
        return self._elsewhere(key) if value is MISSING else value

    def _elsewhere(self, key: str) -> Any:
        live = self._live_value(key)
        if live is not None:
            return live()
        return MISSING if ":" in key else self._data.get(f"derived:{key}", MISSING)

    def _names(self) -> Names:
        with self._lock:
            return {*self._data, *self._live_names()}

    def snapshot(self, keys: Iterable[str] | None = None) -> dict[str, Any]:
        """Copies of the values of `keys` that exist, or of everything that is stored."""
        wanted = sorted(self._stored()) if keys is None else keys
        values = ((key, self.get_raw(key)) for key in wanted)
        return {key: copied(value) for key, value in values if value is not MISSING}

    def _stored(self) -> Names:
        with self._lock:
            return set(self._data)

    def diff(self, before: Mapping[str, Any], keys: Iterable[str] | None = None) -> list[tuple[str, Any, Any]]:
        """(key, old, new) of what differs from the snapshot `before`; `MISSING` for absent."""
        names = sorted({*before, *self._stored()}) if keys is None else keys
        pairs = ((key, before.get(key, MISSING), self.get_raw(key)) for key in names)
        return [(key, old, copied(new)) for key, old, new in pairs if not same_value(old, new)]

    def evidence(self, key: str) -> Mutation | None:
        """The mutation that gave `key` the value it has; None when it was never written, or was removed."""
        last = self._last_of(key)
        if last is None and ":" not in key:
            last = self._last_of(f"derived:{key}")
        return None if last is None else Mutation._make(last)

    def written_by(self, key: str, /) -> str:
        """Who wrote the value last, in a few words; "" when nobody is known to have."""
        last = self.evidence(key)
        return "" if last is None else str(last.origin)

    # -- writing ---------------------------------------------------------------------------------------------------

    writing_as = staticmethod(writing_as)

    def set(self, key: str | Term, value: Any) -> None:
        """Write a value; an equal one changes nothing. Raises `StateError` for what JSON cannot hold."""
        kind = type(value)
        if type(key) is not str or kind not in _PLAIN or key in self._checked_names:
            key, value = self._prepared(key, value)
            kind = type(value)
        lock = self._lock
        lock.acquire()
        try:
            # `_write` and `_record` once more: two calls would be a third of this method's time.
            old = self._data.get(key, MISSING)
            if type(old) is kind:
                if old == value if kind in _PLAIN else same(old, value):
                    return
            elif old is MISSING:
                _check_writable(key)
                self._enter(key)
            self._data[key] = value
            self._sequence = sequence = self._sequence + 1
            self._last[key] = record = (sequence, key, old, value, _writer.get(), self.turn_number)
            for tracker in self._trackers:
                if key not in tracker._old:
                    tracker._old[key] = old
            if self._report is not None:
                self._unreported.append(record)
                if len(self._unreported) == 1:
                    self._report()
        finally:
            lock.release()

    def __setitem__(self, key: str | Term, value: Any) -> None:
        self.set(key, value)

    def remove(self, key: str | Term) -> Any:
        """Remove a key; its old value, or `MISSING` when it had none of its own."""
        name = key.key if isinstance(key, Term) else key
        _check_writable(name)
        with self._lock:
            return self._erase(name)

    def __delitem__(self, key: str | Term) -> None:
        if self.remove(key) is MISSING:
            raise NotSetError(key.key if isinstance(key, Term) else key)

    def modify(self, key: str | Term, default: Any, change: Callable[[Any], Any]) -> Any:
        """Replace the key's own value by `change(value)` (`default` when it has none), and give the new one.

        Nobody writes in between. `change` must not wait for anything.
        """
        name = key.key if isinstance(key, Term) else key
        with self._lock:
            old = self._own(name)
            new = change(default if old is MISSING else copied(old))
            self.set(key, new)
            return new

    def clear_scope(self, scope: str) -> list[str]:
        """Remove every key of a scope but `derived`; the keys. Raises `StateError` for an unknown scope."""
        self.scope(scope)
        with self._lock:
            gone = sorted(self._in_scope(scope))
            for name in gone:
                self.remove(name)
        return gone

    def set_derived(self, name: str, value: Any) -> bool:
        """For the computed registry: write `derived:name`; whether it changed."""
        key = f"derived:{name}"
        value = value if type(value) in _PLAIN else to_json(key, value)
        with self._lock:
            return self._write(key, value)

    def remove_derived(self, name: str) -> bool:
        """For the computed registry: remove `derived:name`; whether it was there."""
        with self._lock:
            return self._erase(f"derived:{name}") is not MISSING

    def transaction(self) -> Transaction:
        """`with state.transaction() as tx:` writes to `tx` become visible together at the end, or not at all."""
        from gemini_live_runtime.state.transaction import Transaction

        return Transaction(self)

    def fork(self) -> Overlay:
        """A copy to try things out on; nothing comes back."""
        from gemini_live_runtime.state.transaction import Overlay

        return Overlay(self)

    # -- for the session -------------------------------------------------------------------------------------------

    def declare(self, key: StateKey[Any]) -> None:
        """From now on writes to this key must fit its type, also those that spell the key as text."""
        self._declared[key.key] = key
        self._checked_names.add(key.key)

    def redeclare(self, keys: Iterable[StateKey[Any]]) -> None:
        """From now on these keys are declared and no others; values that are there stay."""
        self._declared = {key.key: key for key in keys}
        self._checked_names.update(self._declared)

    @property
    def declared(self) -> Mapping[str, StateKey[Any]]:
        """Declared keys by name."""
        return self._declared

    def provide(self, key: str, value: Callable[[], Any]) -> None:
        """Let `key` be read live from a function: for figures that move all the time and make no mutations."""
        self._live[check_key(key)] = value

    def is_live(self, key: str) -> bool:
        """Whether `key` is read live from a function."""
        return self._live_value(key) is not None

    def own(self, key: str) -> Any:
        """The value that is stored under `key` itself, which must not be changed, or `MISSING`."""
        return self._own(key)

    def locked(self) -> AbstractContextManager[Any]:
        """While this lasts nobody else writes."""
        return self._lock

    def copy(self) -> State:
        """A state of its own with the same values, writers and declared keys; nothing comes back."""
        other = State()
        with self._lock:
            other._data = dict(self._data)
            other._scopes = {scope: set(names) for scope, names in self._scopes.items()}
            other._sequence = self._sequence
            other._last = dict(self._last)
            other._checked_names = set(self._checked_names)
            other._declared = dict(self._declared)
            other._live = dict(self._live)
            other.turn_number = self.turn_number
        return other

    def track(self) -> Changes:
        """A new record of changes, beginning now."""
        changes = Changes(self)
        self._trackers = (*self._trackers, changes)
        return changes

    def untrack(self, changes: Changes) -> None:
        """Forget a record of changes."""
        self._trackers = tuple(item for item in self._trackers if item is not changes)

    def report_to(self, announce: Callable[[], None]) -> None:
        """Keep mutations until `take_mutations`; `announce` is called once when the first of them is waiting.

        It is called in the thread that wrote, with the state locked: it may only schedule.
        """
        self._report = announce

    def take_mutations(self) -> list[Mutation]:
        """The mutations since the last call, in order."""
        if not self._unreported:
            return []
        with self._lock:
            taken, self._unreported = self._unreported, []
        return list(map(Mutation._make, taken))

    # -- inside ----------------------------------------------------------------------------------------------------

    def _prepared(self, key: Any, value: Any) -> tuple[str, Any]:
        """The name and the JSON value; raises `StateError` where one cannot be used."""
        name = key.key if isinstance(key, Term) else key
        _check_writable(name)
        name = str.__str__(name)
        declared = self._declared.get(name)
        if declared is None and isinstance(key, StateKey):
            declared = key
        return name, to_json(name, value if declared is None else declared.to_json(value))

    def _own(self, name: str) -> Any:
        return self._data.get(name, MISSING)

    def _own_reader(self) -> Callable[[str, Any], Any]:
        """`_own` for many keys at once: called with the key and `MISSING`."""
        return self._data.get

    def _enter(self, name: str) -> None:
        scope, colon, _ = name.partition(":")
        if colon:
            self._scopes.setdefault(scope, set()).add(name)

    def _in_scope(self, scope: str) -> Names:
        return self._scopes.get(scope, _NO_NAMES)

    def _live_value(self, name: str) -> Callable[[], Any] | None:
        return self._live.get(name)

    def _live_names(self) -> Names:
        return set(self._live)

    def _last_of(self, name: str) -> _Record | None:
        return self._last.get(name)

    def _write(self, name: str, value: Any) -> bool:
        old = self._data.get(name, MISSING)
        if type(old) is type(value) and same(old, value):
            return False
        if old is MISSING:
            self._enter(name)
            if name.startswith("derived:"):
                self._checked_names.add(name)
        self._data[name] = value
        self._last[name] = self._record(name, old, value)
        return True

    def _erase(self, name: str) -> Any:
        old = self._data.pop(name, MISSING)
        if old is not MISSING:
            self._record(name, old, MISSING)
            self._last.pop(name, None)
            self._in_scope(name.partition(":")[0]).discard(name)
        return old

    def _record(self, name: str, old: Any, new: Any) -> _Record:
        self._sequence += 1
        record = (self._sequence, name, old, new, _writer.get(), self.turn_number)
        for tracker in self._trackers:
            tracker._old.setdefault(name, old)
        if self._report is not None:
            self._unreported.append(record)
            if len(self._unreported) == 1:
                self._report()
        return record


def same_value(left: Any, right: Any) -> bool:
    """`same`, where absent equals only absent."""
    return left is right or same(left, right)


def _check_writable(name: Any) -> None:
    check_key(name)
    if name.startswith("derived:"):
        raise StateError(
            f"{name} is computed and cannot be written",
            remedy="Write one of the keys it is computed from",
            field="key",
            value=name,
        )


def to_json(key: str, value: Any, depth: int = 0) -> Any:
    """A copy of `value` if JSON can hold it; raises `StateError` naming the key and the part that does not fit."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        if isfinite(value):
            return value
        raise StateError(f"{key} cannot be {value}: JSON has no such number", field=key, value=value)
    if depth < MAX_DEPTH:
        if isinstance(value, dict):
            if all(isinstance(name, str) for name in value):
                return {str.__str__(n): to_json(f"{key}.{n}", item, depth + 1) for n, item in value.items()}
            raise StateError(f"{key} has a name that is not a text: {list(value)!r:.80}", field=key, value=value)
        if isinstance(value, list | tuple):
            return [to_json(f"{key}[{index}]", item, depth + 1) for index, item in enumerate(value)]
        if isinstance(value, str):  # a member of an enumeration: str(value) would be its name
            return str.__str__(value)
        for plain in (int, float):
            if isinstance(value, plain):
                return to_json(key, plain(value), depth)
        dump = getattr(value, "model_dump", None)
        if dump is not None:
            return to_json(key, dump(mode="json"), depth + 1)
    else:
        raise StateError(f"{key:.80} is nested deeper than {MAX_DEPTH} levels", field=key)
    raise StateError(
        f"{key} cannot be a {kind.__name__}: {value!r:.80}",
        remedy="State holds JSON: texts, numbers, true and false, null, lists and objects",
        field=key,
        value=value,
    )
