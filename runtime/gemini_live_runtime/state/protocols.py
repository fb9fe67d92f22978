"""Describe the reading side of state, which guards are evaluated against."""

from __future__ import annotations

from typing import Any, Protocol


class Reader(Protocol):
    """A `State`, one of its overlays, or a recorder around either."""

    def _raw(self, key: str, /) -> Any:
        """Return the value itself, which the caller must not change, or `MISSING`."""
        ...

    def written_by(self, key: str, /) -> str:
        """Return the last writer in a few words, or "" when it is unknown."""
        ...

    def read_only(self) -> Reader:
        """Return a view for code that decides: its writes raise `StateError`."""
        ...

    def record_reads(self) -> RecordingReader:
        """Return a read-only view that records the keys read through it."""
        ...


class RecordingReader(Reader, Protocol):
    """A reader that records the keys read through it."""

    @property
    def keys_read(self) -> tuple[str, ...]:
        """Keys in the order of their first reading."""
        ...
