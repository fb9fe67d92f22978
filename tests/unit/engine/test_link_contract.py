"""Check one contract for links in process, by Unix socket, and by TCP and token."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from scripted_session import ScriptedSession, make_session
from tests.support.patience import PATIENCE_S

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import Command, HangUp, SendText, SetMicrophone
from gemini_live_runtime.engine import console_server as server_module
from gemini_live_runtime.engine import host as host_module
from gemini_live_runtime.engine import hub as hub_module
from gemini_live_runtime.engine import link as link_module
from gemini_live_runtime.engine import socket_link as socket_link_module
from gemini_live_runtime.engine.console_server import ConsoleServer
from gemini_live_runtime.engine.host import Host
from gemini_live_runtime.engine.link import Bye, Hello, Link, LinkClosed, LinkMessage, Snapshot, decode, encode
from gemini_live_runtime.engine.queue_link import QueueLink
from gemini_live_runtime.engine.socket_link import SocketLink
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.journal.completion.missing_parts import MissingPart
from gemini_live_runtime.journal.fold.agent_view import unpack
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.samples import MeterSample

Attach = Callable[[], Awaitable[Link]]

SAID_NOTHING = (MissingPart("output", "the model said nothing"),)
"""Parts missing in a session without a word."""


class Engine:
    """A running host and a way to attach to it."""

    def __init__(
        self, host: Host, folder: Path, attach: Attach, session: list[ScriptedSession], task: asyncio.Task[int]
    ) -> None:
        self.host, self.folder, self.attach, self.task = host, folder, attach, task
        self._session = session

    @property
    def session(self) -> ScriptedSession:
        return self._session[0]


@asynccontextmanager
async def engine(kind: str, **fields: object) -> AsyncIterator[Engine]:
    sessions: list[ScriptedSession] = []
    began = asyncio.Event()

    def factory(spec, hub, clock):
        sessions.append(make_session(spec, hub, clock))
        return sessions[-1]

    with tempfile.TemporaryDirectory(prefix="glt") as name:
        folder = Path(name) / "engine"
        spec = EngineSpec(session_id="s1", **{"record": "off", **fields})
        host = Host(spec, factory)
        server = ConsoleServer(host.hub, folder, host.submit, kind=kind) if kind != "queue" else None

        async def attach() -> Link:
            if server is None:
                return QueueLink(host.hub, host.submit)
            return await SocketLink.connect(folder)

        async def live() -> int:
            code = await host.run(started=began.set)
            if server is not None:
                await server.close()
            await host.close()
            return code

        if server is not None:
            await server.open()
        task = asyncio.create_task(live())
        try:
            await began.wait()
            await asyncio.sleep(0)
            yield Engine(host, folder, attach, sessions, task)
        finally:
            host.hang_up("the test is over")
            async with asyncio.timeout(PATIENCE_S):
                await task


@pytest.fixture(autouse=True)
def _brief_farewell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "FIRST_CONSOLE_S", 0.01)


@pytest.fixture(params=["queue", "unix", "tcp"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


async def receive(link: Link) -> LinkMessage:
    async with asyncio.timeout(PATIENCE_S):
        return await link.receive()


async def until(link: Link, wanted: Callable[[LinkMessage], bool]) -> list[LinkMessage]:
    messages = [await receive(link)]
    while not wanted(messages[-1]):
        messages.append(await receive(link))
    return messages


async def join(running: Engine) -> tuple[Link, list[LinkMessage]]:
    """Attach and receive the hello and the snapshot."""
    link = await running.attach()
    return link, [await receive(link), await receive(link)]


def is_event(payload: type[ev.Payload]) -> Callable[[LinkMessage], bool]:
    return lambda message: isinstance(message, ev.Event) and isinstance(message.payload, payload)


def folded(messages: list[LinkMessage]) -> SessionView:
    view = SessionView()
    for message in messages:
        if isinstance(message, Snapshot):
            view = message.view
        elif isinstance(message, ev.Event):
            assert message.seq == view.seq + 1
            apply(view, message)
    return view


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
    monkeypatch.setattr(hub_module, limit, most)
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
    monkeypatch.setattr(hub_module, "MAX_OUTBOX_LINES", 20)
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


# -- sockets only -----------------------------------------------------------------------------------------------------


@pytest.fixture(params=["unix", "tcp"])
def socket_kind(request: pytest.FixtureRequest) -> str:
    return request.param


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
