"""Whether an API key works: the models it may use are listed, which costs nothing.

https://ai.google.dev/api/models#method:-models.list
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from gemini_live_runtime.errors import CredentialError
from gemini_live_runtime.wire.credentials import Credential
from gemini_live_runtime.wire.endpoints import API_VERSIONS, GEMINI_HOST, credential_headers
from gemini_live_runtime.wire.google_error import google_error, shown

if TYPE_CHECKING:
    import httpx

TIMEOUT_S = 10.0
"""Seconds for the answer, everything included."""

MAX_REPLY = 4 * 1024 * 1024
"""Bytes of an answer; a longer one is given up."""

_LIVE_METHOD = "bidiGenerateContent"


@dataclass(frozen=True, slots=True)
class KeyCheck:
    """What the check found: `works`, `refused` (with Google's reason), or `unknown`, when nobody could be asked."""

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
    """Ask for the list of models with `credential`.

    The key goes where `wire.endpoints` lets it go, in a header. Raises `CredentialError` for a `base_url` it may not go
    to; everything else is a `KeyCheck`.
    """
    import httpx

    if credential.kind == "ephemeral":
        return KeyCheck("unknown", "An ephemeral token opens live sessions only, so it cannot be checked beforehand.")
    if credential.kind == "bearer":
        raise CredentialError("An access token is not an API key", remedy="Use the backend vertex", field="credential")
    headers = _headers(base_url, credential, trusted_hosts)
    url = f"{base_url.rstrip('/')}/{API_VERSIONS[0]}/models?pageSize=1000"
    host = urlsplit(base_url).netloc
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx.AsyncClient(
                transport=transport,
                # Redirects are not followed: the key would go where nobody has allowed it.
                follow_redirects=False,
                timeout=timeout_s,
                # A proxy would read what goes over plain http://, which is for this machine only.
                trust_env=base_url.startswith("https://"),
            ) as client,
        ):
            status, reply = await _get(client, url, headers)
    except (TimeoutError, httpx.TimeoutException):
        return KeyCheck("unknown", f"{host} did not answer within {timeout_s:g} s.", "Check the network")
    except httpx.HTTPError as error:
        why = shown(str(error) or type(error).__name__).rstrip(".")
        return KeyCheck("unknown", f"{host} cannot be reached: {why}.", "Check the network")
    return judge(status, reply)


def judge(status: int, reply: bytes) -> KeyCheck:
    """What an answer says of the key."""
    if status == 200:
        return _listed(reply)
    said, reason = google_error(reply)
    told = f": {said.rstrip('.')}." if said else "."
    if status in (400, 401) or reason == "API_KEY_INVALID":
        return KeyCheck("refused", f"Google refuses the key{told}", "Copy it again from aistudio.google.com/apikey")
    if status == 403:
        return KeyCheck(
            "refused", f"The key may not use the Gemini API{told}", "Look at its restrictions, or make a new one"
        )
    if status == 429:
        return KeyCheck("works", f"Google knows the key, but its quota is used up{told}", "Wait, or raise the quota")
    if 300 <= status < 400:
        return KeyCheck("unknown", f"The answer leads elsewhere (HTTP {status}), which is not followed.")
    return KeyCheck("unknown", f"Google could not answer (HTTP {status}){told}", "Try again later")


def _listed(reply: bytes) -> KeyCheck:
    try:
        models = json.loads(reply)["models"]
        live = sum(_LIVE_METHOD in (model.get("supportedGenerationMethods") or ()) for model in models)
        count = len(models)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return KeyCheck("unknown", "The answer is not a list of models.", "Is there a proxy in between?")
    if not live:
        return KeyCheck(
            "works",
            f"The key works, but none of its {count} models is a live one.",
            "Look at the key's project",
        )
    return KeyCheck("works", f"The key works: {count} models, {live} of them live.")


def _headers(base_url: str, credential: Credential, trusted_hosts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The header with the key; where it may go is decided in one place, for sockets."""
    scheme, _, rest = base_url.partition("://")
    socket_scheme = {"https": "wss", "http": "ws"}.get(scheme, scheme)
    return credential_headers(f"{socket_scheme}://{rest}", credential, trusted_hosts)


async def _get(client: httpx.AsyncClient, url: str, headers: tuple[tuple[str, str], ...]) -> tuple[int, bytes]:
    # A compressed answer could be small on the way and huge here.
    wanted = {**dict(headers), "Accept-Encoding": "identity"}
    reply = bytearray()
    async with client.stream("GET", url, headers=wanted) as response:
        async for chunk in response.aiter_bytes(65536):
            reply += chunk
            if len(reply) > MAX_REPLY:
                break
        return response.status_code, bytes(reply)
