"""An engine that goes on with a session owes what the one before has left open."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.passive_session import PassiveSession
from tests.support.recordings import Recorder

from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.in_process import in_process
from gemini_live_runtime.engine.link import Bye
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.journal.recording.reader import completion_of, read_journal
from gemini_live_runtime.journal.sessions.catalog import list_entries

ANSWER = (ev.TranscriptDelta(side="model", text="It is noon."), ev.TurnCompleted(outcome="complete"))


class NextEngine(PassiveSession):
    """Session of an engine that goes on, which publishes `says` and ends."""

    says: tuple[ev.Payload, ...] = ()

    async def run(self) -> int:
        for payload in (*self.says, ev.SessionEnded(reason="done")):
            self._hub.emit(payload, turn=1, gen=1)
        return 0


class AnsweringEngine(NextEngine):
    says = ANSWER


def broken_off(root: Path) -> Path:
    """Record a session whose engine dies after a text, before its answer."""
    made = Recorder()
    made.start()
    made.begin_turn("typed")
    made.emit(ev.TextSent(text="what time is it?", command_id="c1"))
    return made.write(root / "sessions")


@pytest.mark.parametrize(("engine", "parts"), [(NextEngine, ("deliveries", "output")), (AnsweringEngine, ())])
async def test_a_text_from_before_is_owed_until_it_is_answered(
    engine: type[NextEngine], parts: tuple[str, ...], tmp_path: Path
) -> None:
    folder = broken_off(tmp_path)
    (entry,) = list_entries(tmp_path / "sessions")
    assert entry.missing_parts == ("ending", "deliveries", "output", "journal")
    going_on = in_process(EngineSpec(session_id="s1", data_dir=str(tmp_path), resume=True), engine)
    while not isinstance(message := await going_on.link.receive(), Bye):
        pass
    await going_on.wait()
    assert tuple(missing.part for missing in message.missing) == parts
    assert await asyncio.to_thread(lambda: completion_of(read_journal(folder)).parts) == parts
    (entry,) = list_entries(tmp_path / "sessions")
    assert entry.missing_parts == parts
