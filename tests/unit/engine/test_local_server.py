"""Start the embedded server early: `start` takes it, and raises its failure."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gemini_live_runtime.engine import local_server
from gemini_live_runtime.engine.backends import Local
from gemini_live_runtime.engine.local_server import LocalServerProcess, prestart
from gemini_live_runtime.errors import EngineError, UnreachableError, UpgradeRefusedError
from gemini_live_runtime.wire.endpoints import local_endpoint
from gemini_live_runtime.wire.websocket import open_websocket


async def test_a_server_that_was_begun_is_the_one_that_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    make = asyncio.create_subprocess_exec

    async def counted(*arguments: str, **options: object) -> asyncio.subprocess.Process:
        made.append(arguments[0])
        return await make(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", counted)
    await prestart()
    assert len(made) == 1
    server = await LocalServerProcess.start()
    assert len(made) == 1
    assert server.url.startswith("ws://127.0.0.1:")
    assert local_server._prestarted == {}
    # Every user of the machine can connect to the port.
    for token in ("", "a" * 64):
        with pytest.raises(UpgradeRefusedError, match="This server is for one engine"):
            await open_websocket(local_endpoint(server.url, token))
    transport = await open_websocket(local_endpoint(server.url, server.token))
    await transport.close()
    await server.stop()


async def test_whoever_takes_a_server_that_could_not_begin_hears_why(tmp_path: Path) -> None:
    script = str(tmp_path / "missing.toml")
    await prestart(script)
    with pytest.raises(EngineError, match=r"did not start.*missing\.toml"):
        await LocalServerProcess.start(script)


async def test_a_server_that_was_killed_may_need_more_than_one_attempt_to_start_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend, start = Local("", in_process=False), LocalServerProcess.start
    first, _ = await backend.open()
    assert backend._process is not None
    backend._process._process.kill()
    await backend._process._process.wait()

    async def fails(script: str = "") -> LocalServerProcess:
        raise EngineError("The embedded server did not start", remedy="See why")

    monkeypatch.setattr(LocalServerProcess, "start", fails)
    for _ in range(2):
        with pytest.raises(UnreachableError, match="did not start"):
            await backend.open()
    monkeypatch.setattr(LocalServerProcess, "start", start)
    second, _ = await backend.open()
    assert second.url != first.url
    await backend.close()


async def test_a_server_that_never_started_is_given_up(tmp_path: Path) -> None:
    backend = Local(str(tmp_path / "missing.toml"), in_process=False)
    for _ in range(2):
        with pytest.raises(EngineError, match="did not start"):
            await backend.open()
