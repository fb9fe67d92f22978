"""A program hears of what its recording lost, and counts it."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.support.patience import PATIENCE_S

from gemini_live_runtime import events as ev
from gemini_live_runtime.api import Live
from gemini_live_runtime.journal.files.disk import Disk
from gemini_live_runtime.session.io.handle import LiveHandle


def recorded(told: asyncio.Queue[str], folder: Path) -> Any:
    agent = Live.builder("test").instruction("Test.").on("error", told.put_nowait)
    return agent.connect(backend="local", fast=True, record="text", data_dir=str(folder))


def runs(main: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await main

    asyncio.run(limited())


def counted(session: LiveHandle) -> tuple[int, str]:
    return session.state["session:error_count"], session.state["session:last_error"]


def test_a_disk_that_is_full_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(disk: Disk, fd: int, data: bytes | memoryview) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def main() -> None:
        told: asyncio.Queue[str] = asyncio.Queue()
        async with recorded(told, tmp_path) as session, session.events() as events:
            monkeypatch.setattr(Disk, "write", refuse)
            await session.send_text("hello")
            async for event in events:
                if isinstance(event.payload, ev.Notice) and event.payload.code == "journal-failed":
                    break
            # The journal and the snapshot meet the full disk in either order, on threads of their own.
            count, last = counted(session)
            texts = [await told.get() for _ in range(count)]
            assert texts[-1] == last
            assert all("No space left on device" in text for text in texts)

    runs(main())


def test_a_recording_that_cannot_begin_is_an_error(tmp_path: Path) -> None:
    async def main() -> None:
        told: asyncio.Queue[str] = asyncio.Queue()
        (tmp_path / "sessions").write_text("in the way")
        async with recorded(told, tmp_path) as session:
            text = await told.get()
            assert "cannot be written" in text
            assert counted(session) == (1, text)

    runs(main())
