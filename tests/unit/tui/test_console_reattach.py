"""A console goes on with another engine, and reads what it missed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.support.scripted_link import ScriptedLink, source_of
from tests.unit.tui.console_link_support import RunningLink, started

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.commands import HangUp, SendText, SetMicrophone
from gemini_live_runtime.engine.link import Bye, Hello, Link, LinkMessage, Snapshot
from gemini_live_runtime.journal.completion.missing_parts import MissingPart
from gemini_live_runtime.journal.files.lines import EVENTS_FILE
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.journal.history import missed_events
from gemini_live_tui.session_data import link as session_link
from gemini_live_tui.session_data.store import NotSent, Store


class _Session:
    """A session of which a console sees parts, and its recording."""

    def __init__(self, folder: Path, *, recorded: bool) -> None:
        self.folder = str(folder) if recorded else ""
        self.events: list[ev.Event] = []
        self._file = folder / EVENTS_FILE
        self._file.write_text(json.dumps({"format": ev.FORMAT, "version": ev.VERSION, "session_id": "s"}) + "\n")

    def say(self, *payloads: ev.Payload) -> list[ev.Event]:
        new = [ev.Event(len(self.events) + n, 1.0, 1, 1, payload) for n, payload in enumerate(payloads, 1)]
        self.events += new
        with self._file.open("a") as file:
            file.writelines(f"{event.to_line()}\n" for event in new)
        return new

    def link(self) -> ScriptedLink:
        link = ScriptedLink()
        link.put(Hello("s", 1, "test", self.folder))
        link.put(Snapshot(fold(self.events)))
        return link


class _Mortal(_Session):
    """A session whose engines die; `keep` events of it are on the disk then."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, recorded=True)
        self.engines = 1
        self.started: list[ScriptedLink] = []

    def dies(self, *, kept: int) -> None:
        del self.events[kept:]

    async def resume(self, folder: Path) -> Link:
        self.engines += 1
        self.say(ev.SessionResumed(kept=len(self.events), after="crash", wall=0.0, record="text", program="test"))
        self.started.append(self.link())
        return self.started[-1]

    def link(self) -> ScriptedLink:
        link = ScriptedLink()
        link.put(Hello("s", self.engines, "test", self.folder))
        link.put(Snapshot(fold(self.events)))
        return link


async def _follows(session: _Mortal) -> tuple[RunningLink, ScriptedLink]:
    link = session.link()
    running = RunningLink(source_of(link), resume=session.resume)
    await _take_in(running)
    return running, link


def test_a_console_goes_on_with_another_engine_and_says_which_rows_are_gone(tmp_path: Path) -> None:
    async def main() -> None:
        session = _Mortal(tmp_path)
        session.say(*_words("one "))
        running, link = await _follows(session)
        for event in session.say(
            ev.TurnCompleted(outcome="complete"), ev.TextSent(text="two", command_id="x"), *_words("three ")
        ):
            link.put(event)
        await _take_in(running)
        assert [block.text for block in running.store.view.blocks] == ["one ", "two", "three "]
        session.dies(kept=2)
        link.die("The engine is gone")
        await _take_in(running)
        assert running.store.view.blocks[0].text == "one "
        assert "2 rows had not been recorded yet and are gone" in running.store.reattached
        assert not running.store.is_restarting
        running.task.cancel()

    run_virtual(main())


def test_a_text_that_a_dead_engine_did_not_accept_goes_to_the_next_one(tmp_path: Path) -> None:
    async def main() -> None:
        session = _Mortal(tmp_path)
        session.say(*_words("one "))
        running, link = await _follows(session)
        link.answering = False
        accepted, lost = (running.session.send(SendText(text=text)) for text in ("accepted", "lost"))
        session.say(ev.SendIntended(kind="text", ref=accepted, text="accepted"))
        await _take_in(running)
        link.broken = "The engine is gone"
        later = running.session.send(SendText(text="later"))
        link.die("The engine is gone")
        await _take_in(running)
        assert sorted(command.id for command in session.started[0].sent) == sorted([lost, later])
        running.task.cancel()

    run_virtual(main())


def test_engines_that_die_again_and_again_are_not_started_for_ever(tmp_path: Path) -> None:
    async def main() -> None:
        session = _Mortal(tmp_path)
        session.say(*_words("one "))
        running, link = await _follows(session)
        for number in range(session_link.MAX_DEATHS):
            link.die("The engine is gone")
            await asyncio.sleep(1)
            if number < session_link.MAX_DEATHS - 1:
                link = session.started[-1]
        await running.task
        assert len(session.started) == session_link.MAX_DEATHS - 1
        assert "gemini-live-tui resume" in running.store.lost

    run_virtual(main())


def test_a_session_without_a_recording_is_over_with_its_engine(tmp_path: Path) -> None:
    async def main() -> None:
        session = _Session(tmp_path, recorded=False)
        link = session.link()
        running = await started(link)
        link.die("The engine is gone")
        await running.task
        assert "was not recorded, so no other can go on with it" in running.store.lost

    run_virtual(main())


