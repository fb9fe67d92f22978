"""An engine learns at once that another program has queued something."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gemini_live_runtime.clock import LoopClock
from gemini_live_runtime.engine import poke as poke_module
from gemini_live_runtime.engine import registry
from gemini_live_runtime.engine.console_server import ConsoleServer, ServerKind
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.poke import poke, status_of
from gemini_live_runtime.engine.status import EngineStatus

STATUS = EngineStatus(word="dormant", alone_s=200.0, ends_in_s=100.0, tasks=2, harness_root="/records")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    return folder


@asynccontextmanager
async def listening(root: Path, kind: ServerKind) -> AsyncIterator[list[str]]:
    """Serve the engine `s1`; yields the pokes so far."""
    pokes: list[str] = []
    hub = Hub("s1", LoopClock(), program="p", pid=1)
    server = ConsoleServer(
        hub, root / "s1", lambda line: True, kind=kind, on_poke=lambda: pokes.append("poke"), status=lambda: STATUS
    )
    await server.open()
    lock = registry.take_lock(root / "s1")
    try:
        yield pokes
    finally:
        await server.close()
        os.close(lock)
        assert hub.consoles == 0


@pytest.mark.parametrize("kind", ["unix", "tcp"])
async def test_a_poke_reaches_the_engine_and_attaches_no_console(root: Path, kind: ServerKind) -> None:
    async with listening(root, kind) as pokes:
        assert await asyncio.to_thread(poke, "s1", root)
        assert pokes == ["poke"]


async def test_a_poke_without_the_token_is_refused(root: Path) -> None:
    async with listening(root, "tcp") as pokes:
        port, _ = registry.read_token(root / "s1")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b'{"poke": {"token": "guessed"}}\n')
        assert b"The token is wrong" in await reader.read()
        writer.close()
        assert pokes == []


@pytest.mark.parametrize("line", [b'{"poke": 1}\n', b'{"poke": {}, "hello": {}}\n'])
async def test_a_poke_with_other_fields_is_a_poke(root: Path, line: bytes) -> None:
    async with listening(root, "unix") as pokes:
        reader, writer = await asyncio.open_unix_connection(root / "s1" / registry.SOCKET_FILE)
        writer.write(line)
        assert await reader.read() == b'{"poked": true}\n'
        writer.close()
        assert pokes == ["poke"]


@pytest.mark.parametrize("name", ["s1", "unknown", "../s1", ""])
def test_an_engine_that_is_not_there_is_not_poked(root: Path, name: str) -> None:
    assert not poke(name, root)


async def test_of_an_answer_without_end_no_more_is_read_than_the_limit(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poke_module, "MAX_ANSWER", 8192)
    (root / "s1").mkdir(mode=0o700)
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x" * 4096)
                await writer.drain()
                sent += 4096

    server = await asyncio.start_unix_server(endless, root / "s1" / registry.SOCKET_FILE, limit=4096)
    assert await asyncio.to_thread(status_of, "s1", root) is None
    server.close()
    await server.wait_closed()
    assert 0 < sent < 16 << 20


def test_an_engine_that_does_not_answer_is_given_up(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemini_live_runtime.engine.poke.POKE_S", 0.01)
    (root / "s1").mkdir(mode=0o700)
    lock = registry.take_lock(root / "s1")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(root / "s1" / registry.SOCKET_FILE))
        listener.listen()
        assert not poke("s1", root)
    os.close(lock)


@pytest.mark.parametrize("kind", ["unix", "tcp"])
async def test_an_engine_tells_what_it_does_and_attaches_no_console(root: Path, kind: ServerKind) -> None:
    async with listening(root, kind) as pokes:
        assert await asyncio.to_thread(status_of, "s1", root) == STATUS
        assert pokes == []


async def test_an_answer_that_is_no_status_is_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemini_live_runtime.engine.console_server._STATUS", "something of a later version")
    async with listening(root, "unix"):
        assert await asyncio.to_thread(status_of, "s1", root) is None


@pytest.mark.parametrize("name", ["s1", "../s1", ""])
def test_an_engine_that_is_not_there_has_no_status(root: Path, name: str) -> None:
    assert status_of(name, root) is None
