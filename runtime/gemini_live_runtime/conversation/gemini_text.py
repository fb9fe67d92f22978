"""Ask Gemini as a text model: one `generateContent` request a reply.

https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

from gemini_live_runtime.conversation.text_model import TextRequest
from gemini_live_runtime.errors import ConfigError, CredentialError, ProtocolError, UnreachableError, WireError
from gemini_live_runtime.wire.endpoints import Endpoint, is_loopback
from gemini_live_runtime.wire.google_http import displayable, exchange, google_error, open_client

if TYPE_CHECKING:
    import httpx

DEFAULT_TIMEOUT_S = 15.0
"""Seconds for one reply, everything included."""

MAX_REPLY = 1024 * 1024
"""Bytes of the longest reply that is read."""

_LIVE_PATH = re.compile(
    r"(?P<prefix>.*)/ws/google\.(?:ai\.generativelanguage|cloud\.aiplatform)\.(?P<version>v1\w*)\.[\w.]+(?:/\w+)?"
)


_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:/-]{0,199}")


class TextModelError(WireError):
    """A refused request or a reply that cannot be used, with the HTTP `status` or 0."""

    code: ClassVar[str] = "text-model"

    def __init__(self, message: str, *, status: int = 0, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy, field="text_model", value=status)
        self.status = status


class GeminiTextModel:
    """A Gemini text model at the host of a Live endpoint.

    It sends that endpoint's credential in the same header, so `wire.endpoints` alone decides which hosts get a key.
    `temperature` and `thinking_budget` (tokens, 0 for none) are sent when given; not every model takes them.
    `transport` replaces the network in tests. Raises `ConfigError` or `CredentialError` for an endpoint that has no
    text models.
    """

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_reply: int = MAX_REPLY,
        temperature: float | None = None,
        thinking_budget: int | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.model = model
        self.url = text_url(model, endpoint)
        self._headers = dict(endpoint.headers)
        self._timeout_s = timeout_s
        self._max_reply = max_reply
        self._generation: dict[str, Any] = {}
        if temperature is not None:
            self._generation["temperature"] = temperature
        if thinking_budget is not None:
            self._generation["thinkingConfig"] = {"thinkingBudget": thinking_budget}
        self._transport = transport
        self._client: httpx.AsyncClient | None = None

    def __repr__(self) -> str:
        return f"GeminiTextModel({self.model!r})"

    async def generate(self, request: TextRequest, /) -> str:
        """Return the reply's text.

        Raises `CredentialError`, `ConfigError` (no such model), `UnreachableError`, `ProtocolError`, `TextModelError`.
        """
        import httpx

        body = json.dumps(self._body(request)).encode()
        try:
            async with asyncio.timeout(self._timeout_s):
                status, reply = await self._post(body)
        except (TimeoutError, httpx.TimeoutException):
            raise UnreachableError(
                f"The text model {self.model} did not answer within {self._timeout_s:g} s",
                remedy="Try again, or choose a faster model",
                field="text_model",
            ) from None
        except httpx.HTTPError as error:
            raise UnreachableError(
                f"The text model {self.model} cannot be reached: {displayable(str(error) or type(error).__name__)}",
                remedy="Check the network",
                field="text_model",
            ) from None
        if status != 200:
            raise self._refused(status, reply)
        return self._text(reply)

    async def aclose(self) -> None:
        """Close its connections. It can be used again."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _body(self, request: TextRequest) -> dict[str, Any]:
        generation = dict(self._generation)
        if request.schema is not None:
            generation |= {"responseMimeType": "application/json", "responseJsonSchema": request.schema}
        body: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": request.text}]}]}
        if request.system:
            body["systemInstruction"] = {"parts": [{"text": request.system}]}
        if generation:
            body["generationConfig"] = generation
        return body

    async def _post(self, body: bytes) -> tuple[int, bytes]:
        if self._client is None:
            self._client = open_client(self.url, self._timeout_s, self._transport)
        headers = {**self._headers, "Content-Type": "application/json"}
        status, reply = await exchange(
            self._client, "POST", self.url, headers=headers, max_reply=self._max_reply, content=body
        )
        if len(reply) > self._max_reply:
            raise ProtocolError(
                f"The reply of the text model {self.model} is longer than {self._max_reply} bytes",
                remedy="Ask for less",
                field="text_model",
            )
        return status, reply

    def _refused(self, status: int, reply: bytes) -> Exception:
        message, reason = google_error(reply)
        detail = f": {message}" if message else ""
        if status in (401, 403) or reason == "API_KEY_INVALID":
            return CredentialError(
                f"The text model {self.model} does not accept the credential (HTTP {status}){detail}",
                remedy="Check GEMINI_API_KEY, or the project's rights",
                field="credential",
            )
        if status == 404:
            return ConfigError(
                f"The text model {self.model} does not exist (HTTP 404){detail}",
                remedy="Choose another text model",
                field="text_model",
                value=self.model,
            )
        if 300 <= status < 400:
            return TextModelError(
                f"The text model's server redirects elsewhere (HTTP {status}), which is not followed", status=status
            )
        if status == 429:
            return TextModelError(
                f"The text model {self.model} got too many requests (HTTP 429){detail}",
                status=status,
                remedy="Wait, request less often (an interval trigger), or raise the quota",
            )
        if status >= 500:
            return TextModelError(
                f"The text model {self.model} failed (HTTP {status}){detail}", status=status, remedy="Try again"
            )
        return TextModelError(f"The text model {self.model} refused the request (HTTP {status}){detail}", status=status)

    def _text(self, reply: bytes) -> str:
        try:
            answer = json.loads(reply)
            candidates = answer.get("candidates") or []
            blocked = (answer.get("promptFeedback") or {}).get("blockReason")
            finish = str(candidates[0].get("finishReason") or "STOP") if candidates else str(blocked or "no reason")
            parts = ((candidates[0].get("content") or {}).get("parts") or []) if candidates else []
            text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
        except (ValueError, AttributeError, TypeError, KeyError, IndexError, RecursionError):
            raise ProtocolError(
                f"The reply of the text model {self.model} is not one of generateContent", field="text_model"
            ) from None
        if finish != "STOP" or not text:
            raise TextModelError(
                f"The text model {self.model} gave no complete reply: {displayable(finish)}",
                remedy="Ask for less" if finish == "MAX_TOKENS" else "",
            )
        return text


