"""Overlays: a state on top of another, for transactions and for trying things out."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from types import TracebackType
from typing import Any

from gemini_live_runtime.state.guards import MISSING
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.store import Mutation, State, same_value

_GONE = object()


class Overlay(State):
    """A state whose writes stay above `base`, which goes on changing underneath what was not written here."""

    __slots__ = ("_base", "_log")

    def __init__(self, base: State) -> None:
        super().__init__()
        self._base = base
        self._log: list[Mutation] = []
        self.turn_number = base.turn_number
        self._declared = dict(base.declared)

    @property
    def declared(self) -> Mapping[str, StateKey[Any]]:
        """Declared keys by name."""
        return self._declared

    def get(self, key: Any, default: Any = None) -> Any:
        """As `State.get`."""
        if isinstance(key, str):
            value = self.get_raw(key)
            return default if value is MISSING else deepcopy(value)
        return self._get_term(key, default)

    def get_raw(self, key: str, /) -> Any:
        """As `State.get_raw`."""
        own = self._data.get(key, MISSING)
        if own is MISSING:
            own = self._base._own(key)
            if own is MISSING and key in self._base._live:
                return self._base.get_raw(key)
        elif own is _GONE:
            own = MISSING
        return self.get_raw(f"derived:{key}") if own is MISSING and ":" not in key else own

    def written_by(self, key: str, /) -> str:
        """As `State.written_by`."""
        return super().written_by(key) or self._base.written_by(key)

    def evidence(self, key: str) -> Mutation | None:
        """As `State.evidence`."""
        return super().evidence(key) if key in self._data else self._base.evidence(key)

    @property
    def written(self) -> tuple[Mutation, ...]:
        """What was written here, in order."""
        return tuple(self._log)

    def _stored(self) -> set[str]:
        gone = {name for name, value in self._data.items() if value is _GONE}
        return (self._base._stored() | set(self._data)) - gone

    def _names(self) -> set[str]:
        return self._stored() | set(self._base._live)

    def _own(self, name: str) -> Any:
        value = self._data.get(name, MISSING)
        if value is MISSING:
            return self._base._own(name)
        return MISSING if value is _GONE else value

    def _write(self, name: str, value: Any) -> bool:
        old = self._own(name)
        if type(old) is type(value) and same_value(old, value):
            return False
        self._data[name] = value
        self._record(name, old, value)
        self._log.append(self._last[name])
        return True

    def _erase(self, name: str) -> Any:
        old = self._own(name)
        if old is not MISSING:
            self._data[name] = _GONE
            self._record(name, old, MISSING)
            self._log.append(self._last[name])
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
            for mutation in self._log:
                with base.writing_as(mutation.origin):
                    if mutation.new is MISSING:
                        base._erase(mutation.key)
                    else:
                        base._write(mutation.key, mutation.new)
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
