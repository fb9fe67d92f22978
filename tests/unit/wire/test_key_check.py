"""Check of an API key: the request, its host, and the meaning of each reply."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.support.canaries import HOSTILE, KEY

from gemini_live_runtime.errors import CredentialError
from gemini_live_runtime.text import sanitise
from gemini_live_runtime.wire.credentials import Credential, api_key, bearer_token
from gemini_live_runtime.wire.key_check import MAX_REPLY, KeyCheck, check_key

MODELS = {"models": [{"supportedGenerationMethods": ["bidiGenerateContent"]}, {"supportedGenerationMethods": ["x"]}]}


def error(message: str, reason: str = "") -> dict[str, Any]:
    return {"error": {"message": message, "details": [{"reason": reason}] if reason else []}}


async def checked(
    status: int, body: object = None, *, asked: list[httpx.Request] | None = None, key: Credential | None = None
) -> KeyCheck:
    def answer(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(request)
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx.Response(status, content=content, headers={"location": "https://elsewhere.example"})

    return await check_key(key or api_key(KEY), transport=httpx.MockTransport(answer))


async def test_the_models_are_listed_with_the_key_in_a_header_of_googles_host() -> None:
    asked: list[httpx.Request] = []
    check = await checked(200, MODELS, asked=asked)
    assert check == KeyCheck("works", "The key works: 2 models, 1 of them live.")
    (request,) = asked
    assert request.url.host == "generativelanguage.googleapis.com"
    assert request.headers["x-goog-api-key"] == KEY
    assert KEY not in str(request.url)


@pytest.mark.parametrize(
    ("status", "body", "state", "said"),
    [
        (200, {"models": []}, "works", "none of its 0 models"),
        (400, error("API key not valid.", "API_KEY_INVALID"), "refused", "refuses the key: API key not valid."),
        (401, {}, "refused", "refuses the key."),
        (403, error("Generative Language API has not been used"), "refused", "may not use the Gemini API"),
        (429, error("Quota exceeded"), "works", "quota is used up"),
        (302, {}, "unknown", "not followed"),
        (500, b"oops", "unknown", "HTTP 500"),
        (200, b"<html>", "unknown", "not a list"),
        (200, [1], "unknown", "not a list"),
        (200, {"models": ["x"]}, "unknown", "not a list"),
    ],
)
async def test_every_answer_is_a_sentence(status: int, body: object, state: str, said: str) -> None:
    check = await checked(status, body)
    assert check.state == state
    assert said in check.sentence


@pytest.mark.parametrize(
    "end", [httpx.RemoteProtocolError("incomplete body"), httpx.ReadError(""), httpx.ReadTimeout("")]
)
@pytest.mark.parametrize(
    ("status", "state", "said"),
    [
        (403, "refused", "may not use the Gemini API"),
        (429, "works", "quota is used up"),
        (200, "unknown", "generativelanguage.googleapis.com"),
    ],
)
async def test_a_reply_that_is_broken_off_keeps_the_cause(end: Exception, status: int, state: str, said: str) -> None:
    class BrokenOff(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b'{"error": {"mess'
            raise end

    answer = httpx.MockTransport(lambda request: httpx.Response(status, stream=BrokenOff()))
    check = await check_key(api_key(KEY), transport=answer)
    assert check.state == state
    assert said in check.sentence


async def test_a_reply_without_end_is_not_read_to_it() -> None:
    check = await checked(200, b'{"models": [], "more": "' + b"x" * (MAX_REPLY + 65536) + b'"}')
    assert check == KeyCheck("unknown", "The reply is not a list of models.", "Check whether a proxy is in between")


async def test_a_redirect_takes_the_key_nowhere() -> None:
    asked: list[httpx.Request] = []
    await checked(302, {}, asked=asked)
    assert [request.url.host for request in asked] == ["generativelanguage.googleapis.com"]


async def test_a_servers_text_is_sanitised_and_redacted() -> None:
    check = await checked(400, error(f"{HOSTILE} {KEY}"))
    assert sanitise(check.sentence) == check.sentence
    assert KEY not in check.sentence


@pytest.mark.parametrize("fault", [httpx.ConnectError("no route"), httpx.ReadTimeout("slow")])
async def test_without_a_network_the_key_is_neither_good_nor_bad(fault: Exception) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise fault

    check = await check_key(api_key(KEY), transport=httpx.MockTransport(answer))
    assert check.state == "unknown"
    assert "generativelanguage.googleapis.com" in check.sentence
    assert check.remedy == "Check the network"


@pytest.mark.parametrize(
    "url", ["https://evil.example", "http://192.0.2.1", "http://generativelanguage.googleapis.com"]
)
async def test_the_key_is_sent_to_trusted_hosts_only(url: str) -> None:
    with pytest.raises(CredentialError):
        await check_key(api_key(KEY), base_url=url)


async def test_an_ephemeral_token_cannot_be_checked_and_is_not_sent() -> None:
    asked: list[httpx.Request] = []
    check = await checked(200, MODELS, asked=asked, key=api_key("auth_tokens/abcdefghijklmnop"))
    assert (check.state, asked) == ("unknown", [])


async def test_an_access_token_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(CredentialError, match="not an API key"):
        await checked(200, MODELS, key=bearer_token("ya29.abcdefghijklmnop"))
