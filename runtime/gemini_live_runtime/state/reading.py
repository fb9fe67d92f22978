"""How state is read: the same for the store, for overlays above it and for recorders around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final, TypeAlias, TypeVar, overload

from gemini_live_runtime.errors import NotSetError, StateError
from gemini_live_runtime.state.explaining import MISSING
from gemini_live_runtime.state.keys import SCOPES, StateKey
from gemini_live_runtime.state.terms import Term

T = TypeVar("T")
Names: TypeAlias = set[str]

SHARED: Final = frozenset((str, int, bool, float, type(None)))
"""Types of JSON values that need no copying: nobody can change them."""


def copied(value: Any) -> Any:
    """A copy of a JSON value that its receiver may change."""
    return value if type(value) in SHARED else deepcopy(value)


class ScopeView:
    """The keys of one scope, without their prefix."""

    __slots__ = ("_prefix", "_state")

    def __init__(self, state: Readable, scope: str) -> None:
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
        self.set(name, value)

    def __delitem__(self, name: str) -> None:
        if self.remove(name) is MISSING:
            raise NotSetError(self._prefix + name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())


class Readable:
    """What can be read like a state. Subclasses say what a key holds and which keys there are."""

    __slots__ = ()

    def get_raw(self, key: str, /) -> Any:
        """The stored value itself, which must not be changed, or `MISSING`."""
        raise NotImplementedError

    def _names(self) -> Names:
        """Every key that has a value of its own."""
        raise NotImplementedError

    @property
    def declared(self) -> Mapping[str, StateKey[Any]]:
        """Declared keys by name."""
        raise NotImplementedError

    @overload
    def get(self, key: StateKey[T], default: T) -> T: ...
    @overload
    def get(self, key: StateKey[T], default: T | None = None) -> T | None: ...
    @overload
    def get(self, key: str | Term, default: Any = None) -> Any: ...
    def get(self, key: Any, default: Any = None) -> Any:
        """The value, or `default` when it is missing. A `StateKey` gives its type, or `default` for a wrong one."""
        if isinstance(key, Term):
            return self._get_term(key, default)
        value = self.get_raw(key)
        return default if value is MISSING else copied(value)

    def _get_term(self, term: Term, default: Any) -> Any:
        if default is None and isinstance(term, StateKey):
            default = deepcopy(term.default)
        value = self.get_raw(term.key)
        if value is MISSING:
            return default
        if isinstance(term, StateKey):
            try:
                return term.from_json(value)
            except StateError:
                return default
        return copied(value)

    def try_get(self, key: StateKey[T]) -> T:
        """The typed value; raises `StateError` when it is missing or of another type."""
        value = self.get_raw(key.key)
        if value is MISSING:
            raise StateError(f"{key.key} is not set", field=key.key)
        return key.from_json(value)

    def contains(self, key: str | Term) -> bool:
        """Whether reading `key` gives a value."""
        return self.get_raw(key.key if isinstance(key, Term) else key) is not MISSING

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str | Term) and self.contains(key)

    def __getitem__(self, key: str | Term) -> Any:
        name = key.key if isinstance(key, Term) else key
        value = self.get_raw(name)
        if value is MISSING:
            raise NotSetError(name)
        return key.from_json(value) if isinstance(key, StateKey) else copied(value)

    def keys(self, scope: str = "") -> list[str]:
        """Every key that can be read, sorted; a bare name that only `derived:` holds is listed under both its names."""
        names = self._names()
        if scope:
            return sorted(name for name in names if name.startswith(f"{scope}:"))
        bare = {name.removeprefix("derived:") for name in names if name.startswith("derived:")}
        return sorted(names | {name for name in bare if ":" not in name})

    def set(self, key: str | Term, value: Any) -> None:
        """Refused here with `StateError`."""
        raise _read_only(key)

    def remove(self, key: str | Term) -> Any:
        """Refused here with `StateError`."""
        raise _read_only(key)

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


def _read_only(key: str | Term) -> StateError:
    name = key.key if isinstance(key, Term) else key
    return StateError(
        f"{name} cannot be written here: this code decides something, so it may only read",
        remedy="Write state in a tool, a callback, a watcher or a hook of a phase",
        field="key",
        value=name,
    )
