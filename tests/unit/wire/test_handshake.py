"""The setup of a connection: sent first, answered in time, refused with reasons."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.unit.wire.connection_support import (
    CHUNK,
    COMPLETE,
    ENDPOINT,
    SETUP,
    open_pair,
)

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import ConnectionClosedError, SetupRejectedError, UsageError
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.audio_frame import encode_model_audio
from gemini_live_runtime.wire.connection import connect
from gemini_live_runtime.wire.endpoints import Endpoint
from gemini_live_runtime.wire.messages import ServerMessage, Setup
from gemini_live_runtime.wire.transport import MemoryTransport, Transport, TransportClosed


class TestHandshake:
    async def test_the_setup_is_sent_first_with_the_models_resource_name(self) -> None:
        ours, theirs = MemoryTransport.pair()

        async def factory(endpoint: Endpoint) -> Transport:
            await theirs.send(COMPLETE)
            return ours

        connection = await connect(ENDPOINT, SETUP, transport_factory=factory)
        assert json.loads(await theirs.recv())["setup"]["model"] == "models/test-model"
        assert connection.setup_complete is not None
        await connection.close()

    async def test_a_setup_that_is_too_large_is_no_answer_of_the_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gemini_live_runtime.wire.json_frame.MAX_MESSAGE_BYTES", 100_000)
        ours, theirs = MemoryTransport.pair()

        async def factory(endpoint: Endpoint) -> Transport:
            return ours

        with pytest.raises(UsageError, match=r"The setup cannot be sent: A frame of .* is above the limit") as caught:
            await connect(ENDPOINT, compose.build_setup("m", instruction="x" * 200_000), transport_factory=factory)
        assert caught.value.remedy == "Shorten the instruction, or declare fewer tools"
        with pytest.raises(TransportClosed):
            await theirs.recv()

    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            ('{"serverContent":{"turnComplete":true}}', "answered serverContent instead of setupComplete"),
            ('{"error":{"message":"no such key AIzaSyCanaryCanaryCanary"}}', r"an error \(no such key \[redacted\]\)"),
            ("{}", "answered an empty message instead"),
            (encode_model_audio(CHUNK), "answered audio instead"),
            ("<html>", "cannot be read: The frame is not JSON"),
            ('{"setupComplete":null}', "cannot be read: setupComplete: expected an object, got null"),
            ('{"setupComplete":[1]}', "cannot be read: setupComplete: expected an object, got a list"),
        ],
    )
    async def test_any_other_answer_rejects_the_setup_and_closes_the_transport(self, answer: str, says: str) -> None:
        ours, theirs = MemoryTransport.pair()
        await theirs.send(answer)

        async def factory(endpoint: Endpoint) -> Transport:
            return ours

        with pytest.raises(SetupRejectedError, match=says):
            await connect(ENDPOINT, SETUP, transport_factory=factory)
        with pytest.raises(TransportClosed):
            await ours.recv()

    @pytest.mark.parametrize(
        ("error", "status", "says", "remedy"),
        [
            (
                {"code": 401, "message": "who?"},
                401,
                "401: who?) instead of setupComplete: the server does",
                "key or token",
            ),
            ({"code": 403, "message": "no"}, 403, "the server does not allow this", "Check that the key is valid"),
            ({"code": 429}, 429, "an error (429) instead", "Wait, or raise the quota"),
            ({"status": "RESOURCE_EXHAUSTED"}, 429, "no quota left for this key", "Wait, or raise the quota"),
            ({"code": 400, "message": "bad field"}, 400, "the server refused a message", "Check the setup against"),
            ({"code": 400, "message": "API key not valid"}, 400, "does not accept the credential", "Check the key"),
            ({"code": 404}, 404, "does not know this model", "Check the model's name"),
            ({"code": 500}, 500, "internal error", "Connect again"),
            ({"code": 503, "message": "later"}, 503, "currently unavailable", "Try again in a moment"),
            ("Quota exceeded", 0, "(Quota exceeded) instead of setupComplete: the quota", "Wait, or raise the quota"),
            ({"code": 7}, 0, "answered an error instead of", "Check that the address"),
            (None, 0, "answered an error instead of", "Check that the address"),
        ],
    )
    async def test_an_error_object_instead_of_an_answer_gives_its_own_remedy(
        self, error: Any, status: int, says: str, remedy: str
    ) -> None:
        ours, theirs = MemoryTransport.pair()
        await theirs.send(json.dumps({"error": error}))

        async def factory(endpoint: Endpoint) -> Transport:
            return ours

        with pytest.raises(SetupRejectedError) as caught:
            await connect(ENDPOINT, SETUP, transport_factory=factory)
        assert caught.value.status == status
        assert says in caught.value.message
        assert remedy in caught.value.remedy

    async def test_a_close_instead_of_an_answer_gives_the_servers_reason_and_a_remedy(self) -> None:
        ours, theirs = MemoryTransport.pair()

        async def factory(endpoint: Endpoint) -> Transport:
            await theirs.close(1007, "API key not valid.")
            return ours

        with pytest.raises(SetupRejectedError, match=r"1007: API key not valid\).*does not accept") as caught:
            await connect(ENDPOINT, SETUP, transport_factory=factory)
        assert caught.value.value == 1007
        assert "Check the key" in str(caught.value)
        cause = caught.value.__cause__
        assert isinstance(cause, ConnectionClosedError)
        assert cause.reason == "API key not valid."

    def test_a_silent_server_is_given_up_after_the_timeout(self) -> None:
        async def silent() -> float:
            ours, _theirs = MemoryTransport.pair()

            async def factory(endpoint: Endpoint) -> Transport:
                return ours

            with pytest.raises(SetupRejectedError, match="did not answer the setup within 7 s"):
                await connect(ENDPOINT, SETUP, transport_factory=factory, setup_timeout=7)
            return asyncio.get_running_loop().time()

        assert run_virtual(silent()) == pytest.approx(7)

    async def test_kinds_beside_setup_complete_are_received(self) -> None:
        both = '{"setupComplete":{},"sessionResumptionUpdate":{"newHandle":"h","resumable":true}}'
        connection, _, _ = await open_pair(both)
        first = await connection.receive()
        assert isinstance(first, ServerMessage)
        assert first.session_resumption_update is not None
        await connection.close()

    async def test_a_setup_without_a_model_is_refused(self) -> None:
        with pytest.raises(UsageError, match="names no model"):
            await connect(ENDPOINT, Setup())
