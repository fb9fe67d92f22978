"""Overlays: a state on top of another, for transactions and for trying things out."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from gemini_live_runtime.state.explaining import MISSING
from gemini_live_runtime.state.reading import Names, Readable
from gemini_live_runtime.state.store import Mutation, State, _Record, same_value
from gemini_live_runtime.state.terms import Term

_GONE = object()


class Overlay(State):
    """A state whose writes stay above `base`, which goes on changing underneath what was not written here."""

    __slots__ = ("_base", "_log")

    def __init__(self, base: State) -> None:
        super().__init__()
        self._base = base
        self._log: list[_Record] = []
        self.turn_number = base.turn_number
        self._declared = dict(base.declared)

    get = Readable.get

    def get_raw(self, key: str, /) -> Any:
        """As `State.get_raw`."""
        own = self._data.get(key, MISSING)
        if own is MISSING:
            own = self._base._own(key)
        elif own is _GONE:
            own = MISSING
        return self._elsewhere(key) if own is MISSING else own

    def set(self, key: str | Term, value: Any) -> None:
        """As `State.set`."""
        name, value = self._prepared(key, value)
        with self._lock:
            self._write(name, value)

    @property
    def written(self) -> tuple[Mutation, ...]:
        """What was written here, in order."""
        return tuple(map(Mutation._make, self._log))

    def _elsewhere(self, key: str) -> Any:
        live = self._live_value(key)
        if live is not None:
            return live()
        return MISSING if ":" in key else self._own(f"derived:{key}")

    def _stored(self) -> Names:
        with self._lock:
            own = dict(self._data)
        return (self._base._stored() | set(own)) - {name for name, value in own.items() if value is _GONE}

    def _names(self) -> Names:
        return self._stored() | self._live_names()

    def _in_scope(self, scope: str) -> Names:
        return {name for name in self._stored() if name.startswith(f"{scope}:")}

    def _own(self, name: str) -> Any:
        value = self._data.get(name, MISSING)
        if value is MISSING:
            return self._base._own(name)
        return MISSING if value is _GONE else value

    def _own_reader(self) -> Callable[[str, Any], Any]:
        return lambda name, _: self._own(name)

    def _live_value(self, name: str) -> Callable[[], Any] | None:
        return super()._live_value(name) or self._base._live_value(name)

    def _live_names(self) -> Names:
        return super()._live_names() | self._base._live_names()

    def _last_of(self, name: str) -> _Record | None:
        return self._last.get(name) if name in self._data else self._base._last_of(name)

    def _write(self, name: str, value: Any) -> bool:
        old = self._own(name)
        if type(old) is type(value) and same_value(old, value):
            return False
        self._data[name] = value
        self._last[name] = self._record(name, old, value)
        self._log.append(self._last[name])
        return True

    def _erase(self, name: str) -> Any:
        old = self._own(name)
        if old is not MISSING:
            self._data[name] = _GONE
            self._last.pop(name, None)
            self._log.append(self._record(name, old, MISSING))
        return old


class Transaction(Overlay):
    """An overlay that becomes part of its base when the `with` block ends, unless it raises or is rolled back.

    Writes keep the origin they were made with. What others wrote to the same keys meanwhile is overwritten.
    """

    __slots__ = ()

    def commit(self) -> None:
        """Make the writes part of the base, all at once."""
        base = self._base
        with base._lock:
            for _, key, _, new, origin, _ in self._log:
                with base.writing_as(origin):
                    if new is MISSING:
                        base._erase(key)
                    else:
                        base._write(key, new)
        self.rollback()

    def rollback(self) -> None:
        """Forget the writes so far."""
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