def text_url(model: str, endpoint: Endpoint) -> str:
    """Return the URL of `generateContent` for `model` at a Live endpoint's host.

    Raises `ConfigError` or `CredentialError` when the endpoint has no text models.
    """
    if not _MODEL.fullmatch(model) or ".." in model:
        raise ConfigError(
            f"{model!r:.80} is no name of a text model",
            remedy="It looks like gemini-2.5-flash",
            field="text_model",
            value=model,
        )
    parts = urlsplit(endpoint.url)
    live = _LIVE_PATH.fullmatch(parts.path)
    if endpoint.backend == "local" or live is None:
        raise ConfigError(
            f"There are no text models at {endpoint.host}",
            remedy="Give the session a text model of another backend",
            field="text_model",
            value=endpoint.host,
        )
    if any(name == "Authorization" and value.startswith("Token ") for name, value in endpoint.headers):
        raise CredentialError(
            "An ephemeral token is good for a Live session only, not for a text model",
            remedy="Use an API key",
            field="credential",
        )
    secure = parts.scheme == "wss"
    if not secure and endpoint.headers and not is_loopback(parts.hostname or ""):
        raise CredentialError(
            f"The credential is not sent to {endpoint.host} over plain http://", remedy="Use wss://", field="url"
        )
    path = f"{live['prefix']}/{live['version']}/{endpoint.model_path(model)}:generateContent"
    return urlunsplit(("https" if secure else "http", parts.netloc, path, "", ""))
