"""Our frames, paths and headers mean the same as those of Google's client."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.conformance.client_cases import CASES, REASONS, Refusal, plain

from gemini_live_runtime.errors import ProtocolError, UsageError
from gemini_live_runtime.wire.connection import Connection, connect
from gemini_live_runtime.wire.credentials import Credential
from gemini_live_runtime.wire.endpoints import Endpoint, gemini_endpoint, vertex_endpoint
from gemini_live_runtime.wire.transport import MemoryTransport, Transport

FRAMES = Path(__file__).parents[1] / "data" / "frames" / "client-frames.jsonl"
CAPTURED = {case["case"]: case for case in map(json.loads, FRAMES.read_text("utf-8").splitlines())}

# Keys of the user's own maps, which are never renamed.
USER_MAPS = {"args", "response", "parametersJsonSchema", "responseJsonSchema", "labels", "partMetadata"}


def camel(key: str) -> str:
    return re.sub("_([a-z])", lambda match: match.group(1).upper(), key)


def meaning(value: Any, key: str = "", inside: str = "") -> Any:
    """`value` with one spelling for keys, base64 and whole numbers."""
    if isinstance(value, dict):
        if key in USER_MAPS and not (key == "response" and inside == "functionDeclarations"):
            return value
        renamed = {name if key == "properties" else camel(name): item for name, item in value.items()}
        return {name: meaning(item, name, inside) for name, item in renamed.items()}
    if isinstance(value, list):
        return [meaning(item, "", key) for item in value]
    if key == "data":
        return base64.b64decode(value.translate(str.maketrans("-_", "+/")), validate=True).hex()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def endpoint_of(case: dict[str, Any]) -> Endpoint:
    version = re.search(r"\.(v1\w*)\.", case["path"] or ".v1beta.")
    assert version is not None
    if case["backend"] == "vertex":
        return vertex_endpoint(
            Credential("bearer", "token-of-a-test"), project="proj", location="us-central1", version=version[1]
        )
    return gemini_endpoint(Credential("api-key", "key-of-a-test"), version=version[1])


class Recorder:
    """Transport that accepts the setup and records every frame."""

    def __init__(self) -> None:
        self.ours, self.theirs = MemoryTransport.pair()
        self.opened = False

    async def open(self, endpoint: Endpoint) -> Transport:
        self.opened = True
        await self.theirs.send('{"setupComplete":{}}')
        return self.ours

    async def frames(self, count: int) -> list[Any]:
        return [meaning(json.loads(await self.theirs.recv())) for _ in range(count)]


async def open_case(case: dict[str, Any], recorder: Recorder, setup: Any) -> Connection:
    return await connect(endpoint_of(case), setup, transport_factory=recorder.open)


def test_every_captured_case_is_in_the_table() -> None:
    assert {*CASES, *REASONS} == set(CAPTURED)
    assert not set(CASES) & set(REASONS)
    assert len(REASONS) <= 15


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not isinstance(case, Refusal)])
async def test_our_frames_mean_the_same_as_the_captured_ones(name: str) -> None:
    ours, captured = CASES[name], CAPTURED[name]
    assert not isinstance(ours, Refusal)
    recorder = Recorder()
    connection = await open_case(captured, recorder, ours.setup)
    for message in ours.messages:
        await connection.send(message)
    if ours.audio:
        connection.send_audio(ours.audio)
    count = 1 + len(ours.messages) + bool(ours.audio)
    assert await recorder.frames(count) == [meaning(frame["json"]) for frame in captured["frames"]]
    await connection.close()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if isinstance(case, Refusal)])
async def test_messages_that_the_captured_client_refused_are_refused_by_name(name: str) -> None:
    ours, captured = CASES[name], CAPTURED[name]
    assert isinstance(ours, Refusal)
    assert "sdk_error" in captured
    recorder = Recorder()
    if ours.message.setup is not None:
        with pytest.raises(UsageError, match=ours.words):
            await open_case(captured, recorder, ours.message.setup)
        assert not recorder.opened
        return
    connection = await open_case(captured, recorder, plain())
    with pytest.raises(ProtocolError, match=ours.words):
        await connection.send(ours.message)
    assert len(await recorder.frames(1)) == 1
    await connection.close()


@pytest.mark.parametrize("name", [name for name, case in CAPTURED.items() if case["path"]])
def test_path_and_credential_header_are_those_of_the_captured_client(name: str) -> None:
    captured = CAPTURED[name]
    endpoint = endpoint_of(captured)
    assert urlsplit(endpoint.url).path == captured["path"]
    credential_headers = {"x-goog-api-key", "authorization"} & {key.lower() for key in captured["headers"]}
    assert credential_headers == {key.lower() for key, _ in endpoint.headers} - {"x-goog-user-project"}
