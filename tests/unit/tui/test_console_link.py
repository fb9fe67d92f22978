"""The console's end of a link sends commands in order and reports every ending."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.manual_clock import ManualClock
from tests.support.scripted_link import ScriptedLink, source_of

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.commands import Command, HangUp, SendText, SetMicrophone
from gemini_live_runtime.engine.link import Bye, Hello, Link, LinkClosed, LinkMessage, Snapshot
from gemini_live_runtime.errors import EngineError, NewerFormatError, ProtocolError
from gemini_live_runtime.journal.completion.missing_parts import MissingPart
from gemini_live_runtime.journal.files.lines import EVENTS_FILE
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.journal.history import missed_events
from gemini_live_runtime.samples import MeterSample
from gemini_live_tui.session_data import link as session_link
from gemini_live_tui.session_data import store as store_module
from gemini_live_tui.session_data.link import (
    HANG_UP_TIMEOUT_S,
    MAX_BAD_LINES,
    MAX_UNSENT,
    SILENT_S,
    START_S,
    SessionLink,
)
from gemini_live_tui.session_data.store import MAX_QUEUED, NotSent, Store


class _Running:
    def __init__(self, source: Callable[[], Awaitable[Link]], **more: Any) -> None:
        self.store = Store(ManualClock(), lambda: None)
        self.failed: list[tuple[Command, str]] = []
        self.session = SessionLink(
            source, self.store, lambda command, reason: self.failed.append((command, reason)), **more
        )
        self.task = asyncio.create_task(self.session.run())


async def _started(link: Link) -> _Running:
    running = _Running(source_of(link))
    await asyncio.sleep(1)
    return running


def test_commands_go_out_in_order_each_with_its_own_id() -> None:
    async def main() -> None:
        link = ScriptedLink()
        running = await _started(link)
        orders = [SetMicrophone(on=False), SendText(text="a"), SetMicrophone(on=True)]
        ids = [running.session.send(order) for order in orders]
        await asyncio.sleep(1)
        assert link.orders == orders
        assert [command.id for command in link.sent] == ids
        assert len(set(ids)) == 3
        running.task.cancel()

    run_virtual(main())


def test_only_so_many_commands_wait_for_the_engine_to_read() -> None:
    async def main() -> None:
        running = await _started(ScriptedLink())
        for _ in range(MAX_UNSENT):
            running.session.send(HangUp())
        with pytest.raises(NotSent, match="does not take commands at the moment"):
            running.session.send(HangUp())
        running.task.cancel()

    run_virtual(main())


def test_nothing_can_be_sent_before_the_engine_is_there_or_after_it_is_gone() -> None:
    async def main() -> None:
        link = ScriptedLink()
        running = _Running(source_of(link))
        with pytest.raises(NotSent, match="not ready"):
            running.session.send(HangUp())
        await asyncio.sleep(1)
        link.die("Gone.")
        await running.task
        with pytest.raises(NotSent, match="lost"):
            running.session.send(HangUp())
        assert running.store.lost == "Gone."

    run_virtual(main())


def test_a_command_that_could_not_be_handed_over_is_reported() -> None:
    async def main() -> None:
        link = ScriptedLink()
        running = await _started(link)
        link.broken = "The pipe broke."
        ident = running.session.send(SendText(text="a"))
        await asyncio.sleep(2 * session_link.UNSENT_S)
        assert [(command.id, reason) for command, reason in running.failed] == [(ident, "The pipe broke.")]
        running.task.cancel()

    run_virtual(main())


def test_a_command_that_a_link_did_not_take_goes_out_first_on_the_next_one(tmp_path: Path) -> None:
    async def main() -> None:
        session = _Session(tmp_path, recorded=True)
        first = session.link()
        running = await _started(first)
        second = first.successor = session.link()
        first.broken = "The console fell 20,001 messages behind"
        orders = [SendText(text="a"), SendText(text="b")]
        ids = [running.session.send(order) for order in orders]
        await asyncio.sleep(1)
        first.die(first.broken)
        await asyncio.sleep(10)
        assert [command.id for command in second.sent] == ids
        assert not running.failed
        second.broken = "The engine is gone"
        running.session.send(SendText(text="c"))
        await asyncio.sleep(1)
        second.die("The engine is gone")
        await running.task
        assert [(command.order, reason) for command, reason in running.failed] == [
            (SendText(text="c"), "The engine is gone.")
        ]

    run_virtual(main())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (EngineError("It did not start", remedy="See doctor"), "It did not start. See doctor."),
        (NewerFormatError("Version 9"), "Version 9."),
        (LinkClosed("Refused."), "Refused."),
        (ConnectionRefusedError(111, "Connection refused"), "The link to the engine failed: Connection refused."),
    ],
)
def test_an_engine_that_cannot_be_reached_is_a_sentence(error: Exception, said: str) -> None:
    async def main() -> None:
        async def source() -> Link:
            raise error

        running = _Running(source)
        await running.task
        assert running.store.lost == said

    run_virtual(main())


class _Garbled(ScriptedLink):
    """Says `bad` lines that cannot be read before anything else."""

    def __init__(self, bad: int) -> None:
        super().__init__()
        self.bad = bad

    async def receive(self) -> LinkMessage:
        if self.bad:
            self.bad -= 1
            raise ProtocolError("A line is not understood")
        return await super().receive()


def test_a_line_that_is_not_understood_is_counted_and_reading_goes_on() -> None:
    async def main() -> None:
        link = _Garbled(3)
        link.start()
        running = await _started(link)
        assert running.session.bad_lines == 3
        while running.store.drain():
            pass
        assert running.store.live
        running.task.cancel()

    run_virtual(main())


def test_keys_are_answered_while_a_backlog_is_read() -> None:
    async def main() -> None:
        link = ScriptedLink()
        link.start()
        link.emit(*_words(*["word "] * 2000))
        running = _Running(source_of(link))
        turns = 0
        for _ in range(10_000):
            turns += link.waiting and not link.delivered
            await asyncio.sleep(0)
        assert link.delivered
        assert turns >= 2000 / session_link.MAX_AT_ONCE
        running.task.cancel()

    run_virtual(main())


def test_a_link_that_only_says_nonsense_is_given_up() -> None:
    async def main() -> None:
        running = _Running(source_of(_Garbled(MAX_BAD_LINES)))
        await running.task
        assert running.store.lost == "A line is not understood."

    run_virtual(main())


def test_hanging_up_waits_for_the_last_word() -> None:
    async def main() -> None:
        link = ScriptedLink()
        link.start()
        running = await _started(link)
        before = asyncio.get_running_loop().time()
        await running.session.hang_up(5.0)
        assert link.orders == [HangUp()]
        assert running.task.done()
        assert asyncio.get_running_loop().time() == before

    run_virtual(main())


def test_hanging_up_waits_no_longer_than_it_was_told() -> None:
    async def main() -> None:
        link = ScriptedLink(answering=False)
        running = await _started(link)
        before = asyncio.get_running_loop().time()
        await running.session.hang_up(2.0)
        assert asyncio.get_running_loop().time() - before == pytest.approx(2.0)
        running.task.cancel()

    run_virtual(main())


def test_hanging_up_waits_on_while_the_engine_has_more_to_say() -> None:
    async def main() -> None:
        link = ScriptedLink(answering=False)
        link.start()
        running = await _started(link)
        quitting = asyncio.create_task(running.session.hang_up(2.0))
        for _ in range(4):
            await asyncio.sleep(1.5)
            link.emit(*_words("more"))
        link.bye("hung up")
        await quitting
        assert running.task.done()
        running.store.drain_all()
        assert running.store.bye == Bye("hung up", 0)

    run_virtual(main())


def test_an_engine_that_talks_on_after_the_hang_up_is_not_waited_for_for_ever() -> None:
    async def main() -> None:
        link = ScriptedLink(answering=False)
        running = await _started(link)

        async def talk() -> None:
            while True:
                await asyncio.sleep(0.5)
                link.emit(*_words("more"))

        talking = asyncio.create_task(talk())
        before = asyncio.get_running_loop().time()
        await running.session.hang_up(2.0)
        assert asyncio.get_running_loop().time() - before == pytest.approx(HANG_UP_TIMEOUT_S)
        talking.cancel()
        running.task.cancel()

    run_virtual(main())


def test_the_last_word_is_read_behind_more_than_the_console_can_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MAX_QUEUED", 3)

    async def main() -> None:
        link = ScriptedLink(answering=False)
        link.start()
        link.emit(*_words(*"abcdefghij"))
        running = await _started(link)
        assert not link.delivered
        link.bye("hung up")
        await running.session.hang_up(2.0)
        assert running.task.done()

    run_virtual(main())


def test_a_hang_up_that_was_lost_with_the_link_is_sent_again(tmp_path: Path) -> None:
    async def main() -> None:
        session = _Session(tmp_path, recorded=True)
        first = session.link()
        first.answering = False
        running = await _started(first)
        second = first.successor = session.link()
        quitting = asyncio.create_task(running.session.hang_up(2.0))
        await asyncio.sleep(1)
        assert first.orders == [HangUp()]
        first.die("The console fell 20,001 messages behind")
        await quitting
        assert second.orders == [HangUp()]
        assert running.task.done()

    run_virtual(main())


def test_a_hang_up_does_not_fail_because_commands_wait() -> None:
    async def main() -> None:
        running = await _started(ScriptedLink())
        for _ in range(MAX_UNSENT):
            running.session.send(SetMicrophone(on=False))
        await running.session.hang_up(2.0)
        assert running.task.done()
        assert [reason for _, reason in running.failed] == ["The session was hung up first."]

    run_virtual(main())


def test_whoever_quits_while_the_engine_is_being_reached_gives_up_reaching_it() -> None:
    async def main() -> None:
        given_up = asyncio.Event()

        async def source() -> Link:
            try:
                await asyncio.Event().wait()
            finally:
                given_up.set()
            raise AssertionError("nobody is there")

        running = _Running(source)
        await asyncio.sleep(1)
        running.task.cancel()
        await given_up.wait()

    run_virtual(main())


def test_the_engine_is_reached_for_before_anything_slow_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> list[str]:
        order: list[str] = []
        monkeypatch.setattr(session_link, "_import_vocabulary", lambda: order.append("import"))

        async def source() -> Link:
            order.append("reach")
            return ScriptedLink()

        running = _Running(source)
        await asyncio.sleep(1)
        running.task.cancel()
        return order

    assert run_virtual(main()) == ["reach", "import"]


def test_an_engine_that_falls_silent_is_told_and_taken_back_when_it_answers() -> None:
    async def main() -> None:
        link = ScriptedLink()
        running = await _started(link)
        link.put(Hello("s", 1, "test", beat_s=1.0))
        for second in range(8):
            link.put(MeterSample(t=second))
            await asyncio.sleep(1)
            assert not running.store.is_silent
        await asyncio.sleep(SILENT_S + 1)
        assert running.store.is_silent
        assert SILENT_S <= ManualClock().wall() - running.store.silent_since <= SILENT_S + 1
        assert running.store.word == "error"
        link.put(MeterSample(t=20.0))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not running.store.is_silent
        running.task.cancel()

    run_virtual(main())


@pytest.mark.parametrize(("is_running", "seconds"), [(True, SILENT_S), (False, START_S)])
def test_an_engine_that_does_not_even_say_hello_is_told(is_running: bool, seconds: int) -> None:
    async def main() -> None:
        store = Store(ManualClock(), lambda: None)
        session = SessionLink(source_of(ScriptedLink()), store, lambda command, reason: None, is_running=is_running)
        task = asyncio.create_task(session.run())
        await asyncio.sleep(seconds - 1)
        assert not store.is_silent
        await asyncio.sleep(3)
        assert store.is_silent
        task.cancel()

    run_virtual(main())


def test_an_engine_is_not_silent_that_promised_no_sample_or_whose_messages_wait_here() -> None:
    async def main() -> None:
        older, behind = ScriptedLink(), ScriptedLink()
        older.put(Hello("s", 1, "test"))
        behind.put(Hello("s", 1, "test", beat_s=1.0))
        behind.emit(*[ev.SessionState(word="text")] * (MAX_QUEUED + 9))
        consoles = [await _started(older), await _started(behind)]
        await asyncio.sleep(60)
        assert [running.store.is_silent for running in consoles] == [False, False]
        for running in consoles:
            running.task.cancel()

    run_virtual(main())


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


async def _follows(session: _Mortal) -> tuple[_Running, ScriptedLink]:
    link = session.link()
    running = _Running(source_of(link), resume=session.resume)
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
        running = await _started(link)
        link.die("The engine is gone")
        await running.task
        assert "was not recorded, so no other can go on with it" in running.store.lost

    run_virtual(main())


def _words(*words: str) -> list[ev.Payload]:
    return [ev.TranscriptDelta(side="model", text=word) for word in words]


async def _take_in(running: _Running) -> None:
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
        running = await _started(first)
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
        running = await _started(first)
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
        running = await _started(link)
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
        running = await _started(link)
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
        running = await _started(link)
        link.die("The console fell behind")
        await running.task
        assert running.store.goes_on
        assert "16 consoles" in running.store.lost
        with pytest.raises(NotSent, match="link to the session is lost"):
            running.session.send(HangUp())

    run_virtual(main())
