"""Gemini as a text model: requests, and the error of each refusal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.conversation.gemini_text import GeminiTextModel, TextModelError, text_url
from gemini_live_runtime.conversation.text_model import TextRequest
from gemini_live_runtime.errors import (
    ConfigError,
    CredentialError,
    GeminiLiveError,
    ProtocolError,
    UnreachableError,
)
from gemini_live_runtime.wire.credentials import api_key, bearer_token
from gemini_live_runtime.wire.endpoints import (
    Endpoint,
    gemini_endpoint,
    local_endpoint,
    url_endpoint,
    vertex_endpoint,
)

KEY = "AIzaSyTestKey_0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
REQUEST = TextRequest(system="Be brief.", text="How many?", schema=SCHEMA)
ENDPOINT = gemini_endpoint(api_key(KEY))

Answer = Callable[[httpx.Request], httpx.Response]


def reply_body(text: str, finish: str = "STOP", **others: Any) -> dict[str, Any]:
    parts = [{"text": "hm", "thought": True}, *({"text": piece} for piece in text.split("|"))]
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish}], **others}


def answering(status: int, body: Any, **headers: str) -> Answer:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda request: httpx.Response(status, content=content, headers=headers)


def ask(answer: Any, request: TextRequest = REQUEST, endpoint: Endpoint = ENDPOINT, **settings: Any) -> str:
    async def go() -> str:
        model = GeminiTextModel("gemini-2.5-flash", endpoint, transport=httpx.MockTransport(answer), **settings)
        try:
            return await model.generate(request)
        finally:
            await model.aclose()

    return run_virtual(go())


def fault(answer: Any, **settings: Any) -> GeminiLiveError:
    with pytest.raises(GeminiLiveError) as caught:
        ask(answer, **settings)
    assert KEY not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    return caught.value


def test_the_request_goes_to_the_endpoints_host_with_the_key_in_its_header_only() -> None:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json=reply_body('{"a":| 1}'))

    assert ask(answer, temperature=0.0, thinking_budget=0) == '{"a": 1}'
    (request,) = sent
    assert str(request.url) == (
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent"
    )
    assert request.headers["x-goog-api-key"] == KEY
    assert [name for name, value in request.headers.items() if KEY in value] == ["x-goog-api-key"]
    assert KEY.encode() not in request.content
    assert json.loads(request.content) == {
        "contents": [{"role": "user", "parts": [{"text": "How many?"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {
            "temperature": 0.0,
            "thinkingConfig": {"thinkingBudget": 0},
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
        },
    }


def test_without_a_schema_the_request_is_for_plain_text() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert json.loads(request.content) == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
        return httpx.Response(200, json=reply_body("Hello"))

    assert ask(answer, TextRequest(system="", text="Hi")) == "Hello"


@pytest.mark.parametrize(
    ("endpoint", "model", "url"),
    [
        (
            vertex_endpoint(bearer_token("ya29.token-0123456789"), project="p1", location="europe-west4"),
            "gemini-2.5-flash",
            "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/p1/locations/europe-west4"
            "/publishers/google/models/gemini-2.5-flash:generateContent",
        ),
        (
            gemini_endpoint(api_key(KEY), base_url="ws://127.0.0.1:8080/proxy", trusted_hosts=["127.0.0.1"]),
            "models/x",
            "http://127.0.0.1:8080/proxy/v1beta/models/x:generateContent",
        ),
        (url_endpoint("wss://my.host/live"), "x", "https://my.host/live/v1beta/models/x:generateContent"),
    ],
)
def test_every_live_endpoint_of_googles_kind_has_its_text_models(endpoint: Endpoint, model: str, url: str) -> None:
    assert text_url(model, endpoint) == url


def test_the_embedded_server_has_no_text_models() -> None:
    with pytest.raises(ConfigError, match="no text models at 127"):
        text_url("x", local_endpoint("ws://127.0.0.1:9000"))


def test_an_ephemeral_token_is_not_sent() -> None:
    with pytest.raises(CredentialError, match="Live session only"):
        GeminiTextModel("x", gemini_endpoint(api_key("auth_tokens/abcdefghij0123456789")))


def test_a_credential_never_goes_over_plain_http_to_elsewhere() -> None:
    path = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
    with pytest.raises(CredentialError, match="plain http"):
        text_url("x", Endpoint("gemini", f"ws://my.host{path}", (("x-goog-api-key", KEY),)))


@pytest.mark.parametrize("model", ["", "../x", "a b", "x?key=1", "x#y", "a/../b"])
def test_a_name_that_would_change_the_address_is_refused(model: str) -> None:
    with pytest.raises(ConfigError, match="no name of a text model"):
        text_url(model, ENDPOINT)


def test_the_secret_does_not_show() -> None:
    assert repr(GeminiTextModel("x", ENDPOINT)) == "GeminiTextModel('x')"


def google_error(status: int, message: str, reason: str = "") -> Answer:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    return answering(status, {"error": {"code": status, "message": message, "details": details}})


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, CredentialError, "does not accept the credential (HTTP 401)"),
        (403, CredentialError, "does not accept the credential (HTTP 403)"),
        (404, ConfigError, "The text model gemini-2.5-flash does not exist"),
        (429, TextModelError, "too many requests"),
        (500, TextModelError, "failed (HTTP 500)"),
        (503, TextModelError, "failed (HTTP 503)"),
        (400, TextModelError, "refused the request (HTTP 400)"),
    ],
)
def test_each_refusal_is_a_sentence_with_the_message_of_the_server(status: int, kind: type, words: str) -> None:
    error = fault(google_error(status, f"No.\x1b[2J {KEY} " + "long " * 200))
    assert type(error) is kind
    assert words in str(error)
    assert ": No. [redacted] long" in str(error)
    assert len(str(error)) < 400


def test_a_wrong_key_is_a_credential_error_although_google_answers_400() -> None:
    assert type(fault(google_error(400, "API key not valid.", "API_KEY_INVALID"))) is CredentialError


def test_a_redirect_is_not_followed() -> None:
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(302, headers={"location": "https://evil.example/"})

    assert "redirects elsewhere (HTTP 302)" in str(fault(answer))
    assert asked == ["generativelanguage.googleapis.com"]


def test_a_reply_that_never_comes_is_given_up() -> None:
    async def answer(request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(60)
        return httpx.Response(200)

    error = fault(answer, timeout_s=3.0)
    assert type(error) is UnreachableError
    assert "within 3 s" in str(error)


def test_a_server_that_cannot_be_reached_is_named_as_that() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("Name or service not known")

    assert "cannot be reached: Name or service not known" in str(fault(answer))


def test_a_reply_without_end_is_cut_off() -> None:
    pulled = 0

    async def endless() -> Any:
        nonlocal pulled
        while pulled < 1000:  # 64 MB without the limit
            pulled += 1
            yield b"x" * 64_000

    error = fault(lambda request: httpx.Response(200, content=endless()))
    assert type(error) is ProtocolError
    assert "is longer than 1048576 bytes" in str(error)
    assert pulled < 20


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"3", {"candidates": 3}, {"candidates": [3]}, b"\xff"])
def test_a_reply_of_another_kind_is_a_protocol_error(body: Any) -> None:
    assert type(fault(answering(200, body))) is ProtocolError


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "no complete reply: SAFETY"),
        (reply_body('{"a":', "MAX_TOKENS"), "no complete reply: MAX_TOKENS. Ask for less"),
        ({"candidates": [{"finishReason": "RECITATION"}]}, "no complete reply: RECITATION"),
        ({}, "no complete reply: no reason"),
        (reply_body(""), "no complete reply: STOP"),
    ],
)
def test_a_reply_that_was_not_finished_says_why(body: Any, words: str) -> None:
    error = fault(answering(200, body))
    assert type(error) is TextModelError
    assert words in str(error)


def test_a_real_connection_carries_the_request() -> None:
    async def go() -> None:
        requests: list[bytes] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            requests.append(head + await reader.readexactly(length))
            body = json.dumps(reply_body("Hello")).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        endpoint = gemini_endpoint(api_key(KEY), base_url=f"ws://127.0.0.1:{port}", trusted_hosts=["127.0.0.1"])
        model = GeminiTextModel("tiny", endpoint)
        async with server:
            assert await model.generate(REQUEST) == "Hello"
            assert await model.generate(REQUEST) == "Hello"
            await model.aclose()
        assert requests[0].startswith(b"POST /v1beta/models/tiny:generateContent HTTP/1.1\r\n")
        assert requests[0].count(KEY.encode()) == 1

    asyncio.run(go())
