"""Check one contract for links in process, by Unix socket, and by TCP and token."""

from __future__ import annotations

import asyncio
import os

import pytest
from tests.unit.engine.running_engine import engine, folded, is_event, join, receive, until

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import Command, HangUp, SendText, SetMicrophone
from gemini_live_runtime.engine import console_outbox
from gemini_live_runtime.engine.link import Bye, Hello, LinkClosed, Snapshot
from gemini_live_runtime.engine.socket_link import SocketLink
from gemini_live_runtime.journal.completion.missing_parts import MissingPart
from gemini_live_runtime.samples import MeterSample

SAID_NOTHING = (MissingPart("output", "the model said nothing"),)
"""Parts missing in a session without a word."""


@pytest.fixture(params=["queue", "unix", "tcp"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_an_engine_says_hello_and_then_gives_the_fold_so_far(kind):
    async with engine(kind) as running:
        link = await running.attach()
        hello, snapshot = await receive(link), await receive(link)
        assert isinstance(hello, Hello)
        assert (hello.session_id, hello.pid) == ("s1", os.getpid())
        assert isinstance(snapshot, Snapshot)


async def test_events_after_the_snapshot_are_dense_and_in_order(kind):
    async with engine(kind) as running:
        link, messages = await join(running)
        await link.send(Command("c1", SendText(text="many 500")))
        messages += await until(link, is_event(ev.TurnCompleted))
        view = folded(messages)
        said = [block.text for block in view.blocks if block.kind != "notice"]
        assert said == ["many 500", "You typed many 500"]


async def test_a_command_reaches_the_session_as_it_was_sent(kind):
    async with engine(kind) as running:
        link = await running.attach()
        command = Command("c1", SendText(text='quotes " and \n lines and \U0001f600 and é'))
        await link.send(command)
        await until(link, is_event(ev.TurnCompleted))
        assert running.session.commands == [command]


async def test_a_refused_command_is_answered_by_its_id(kind):
    async with engine(kind) as running:
        link = await running.attach()
        await link.send(Command("c7", SetMicrophone(on=True)))
        refusal = (await until(link, is_event(ev.CommandRefused)))[-1].payload
        assert (refusal.command_id, refusal.command) == ("c7", "microphone.set")
        assert "no microphone" in refusal.reason


async def test_a_command_that_breaks_the_session_code_is_refused_and_the_session_goes_on(kind):
    async with engine(kind) as running:
        link = await running.attach()
        await link.send(Command("c1", SendText(text="raise")))
        await link.send(Command("c2", SendText(text="hello")))
        messages = await until(link, is_event(ev.TurnCompleted))
        refused = [m.payload.command_id for m in messages if is_event(ev.CommandRefused)(m)]
        assert refused == ["c1"]


async def test_two_consoles_agree(kind):
    async with engine(kind) as running:
        first, seen = await join(running)
        second, seen_too = await join(running)
        await first.send(Command("c1", SendText(text="one")))
        seen += await until(first, is_event(ev.TurnCompleted))
        seen_too += await until(second, is_event(ev.TurnCompleted))
        assert folded(seen).to_json() == folded(seen_too).to_json()


async def test_a_console_that_comes_later_sees_the_whole_transcript(kind):
    async with engine(kind) as running:
        first, messages = await join(running)
        await first.send(Command("c1", SendText(text="before")))
        early = folded(messages + await until(first, is_event(ev.TurnCompleted)))
        await first.close()
        second = await running.attach()
        await receive(second)
        snapshot = await receive(second)
        assert [block.text for block in snapshot.view.blocks] == ["before", "You typed before"]
        assert snapshot.view.to_json() == early.to_json()


async def test_letting_go_ends_the_link_and_not_the_engine(kind):
    async with engine(kind) as running:
        link = await running.attach()
        await receive(link)
        await link.close()
        with pytest.raises(LinkClosed):
            await link.send(Command("c1", SendText(text="late")))
        with pytest.raises(LinkClosed):
            await link.receive()
        assert not running.task.done()
        assert isinstance(await receive(await running.attach()), Hello)


async def test_hanging_up_ends_with_session_ended_then_bye_then_a_closed_link(kind):
    async with engine(kind) as running:
        (link, _), (watcher, _) = await join(running), await join(running)
        await link.send(Command("c1", HangUp(reason="enough")))
        for end in (link, watcher):
            messages = await until(end, lambda message: isinstance(message, Bye))
            assert [m.payload.reason for m in messages if is_event(ev.SessionEnded)(m)] == ["enough"]
            assert messages[-1] == Bye("enough", 0, SAID_NOTHING)
            with pytest.raises(LinkClosed):
                await receive(end)
        assert await running.task == 0


@pytest.mark.parametrize(("limit", "most"), [("MAX_OUTBOX_LINES", 200), ("MAX_OUTBOX_BYTES", 100_000)])
async def test_a_console_that_falls_too_far_behind_is_let_go_and_may_attach_again(kind, limit, most, monkeypatch):
    monkeypatch.setattr(console_outbox, limit, most)
    async with engine(kind) as running:
        (slow, _), (quick, _) = await join(running), await join(running)
        # More than the outbox holds, without a pause in which anything could be sent.
        for number in range(300):
            running.host.hub.tell(ev.Log(source="engine", level="info", text=f"{number} " + "x" * 500))
        told = running.host.hub.view.seq
        with pytest.raises(LinkClosed, match="behind"):
            await until(slow, lambda message: False)
        await quick.close()
        monkeypatch.undo()
        again = await slow.reattach()
        await receive(again)
        # The meters may have followed.
        assert (await receive(again)).view.seq >= told


async def test_what_a_console_orders_before_it_reads_that_it_was_let_go_is_not_lost(kind, monkeypatch):
    monkeypatch.setattr(console_outbox, "MAX_OUTBOX_LINES", 20)
    async with engine(kind) as running:
        slow, _ = await join(running)
        for number in range(100):
            running.host.hub.tell(ev.Log(source="engine", level="info", text=f"{number}"))
        # All lines are on their way, and the engine is through with this link but for its commands.
        for _ in range(50):
            await asyncio.sleep(0)
        order = SendText(text="still here")
        await slow.send(Command("c1", order))
        with pytest.raises(LinkClosed, match="behind"):
            await until(slow, lambda message: False)
        for _ in range(10_000):
            if running.session.commands:
                break
            await asyncio.sleep(0)
        assert [command.order for command in running.session.commands] == [order]


async def test_a_console_cannot_attach_again_to_an_engine_that_is_gone(kind):
    async with engine(kind) as running:
        link, _ = await join(running)
        running.host.hang_up("enough")
        await until(link, lambda message: isinstance(message, Bye))
        await link.close()
        await running.task
        if kind == "queue":
            assert (await until(await link.reattach(), lambda message: isinstance(message, Bye)))[-1] == Bye(
                "enough", 0, SAID_NOTHING
            )
        else:
            with pytest.raises((ConnectionRefusedError, FileNotFoundError)):
                await link.reattach()


async def test_events_are_not_dropped_for_a_console_that_reads_slowly_within_the_bound(kind):
    async with engine(kind) as running:
        link, messages = await join(running)
        for number in range(5000):
            running.host.hub.tell(ev.Log(source="engine", level="info", text=f"{number} " + "x" * 500))
        await asyncio.sleep(0)
        messages += await until(link, lambda m: is_event(ev.Log)(m) and m.payload.text.startswith("4999 "))
        seqs = [message.seq for message in messages if isinstance(message, ev.Event)]
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))


async def test_samples_come_while_a_console_is_attached_and_the_last_one_wins(kind):
    async with engine(kind) as running:
        link = await running.attach()
        await until(link, lambda message: isinstance(message, MeterSample))
        running.session.mic_db = -12.5
        sample = (await until(link, lambda m: isinstance(m, MeterSample)))[-1]
        assert sample.mic_db == -12.5


async def test_a_line_that_is_no_command_is_refused_and_the_link_goes_on(kind):
    async with engine(kind) as running:
        link = await running.attach()
        for line in (b"garbage\n", b'{"id": "c1", "command": "fly"}\n', b'{"id": "c2", "command": "text.send"}\n'):
            if isinstance(link, SocketLink):
                link._writer.write(line)
            else:
                running.host.submit(line)
        await link.send(Command("c3", SendText(text="fine")))
        messages = await until(link, is_event(ev.TurnCompleted))
        refusals = [m.payload for m in messages if is_event(ev.CommandRefused)(m)]
        assert [(r.command_id, r.command) for r in refusals] == [("", ""), ("c1", "fly"), ("c2", "text.send")]
        assert "JSON" in refusals[0].reason
        assert "text.send" in refusals[1].reason
        assert "text" in refusals[2].reason
