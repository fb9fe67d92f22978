"""Test the server on a socket and as a program."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_support import TestParts, setup
from tests.support.patience import PATIENCE_S
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

import gemini_live_runtime
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.local.faults import Fault
from gemini_live_runtime.local.main import main
from gemini_live_runtime.local.options import ServerOptions
from gemini_live_runtime.local.server import LocalServer

METHOD = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
RUNTIME = Path(gemini_live_runtime.__file__).parents[1]


@asynccontextmanager
async def listening(**options: Any) -> AsyncIterator[str]:
    server = LocalServer(ServerOptions(**options), TestParts())
    url = await server.start()
    try:
        yield url
    finally:
        await server.stop()


async def read_until(socket: ClientConnection, kind: str) -> dict[str, Any]:
    while True:
        message: dict[str, Any] = json.loads(await socket.recv())
        if kind in message or kind in message.get("serverContent", {}):
            return message


# -- on a socket -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [[], [""], ["Bearer "], ["Bearer known2"], ["bearer known"], ["Bearer knöwn"], ["Bearer known", "Bearer known"]],
)
async def test_a_server_with_a_token_refuses_clients_without_it(headers: list[str]) -> None:
    async with listening(token="known") as url:
        given = [("Authorization", value) for value in headers]
        with pytest.raises(InvalidStatus, match="401"):
            await connect(url + METHOD, additional_headers=given)
        async with connect(url + METHOD, additional_headers=[("Authorization", "Bearer known")]) as socket:
            await socket.send(json.dumps(setup()))
            assert await read_until(socket, "setupComplete")


@pytest.mark.parametrize(
    "path",
    [
        METHOD,
        METHOD.replace("v1beta", "v1alpha") + "Constrained?access_token=x",
        "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent",
        "/BidiGenerateContent",
    ],
)
async def test_every_path_that_ends_in_the_method_is_served(path: str) -> None:
    async with listening() as url, connect(url + path) as socket:
        await socket.send(json.dumps(setup()))
        assert "setupComplete" in await read_until(socket, "setupComplete")


async def test_another_path_gets_a_404_that_says_what_to_do() -> None:
    async with listening() as url:
        with pytest.raises(InvalidStatus) as refusal:
            await connect(f"{url}/chat")
    assert refusal.value.response.status_code == 404
    assert b"BidiGenerateContent" in (refusal.value.response.body or b"")


async def test_a_conversation_over_a_socket_answers_in_binary_frames() -> None:
    async with listening() as url, connect(url + METHOD) as socket:
        await socket.send(json.dumps(setup(generationConfig={"responseModalities": ["TEXT"]})))
        await socket.send(json.dumps({"realtimeInput": {"text": "hi"}}))
        assert isinstance(await socket.recv(decode=False), bytes)
        await read_until(socket, "turnComplete")


async def test_a_refusal_reaches_the_client_as_close_code_and_reason() -> None:
    async with listening() as url, connect(url + METHOD) as socket:
        await socket.send(json.dumps(setup(wings=2)))
        with pytest.raises(ConnectionClosed) as end:
            await socket.recv()
    assert end.value.rcvd is not None
    assert end.value.rcvd.code == 1007
    assert "wings" in end.value.rcvd.reason


async def test_a_dropped_socket_ends_without_a_close_frame() -> None:
    async with listening(faults={Fault.DROP_MID_TURN: 1}) as url, connect(url + METHOD) as socket:
        await socket.send(json.dumps(setup()))
        await socket.send(json.dumps({"realtimeInput": {"text": "hi"}}))
        with pytest.raises(ConnectionClosed) as end:
            await read_until(socket, "turnComplete")
    assert end.value.rcvd is None


async def test_a_port_that_is_taken_is_named() -> None:
    async with listening() as url:
        port = int(url.rpartition(":")[2])
        with pytest.raises(UsageError, match=str(port)):
            await LocalServer(ServerOptions(port=port), TestParts()).start()


async def test_stopping_twice_is_harmless_and_frees_the_port() -> None:
    server = LocalServer(ServerOptions(), TestParts())
    port = int((await server.start()).rpartition(":")[2])
    await server.stop()
    await server.stop()
    again = LocalServer(ServerOptions(port=port), TestParts())
    await again.start()
    await again.stop()


# -- as a program ----------------------------------------------------------------------------------------------------


@contextmanager
def program(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "gemini_live_runtime.local", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def test_the_program_prints_one_line_and_ends_well_at_a_signal() -> None:
    with program("--port", "0") as (process, ready):
        assert ready["url"].startswith("ws://127.0.0.1:")
        assert ready["recogniser"] is True or "local" in ready["recogniser"]
        assert ready["speech"] is True or "local" in ready["speech"]
        assert "local-concierge" in ready["models"]
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (0, "", "")


def test_the_program_ends_with_its_parent() -> None:
    with program("--exit-with-parent", "--lazy") as (process, ready):

        async def talk() -> None:
            async with connect(ready["url"] + METHOD) as socket:
                await socket.send(json.dumps({"setup": {"model": "models/local-concierge"}}))
                await read_until(socket, "setupComplete")
                assert process.stdin is not None
                process.stdin.close()
                await socket.wait_closed()
                assert socket.close_code == 1001

        asyncio.run(talk())
        assert process.wait(timeout=PATIENCE_S) == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--port", "70000"], "70000"),
        (["--go-away-after", "-1"], "goAway"),
        (["--script", "/nowhere/script.toml"], "/nowhere/script.toml"),
        (["--host", "256.0.0.1"], "256.0.0.1"),
        (["--fault", "outtage"], "outtage"),
    ],
)
def test_bad_options_end_in_a_sentence(arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert named in error
    assert "Traceback" not in error


def test_a_script_file_is_served_under_its_own_name(tmp_path: Path) -> None:
    script = tmp_path / "own.toml"
    source = (RUNTIME / "gemini_live_runtime" / "agents" / "dialogues" / "concierge.toml").read_text()
    script.write_text(source.replace('name = "concierge"', 'name = "butler"', 1))
    with program("--script", str(script), "--lazy") as (_, ready):
        assert "local-butler" in ready["models"]
