"""Run the console's end of a link in tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.manual_clock import ManualClock
from tests.support.scripted_link import source_of

from gemini_live_runtime.commands import Command
from gemini_live_runtime.engine.link import Link
from gemini_live_tui.session_data.link import SessionLink
from gemini_live_tui.session_data.store import Store


class RunningLink:
    """Link of a console that runs, with what it could not hand over."""

    def __init__(self, source: Callable[[], Awaitable[Link]], **more: Any) -> None:
        self.store = Store(ManualClock(), lambda: None)
        self.failed: list[tuple[Command, str]] = []
        self.session = SessionLink(
            source, self.store, lambda command, reason: self.failed.append((command, reason)), **more
        )
        self.task = asyncio.create_task(self.session.run())


async def started(link: Link) -> RunningLink:
    """Run a link and let it say hello."""
    running = RunningLink(source_of(link))
    await asyncio.sleep(1)
    return running
