"""The engine is killed at each write of a conversation, and another one goes on.

The conversation is held once; before each write, and in the middle of it, an image is taken of the session's folder and
of what had happened outside by then. It is what a kill at this moment would leave.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.session.payment import TEXTS, DirectStore, Outside, note_sent, pay_in, paying
from tests.session.talking import talk
from tests.unit.session.session_support import Sink

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.completion.open_work import OpenWork
from gemini_live_runtime.journal.files.disk import FileDisk
from gemini_live_runtime.journal.files.events_file import EventsFile
from gemini_live_runtime.journal.recording.kept_journal import KeptJournal, read_kept
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.session.agent.autosave import OwnStore

EVERY = 1 if os.environ.get("SOAK") else 10
"""Kills of which one is tried."""


@dataclass
class Image:
    """Files of a session at one moment, and what was done by then."""

    files: dict[str, bytes]
    sent: list[str]
    paid: list[int]


class WatchedDisk(FileDisk):
    """Disk that calls `before` at each change, and in the middle of each write."""

    def __init__(self, before: Callable[[], None]) -> None:
        self._before = before

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._before()
        half = super().write(fd, bytes(data[: len(data) // 2]))
        self._before()
        return half + super().write(fd, bytes(data[half:]))

    def replace(self, source: Path, target: Path) -> None:
        self._before()
        super().replace(source, target)


class JournalSink(Sink):
    """Sink that writes each event at once, after those of an earlier engine."""

    def __init__(self, folder: Path, disk: FileDisk, kept: KeptJournal | None = None) -> None:
        super().__init__()
        self._last = 0 if kept is None else kept.view.seq
        self._file = EventsFile(folder, "s", disk, kept=None if kept is None else kept.end)

    def emit(self, payload: ev.Payload, *, turn: int, gen: int) -> ev.Event:
        event = ev.Event(self._last + 1, 0.0, turn, gen, payload)
        self._last = event.seq
        self._file.append(event.to_line().encode() + b"\n")
        self.events.append(event)
        self._arrived.set()
        return event

    def close(self) -> None:
        self._file.close()


async def conversation(folder: Path, outside: Outside, disk: FileDisk) -> None:
    sink = JournalSink(folder, disk)
    store = OwnStore(DirectStore(folder, disk=disk), "s")
    async with talk(paying(outside), own_store=store, sink=sink, mode="text") as t:
        await pay_in(t, outside)
    sink.close()


def images(folder: Path) -> list[Image]:
    outside, found = Outside(), []

    def take() -> None:
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        found.append(Image(files, list(outside.sent), list(outside.paid)))

    folder.mkdir()
    run_virtual(conversation(folder, outside, WatchedDisk(take)))
    assert outside == Outside(list(TEXTS), [40])
    return found


async def go_on(folder: Path, image: Image) -> None:
    """Let another engine go on, and check that nothing acknowledged is lost."""
    folder.mkdir()
    for name, data in image.files.items():
        (folder / name).write_bytes(data)
    try:
        kept = read_kept(folder)
    except JournalError:
        assert (image.sent, image.paid) == ([], [])
        return
    outside = Outside(list(image.sent), list(image.paid))
    before = [event.payload for event in read_journal(folder)]
    called = sum(isinstance(one, ev.ToolCalled) for one in before)
    is_set = any(isinstance(one, ev.StateChanged) and one.key == "app:go" for one in before)
    sink = JournalSink(folder, FileDisk(), kept)
    store = OwnStore(DirectStore(folder), "s", kept)
    async with talk(paying(outside), own_store=store, sink=sink, mode="text") as t:
        note_sent(t, outside)
        # As a text of its own, quoted for a server that may know it, or with what has been done for it, within what the
        # model is told of the talk.
        again = t.wire if kept.work.turn_calls else [*t.sent("text"), *t.sent("user context")]
        assert all(one.text in str(again) for one in kept.work.unanswered)
        await t.says("Here I am again.")
        await t.ends()
        is_known = t.state.get("app:go", False)
        # The snapshot may be newer than the journal.
        assert is_known or not is_set
    sink.close()
    after = read_journal(folder)
    events = list(after)
    assert after.problems == []
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert is_known is any(
        isinstance(one, ev.StateChanged) and one.key == "app:go" for one in (event.payload for event in events)
    )
    told = [event.payload.text for event in events if isinstance(event.payload, ev.TextSent)]
    assert len(told) == len(set(told))
    assert set(image.sent) <= set(told)
    assert set(kept.work.waiting.values()) <= set(told)
    assert outside.paid == image.paid
    assert len(image.paid) <= called
    rest = OpenWork()
    for event in events[:-1]:  # the last one is the end of the session, with which all ends
        rest.apply(event)
    assert (rest.calls, rest.unanswered, rest.waiting) == ({}, [], {})


def test_a_kill_at_any_write_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    found = images(tmp_path / "whole")
    assert len(found) > 100
    for point in range(0, len(found), EVERY):
        run_virtual(go_on(tmp_path / str(point), found[point]))
