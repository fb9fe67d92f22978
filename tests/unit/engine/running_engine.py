"""Run an engine with a scripted session, and attach consoles to it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from scripted_session import ScriptedSession, make_session
from tests.support.patience import PATIENCE_S

from gemini_live_runtime import events as ev
from gemini_live_runtime.engine import host as host_module
from gemini_live_runtime.engine.console_server import ConsoleServer
from gemini_live_runtime.engine.host import Host
from gemini_live_runtime.engine.link import Link, LinkMessage, Snapshot
from gemini_live_runtime.engine.queue_link import QueueLink
from gemini_live_runtime.engine.socket_link import SocketLink
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView

Attach = Callable[[], Awaitable[Link]]


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
    """Run an engine whose consoles attach by `kind`: queue, unix or tcp."""
    sessions: list[ScriptedSession] = []
    began = asyncio.Event()

    def factory(spec, hub, clock):
        sessions.append(make_session(spec, hub, clock))
        return sessions[-1]

    with tempfile.TemporaryDirectory(prefix="glt") as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_module, "FIRST_CONSOLE_S", 0.01)
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
    """Return the view that a console has after these messages."""
    view = SessionView()
    for message in messages:
        if isinstance(message, Snapshot):
            view = message.view
        elif isinstance(message, ev.Event):
            assert message.seq == view.seq + 1
            apply(view, message)
    return view
