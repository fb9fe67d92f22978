"""The console's end of a link sends commands in order and reports every ending."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.manual_clock import ManualClock
from tests.support.scripted_link import ScriptedLink, source_of
from tests.unit.tui.console_link_support import RunningLink, started
from tests.unit.tui.test_console_reattach import _Session, _words

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.commands import HangUp, SendText, SetMicrophone
from gemini_live_runtime.engine.link import Bye, Hello, Link, LinkClosed, LinkMessage
from gemini_live_runtime.errors import EngineError, NewerFormatError, ProtocolError
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


def test_commands_go_out_in_order_each_with_its_own_id() -> None:
    async def main() -> None:
        link = ScriptedLink()
        running = await started(link)
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
        running = await started(ScriptedLink())
        for _ in range(MAX_UNSENT):
            running.session.send(HangUp())
        with pytest.raises(NotSent, match="does not take commands at the moment"):
            running.session.send(HangUp())
        running.task.cancel()

    run_virtual(main())


def test_nothing_can_be_sent_before_the_engine_is_there_or_after_it_is_gone() -> None:
    async def main() -> None:
        link = ScriptedLink()
        running = RunningLink(source_of(link))
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
        running = await started(link)
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
        running = await started(first)
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

        running = RunningLink(source)
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
        running = await started(link)
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
        running = RunningLink(source_of(link))
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
        running = RunningLink(source_of(_Garbled(MAX_BAD_LINES)))
        await running.task
        assert running.store.lost == "A line is not understood."

    run_virtual(main())


def test_hanging_up_waits_for_the_last_word() -> None:
    async def main() -> None:
        link = ScriptedLink()
        link.start()
        running = await started(link)
        before = asyncio.get_running_loop().time()
        await running.session.hang_up(5.0)
        assert link.orders == [HangUp()]
        assert running.task.done()
        assert asyncio.get_running_loop().time() == before

    run_virtual(main())


def test_hanging_up_waits_no_longer_than_it_was_told() -> None:
    async def main() -> None:
        link = ScriptedLink(answering=False)
        running = await started(link)
        before = asyncio.get_running_loop().time()
        await running.session.hang_up(2.0)
        assert asyncio.get_running_loop().time() - before == pytest.approx(2.0)
        running.task.cancel()

    run_virtual(main())


def test_hanging_up_waits_on_while_the_engine_has_more_to_say() -> None:
    async def main() -> None:
        link = ScriptedLink(answering=False)
        link.start()
        running = await started(link)
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
        running = await started(link)

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
        running = await started(link)
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
        running = await started(first)
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
        running = await started(ScriptedLink())
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

        running = RunningLink(source)
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

        running = RunningLink(source)
        await asyncio.sleep(1)
        running.task.cancel()
        return order

    assert run_virtual(main()) == ["reach", "import"]


def test_an_engine_that_falls_silent_is_told_and_taken_back_when_it_answers() -> None:
    async def main() -> None:
        link = ScriptedLink()
        running = await started(link)
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
        consoles = [await started(older), await started(behind)]
        await asyncio.sleep(60)
        assert [running.store.is_silent for running in consoles] == [False, False]
        for running in consoles:
            running.task.cancel()

    run_virtual(main())
