"""How a session and its host meet: the host stamps, records and forwards; the session lives."""

from __future__ import annotations

from typing import Protocol

from gemini_live_runtime.commands import Command
from gemini_live_runtime.events import Event, Payload, Side
from gemini_live_runtime.samples import MeterSample


class EventSink(Protocol):
    """Where a session's events go."""

    wall: float
    """Seconds since the Unix epoch at t = 0 of the session."""

    def emit(self, payload: Payload, *, turn: int, gen: int) -> Event:
        """Stamp `payload` (dense sequence, never-decreasing time), keep and forward it. Must not block."""
        ...

    def audio(self, track: Side, pcm: bytes) -> None:
        """Keep samples of a track: `user` at 16 kHz as sent, `model` at 24 kHz as received (s16le). Must not block."""
        ...


class RunnableSession(Protocol):
    """A session as its host sees it. Everything runs on one event loop."""

    async def run(self) -> int:
        """Live until the session ends; the exit code. Emits `session.started` first and `session.ended` last."""
        ...

    async def command(self, command: Command) -> str:
        """Carry out a command; return why it was refused, or "". What happens is published. Never raises."""
        ...

    def hang_up(self, reason: str) -> None:
        """Ask `run` to end in an orderly way; idempotent."""
        ...

    def on_console_attached(self, attached: bool) -> None:
        """Whether a console is there: an agent that is held where nobody can release it goes on."""
        ...

    def sample(self) -> MeterSample:
        """The current meter values; cheap."""
        ...
