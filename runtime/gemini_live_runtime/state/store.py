"""The state store: JSON values by key, every change a record of what, from what, by whom."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

from gemini_live_runtime.errors import StateError
from gemini_live_runtime.state.guards import MISSING, Term, same
from gemini_live_runtime.state.keys import SCOPES, StateKey, check_key

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


class Changes:
    """What changed since the last `take`, collapsed to one old value a key."""

    __slots__ = ("_old", "_state")

    def __init__(self, state: State) -> None:
        self._state = state
        self._old: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._old)

    def note(self, key: str, old: Any) -> None:
        """Called by the state: `key` held `old` before this change."""
        if key not in self._old:
            self._old[key] = old

    def take(self) -> dict[str, tuple[Any, Any]]:
        """Keys whose value is another now, with (old, new) (`MISSING` for absent), in the order of the first change."""
        taken, self._old = self._old, {}
        changed = {}
        for key, old in taken.items():
            new = self._state.get_raw(key)
            if not same_value(old, new):
                changed[key] = (old, new)
        return changed


class ScopeView:
    """The keys of one scope, without their prefix."""

    __slots__ = ("_prefix", "_state")

    def __init__(self, state: State, scope: str) -> None:
        self._state = state
        self._prefix = f"{scope}:"

    def get(self, name: str, default: Any = None) -> Any:
        """The value, or `default`."""
        return self._state.get(self._prefix + name, default)

    def set(self, name: str, value: Any) -> None:
        """Write a value."""
        self._state.set(self._prefix + name, value)

    def remove(self, name: str) -> Any:
        """Remove a key; the old value or `MISSING`."""
        return self._state.remove(self._prefix + name)

    def keys(self) -> list[str]:
        """The names in this scope."""
        return [key[len(self._prefix) :] for key in self._state.keys(self._prefix[:-1])]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._prefix + name in self._state

    def __getitem__(self, name: str) -> Any:
        return self._state[self._prefix + name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._state.set(self._prefix + name, value)

    def __delitem__(self, name: str) -> None:
        del self._state[self._prefix + name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())


_PLAIN = frozenset((str, int, bool, type(None)))
_SHARED = frozenset((str, int, bool, float, type(None)))


class State:
    """Values by key. Keys are `scope:name` or a bare name; reading a bare name falls back to `derived:name`.

    Values are JSON; what goes in and what comes out is a copy, so no change passes unseen. Writing is safe from any
    thread. `turn_number` is stamped into every mutation. Errors: `StateError` for keys and values that cannot be used.
    """

    __slots__ = (
        "_announced",
        "_data",
        "_declared",
        "_last",
        "_live",
        "_lock",
        "_report",
        "_sequence",
        "_trackers",
        "_unreported",
        "turn_number",
    )

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._data: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._sequence = 0
        self._last: dict[str, Mutation] = {}
        self._trackers: tuple[Changes, ...] = ()
        self._declared: dict[str, StateKey[Any]] = {}
        self._live: dict[str, Callable[[], Any]] = {}
        self._report: Callable[[], None] | None = None
        self._unreported: list[Mutation] = []
        self._announced = False
        self.turn_number = 0
        for key, value in (values or {}).items():
            self.set(key, value)

    # -- reading ---------------------------------------------------------------------------------------------------

    @overload
    def get(self, key: StateKey[T], default: T | None = None) -> T | None: ...
    @overload
    def get(self, key: str | Term, default: Any = None) -> Any: ...
    def get(self, key: Any, default: Any = None) -> Any:
        """The value, or `default` when it is missing. A `StateKey` gives its type, or `default` for a wrong one."""
        try:
            value = self._data[key]
        except (KeyError, TypeError):
            if isinstance(key, Term):
                return self._get_term(key, default)
            value = self._elsewhere(key)
            if value is MISSING:
                return default
        return value if type(value) in _SHARED else deepcopy(value)

    def _get_term(self, term: Term, default: Any) -> Any:
        if default is None and isinstance(term, StateKey):
            default = term.default
        value = self.get_raw(term.key)
        if value is MISSING:
            return default
        if isinstance(term, StateKey):
            try:
                return term.from_json(value)
            except StateError:
                return default
        return deepcopy(value)

    def try_get(self, key: StateKey[T]) -> T:
        """The typed value; raises `StateError` when it is missing or of another type."""
        value = self.get_raw(key.key)
        if value is MISSING:
            raise StateError(f"{key.key} is not set", field=key.key)
        return key.from_json(value)

    def get_raw(self, key: str, /) -> Any:
        """The stored value itself, which must not be changed, or `MISSING`."""
        value = self._data.get(key, MISSING)
        return self._elsewhere(key) if value is MISSING else value

    def _elsewhere(self, key: str) -> Any:
        live = self._live.get(key)
        if live is not None:
            return live()
        return MISSING if ":" in key else self._data.get(f"derived:{key}", MISSING)

    def contains(self, key: str | Term) -> bool:
        """Whether reading `key` gives a value."""
        return self.get_raw(key.key if isinstance(key, Term) else key) is not MISSING

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str | Term) and self.contains(key)

    def __getitem__(self, key: str | Term) -> Any:
        name = key.key if isinstance(key, Term) else key
        value = self.get_raw(name)
        if value is MISSING:
            raise KeyError(name)
        return key.from_json(value) if isinstance(key, StateKey) else deepcopy(value)

    def keys(self, scope: str = "") -> list[str]:
        """Every key that can be read, sorted; a bare name that only `derived:` holds is listed under both its names."""
        names = self._names()
        if scope:
            return sorted(name for name in names if name.startswith(f"{scope}:"))
        bare = {name.removeprefix("derived:") for name in names if name.startswith("derived:")}
        return sorted(names | {name for name in bare if ":" not in name})

    def _names(self) -> set[str]:
        with self._lock:
            return {*self._data, *self._live}

    def snapshot(self, keys: Iterable[str] | None = None) -> dict[str, Any]:
        """Copies of the values of `keys` that exist, or of everything that is stored."""
        wanted = sorted(self._stored()) if keys is None else keys
        values = ((key, self.get_raw(key)) for key in wanted)
        return {key: deepcopy(value) for key, value in values if value is not MISSING}

    def _stored(self) -> set[str]:
        with self._lock:
            return set(self._data)

    def diff(self, before: Mapping[str, Any], keys: Iterable[str] | None = None) -> list[tuple[str, Any, Any]]:
        """(key, old, new) of what differs from the snapshot `before`; `MISSING` for absent."""
        names = sorted({*before, *self._stored()}) if keys is None else keys
        pairs = ((key, before.get(key, MISSING), self.get_raw(key)) for key in names)
        return [(key, old, deepcopy(new)) for key, old, new in pairs if not same_value(old, new)]

    def evidence(self, key: str) -> Mutation | None:
        """The mutation that gave `key` the value it has; None when it was never written, or was removed."""
        last = self._last.get(key)
        if last is None and ":" not in key:
            last = self._last.get(f"derived:{key}")
        return None if last is None or last.new is MISSING else last

    def written_by(self, key: str, /) -> str:
        """Who wrote the value last, in a few words; "" when nobody is known to have."""
        last = self.evidence(key)
        return "" if last is None else str(last.origin)

    def scope(self, name: str) -> ScopeView:
        """A scope's keys without their prefix; raises `StateError` for an unknown scope."""
        if name not in SCOPES:
            raise StateError(f"There is no scope {name!r}", remedy=f"Use one of {', '.join(SCOPES)}", field="scope")
        return ScopeView(self, name)

    @property
    def app(self) -> ScopeView:
        """What the application knows."""
        return ScopeView(self, "app")

    @property
    def user(self) -> ScopeView:
        """What is known of the user."""
        return ScopeView(self, "user")

    @property
    def session(self) -> ScopeView:
        """What the session keeps track of by itself."""
        return ScopeView(self, "session")

    @property
    def turn(self) -> ScopeView:
        """What holds for this turn only."""
        return ScopeView(self, "turn")

    @property
    def bg(self) -> ScopeView:
        """What background work has left."""
        return ScopeView(self, "bg")

    @property
    def temp(self) -> ScopeView:
        """What is not kept."""
        return ScopeView(self, "temp")

    @property
    def derived(self) -> ScopeView:
        """What is computed; writing there raises `StateError`."""
        return ScopeView(self, "derived")

    # -- writing ---------------------------------------------------------------------------------------------------

    writing_as = staticmethod(writing_as)

    def set(self, key: str | Term, value: Any) -> None:
        """Write a value; an equal one changes nothing. Raises `StateError` for what JSON cannot hold."""
        name = key.key if isinstance(key, Term) else key
        if type(value) not in _PLAIN or name in self._declared or isinstance(key, StateKey):
            value = self._checked(name, value, key)
        if name not in self._data:
            _check_writable(name)
        with self._lock:
            self._write(name, value)

    __setitem__ = set

    def remove(self, key: str | Term) -> Any:
        """Remove a key; its old value, or `MISSING` when it had none of its own."""
        name = key.key if isinstance(key, Term) else key
        _check_writable(name)
        with self._lock:
            return self._erase(name)

    def __delitem__(self, key: str | Term) -> None:
        if self.remove(key) is MISSING:
            raise KeyError(key.key if isinstance(key, Term) else key)

    def modify(self, key: str | Term, default: Any, change: Callable[[Any], Any]) -> Any:
        """Replace the key's own value by `change(value)` (`default` when it has none), and give the new one.

        Nobody writes in between. `change` must not wait for anything.
        """
        name = key.key if isinstance(key, Term) else key
        with self._lock:
            old = self._own(name)
            new = change(default if old is MISSING else deepcopy(old))
            self.set(key, new)
            return new

    def clear_scope(self, scope: str) -> list[str]:
        """Remove every key of a scope but `derived`; the keys."""
        with self._lock:
            gone = sorted(name for name in self._stored() if name.startswith(f"{scope}:"))
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

    @property
    def declared(self) -> Mapping[str, StateKey[Any]]:
        """Declared keys by name."""
        return self._declared

    def provide(self, key: str, value: Callable[[], Any]) -> None:
        """Let `key` be read live from a function: for figures that move all the time and make no mutations."""
        self._live[check_key(key)] = value

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
            self._announced = False
        return taken

    # -- inside ----------------------------------------------------------------------------------------------------

    def _checked(self, name: str, value: Any, key: Any) -> Any:
        declared = self._declared.get(name) or (key if isinstance(key, StateKey) else None)
        return to_json(name, value) if declared is None else declared.to_json(value)

    def _own(self, name: str) -> Any:
        return self._data.get(name, MISSING)

    def _write(self, name: str, value: Any) -> bool:
        old = self._data.get(name, MISSING)
        if old is value or (type(old) is type(value) and same_value(old, value)):
            return False
        self._data[name] = value
        self._record(name, old, value)
        return True

    def _erase(self, name: str) -> Any:
        old = self._data.pop(name, MISSING)
        if old is not MISSING:
            self._record(name, old, MISSING)
        return old

    def _record(self, name: str, old: Any, new: Any, origin: Origin | None = None) -> None:
        self._sequence += 1
        mutation = Mutation(self._sequence, name, old, new, origin or _writer.get(), self.turn_number)
        self._last[name] = mutation
        for tracker in self._trackers:
            tracker.note(name, old)
        if self._report is not None:
            self._unreported.append(mutation)
            if not self._announced:
                self._announced = True
                self._report()


def same_value(left: Any, right: Any) -> bool:
    """`same`, where absent equals only absent."""
    if left is MISSING or right is MISSING:
        return left is right
    return same(left, right)


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
                return {str(name): to_json(f"{key}.{name}", item, depth + 1) for name, item in value.items()}
            raise StateError(f"{key} has a name that is not a text: {list(value)!r:.80}", field=key, value=value)
        if isinstance(value, list | tuple):
            return [to_json(f"{key}[{index}]", item, depth + 1) for index, item in enumerate(value)]
        for plain in (str, int, float):  # subclasses, as enumerations have them
            if isinstance(value, plain):
                return to_json(key, plain(value), depth)
        dump = getattr(value, "model_dump", None)
        if dump is not None:
            return to_json(key, dump(mode="json"), depth + 1)
    raise StateError(
        f"{key} cannot be a {kind.__name__}: {value!r:.80}",
        remedy="State holds JSON: texts, numbers, true and false, null, lists and objects",
        field=key,
        value=value,
    )
