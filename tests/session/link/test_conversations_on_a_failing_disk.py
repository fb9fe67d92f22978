"""The disk fails at any call of a conversation, and the conversation goes on."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from pathlib import Path

import pytest
from tests.faults.faulty_disk import FaultyDisk, FaultyFileDisk
from tests.session.payment import TEXTS, DirectStore, Outside, pay_in, paying
from tests.session.talking import Talk, talk
from tests.unit.session.session_support import Sink

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.journal.files.disk import Disk, FileDisk
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.session.agent.autosave import OwnStore

EVERY = {"journal": 1, "snapshots": 1} if os.environ.get("SOAK") else {"journal": 2, "snapshots": 8}
"""Calls of which one fails. Faults that last begin at other calls than those that happen once."""

NEVER = 1_000_000


class HubSink(Sink):
    """Sink that records with the engine's hub and its thread for the journal."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        super().__init__()
        loop = asyncio.get_running_loop()
        self.journal: JournalWriter | None = None
        # As the engine does: without a recording it goes on.
        with contextlib.suppress(GeminiLiveError):
            self.journal = JournalWriter(
                folder,
                "s",
                audio=False,
                report=lambda payload: loop.call_soon_threadsafe(self._hub.tell, payload) and None,
                disk=disk,
            )
        self._hub = Hub("s", LoopClock(), program="test", pid=1, journal=self.journal)

    def emit(self, payload: ev.Payload, *, turn: int, gen: int) -> ev.Event:
        event = self._hub.emit(payload, turn=turn, gen=gen)
        self.events.append(event)
        self._arrived.set()
        return event

    async def written(self, within_s: float) -> bool:
        return await self._hub.written(within_s)


async def converse(folder: Path, outside: Outside, journal_disk: Disk, snapshot_disk: FileDisk) -> Talk:
    """Hold a conversation with a payment, recorded as an engine records it."""
    sink = HubSink(folder / "sessions", journal_disk)
    store = OwnStore(DirectStore(folder / "snapshots", disk=snapshot_disk), "s")
    async with talk(paying(outside), own_store=store, sink=sink, mode="text") as t:
        await pay_in(t, outside)
    if sink.journal is not None:
        sink.journal.close()
    return t


def holds(folder: Path, journal_disk: FaultyDisk, snapshot_disk: FaultyFileDisk) -> str:
    """Hold the conversation, check that nothing of it is lost.

    Returns how the payment ended.
    """
    folder.mkdir()
    outside = Outside()
    t = run_virtual(converse(folder, outside, journal_disk, snapshot_disk))
    failed = journal_disk.failed, snapshot_disk.failed
    assert t.stage.exit_code == 0, failed
    assert outside.sent == list(TEXTS), failed
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["complete"] * len(TEXTS), failed
    (finished,) = t.all(ev.ToolFinished)
    assert outside.paid == ([40] if finished.status == "ok" else []), failed
    assert not any(notice.code == "internal" for notice in t.all(ev.Notice)), failed
    return finished.status


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("fault", [errno.EIO, errno.ENOSPC], ids=["EIO", "ENOSPC"])
@pytest.mark.parametrize("part", ["journal", "snapshots"])
def test_a_conversation_goes_on_when_the_disk_fails_at_any_call(
    part: str, fault: int, lasting: bool, tmp_path: Path
) -> None:
    at, ends = 1 + (lasting and EVERY[part] // 2), set()
    while True:
        journal = FaultyDisk(at if part == "journal" else NEVER, fault, lasting=lasting)
        snapshots = FaultyFileDisk(at if part == "snapshots" else NEVER, fault, lasting=lasting)
        ends.add(holds(tmp_path / str(at), journal, snapshots))
        if not (journal.failed or snapshots.failed):
            break
        at += EVERY[part]
    # What could not be recorded before it was done was not done.
    assert ends == ({"ok", "error"} if part == "journal" else {"ok"})
