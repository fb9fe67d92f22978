"""Links over sockets: who is let in, for how long, and lines that are wrong."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import tempfile
from pathlib import Path

import pytest
from tests.support.patience import PATIENCE_S
from tests.unit.engine.running_engine import engine, is_event, join, receive, until

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import Command, HangUp, SendText
from gemini_live_runtime.engine import console_server as server_module
from gemini_live_runtime.engine import link as link_module
from gemini_live_runtime.engine import socket_link as socket_link_module
from gemini_live_runtime.engine.link import Bye, Hello, LinkClosed, Snapshot, decode, encode
from gemini_live_runtime.engine.socket_link import SocketLink
from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.journal.fold.packing import unpack
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView


@pytest.fixture(params=["unix", "tcp"])
def socket_kind(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_a_console_that_hangs_up_behind_a_flood_gets_only_what_is_about_the_end(socket_kind):
    async with engine(socket_kind) as running:
        link, _ = await join(running)
        for number in range(100):
            running.host.hub.tell(ev.Log(source="engine", level="info", text=str(number)))
        running.host.hub.tell(ev.Notice(level="error", code="events-missing", text="1 event is missing."))
        await link.send(Command("c1", HangUp()))
        messages = await until(link, lambda message: isinstance(message, Bye))
        assert not [message for message in messages if is_event(ev.Log)(message)]
        assert [m.payload.code for m in messages if is_event(ev.Notice)(m)] == ["events-missing"]
        assert [m.payload.reason for m in messages if is_event(ev.SessionEnded)(m)] == ["hung up"]


async def test_a_line_that_is_too_long_ends_that_link_only(socket_kind):
    async with engine(socket_kind) as running:
        bad, good = await running.attach(), await running.attach()
        await receive(bad)

        async def flood() -> None:
            bad._writer.write(b"x" * (2 * 1024 * 1024))
            await bad._writer.drain()

        flooding = asyncio.create_task(flood())
        with pytest.raises(LinkClosed):
            await until(bad, lambda message: False)
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)
        await good.send(Command("c1", SendText(text="still here")))
        await until(good, is_event(ev.TurnCompleted))


async def test_a_console_that_only_sends_nonsense_is_let_go(socket_kind):
    async with engine(socket_kind) as running:
        link = await running.attach()
        link._writer.write(b"nonsense\n" * 100)
        with pytest.raises(LinkClosed, match="no commands"):
            await until(link, lambda message: False)


async def test_a_newer_console_is_refused_by_name(socket_kind, monkeypatch):
    async with engine(socket_kind) as running:
        with monkeypatch.context() as newer:
            newer.setattr("gemini_live_runtime.engine.socket_link.ev.VERSION", 99)
            link = await running.attach()
        with pytest.raises(LinkClosed, match="version 99"):
            await receive(link)


async def test_a_caller_that_says_nothing_is_sent_away(socket_kind, monkeypatch):
    monkeypatch.setattr(server_module, "HELLO_S", 0.05)
    async with engine(socket_kind) as running:
        link = await running.attach()
        reader, writer = await _raw(link)
        line = await asyncio.wait_for(reader.readline(), PATIENCE_S)
        assert "No hello within" in json.loads(line)["closed"]["reason"]
        writer.close()


async def test_more_consoles_at_once_than_there_is_room_for_are_refused_one_by_one(socket_kind, monkeypatch):
    monkeypatch.setattr(server_module, "MAX_CONSOLES", 3)
    async with engine(socket_kind) as running:
        callers = [await running.attach() for _ in range(8)]
        answers = await asyncio.gather(*(receive(link) for link in callers), return_exceptions=True)
        assert sum(isinstance(answer, Hello) for answer in answers) == 3 == running.host.hub.consoles
        refusals = {str(answer) for answer in answers if isinstance(answer, LinkClosed)}
        assert refusals == {"This engine has 3 consoles already; close one of them and attach again"}


async def test_callers_that_say_nothing_leave_no_room_until_they_are_gone(socket_kind, monkeypatch):
    monkeypatch.setattr(server_module, "MAX_HELLOS", 2)
    async with engine(socket_kind) as running:
        first = await running.attach()
        assert isinstance(await receive(first), Hello)
        silent = [await _raw(first) for _ in range(2)]
        with pytest.raises(LinkClosed, match="attaching to this engine already"):
            await receive(await running.attach())
        for reader, writer in silent:
            writer.write(b"no hello\n")
            assert b"must be a hello" in await asyncio.wait_for(reader.read(), PATIENCE_S)
            writer.close()
        assert isinstance(await receive(await running.attach()), Hello)


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="the system has no Unix sockets")
async def test_a_console_that_is_refused_before_its_hello_learns_why(tmp_path, monkeypatch):
    with tempfile.TemporaryDirectory(prefix="glt") as name, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(Path(name) / "door"))
        listener.listen()

        def refuse(connection: socket.socket) -> int:
            # Between connecting and the hello, as an engine may that has too many callers.
            caller, _ = listener.accept()
            with caller:
                caller.sendall(encode(link_module.Closed("Try again in a moment")).encode() + b"\n")
            return os.getuid()

        monkeypatch.setattr(socket_link_module, "peer_uid", refuse)
        with pytest.raises(LinkClosed, match="Try again in a moment"):
            await receive(await SocketLink.connect(Path(name)))


@pytest.mark.parametrize(
    "token",
    ["", "[" * 4000, '{"port": 1e999, "token": "x"}', '{"port": 70000, "token": "x"}', '{"port": 1}', "x" * 5000],
    ids=["empty", "nested", "infinite", "too large", "without token", "long"],
)
async def test_a_damaged_token_file_is_named_and_no_engine(token, tmp_path):
    (tmp_path / "door.json").write_text(token)
    with pytest.raises(OSError, match=r"door\.json"):
        await SocketLink.connect(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        '{"snapshot": null}',
        '{"snapshot": {"blocks": [7]}}',
        '{"snapshot": {"mind": []}}',
        '{"snapshot": {"health": {"echo": []}}}',
        '{"snapshot": {"playhead": 1}}',
        '{"sample": {"mic_db": "loud"}}',
        '{"bye": {"reason": "over", "exit_code": "x"}}',
        '{"hello": {"format": "gemini-live-tui/events", "version": 0, "session_id": "s", "pid": 1e999, "program": ""}}',
        "[]",
        "7",
    ],
)
def test_a_malformed_line_of_an_engine_is_one_whatever_is_wrong(line):
    with pytest.raises(ProtocolError):
        decode(line)


@pytest.mark.parametrize(
    "hello", [b"hello\n", b'{"hello": {"format": "another"}}\n', b'{"hello": 7}\n', b"GET / HTTP/1.1\r\n"]
)
async def test_a_wrong_hello_is_called_one_and_not_a_wrong_recording(hello):
    async with engine("unix") as running:
        reader, writer = await _raw(await running.attach())
        writer.write(hello)
        reason = json.loads(await asyncio.wait_for(reader.read(), PATIENCE_S))["closed"]["reason"]
        assert reason == "The first line of a console must be a hello of gemini-live-tui"
        writer.close()


async def test_an_engine_that_says_a_wrong_hello_is_told_from_a_recording():
    with pytest.raises(ProtocolError, match="The engine sent something else than a hello"):
        decode('{"hello": {"format": "another", "session_id": "s1", "pid": 1, "program": "p"}}')


async def _raw(link: SocketLink) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    peer = link._writer.get_extra_info("peername")
    if isinstance(peer, tuple):
        return await asyncio.open_connection(*peer[:2])
    return await asyncio.open_unix_connection(peer)


async def test_a_caller_with_a_wrong_token_learns_nothing():
    async with engine("tcp") as running:
        reader, writer = await _raw(await running.attach())
        hello = {"format": ev.FORMAT, "version": ev.VERSION, "token": "0" * 64}
        writer.write(json.dumps({"hello": hello}).encode() + b"\n")
        answer = json.loads(await asyncio.wait_for(reader.read(), PATIENCE_S))
        assert answer == {"closed": {"reason": "The token is wrong"}}
        writer.close()


async def test_a_caller_of_another_user_is_refused(monkeypatch):
    monkeypatch.setattr(server_module, "peer_uid", lambda connection: os.getuid() + 1)
    async with engine("unix") as running:
        with pytest.raises(LinkClosed, match="another user"):
            await receive(await running.attach())


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="the system does not tell who calls")
async def test_the_user_at_the_other_end_is_known():
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        assert server_module.peer_uid(here) == os.getuid()


@pytest.mark.parametrize(("kind", "name"), [("unix", "door"), ("tcp", "door.json")])
async def test_the_door_is_private_even_under_an_open_umask(kind, name):
    before = os.umask(0)
    try:
        async with engine(kind) as running:
            folder = running.folder
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    finally:
        os.umask(before)


async def test_a_line_above_the_limit_is_skipped_and_the_link_goes_on():
    reader = asyncio.StreamReader(limit=200)
    link = SocketLink(reader, None, Path())
    last = encode(Bye("over", 0)).encode() + b"\n"
    reader.feed_data(b"x" * 500 + b"\n" + last)  # the end of the long line is at hand
    assert await link.receive() == Bye("over", 0)
    reader.feed_data(b"x" * 500)
    waiting = asyncio.create_task(link.receive())
    await asyncio.sleep(0)
    reader.feed_data(b"x" * 500 + b"\n" + last)
    assert await waiting == Bye("over", 0)


async def test_a_console_takes_no_longer_line_of_its_engine(monkeypatch):
    monkeypatch.setattr(socket_link_module, "MAX_LINE_BYTES", 20_000)
    async with engine("unix") as running:
        console, _ = await join(running)
        for text in ("x" * 50_000, "after it"):
            running.host.hub.tell(ev.Log(source="engine", level="info", text=text))
        told = (await until(console, is_event(ev.Log)))[-1]
        assert told.payload.text == "after it"


def test_a_snapshot_above_the_limit_leaves_out_the_longest_values(monkeypatch):
    view = SessionView()
    for seq, (key, value) in enumerate([(f"app:k{number}", "漢" * 2000) for number in range(20)] + [("app:n", 1)], 1):
        change = ev.StateChanged(key=key, old=None, new=value, mutation=seq, origin="agent")
        apply(view, ev.Event(seq, 0.0, 0, 0, change))
    monkeypatch.setattr(link_module, "MAX_LINE_BYTES", 100_000)
    line = encode(Snapshot(view))
    assert len(line.encode()) < 100_000
    shown = decode(line).view.agent_view.keys
    assert unpack(shown["app:n"].value) == 1
    assert "too long to show" in unpack(shown["app:k3"].value)
