"""The state store: JSON values by key, every change recorded with its writer.

Values are copied on the way in and on the way out, so every change passes through `set`, `remove` or a transaction.
Threads that write hold the state's lock. Trackers and the mutation callback are served inside it, so each sees every
change once and in order; they must not wait there. `get` takes no lock: one dictionary lookup is atomic.

`Overlay` keeps writes above another state, `Transaction` is one that is written to it at the end. Until then the base
may change: keys that were not written in the overlay are read from it. `State` makes overlays and overlays are states,
so they share this module.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from copy import deepcopy
from threading import get_ident
from types import MappingProxyType, TracebackType
from typing import Any, TypeVar, overload

from gemini_live_runtime.author_code import deciding_threads
from gemini_live_runtime.errors import NotSetError, StateError
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.mutations import (
    DECIDING,
    Changes,
    Mutation,
    MutationRecord,
    current_writer,
    is_deciding,
    writing_as,
)
from gemini_live_runtime.state.reading import KeySet, Readable, key_name, key_names, read_only_error
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.terms import Term
from gemini_live_runtime.state.values import IMMUTABLE, MAX_INT, MIN_INT, MISSING, PLAIN, copy_value, to_json

T = TypeVar("T")

_NO_KEYS: KeySet = set()


class State(Readable):
    """Values by key.

    Keys are `scope:name` or a bare name; reading a bare name falls back to `derived:name`. Values are JSON; readers and
    writers get copies, so no change passes unseen. Writing is safe from any thread. `turn_number` is stamped into every
    mutation. Raises `StateError` for keys and values that cannot be used.
    """

    __slots__ = (
        "_data",
        "_declared",
        "_last",
        "_live",
        "_lock",
        "_on_mutations",
        "_scopes",
        "_sequence",
        "_slow_keys",
        "_trackers",
        "_unreported",
        "turn_number",
    )

    turn_number: int

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._data: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._scopes: dict[str, set[str]] = {}
        """Stored keys by scope, so that clearing one does not search all."""
        self._sequence = 0
        self._last: dict[str, MutationRecord] = {}
        """Latest mutation of each stored key."""
        self._trackers: tuple[Changes, ...] = ()
        self._declared: dict[str, StateKey[Any]] = {}
        self._slow_keys: set[str] = set()
        """Keys that `set` must check even when they exist: declared ones for their type, `derived:` ones to refuse."""
        self._live: dict[str, Callable[[], Any]] = {}
        self._on_mutations: Callable[[], None] | None = None
        self._unreported: list[MutationRecord] = []
        self.turn_number = 0
        if values is not None and not isinstance(values, Mapping):
            raise StateError(f"A state cannot begin with {values!r:.60}", remedy='Give an object, such as {"app:n": 1}')
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
        """Return the value as `Readable.get` does."""
        # Written out instead of calling `_raw`: most reads are of a stored key, and a call would double their time.
        try:
            value = self._data[key]
        except (KeyError, TypeError):
            if isinstance(key, Term):
                return self._get_term(key, default)
            value = self._fallback(key)
            if value is MISSING:
                return default
        return value if type(value) in IMMUTABLE else deepcopy(value)

    def _raw(self, key: str, /) -> Any:
        value = self._data.get(key, MISSING)
        return self._fallback(key) if value is MISSING else value

    def _fallback(self, key: str) -> Any:
        """Read a key that is not stored: live, else a bare name from `derived:`."""
        key = key_name(key)
        live = self._live_function(key)
        if live is not None:
            return live()
        return MISSING if ":" in key else self._own(f"derived:{key}")

    def own(self, key: str) -> Any:
        """Return the value stored under `key` itself, or `MISSING`."""
        return copy_value(self._own(key_name(key)))

    def _own(self, key: str) -> Any:
        return self._data.get(key, MISSING)

    def own_keys(self) -> KeySet:
        """Return every key that is stored or read live."""
        with self._lock:
            return {*self._data, *self._live_keys()}

    def snapshot(self, keys: Iterable[str] | None = None) -> dict[str, Any]:
        """Return copies of the values of `keys` that exist, or of all stored ones."""
        wanted = sorted(self._stored_keys()) if keys is None else key_names(keys)
        values = ((key, self._raw(key)) for key in wanted)
        return {key: copy_value(value) for key, value in values if value is not MISSING}

    def _stored_keys(self) -> KeySet:
        with self._lock:
            return set(self._data)

    def diff(self, before: Mapping[str, Any], keys: Iterable[str] | None = None) -> list[tuple[str, Any, Any]]:
        """Return (key, old, new) of every difference from the snapshot `before`.

        `old` or `new` is `MISSING` for an absent key.
        """
        if not isinstance(before, Mapping):
            raise StateError(f"diff begins with a snapshot, not {before!r:.60}", remedy="Give what snapshot() returned")
        names = sorted({*key_names(before), *self._stored_keys()}) if keys is None else key_names(keys)
        pairs = ((key, before.get(key, MISSING), self._raw(key)) for key in names)
        return [(key, old, copy_value(new)) for key, old, new in pairs if not same_value(old, new)]

    @property
    def sequence(self) -> int:
        """Sequence number of the newest mutation, 0 before the first."""
        return self._sequence

    def evidence(self, key: str) -> Mutation | None:
        """Return the mutation that gave `key` its value, or None when it has none."""
        last = self._last_of(key_name(key))
        if last is None:
            return None
        found = Mutation._make(last)
        return found._replace(old=copy_value(found.old), new=copy_value(found.new))

    def written_by(self, key: str, /) -> str:
        """Return the last writer in a few words, or "" when it is unknown."""
        last = self._last_of(key_name(key))
        return "" if last is None else str(last[4])

    def _last_of(self, key: str) -> MutationRecord | None:
        last = self._last_record(key)
        return self._last_record(f"derived:{key}") if last is None and ":" not in key else last

    # -- writing ---------------------------------------------------------------------------------------------------

    writing_as = staticmethod(writing_as)

    def set(self, key: str | Term, value: Any) -> None:
        """Write a value; an equal one changes nothing.

        Raises `StateError` for a key without a known scope, a `derived:` key, values that JSON or the declared type
        cannot hold, and in code that decides.
        """
        kind = type(value)
        is_plain = kind in PLAIN
        if (
            type(key) is not str
            or not is_plain
            or key in self._slow_keys
            or (kind is int and not MIN_INT <= value <= MAX_INT)
        ):
            key, value = self._prepare(key, value)
            kind = type(value)
            is_plain = kind in PLAIN
        writer = current_writer.get()
        # `is_deciding` written out.
        if writer is DECIDING or (deciding_threads and get_ident() in deciding_threads):
            raise read_only_error(key)
        lock = self._lock
        lock.acquire()
        try:
            # `_write` and `_record` written out: the two calls would be a third of this method's time.
            old = self._data.get(key, MISSING)
            # Python's 1 == True == 1.0: only values of one type can be the same here.
            if type(old) is kind:
                if old == value if is_plain else same_value(old, value):
                    return
            elif old is MISSING:
                # A stored key has been checked when it was first written.
                _check_writable(key)
                self._add_to_scope(key)
            self._data[key] = value
            self._sequence = sequence = self._sequence + 1
            self._last[key] = record = (sequence, key, old, value, writer, self.turn_number)
            for tracker in self._trackers:
                tracker.old_values.setdefault(key, old)
            if self._unreported:
                self._unreported.append(record)
            elif self._on_mutations is not None:
                self._unreported.append(record)
                self._on_mutations()
        finally:
            lock.release()

    def __setitem__(self, key: str | Term, value: Any) -> None:
        self.set(key, value)

    def remove(self, key: str | Term) -> Any:
        """Remove a key; return its old value, or `MISSING` when it had none of its own."""
        name = key.key if isinstance(key, Term) else key
        _check_writable(name)
        _check_not_deciding(name)
        with self._lock:
            return copy_value(self._erase(name))

    def __delitem__(self, key: str | Term) -> None:
        if self.remove(key) is MISSING:
            raise NotSetError(key.key if isinstance(key, Term) else key)

    def modify(self, key: str | Term, default: Any, change: Callable[[Any], Any]) -> Any:
        """Replace the key's own value, or `default`, by `change(value)`; return it.

        The store is locked meanwhile, so `change` must not wait for anything.
        """
        name = key_name(key)
        if not callable(change):
            raise StateError(f"modify changes a value by a function, not {change!r:.60}", remedy="Use set for a value")
        with self._lock:
            old = self._own(name)
            new = change(default if old is MISSING else copy_value(old))
            self.set(key, new)
            return new

    def clear_scope(self, scope: str) -> list[str]:
        """Remove every key of a scope and return the keys.

        Raises `StateError` for an unknown scope and for `derived`.
        """
        self.scope(scope)
        with self._lock:
            keys = sorted(self._keys_in_scope(scope))
            for key in keys:
                self.remove(key)
        return keys

    def set_derived(self, name: str, value: Any) -> bool:
        """Write `derived:name` for the computed registry; return True when it changed."""
        key = f"derived:{name}"
        _check_not_deciding(key)
        value = to_json(key, value)
        with self._lock:
            return self._write(key, value)

    def remove_derived(self, name: str) -> bool:
        """Remove `derived:name` for the computed registry; return True when it existed."""
        _check_not_deciding(f"derived:{name}")
        with self._lock:
            return self._erase(f"derived:{name}") is not MISSING

    def transaction(self) -> Transaction:
        """Return a transaction: `with state.transaction() as tx:`.

        Writes to `tx` become visible together at the end, or not at all.
        """
        return Transaction(self)

    def fork(self) -> Overlay:
        """Return an overlay to try writes out on; they never reach this state."""
        return Overlay(self)

    # -- for the session -------------------------------------------------------------------------------------------

    def declare(self, key: StateKey[Any]) -> None:
        """Check writes to this key by its type, also those that spell it as text."""
        _check_not_deciding(key.key)
        self._declared[key.key] = key
        self._slow_keys.add(key.key)

    def redeclare(self, keys: Iterable[StateKey[Any]]) -> None:
        """Replace the declared keys; stored values stay as they are."""
        _check_not_deciding("The list of declared keys")
        self._declared = {key.key: key for key in keys}
        self._slow_keys.update(self._declared)

    @property
    def declared(self) -> Mapping[str, StateKey[Any]]:
        """Declared keys by name."""
        return MappingProxyType(self._declared)

    def provide(self, key: str, value: Callable[[], Any]) -> None:
        """Read `key` live from a function, for measurements that change all the time.

        Their changes make no mutations.
        """
        _check_not_deciding(key)
        self._live[check_key(key)] = value

    def is_live(self, key: str) -> bool:
        """Return True when `key` is read live from a function."""
        return self._live_function(key_name(key)) is not None

    def locked(self) -> AbstractContextManager[Any]:
        """Return a context in which no other thread writes."""
        return self._lock

    def copy(self) -> State:
        """Return an independent state with the same values, writers and keys."""
        other = State()
        with self._lock:
            other._data = dict(self._data)
            other._scopes = {scope: set(names) for scope, names in self._scopes.items()}
            other._sequence = self._sequence
            other._last = dict(self._last)
            other._slow_keys = set(self._slow_keys)
            other._declared = dict(self._declared)
            other._live = dict(self._live)
            other.turn_number = self.turn_number
        return other

    def track(self, earlier: Changes | None = None) -> Changes:
        """Return a new record of changes, beginning with those of `earlier`.

        `earlier` belongs to the state that this one was copied from.
        """
        changes = Changes(self._own_reader(), self._lock, {} if earlier is None else dict(earlier.old_values))
        self._trackers = (*self._trackers, changes)
        return changes

    def on_mutations(self, callback: Callable[[], None]) -> None:
        """Keep mutations, and call `callback` when `take_mutations` has some to take.

        The writing thread calls it with the state locked: it may only schedule.
        """
        self._on_mutations = callback

    def take_mutations(self) -> list[Mutation]:
        """Return the mutations since the last call, in order."""
        if not self._unreported:
            return []
        with self._lock:
            taken, self._unreported = self._unreported, []
        return list(map(Mutation._make, taken))

    # -- inside ----------------------------------------------------------------------------------------------------

    def _prepare(self, key: Any, value: Any) -> tuple[str, Any]:
        """Return the key as text and the value as JSON; raise `StateError`."""
        name = key.key if isinstance(key, Term) else key
        _check_writable(name)
        name = str.__str__(name)
        declared = self._declared.get(name)
        if declared is None and isinstance(key, StateKey):
            declared = key
        return name, to_json(name, value if declared is None else declared.to_json(value))

    def _own_reader(self) -> Callable[[str, Any], Any]:
        """Return the fastest form of `own`, called with the key and `MISSING`."""
        return self._data.get

    def _add_to_scope(self, key: str) -> None:
        scope, colon, _ = key.partition(":")
        if colon:
            self._scopes.setdefault(scope, set()).add(key)

    def _keys_in_scope(self, scope: str) -> KeySet:
        return self._scopes.get(scope, _NO_KEYS)

    def _live_function(self, key: str) -> Callable[[], Any] | None:
        return self._live.get(key)

    def _live_keys(self) -> KeySet:
        return set(self._live)

    def _last_record(self, key: str) -> MutationRecord | None:
        return self._last.get(key)

    def _write(self, key: str, value: Any) -> bool:
        old = self._data.get(key, MISSING)
        if type(old) is type(value) and same_value(old, value):
            return False
        if old is MISSING:
            self._add_to_scope(key)
            if key.startswith("derived:"):
                # `set` would take it for a checked key, since it is stored.
                self._slow_keys.add(key)
        self._data[key] = value
        self._last[key] = self._record(key, old, value)
        return True

    def _erase(self, key: str) -> Any:
        old = self._data.pop(key, MISSING)
        if old is not MISSING:
            self._record(key, old, MISSING)
            self._last.pop(key, None)
            self._keys_in_scope(key.partition(":")[0]).discard(key)
        return old

    def _record(self, key: str, old: Any, new: Any) -> MutationRecord:
        self._sequence += 1
        record = (self._sequence, key, old, new, current_writer.get(), self.turn_number)
        for tracker in self._trackers:
            tracker.old_values.setdefault(key, old)
        if self._on_mutations is not None:
            self._unreported.append(record)
            if len(self._unreported) == 1:
                self._on_mutations()
        return record


_REMOVED = object()
"""Value of a key in an overlay that hides the base's value."""


