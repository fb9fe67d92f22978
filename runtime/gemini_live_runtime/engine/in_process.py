"""Run an engine inside the caller's event loop."""

from __future__ import annotations

import asyncio

from gemini_live_runtime.clock import Clock
from gemini_live_runtime.engine.host import Host, SessionFactory
from gemini_live_runtime.engine.queue_link import QueueLink
from gemini_live_runtime.engine.spec import EngineSpec


class InProcessEngine:
    """Session in the caller's event loop; `link` is its first console's link."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.link = QueueLink(host.hub, host.submit, engine=self)
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> int:
        try:
            return await self.host.run()
        finally:
            await self.host.close()

    def attach(self) -> QueueLink:
        """Return a link for a further console."""
        return QueueLink(self.host.hub, self.host.submit, engine=self)

    async def wait(self) -> int:
        """Wait until the session ended and its journal is closed; return the exit code."""
        return await asyncio.shield(self._task)

    async def hang_up(self, reason: str) -> int:
        """End the session in an orderly way; return its exit code."""
        self.host.hang_up(reason)
        return await self.wait()


def in_process(spec: EngineSpec, factory: SessionFactory, *, clock: Clock | None = None) -> InProcessEngine:
    """Start the session of `spec` in the running event loop."""
    return InProcessEngine(Host(spec, factory, clock=clock))
