"""Reading state while keeping note of what was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from gemini_live_runtime.state.explaining import Reader
from gemini_live_runtime.state.reading import Names, Readable

if TYPE_CHECKING:
    from gemini_live_runtime.state.keys import StateKey
    from gemini_live_runtime.state.store import State


class ReadRecorder(Readable):
    """A read-only face of a state that remembers the keys it was asked for, in order, each once.

    Listing keys counts as reading each of them. Writing raises `StateError`.
    """

    __slots__ = ("_keys", "_reader")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._keys: dict[str, None] = {}

    @property
    def keys_read(self) -> tuple[str, ...]:
        """The keys that were read so far."""
        return tuple(self._keys)

    @property
    def turn_number(self) -> int:
        """The turn, as in `State`."""
        return cast("State", self._reader).turn_number

    @property
    def declared(self) -> Mapping[str, StateKey[Any]]:
        """Declared keys by name."""
        return cast("State", self._reader).declared

    def get_raw(self, key: str, /) -> Any:
        """The value or `MISSING`."""
        self._keys[key] = None
        return self._reader.get_raw(key)

    def written_by(self, key: str, /) -> str:
        """Who wrote the value last."""
        return self._reader.written_by(key)

    def _names(self) -> Names:
        names = cast("State", self._reader)._names()
        self._keys.update(dict.fromkeys(sorted(names)))
        return names