def _words(*words: str) -> list[ev.Payload]:
    return [ev.TranscriptDelta(side="model", text=word) for word in words]


async def _take_in(running: RunningLink) -> None:
    for _ in range(100):
        await asyncio.sleep(0.1)
        while running.store.drain():
            pass


def _let_go_and_taken_back(folder: Path, *, recorded: bool) -> Store:
    """Attach, be let go during "two three", and be taken back by the engine."""

    async def main() -> Store:
        session = _Session(folder, recorded=recorded)
        session.say(*_words("one "))
        first = session.link()
        running = await started(first)
        await _take_in(running)
        session.say(*_words("two ", "three "))
        second = first.successor = session.link()
        first.die("The console fell 20,001 messages behind")
        await _take_in(running)
        for event in session.say(*_words("four")):
            second.put(event)
        await _take_in(running)
        assert running.session.send(SetMicrophone(on=False))
        await asyncio.sleep(1)
        assert second.orders == [SetMicrophone(on=False)]
        assert running.store.view == fold(session.events)
        running.task.cancel()
        return running.store

    return run_virtual(main())


def test_a_console_that_is_let_go_attaches_again_and_reads_what_it_missed_from_the_recording(tmp_path: Path) -> None:
    store = _let_go_and_taken_back(tmp_path, recorded=True)
    assert (store.lost, store.missed, store.live) == ("", 0, True)
    assert store.history is not None
    assert [event.seq for event in store.history.events(2, 4)] == [2, 3, 4]
    assert "attached again; it takes in 2 events" in store.reattached


def test_without_a_recording_a_console_that_attaches_again_goes_to_the_present(tmp_path: Path) -> None:
    store = _let_go_and_taken_back(tmp_path, recorded=False)
    assert (store.lost, store.missed, store.live, store.epoch) == ("", 0, True, 2)


def test_a_console_that_missed_more_than_it_may_read_goes_to_the_present(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_link, "MAX_MISSED", 1)
    assert _let_go_and_taken_back(tmp_path, recorded=True).epoch == 2


def test_a_damaged_recording_does_not_keep_a_console_from_coming_back(tmp_path: Path) -> None:
    async def main() -> None:
        session = _Session(tmp_path, recorded=True)
        session.say(*_words("one "))
        first = session.link()
        running = await started(first)
        session.say(*_words("two "))
        (tmp_path / EVENTS_FILE).write_text("not a session\n")
        first.successor = session.link()
        first.die()
        await _take_in(running)
        assert running.store.view == fold(session.events)
        running.task.cancel()

    run_virtual(main())


def test_the_end_that_a_console_missed_is_read_from_the_recording(tmp_path: Path) -> None:
    async def main() -> None:
        session = _Session(tmp_path, recorded=True)
        session.say(*_words("one "), ev.TextSent(text="and two?", command_id="c1"))
        link = session.link()
        running = await started(link)
        session.say(ev.SessionEnded(reason="the operator hung up", exit_code=0))
        link.die("The engine is gone")
        await running.task
        while running.store.drain():
            pass
        missing = (MissingPart("deliveries", "1 text has no answer"),)
        assert running.store.bye == Bye("the operator hung up", 0, missing)
        assert running.store.lost == ""

    run_virtual(main())


def test_a_console_that_leaves_reads_only_the_end_of_a_recording_that_it_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missed_events, "_END_BYTES", 2000)

    async def main() -> None:
        session = _Session(tmp_path, recorded=True)
        session.say(*_words("one "))
        link = session.link()
        running = await started(link)
        read: list[ev.Event] = []
        put = running.store.put

        async def noting(message: LinkMessage) -> None:
            read.extend([message] if isinstance(message, ev.Event) else [])
            await put(message)

        monkeypatch.setattr(running.store, "put", noting)
        session.say(*_words(*["word "] * 500))
        session.say(ev.SessionEnded(reason="hung up", exit_code=3))
        leaving = asyncio.create_task(running.session.hang_up(5.0))
        await asyncio.sleep(0)
        link.die("The engine is gone")
        await leaving
        await running.task
        running.store.drain_all()
        assert 1 <= len(read) < 50
        assert running.store.bye == Bye("hung up", 3)

    run_virtual(main())


class _Full(ScriptedLink):
    """An engine that answers, but takes no further console."""

    async def reattach(self) -> Link:
        other = _Full()
        other.die("This engine has 16 consoles already")
        return other


def test_a_session_that_does_not_take_the_console_back_is_not_called_over() -> None:
    async def main() -> None:
        link = _Full()
        link.start()
        running = await started(link)
        link.die("The console fell behind")
        await running.task
        assert running.store.goes_on
        assert "16 consoles" in running.store.lost
        with pytest.raises(NotSent, match="link to the session is lost"):
            running.session.send(HangUp())

    run_virtual(main())
