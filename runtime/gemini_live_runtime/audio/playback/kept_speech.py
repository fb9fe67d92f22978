"""Keep a generation's speech until the device has taken it."""

from __future__ import annotations

from dataclasses import field

from gemini_live_runtime.audio.interface import MODEL_RATE
from gemini_live_runtime.records import mutable_record

MAX_SAMPLES = MODEL_RATE * 15 * 60
"""Speech (15 min) kept of a generation for a process that takes over: as much as waits to be played there."""


@mutable_record
class KeptSpeech:
    """Speech of a generation that the device has not taken.

    Samples are numbered from the start of the generation.
    """

    kept: bytearray = field(default_factory=bytearray)
    first: int = 0
    """Number of the first sample kept."""
    sent: int = 0
    """Number of the first sample that the process has not got."""
    is_complete: bool = False
    is_end_sent: bool = False

    @property
    def end(self) -> int:
        """Number after the last sample."""
        return self.first + len(self.kept) // 2

    def drop_until(self, position: int) -> None:
        """Forget the samples before `position`."""
        if position > self.first:
            del self.kept[: 2 * (position - self.first)]
            self.first = position

    def drop_excess(self) -> None:
        """Forget what is beyond the limit and has been sent."""
        self.drop_until(min(self.sent, self.end - MAX_SAMPLES))
