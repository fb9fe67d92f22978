"""A proxy that does not lead to the server is named, with cause and remedy."""

from __future__ import annotations

import asyncio

import pytest

from gemini_live_runtime.errors import UnreachableError
from gemini_live_runtime.wire.endpoints import url_endpoint
from gemini_live_runtime.wire.proxies import proxy_for
from gemini_live_runtime.wire.websocket import open_websocket

SERVER = "ws://live.example.test/x"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http", "https", "all", "socks", "ws", "wss", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name}_proxy".upper(), raising=False)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (b"HTTP/1.1 407 Login\r\nContent-Length: 0\r\n\r\n", "requires a login .* Put the user name and password"),
        (b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", r"does not connect to live\.example\.test \(HTTP 403\)"),
        (b"HTTP/1.1 502 Bad\r\n\r\n", r"does not connect to .* \(HTTP 502\)\. Try again in a moment"),
        (b"SSH-2.0-x\r\n", "failed: did not receive a valid HTTP response"),
    ],
)
async def test_the_answer_of_a_proxy_is_told_as_the_proxys(
    reply: bytes, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        writer.close()

    proxy = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with proxy:
        port = proxy.sockets[0].getsockname()[1]
        monkeypatch.setenv("http_proxy", f"http://me:hunter2x@127.0.0.1:{port}")
        with pytest.raises(UnreachableError, match=f"The proxy 127.0.0.1:{port} for .* {says}") as caught:
            await open_websocket(url_endpoint(SERVER))
    assert "hunter2x" not in str(caught.value)


@pytest.mark.parametrize(
    ("proxy", "says"),
    [
        ("http://127.0.0.1:1", "The proxy 127.0.0.1:1 .* nothing listens there. Check HTTPS_PROXY"),
        (
            "http://no-such-host.invalid:3128",
            "The proxy no-such-host.invalid:3128 .*(cannot be found|cannot be reached)",
        ),
        ("socks5://127.0.0.1:1", r"The proxy 127.0.0.1:1 .* (python-socks is missing|failed|nothing listens)"),
        ("ftp://127.0.0.1:1", "scheme ftp isn't supported"),
    ],
)
async def test_a_proxy_that_cannot_be_used_is_not_told_as_the_server(
    proxy: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(UnreachableError, match=says):
        await open_websocket(url_endpoint(SERVER))


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({"https_proxy": "http://me:pw@p:1"}, "wss://host/x", "p:1"),
        ({"https_proxy": "http://p:1", "http_proxy": "http://q:2"}, "ws://host/x", "p:1"),
        ({"http_proxy": "http://q:2"}, "wss://host/x", None),
        ({"http_proxy": "http://q:2", "no_proxy": "host"}, "ws://host/x", None),
    ],
)
def test_the_proxy_that_the_environment_has_for_a_url_is_known(
    variables: dict[str, str], url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(url) == proxy
