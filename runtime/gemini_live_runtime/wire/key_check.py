"""Check an API key by listing its models, which is free of charge.

https://ai.google.dev/api/models#method:-models.list
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from gemini_live_runtime.errors import CredentialError
from gemini_live_runtime.records import record
from gemini_live_runtime.wire.credentials import Credential
from gemini_live_runtime.wire.endpoints import API_VERSIONS, GEMINI_HOST, credential_headers
from gemini_live_runtime.wire.google_http import displayable, exchange, google_error, open_client

if TYPE_CHECKING:
    import httpx

TIMEOUT_S = 10.0
"""Seconds for the whole request."""

MAX_REPLY = 4 * 1024 * 1024
"""Bytes of a reply that are read; a longer reply fails to parse."""

_LIVE_METHOD = "bidiGenerateContent"


@record
class KeyCheck:
    """Result of the check: `works`, `refused` with Google's reason, or `unknown`.

    It is `unknown` when Google could not be reached or did not answer the question.
    """

    state: Literal["works", "refused", "unknown"]
    sentence: str
    remedy: str = ""


async def check_key(
    credential: Credential,
    *,
    base_url: str = f"https://{GEMINI_HOST}",
    trusted_hosts: tuple[str, ...] = (),
    timeout_s: float = TIMEOUT_S,
    transport: httpx.AsyncBaseTransport | None = None,
) -> KeyCheck:
    """Request the list of models with a key.

    Raises `CredentialError` for a `base_url` to which `wire.endpoints` sends no credential, and for an access token;
    every other outcome is a `KeyCheck`.
    """
    import httpx

    if credential.kind == "ephemeral":
        return KeyCheck("unknown", "An ephemeral token only opens live sessions, so it cannot be checked beforehand.")
    if credential.kind == "bearer":
        raise CredentialError("An access token is not an API key", remedy="Use the backend vertex", field="credential")
    headers = _headers(base_url, credential, trusted_hosts)
    url = f"{base_url.rstrip('/')}/{API_VERSIONS[0]}/models?pageSize=1000"
    host = urlsplit(base_url).netloc
    try:
        async with asyncio.timeout(timeout_s), open_client(base_url, timeout_s, transport) as client:
            status, reply = await exchange(client, "GET", url, headers=dict(headers), max_reply=MAX_REPLY)
    except (TimeoutError, httpx.TimeoutException):
        return KeyCheck("unknown", f"{host} did not answer within {timeout_s:g} s.", "Check the network")
    except httpx.HTTPError as error:
        reason = displayable(str(error) or type(error).__name__).rstrip(".")
        return KeyCheck("unknown", f"{host} cannot be reached: {reason}.", "Check the network")
    return interpret(status, reply)


def interpret(status: int, reply: bytes) -> KeyCheck:
    """Return the meaning of a reply with an HTTP status."""
    if status == 200:
        return _of_model_list(reply)
    message, reason = google_error(reply)
    end = f": {message.rstrip('.')}." if message else "."
    if status in (400, 401) or reason == "API_KEY_INVALID":
        return KeyCheck("refused", f"Google refuses the key{end}", "Copy it again from aistudio.google.com/apikey")
    if status == 403:
        return KeyCheck(
            "refused", f"The key may not use the Gemini API{end}", "Check its API restrictions, or create a new key"
        )
    if status == 429:
        return KeyCheck("works", f"Google knows the key, but its quota is used up{end}", "Wait, or raise the quota")
    if 300 <= status < 400:
        return KeyCheck("unknown", f"Google redirects to another address (HTTP {status}), which is not followed.")
    return KeyCheck("unknown", f"Google could not answer (HTTP {status}){end}", "Try again later")


def _of_model_list(reply: bytes) -> KeyCheck:
    try:
        models = json.loads(reply)["models"]
        live = sum(_LIVE_METHOD in (model.get("supportedGenerationMethods") or ()) for model in models)
        count = len(models)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return KeyCheck("unknown", "The reply is not a list of models.", "Check whether a proxy is in between")
    if not live:
        return KeyCheck(
            "works",
            f"The key works, but none of its {count} models supports the Live API.",
            "Check the key's project",
        )
    return KeyCheck("works", f"The key works: {count} models, {live} of them live.")


def _headers(base_url: str, credential: Credential, trusted_hosts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the header with the key, by the rules for the WebSocket URL of this host."""
    scheme, _, rest = base_url.partition("://")
    socket_scheme = {"https": "wss", "http": "ws"}.get(scheme, scheme)
    return credential_headers(f"{socket_scheme}://{rest}", credential, trusted_hosts)
