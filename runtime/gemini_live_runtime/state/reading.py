"""Read state: the same way from the store, its overlays and recorders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, TypeAlias, TypeVar, overload

from gemini_live_runtime.author_code import exact_text, is_text
from gemini_live_runtime.errors import NotSetError, StateError
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.scopes import SCOPES, no_key
from gemini_live_runtime.state.terms import Term
from gemini_live_runtime.state.values import MISSING, copy_value

T = TypeVar("T")

KeySet: TypeAlias = set[str]
"""Inside the classes below `set` is a method."""


def key_name(key: object) -> str:
    """Return the name of a key or term; raise `StateError` for what is neither."""
    if type(key) is str:
        return key
    if isinstance(key, Term):
        return key.key
    if not is_text(key):
        raise no_key(key)
    return exact_text(key)


def key_names(keys: object) -> list[str]:
    """Return the names of keys; raise `StateError` for what is no list of them."""
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise StateError(f"State keys are a list, not {keys!r:.60}", remedy="Give a list of names", field="keys")
    return list(map(key_name, keys))


class ScopeView:
    """The keys of one scope, without their prefix."""

    __slots__ = ("_prefix", "_state")

    def __init__(self, state: Readable, scope: str) -> None:
        self._state = state
        self._prefix = f"{scope}:"

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value, or `default`."""
        return self._state.get(self._prefix + name, default)

    def set(self, name: str, value: Any) -> None:
        """Write a value."""
        self._state.set(self._prefix + name, value)

    def remove(self, name: str) -> Any:
        """Remove a key; return its old value or `MISSING`."""
        return self._state.remove(self._prefix + name)

    def keys(self) -> list[str]:
        """Return the names in this scope, sorted."""
        return [key[len(self._prefix) :] for key in self._state.keys(self._prefix[:-1])]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._prefix + name in self._state

    def __getitem__(self, name: str) -> Any:
        return self._state[self._prefix + name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.set(name, value)

    def __delitem__(self, name: str) -> None:
        if self.remove(name) is MISSING:
            raise NotSetError(self._prefix + name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())


class Readable:
    """Reading by key.

    Subclasses return the value of a key, its writer, and the keys that exist.
    """

    __slots__ = ()

    def get_raw(self, key: str, /) -> Any:
        """Return the JSON value, or `MISSING`."""
        return copy_value(self._raw(key_name(key)))

    def _raw(self, key: str, /) -> Any:
        """Return the stored value itself, which the caller must not change, or `MISSING`.

        It is for the runtime: an author's code that changed it would change state unseen.
        """
        raise NotImplementedError

    def written_by(self, key: str, /) -> str:
        """Return the last writer in a few words, or "" when it is unknown."""
        raise NotImplementedError

    def own_keys(self) -> KeySet:
        """Return every key that has a value of its own."""
        raise NotImplementedError

    @property
    def declared(self) -> Mapping[str, StateKey[Any]]:
        """Declared keys by name."""
        raise NotImplementedError

    @property
    def turn_number(self) -> int:
        """Number of the current turn."""
        raise NotImplementedError

    def read_only(self) -> ReadOnlyView:
        """Return a view for code that decides: its writes raise `StateError`."""
        return ReadOnlyView(self)

    def record_reads(self) -> ReadRecorder:
        """Return a read-only view that records the keys read through it."""
        return ReadRecorder(self)

    @overload
    def get(self, key: StateKey[T], default: T) -> T: ...
    @overload
    def get(self, key: StateKey[T], default: T | None = None) -> T | None: ...
    @overload
    def get(self, key: str | Term, default: Any = None) -> Any: ...
    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value, or `default` when it is missing.

        For a `StateKey` the value has its type; `default` also replaces a value of another type.
        """
        if isinstance(key, Term):
            return self._get_term(key, default)
        value = self._raw(key if type(key) is str else key_name(key))
        return default if value is MISSING else copy_value(value)

    def _get_term(self, term: Term, default: Any) -> Any:
        if default is None and isinstance(term, StateKey):
            default = deepcopy(term.default)
        value = self._raw(term.key)
        if value is MISSING:
            return default
        if isinstance(term, StateKey):
            try:
                return term.from_json(value)
            except StateError:
                return default
        return copy_value(value)

    def try_get(self, key: StateKey[T]) -> T:
        """Return the typed value; raise `StateError` when it is missing or misfits."""
        if not isinstance(key, StateKey):
            raise StateError(f"try_get reads a StateKey, not {key!r:.60}", remedy="Use get, or declare the key")
        value = self._raw(key.key)
        if value is MISSING:
            raise StateError(f"{key.key} is not set", field=key.key)
        return key.from_json(value)

    def contains(self, key: str | Term) -> bool:
        """Return True when `key` has a value."""
        return self._raw(key_name(key)) is not MISSING

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str | Term) and self.contains(key)

    def __getitem__(self, key: str | Term) -> Any:
        name = key_name(key)
        value = self._raw(name)
        if value is MISSING:
            raise NotSetError(name)
        return key.from_json(value) if isinstance(key, StateKey) else copy_value(value)

    def keys(self, scope: str = "") -> list[str]:
        """Return every key that can be read, sorted.

        A `derived:` key is listed under its bare name as well.
        """
        names = self.own_keys()
        if scope:
            return sorted(name for name in names if name.startswith(f"{scope}:"))
        bare = {name.removeprefix("derived:") for name in names if name.startswith("derived:")}
        return sorted(names | {name for name in bare if ":" not in name})

    def set(self, key: str | Term, value: Any) -> None:
        """Raise `StateError`: only a `State` can be written."""
        raise read_only_error(key)

    def remove(self, key: str | Term) -> Any:
        """Raise `StateError`: only a `State` can be written."""
        raise read_only_error(key)

    def modify(self, key: str | Term, default: Any, change: Callable[[Any], Any]) -> Any:
        """Raise `StateError`: only a `State` can be written."""
        raise read_only_error(key)

    def clear_scope(self, scope: str) -> list[str]:
        """Raise `StateError`: only a `State` can be written."""
        raise read_only_error(f"{scope}:")

    def transaction(self) -> Any:
        """Raise `StateError`: only a `State` can be written."""
        raise read_only_error("State")

    def __setitem__(self, key: str | Term, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: str | Term) -> None:
        if self.remove(key) is MISSING:
            raise NotSetError(key.key if isinstance(key, Term) else key)

    def scope(self, name: str) -> ScopeView:
        """Return a view of a scope; raise `StateError` for an unknown one."""
        if name not in SCOPES:
            raise StateError(f"There is no scope {name!r}", remedy=f"Use one of {', '.join(SCOPES)}", field="scope")
        return ScopeView(self, name)

    @property
    def app(self) -> ScopeView:
        """Knowledge of the application."""
        return ScopeView(self, "app")

    @property
    def user(self) -> ScopeView:
        """Knowledge of the user."""
        return ScopeView(self, "user")

    @property
    def session(self) -> ScopeView:
        """Signals that the session itself writes."""
        return ScopeView(self, "session")

    @property
    def turn(self) -> ScopeView:
        """Values of this turn, removed when the next begins."""
        return ScopeView(self, "turn")

    @property
    def bg(self) -> ScopeView:
        """Results of background work."""
        return ScopeView(self, "bg")

    @property
    def temp(self) -> ScopeView:
        """Values that are not persisted."""
        return ScopeView(self, "temp")

    @property
    def derived(self) -> ScopeView:
        """Computed values; writing there raises `StateError`."""
        return ScopeView(self, "derived")


class ReadOnlyView(Readable):
    """A view of a state that cannot be written: writing raises `StateError`."""

    __slots__ = ("_state",)

    def __init__(self, state: Readable) -> None:
        self._state = state

    def read_only(self) -> ReadOnlyView:
        """Return the view itself."""
        return self

    @property
    def turn_number(self) -> int:
        """Turn number of the state."""
        return self._state.turn_number

    @property
    def declared(self) -> Mapping[str, StateKey[Any]]:
        """Declared keys of the state."""
        return self._state.declared

    def _raw(self, key: str, /) -> Any:
        return self._state._raw(key)

    def written_by(self, key: str, /) -> str:
        """Return the last writer in a few words."""
        return self._state.written_by(key)

    def own_keys(self) -> KeySet:
        """Return every key that has a value of its own."""
        return self._state.own_keys()


class ReadRecorder(ReadOnlyView):
    """A read-only view of a state that records the keys read through it.

    They are in the order of their first reading. Listing keys counts as reading each of them.
    """

    __slots__ = ("_keys",)

    def __init__(self, state: Readable) -> None:
        super().__init__(state)
        self._keys: dict[str, None] = {}

    @property
    def keys_read(self) -> tuple[str, ...]:
        """Keys in the order of their first reading."""
        return tuple(self._keys)

    def _raw(self, key: str, /) -> Any:
        self._keys[key_name(key)] = None
        return self._state._raw(key)

    def own_keys(self) -> KeySet:
        """Return every key that has a value of its own, and record them all."""
        names = self._state.own_keys()
        self._keys.update(dict.fromkeys(sorted(names)))
        return names


def read_only_error(key: str | Term) -> StateError:
    """Return the error of code that decides and tries to write."""
    name = key.key if isinstance(key, Term) else key
    return StateError(
        f"{name} cannot be written here: this code decides something, so it may only read",
        remedy="Write state in a tool, a callback, a watcher or a hook of a phase",
        field="key",
        value=name,
    )
