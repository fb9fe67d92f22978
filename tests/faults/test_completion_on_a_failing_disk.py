"""Engines say of a recording what its readers find: whether it is complete."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path

import pytest
from faulty_disk import FaultyDisk
from tests.support.passive_session import PassiveSession

from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.in_process import in_process
from gemini_live_runtime.engine.link import Bye
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.journal.completion.missing_parts import Completion
from gemini_live_runtime.journal.recording.reader import completion_of, read_journal
from gemini_live_runtime.journal.sessions.catalog import list_entries

ANSWER = (
    ev.TurnStarted(by="typed"),
    ev.TextSent(text="hello", command_id="c1"),
    ev.TranscriptDelta(side="model", text="Good day."),
    ev.TurnCompleted(outcome="complete"),
)


class OneAnswer(PassiveSession):
    """Session of one question with its answer, on disk after each event."""

    async def run(self) -> int:
        spec = self._spec
        named = {"session_id": spec.session_id, "agent": "a", "model": "m", "backend": "local", "program": "test"}
        started = ev.SessionStarted(**named, wall=1.0, record=spec.record, mode="text")
        for payload in (started, *ANSWER, ev.SessionEnded(reason="done")):
            self._hub.emit(payload, turn=1, gen=1)
            await self._hub.written(10.0)
        return 0


async def goodbye(data: Path) -> Completion:
    """Run the session; return what its goodbye says."""
    engine = in_process(EngineSpec(session_id="s1", data_dir=str(data), record="text", linger_s=60.0), OneAnswer)
    while not isinstance(message := await engine.link.receive(), Bye):
        pass
    assert await engine.wait() == 0
    return Completion(message.missing)


@pytest.mark.parametrize("lasting", [False, True])
def test_a_disk_that_fails_at_any_call_is_told_by_the_engine_as_a_reader_finds_it(
    lasting: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: set[str] = set()
    for at in range(1, 100):
        disk = FaultyDisk(at, errno.ENOSPC, lasting=lasting)
        data = tmp_path / str(at)
        with monkeypatch.context() as patch:
            patch.setattr("gemini_live_runtime.journal.recording.writer.Disk", lambda disk=disk: disk)
            said = asyncio.run(goodbye(data))
        entries = list_entries(data / "sessions")
        if entries and not entries[0].problem:
            found = completion_of(read_journal(data / "sessions" / "s1"))
            assert entries[0].missing_parts == found.parts
            assert said.parts[:1] == found.parts[:1], (at, disk.failed, said.words, found.words)
        told.update(said.parts[:1])
        if not disk.failed:
            assert said.is_complete
            break
    assert told == ({"journal", "ending"} if lasting else {"journal"})
