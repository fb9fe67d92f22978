"""The console's end of a link sends commands in order and reports every ending."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.support.manual_clock import ManualClock
from tests.support.scripted_link import ScriptedLink, source_of

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.commands import Command, HangUp, SendText, SetMicrophone
from gemini_live_runtime.engine.link import Link, LinkClosed, LinkMessage
from gemini_live_runtime.errors import EngineError, NewerFormatError, ProtocolError
from gemini_live_tui.session_data import link as session_link
from gemini_live_tui.session_data.link import MAX_BAD_LINES, SessionLink
from gemini_live_tui.session_data.store import NotSent, Store


class _Running:
    def __init__(self, source: Callable[[], Awaitable[Link]]) -> None:
        self.store = Store(ManualClock(), lambda: None)
        self.failed: list[tuple[Command, str]] = []
        self.session = SessionLink(source, self.store, lambda command, reason: self.failed.append((command, reason)))
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


def test_nothing_can_be_sent_before_the_engine_is_there_or_after_it_is_gone() -> None:
    async def main() -> None:
        link = ScriptedLink()
        running = _Running(source_of(link))
        with pytest.raises(NotSent, match="not ready"):
            running.session.send(HangUp())
        await asyncio.sleep(1)
        link.die("Gone.")
        await running.task
        with pytest.raises(NotSent, match="over"):
            running.session.send(HangUp())
        assert running.store.lost == "Gone."

    run_virtual(main())


def test_a_command_that_could_not_be_handed_over_is_reported() -> None:
    async def main() -> None:
        link = ScriptedLink()
        running = await _started(link)
        link.broken = "The pipe broke."
        ident = running.session.send(SendText(text="a"))
        await asyncio.sleep(1)
        assert [(command.id, reason) for command, reason in running.failed] == [(ident, "The pipe broke.")]
        running.task.cancel()

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
