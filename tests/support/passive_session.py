"""Stand in for the session of an engine: publish what a test says."""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.commands import Command
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.samples import MeterSample


class PassiveSession:
    """Session that no console and no command changes; a subclass implements `run`."""

    def __init__(self, spec: EngineSpec, hub: Hub, clock: Clock) -> None:
        self._spec, self._hub = spec, hub

    async def command(self, command: Command) -> str:
        """Carry out nothing, and refuse nothing."""
        return ""

    def hang_up(self, reason: str) -> None:
        """Do nothing: it ends by itself."""

    def sample(self) -> MeterSample:
        """Return silent meters."""
        return MeterSample()

    def finish_tasks(self, reason: str) -> bool:
        """Return False: it has no tasks."""
        return False

    def on_watched(self, watched: bool) -> None:
        """Do nothing."""

    def on_console_attached(self, attached: bool) -> None:
        """Do nothing."""

    def on_records_changed(self) -> None:
        """Do nothing."""

    def report(self, payload: ev.Payload) -> bool:
        """Tell the consoles."""
        self._hub.tell(payload)
        return True