class Overlay(State):
    """A state whose writes stay above `base`.

    Keys that are not written here follow the base as it changes.
    """

    __slots__ = ("_base", "_log")

    def __init__(self, base: State) -> None:
        super().__init__()
        self._base = base
        self._log: list[MutationRecord] = []
        self.turn_number = base.turn_number
        self._declared = dict(base.declared)

    # `State.get` reads `_data` alone, which here lacks the base's values and holds `_REMOVED`.
    get = Readable.get

    def _raw(self, key: str, /) -> Any:
        own = self._own(key)
        return self._fallback(key) if own is MISSING else own

    def _own(self, key: str) -> Any:
        value = self._data.get(key, MISSING)
        if value is MISSING:
            return self._base._own(key)
        return MISSING if value is _REMOVED else value

    def own_keys(self) -> KeySet:
        """Return every key that is stored or read live, here or in the base."""
        return self._stored_keys() | self._live_keys()

    def set(self, key: str | Term, value: Any) -> None:
        """Write a value above the base. Raise `StateError` when JSON cannot hold it."""
        name, value = self._prepare(key, value)
        with self._lock:
            self._write(name, value)

    @property
    def written(self) -> tuple[Mutation, ...]:
        """Mutations made here, in order."""
        return tuple(map(Mutation._make, self._log))

    def _stored_keys(self) -> KeySet:
        with self._lock:
            own = dict(self._data)
        return (self._base._stored_keys() | set(own)) - {key for key, value in own.items() if value is _REMOVED}

    def _keys_in_scope(self, scope: str) -> KeySet:
        return {key for key in self._stored_keys() if key.startswith(f"{scope}:")}

    def _own_reader(self) -> Callable[[str, Any], Any]:
        return lambda key, _: self._own(key)

    def _live_function(self, key: str) -> Callable[[], Any] | None:
        return super()._live_function(key) or self._base._live_function(key)

    def _live_keys(self) -> KeySet:
        return super()._live_keys() | self._base._live_keys()

    def _last_record(self, key: str) -> MutationRecord | None:
        return self._last.get(key) if key in self._data else self._base._last_record(key)

    def _write(self, key: str, value: Any) -> bool:
        old = self._own(key)
        if type(old) is type(value) and same_value(old, value):
            return False
        self._data[key] = value
        self._last[key] = self._record(key, old, value)
        self._log.append(self._last[key])
        return True

    def _erase(self, key: str) -> Any:
        old = self._own(key)
        if old is not MISSING:
            # Deleting the key here would uncover the base's value.
            self._data[key] = _REMOVED
            self._last.pop(key, None)
            self._log.append(self._record(key, old, MISSING))
        return old


class Transaction(Overlay):
    """An overlay that is written to its base when the `with` block ends.

    It is discarded when the block raises, and by `rollback`. Writes keep their origin. Values that others wrote to the
    same keys meanwhile are overwritten.
    """

    __slots__ = ()

    def commit(self) -> None:
        """Make the writes part of the base, all at once."""
        base = self._base
        for mutation in self._log[:1]:
            _check_not_deciding(mutation[1])
        # The log is replayed rather than its result: the base records every write, with the origin it had here.
        with base._lock:
            for _, key, _, new, origin, _ in self._log:
                with base.writing_as(origin):
                    if new is MISSING:
                        base._erase(key)
                    else:
                        base._write(key, new)
        self.rollback()

    def rollback(self) -> None:
        """Discard the writes so far."""
        self._data.clear()
        self._log.clear()
        self._last.clear()

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.rollback()


def _check_not_deciding(key: str) -> None:
    if is_deciding():
        raise read_only_error(key)


def _check_writable(key: Any) -> None:
    check_key(key)
    if key.startswith("derived:"):
        raise StateError(
            f"{key} is computed and cannot be written",
            remedy="Write one of the keys it is computed from",
            field="key",
            value=key,
        )
