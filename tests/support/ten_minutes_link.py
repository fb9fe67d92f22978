"""Stream the ten-minute session over a link, in real time or tick by tick."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tests.support.ten_minutes import TICK_S, TenMinutes

from gemini_live_runtime.commands import Command
from gemini_live_runtime.engine.link import Hello, LinkMessage, Snapshot
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView


class TenMinutesLink:
    """Engine's end of a link.

    The console gets a snapshot after `before_s` seconds of the session, then the rest. `paced`: events come in real
    time, one tick every `TICK_S`; else at each call of `release`. The arrival of each command is noted in `arrivals`, a
    file of monotonic seconds, one a line.
    """

    def __init__(self, *, before_s: float = 540.0, paced: bool = True, arrivals: Path | None = None) -> None:
        self.session = TenMinutes()
        self._paced = paced
        self._arrivals = arrivals
        self._messages: asyncio.Queue[LinkMessage] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        view = SessionView()
        for event in self.session.begin():
            apply(view, event)
        for _ in range(int(before_s / TICK_S)):
            for event in self.session.tick():
                apply(view, event)
        self._messages.put_nowait(Hello("20261120-120000-abcd", 4242, "test"))
        self._messages.put_nowait(Snapshot(view))

    @property
    def delivered(self) -> bool:
        """True when the console has taken every message."""
        return self._messages.empty()

    def release(self) -> None:
        """Let the events and the meters of one more tick come."""
        for event in self.session.tick():
            self._messages.put_nowait(event)
        self._messages.put_nowait(self.session.sample())

    async def receive(self) -> LinkMessage:
        if self._paced and self._task is None:
            self._task = asyncio.create_task(self._run())
        return await self._messages.get()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due += TICK_S
            await asyncio.sleep(max(0.0, due - loop.time()))
            self.release()

    async def send(self, command: Command) -> None:
        if self._arrivals is not None:
            with self._arrivals.open("a") as file:
                file.write(f"{time.monotonic():.6f}\n")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
