"""Send requests to Google's HTTP APIs, and read their error objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise_line

if TYPE_CHECKING:
    import httpx


def open_client(url: str, timeout_s: float, transport: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncClient:
    """Return a client for requests with a credential to the host of `url`.

    `transport` replaces the network in tests.
    """
    import httpx

    return httpx.AsyncClient(
        transport=transport,
        # A redirect could send the key to a host that is not trusted.
        follow_redirects=False,
        timeout=timeout_s,
        # Plain http:// is for this machine only: a proxy from the environment would see the key.
        trust_env=url.startswith("https://"),
    )


async def exchange(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    max_reply: int,
    content: bytes | None = None,
) -> tuple[int, bytes]:
    """Return the HTTP status and the body of a reply.

    Stops reading when the body is longer than `max_reply` bytes; the result is then longer, too. The body of a refusal
    may be broken off.
    """
    import httpx

    reply = bytearray()
    # A small compressed reply could expand beyond the limit.
    headers = {**headers, "Accept-Encoding": "identity"}
    async with client.stream(method, url, content=content, headers=headers) as response:
        try:
            async for chunk in response.aiter_bytes(65536):
                reply += chunk
                if len(reply) > max_reply:
                    break
        except httpx.TransportError:
            # The status of a refusal tells its cause without the body.
            if response.status_code < 300:
                raise
        return response.status_code, bytes(reply)


def google_error(reply: bytes) -> tuple[str, str]:
    """Return the message and the reason of an error reply; "" when absent.

    The message is redacted and sanitised, the reason is a constant such as `API_KEY_INVALID`.
    """
    try:
        error = json.loads(reply)["error"]
        details = error.get("details") or []
        reasons = [str(item["reason"]) for item in details if isinstance(item, Mapping) and "reason" in item]
        return displayable(str(error.get("message") or "")), next(iter(reasons), "")
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return "", ""


def displayable(text: str) -> str:
    """Return a server's text as one line of at most 200 characters without secrets."""
    return sanitise_line(redactor.text(text), 200)
