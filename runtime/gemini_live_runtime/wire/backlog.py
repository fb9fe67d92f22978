"""Define who decides about sound that a connection cannot send at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class UnsentSound(NamedTuple):
    """Microphone chunk (16 kHz s16le mono) that was not sent.

    `captured_at` is the clock time (s) of its last sample, None when unknown.
    """

    pcm: bytes
    captured_at: float | None


class AudioBacklog(Protocol):
    """Policy for the microphone chunks that wait in a connection, and their count."""

    @property
    def max_chunks(self) -> int:
        """Chunks that may wait; a further one displaces the oldest."""
        ...

    def on_behind(self, behind: bool) -> None:
        """Note that chunks begin to wait, or that none waits any more."""
        ...

    def on_dropped(self, sound: UnsentSound) -> None:
        """Count a chunk that others displaced."""
        ...

    def on_unsent(self, sounds: Sequence[UnsentSound]) -> None:
        """Take the chunks, oldest first, that an end of the connection left unsent."""
        ...


class DropOldest:
    """Backlog of a connection without a session: it counts what was not sent."""

    max_chunks = 50  # one second

    def __init__(self) -> None:
        self.dropped = 0
        """Number of chunks that were not sent."""

    def on_behind(self, behind: bool) -> None:
        """No-op: nothing depends on it."""

    def on_dropped(self, sound: UnsentSound) -> None:
        """Count a chunk."""
        self.dropped += 1

    def on_unsent(self, sounds: Sequence[UnsentSound]) -> None:
        """Count chunks."""
        self.dropped += len(sounds)
