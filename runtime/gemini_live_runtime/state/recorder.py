"""Reading state while keeping note of what was read."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from gemini_live_runtime.state.guards import MISSING, Reader, Term


class ReadRecorder:
    """A read-only face of a state that remembers the keys it was asked for, in order, each once."""

    __slots__ = ("_keys", "_prefix", "_reader")

    def __init__(self, reader: Reader, prefix: str = "", keys: dict[str, None] | None = None) -> None:
        self._reader = reader
        self._prefix = prefix
        self._keys: dict[str, None] = {} if keys is None else keys

    @property
    def keys_read(self) -> tuple[str, ...]:
        """The keys that were read so far."""
        return tuple(self._keys)

    def get_raw(self, key: str, /) -> Any:
        """The value or `MISSING`."""
        name = self._prefix + key
        self._keys[name] = None
        return self._reader.get_raw(name)

    def written_by(self, key: str, /) -> str:
        """Who wrote the value last."""
        return self._reader.written_by(self._prefix + key)

    def get(self, key: str | Term, default: Any = None) -> Any:
        """The value, or `default` when it is missing."""
        value = self.get_raw(key.key if isinstance(key, Term) else key)
        return default if value is MISSING else deepcopy(value)

    def contains(self, key: str | Term) -> bool:
        """Whether the key has a value."""
        return self.get_raw(key.key if isinstance(key, Term) else key) is not MISSING

    __contains__ = contains

    def __getitem__(self, key: str | Term) -> Any:
        value = self.get_raw(key.key if isinstance(key, Term) else key)
        if value is MISSING:
            raise KeyError(key.key if isinstance(key, Term) else key)
        return deepcopy(value)

    def scope(self, name: str) -> ReadRecorder:
        """A scope's keys without their prefix."""
        return ReadRecorder(self._reader, f"{name}:", self._keys)

    def __getattr__(self, name: str) -> ReadRecorder:
        if name in ("app", "user", "session", "turn", "bg", "temp", "derived"):
            return self.scope(name)
        raise AttributeError(f"State can only be read here; it has no {name!r}")
