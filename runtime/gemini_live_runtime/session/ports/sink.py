"""Define how a session and its host meet.

The host stamps, records and forwards events.
"""

from __future__ import annotations

from typing import Protocol

from gemini_live_runtime.commands import Command
from gemini_live_runtime.events import Event, Payload, Side
from gemini_live_runtime.samples import MeterSample


class EventSink(Protocol):
    """Receiver of a session's events."""

    wall: float
    """Seconds since the Unix epoch at t = 0 of the session."""

    def emit(self, payload: Payload, *, turn: int, gen: int) -> Event:
        """Stamp `payload`, keep and forward it. Must not block.

        Sequence numbers are dense, times never decrease.
        """
        ...

    async def written(self, within_s: float) -> bool:
        """Return True once all events so far survive the death of this process.

        False when that was refused, or took longer than `within_s` seconds.
        """
        ...

    def audio(self, track: Side, pcm: bytes) -> None:
        """Keep samples of a track (s16le). Must not block.

        `user` is at 16 kHz as sent, `model` at 24 kHz as received.
        """
        ...


class RunnableSession(Protocol):
    """A session as its host sees it. Everything runs on one event loop."""

    async def run(self) -> int:
        """Live until the session ends; return the exit code.

        Emits `session.started` first and `session.ended` last.
        """
        ...

    async def command(self, command: Command) -> str:
        """Carry out a command; return why it was refused, or "". Never raises."""
        ...

    def hang_up(self, reason: str) -> None:
        """Ask `run` to end in an orderly way; idempotent."""
        ...

    def finish_tasks(self, reason: str) -> bool:
        """Leave the conversation and end once the last task has; False without one.

        Idempotent; `hang_up` ends it all the same.
        """
        ...

    def on_console_attached(self, attached: bool) -> None:
        """Note that a console is there, or none: then a held agent goes on."""
        ...

    def on_watched(self, watched: bool) -> None:
        """Note that a console is there, or none, as soon as that is so."""
        ...

    def on_records_changed(self) -> None:
        """Note that another program has changed tasks or notifications; cheap."""
        ...

    def report(self, payload: Payload) -> bool:
        """Publish what the host found out; return False once the session is over."""
        ...

    def sample(self) -> MeterSample:
        """Return the current meters; cheap."""
        ...
