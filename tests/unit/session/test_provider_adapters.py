"""Live and scripted connections keep the same contract."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gemini_live_runtime.errors import (
    ConnectionClosedError,
    NotConnectedError,
    ProtocolError,
    UnreachableError,
)
from gemini_live_runtime.session.ports.provider import RealtimeProviderAdapter
from gemini_live_runtime.session.ports.scripted_provider import ScriptedAdapter
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.connection import Connection
from gemini_live_runtime.wire.endpoints import Endpoint, local_endpoint
from gemini_live_runtime.wire.messages import AudioFrame, ServerMessage, Setup
from gemini_live_runtime.wire.transport import MemoryTransport, Transport

CHUNK = b"\x01\x00" * 320
MARK = compose.activity_end()


class Scripted:
    """A scripted provider."""

    def __init__(self) -> None:
        self.adapter = ScriptedAdapter()

    async def says(self, text: str) -> None:
        self.adapter.says(text)

    async def loses(self) -> None:
        self.adapter.loses(1011)

    def refuses(self) -> None:
        self.adapter.refuses(UnreachableError("The server cannot be reached"))


class Live:
    """A Live server at the other end of a transport in memory."""

    def __init__(self) -> None:
        mine, self._theirs = MemoryTransport.pair()
        self._refuses = False

        async def transport(_: Endpoint) -> Transport:
            if self._refuses:
                raise UnreachableError("The server cannot be reached")
            await self._theirs.send('{"setupComplete": {"sessionId": "s-1"}}')
            return mine

        endpoint = local_endpoint("ws://localhost")
        self.adapter = Connection(endpoint, Setup(model="m"), transport_factory=transport)

    async def says(self, text: str) -> None:
        await self._theirs.send(f'{{"serverContent": {{"outputTranscription": {{"text": "{text}"}}}}}}')

    async def loses(self) -> None:
        await self._theirs.close(1011)

    def refuses(self) -> None:
        self._refuses = True


@pytest.fixture(params=[Scripted, Live])
def provider(request: pytest.FixtureRequest) -> Any:
    return request.param()


def senders(adapter: RealtimeProviderAdapter) -> tuple[Callable[[], object], ...]:
    return (lambda: adapter.post(MARK), adapter.interrupt)


async def test_what_is_posted_before_the_connection_is_made_is_refused(provider: Any) -> None:
    adapter = provider.adapter
    assert adapter.closed
    for send in senders(adapter):
        with pytest.raises(NotConnectedError, match="not made yet"):
            send()


async def test_sound_that_no_connection_takes_is_counted(provider: Any) -> None:
    adapter = provider.adapter
    adapter.send_audio(CHUNK)
    await adapter.connect()
    adapter.send_audio(CHUNK)
    await adapter.post(MARK)
    assert adapter.backlog.dropped == 1
    await adapter.close()
    adapter.send_audio(CHUNK)
    assert adapter.backlog.dropped == 2


async def test_sound_of_half_a_sample_is_refused(provider: Any) -> None:
    await provider.adapter.connect()
    with pytest.raises(ProtocolError, match="odd number"):
        provider.adapter.send_audio(b"abc")


async def test_a_connection_is_made_once_and_names_its_session(provider: Any) -> None:
    assert await provider.adapter.connect() in ("s-1", "scripted-0")
    assert not provider.adapter.closed
    with pytest.raises(ProtocolError, match="made once"):
        await provider.adapter.connect()


async def test_a_connection_that_cannot_be_made_stays_closed(provider: Any) -> None:
    provider.refuses()
    with pytest.raises(UnreachableError):
        await provider.adapter.connect()
    assert provider.adapter.closed


async def test_messages_come_in_their_order_and_then_the_end_for_ever(provider: Any) -> None:
    adapter = provider.adapter
    await adapter.connect()
    for text in ("one", "two"):
        await provider.says(text)
    await provider.loses()
    got = [await adapter.receive() for _ in range(2)]
    texts = []
    for message in got:
        assert isinstance(message, ServerMessage)
        texts.append(message.raw["serverContent"]["outputTranscription"]["text"])
    assert texts == ["one", "two"]
    for _ in range(2):
        with pytest.raises(ConnectionClosedError, match="1011"):
            await adapter.receive()
    assert adapter.closed


async def test_an_interruption_and_a_message_are_sent_and_refused_after_the_end(provider: Any) -> None:
    adapter = provider.adapter
    await adapter.connect()
    for send in senders(adapter):
        await send()
    await adapter.close()
    await adapter.close()
    for send in senders(adapter):
        with pytest.raises(ConnectionClosedError):
            send()


async def test_a_closed_connection_ends_the_wait_for_a_message(provider: Any) -> None:
    await provider.adapter.connect()
    waiting = asyncio.ensure_future(provider.adapter.receive())
    await asyncio.sleep(0)
    await provider.adapter.close()
    with pytest.raises(ConnectionClosedError):
        await waiting


async def test_a_scripted_model_speaks() -> None:
    adapter = ScriptedAdapter()
    adapter.speaks(CHUNK)
    await adapter.connect()
    assert await adapter.receive() == AudioFrame(CHUNK, 24_000, "audio/pcm;rate=24000")
