"""A recording behind the interface of a live session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.commands import Command, HangUp, Interrupt
from gemini_live_runtime.engine.link import Bye, Hello, LinkClosed, LinkMessage, Snapshot
from gemini_live_runtime.engine.replay import ReplayLink
from gemini_live_runtime.journal.fold import fold
from gemini_live_runtime.journal.reader import read_journal
from gemini_live_runtime.journal.writer import JournalWriter


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    journal = JournalWriter(tmp_path, "s1", audio=False, report=[].append)
    for item in EVENTS:
        journal.append(item.to_line())
    journal.close()
    return tmp_path / "s1"


EVENTS = [
    ev.Event(seq, seq * 10.0, 1, 1, ev.TranscriptDelta(side="model", text=f"word {seq} ")) for seq in range(1, 200)
] + [ev.Event(200, 2000.0, 1, 1, ev.SessionEnded(reason="done", exit_code=0))]


async def everything(link: ReplayLink) -> list[LinkMessage]:
    messages: list[LinkMessage] = []
    while not messages or not isinstance(messages[-1], Bye):
        messages.append(await link.receive())
    return messages


async def test_a_recording_says_hello_gives_its_events_and_says_goodbye(folder):
    link = ReplayLink(read_journal(folder))
    hello, snapshot, *events, bye = await everything(link)
    assert isinstance(hello, Hello)
    assert hello.session_id == "s1"
    assert snapshot.view.seq == 0
    assert events == EVENTS
    assert bye.exit_code == 0
    with pytest.raises(LinkClosed):
        await link.receive()


async def test_a_recording_can_begin_in_the_middle(folder):
    _, snapshot, *events, _ = await everything(ReplayLink(read_journal(folder), start=150))
    assert isinstance(snapshot, Snapshot)
    assert snapshot.view == fold(EVENTS[:150])
    assert events == EVENTS[150:]


def test_a_recording_can_run_at_its_own_pace_or_faster(folder):
    async def main() -> None:
        loop = asyncio.get_running_loop()
        link = ReplayLink(read_journal(folder), speed=2.0)
        started = loop.time()
        await link.receive()
        await link.receive()
        for event in EVENTS:
            assert await link.receive() == event
            assert loop.time() - started == pytest.approx(event.t / 2)

    run_virtual(main())


def test_a_command_is_refused_at_once_and_numbers_stay_dense(folder):
    async def main() -> None:
        link = ReplayLink(read_journal(folder), speed=1.0)
        for _ in range(4):
            await link.receive()
        waiting = asyncio.create_task(link.receive())
        await asyncio.sleep(1)
        await link.send(Command("c1", Interrupt()))
        refusal = await waiting
        assert (refusal.seq, refusal.payload.command_id, refusal.payload.command) == (3, "c1", "interrupt")
        assert "recording" in refusal.payload.reason
        assert (await link.receive()).seq == 4

    run_virtual(main())


async def test_hanging_up_ends_a_replay(folder):
    link = ReplayLink(read_journal(folder), speed=1.0)
    await link.receive()
    await link.receive()
    await link.send(Command("c1", HangUp()))
    assert isinstance(await link.receive(), Bye)
    with pytest.raises(LinkClosed):
        await link.send(Command("c2", Interrupt()))


async def test_closing_wakes_who_waits(folder):
    link = ReplayLink(read_journal(folder), speed=0.001)
    await link.receive()
    await link.receive()
    waiting = asyncio.create_task(link.receive())
    await asyncio.sleep(0)
    await link.close()
    with pytest.raises(LinkClosed):
        await waiting


async def test_other_tasks_run_while_a_long_recording_is_read(folder):
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    await everything(ReplayLink(read_journal(folder)))
    task.cancel()
    assert turns >= 3
