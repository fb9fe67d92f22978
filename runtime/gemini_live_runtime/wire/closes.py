"""Explain close codes (RFC 6455, 7.4) and refused upgrades, with a remedy.

Google's servers use few close codes with many meanings, so the close reason decides and the code is the fallback.
Reasons are text from outside: they are sanitised, redacted and cut here, before they become part of a sentence.
"""

from __future__ import annotations

import contextlib
import json
import re
from enum import StrEnum
from typing import Any

from gemini_live_runtime.errors import ConnectionClosedError, SetupRejectedError, UpgradeRefusedError
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import REDACTED, redactor
from gemini_live_runtime.text import sanitise_line
from gemini_live_runtime.wire.transport import MAX_FRAGMENTS, MAX_MESSAGE_BYTES

MAX_REASON = 300
"""Characters of a server's reason that are used."""


class CloseKind(StrEnum):
    """Kind of a close."""

    NORMAL = "normal"
    NETWORK = "network"
    AUTH = "auth"
    QUOTA = "quota"
    LOCATION = "location"
    MODEL = "model"
    HANDLE = "handle"
    CONTEXT = "context"
    ARGUMENT = "argument"
    DEADLINE = "deadline"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
    ABORTED = "aborted"
    TOO_LARGE = "too-large"
    PROTOCOL = "protocol"
    UNKNOWN = "unknown"


@record
class CloseMeaning:
    """Meaning of a close, and its remedy.

    `retryable`: a new attempt may succeed without the user's help. `keep_handle`: the resumption handle is worth one
    attempt; when False, only a new session can succeed.
    """

    kind: CloseKind
    sentence: str
    remedy: str
    retryable: bool
    keep_handle: bool


_MEANINGS: dict[CloseKind, CloseMeaning] = {
    meaning.kind: meaning
    for meaning in (
        CloseMeaning(CloseKind.NORMAL, "The server ended the session", "Connect again to go on", True, True),
        CloseMeaning(CloseKind.NETWORK, "The connection broke", "Check the network, then connect again", True, True),
        CloseMeaning(
            CloseKind.AUTH,
            "The server does not accept the credential",
            "Check the key or token and that it may use this API, then connect again",
            False,
            True,
        ),
        CloseMeaning(
            CloseKind.QUOTA,
            "The quota is used up",
            "Wait, or raise the quota or enable billing for the key's project",
            False,
            True,
        ),
        CloseMeaning(
            CloseKind.LOCATION,
            "The service is not offered in the place where this request comes from",
            "Connect from a place in https://ai.google.dev/gemini-api/docs/available-regions, or use Vertex AI",
            False,
            True,
        ),
        CloseMeaning(
            CloseKind.MODEL,
            "The server does not know this model, or the model does not support this",
            "Check the model's name, the API version and that the model supports the Live API",
            False,
            False,
        ),
        CloseMeaning(CloseKind.HANDLE, "The session cannot be resumed", "Start a new session", True, False),
        CloseMeaning(
            CloseKind.CONTEXT,
            "The conversation is longer than the model's context",
            "Start a new session, or turn on context compression",
            True,
            False,
        ),
        CloseMeaning(
            CloseKind.ARGUMENT,
            "The server refused a message",
            "Check the setup against what this model supports; the same message will be refused again",
            False,
            False,
        ),
        CloseMeaning(
            CloseKind.DEADLINE, "The session reached the server's time limit", "Connect again to go on", True, True
        ),
        CloseMeaning(
            CloseKind.UNAVAILABLE, "The service is currently unavailable", "Try again in a moment", True, True
        ),
        CloseMeaning(CloseKind.INTERNAL, "The server had an internal error", "Connect again", True, True),
        CloseMeaning(
            CloseKind.ABORTED,
            "The server aborted the session",
            "Connect again; if it recurs, start a new session",
            True,
            True,
        ),
        CloseMeaning(
            CloseKind.TOO_LARGE,
            "The server refused a message as above its size limit",
            "Send less at a time",
            False,
            True,
        ),
        CloseMeaning(
            CloseKind.PROTOCOL,
            "The server says that this side violated the WebSocket protocol",
            "Check that the address is a Live API server",
            False,
            True,
        ),
        CloseMeaning(CloseKind.UNKNOWN, "The server closed the connection", "Connect again", True, True),
    )
}

_BY_US: dict[int, CloseMeaning] = {
    1002: CloseMeaning(
        CloseKind.PROTOCOL,
        "The server violated the WebSocket protocol, so this side closed the connection",
        "Check that the address is a Live API server, and that no proxy changes what it sends",
        False,
        True,
    ),
    1007: CloseMeaning(
        CloseKind.PROTOCOL,
        "The server sent text that is not UTF-8, so this side closed the connection",
        "Check that the address is a Live API server, and that no proxy changes what it sends",
        False,
        True,
    ),
    1008: CloseMeaning(
        CloseKind.PROTOCOL,
        "The server sent without end and read nothing, so this side closed the connection",
        "Check that the address is a Live API server",
        False,
        True,
    ),
    1009: CloseMeaning(
        CloseKind.TOO_LARGE,
        f"The server sent a message above {MAX_MESSAGE_BYTES >> 20} MiB, so this side closed the connection",
        "Ask for shorter answers, then connect again",
        False,
        True,
    ),
}
"""Meanings of the codes with which this side fails a connection (RFC 6455, 7.1.7)."""

_TOO_MANY_FRAGMENTS = CloseMeaning(
    CloseKind.TOO_LARGE,
    f"The server sent a message in more than {MAX_FRAGMENTS:,} fragments, so this side closed the connection",
    "Check that the address is a Live API server, and that no proxy changes what it sends",
    False,
    True,
)

_LEFT = CloseMeaning(CloseKind.NORMAL, "This side closed the connection", "Connect again to go on", True, True)

# The first match decides: "The model is overloaded" is not about the model's name, nor a quota about the key.
_REASONS: tuple[tuple[CloseKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (CloseKind.QUOTA, r"quota|resource[ _]?(has been )?exhausted|rate.?limit|too many requests|billing|credits?\b"),
        (CloseKind.LOCATION, r"\blocation (is )?not supported"),
        (
            CloseKind.AUTH,
            r"api[ _-]?key|unauthenticated|authenticat|unauthorized|permission|credential|access token"
            r"|auth token|token (has )?expired|ephemeral|forbidden|leaked",
        ),
        (
            CloseKind.HANDLE,
            r"resumption (handle|token)|session handle|(invalid|expired|unknown) handle"
            r"|handle (is )?(invalid|expired|unknown|not found)|cannot (be )?resum|session not found",
        ),
        (CloseKind.CONTEXT, r"context (window|length|limit)|token (count|limit)|too many tokens|exceeds? the maximum"),
        (CloseKind.UNAVAILABLE, r"unavailable|overloaded|try again"),
        (CloseKind.DEADLINE, r"deadline|timed? ?out|time limit|session (duration|expired)|max(imum)? duration"),
        (
            CloseKind.MODEL,
            r"models?/|\bmodel\b|requested entity was not found|not found for api version"
            r"|not (implemented|supported|enabled)|bidigeneratecontent",
        ),
        (CloseKind.ABORTED, r"abort|cancell?ed"),
        (CloseKind.ARGUMENT, r"invalid|unknown name|malformed|\bmust\b|precondition|cannot find field"),
        (CloseKind.INTERNAL, r"internal"),
    )
)

# RFC 6455, 7.4.1, as Google's servers use them: 1007 for a refused argument, 1008 for an aborted session. IANA has
# registered 3000 (unauthorized), 3003 (forbidden) and 3008 (timeout).
_CODES = {
    1000: CloseKind.NORMAL,
    1001: CloseKind.UNAVAILABLE,
    1002: CloseKind.PROTOCOL,
    1003: CloseKind.ARGUMENT,
    1005: CloseKind.NORMAL,
    1006: CloseKind.NETWORK,
    1007: CloseKind.ARGUMENT,
    1008: CloseKind.ABORTED,
    1009: CloseKind.TOO_LARGE,
    1011: CloseKind.INTERNAL,
    1012: CloseKind.UNAVAILABLE,
    1013: CloseKind.UNAVAILABLE,
    1014: CloseKind.UNAVAILABLE,
    1015: CloseKind.NETWORK,
    3000: CloseKind.AUTH,
    3003: CloseKind.AUTH,
    3008: CloseKind.DEADLINE,
}
# These codes are about the transport itself, so their reason says nothing of the session.
_FIXED_CODES = frozenset({1002, 1006, 1009, 1015})


def server_text(text: str, limit: int = MAX_REASON) -> str:
    """Return a server's text as one line, redacted and cut to `limit` characters.

    An unfinished escape sequence would take the beginning of what follows it.
    """
    text = redactor.text(sanitise_line(text))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def classify(code: int, reason: str = "", *, by_us: bool = False, status: int | None = None) -> CloseMeaning:
    """Return the meaning of a close code and its reason; `by_us`: this side closed.

    `status`: the HTTP status, 0 when unknown, of an error that the server sent before; `reason` is the error's then.
    """
    if by_us:
        if code == 1009 and "fragments" in reason:
            return _TOO_MANY_FRAGMENTS
        return _BY_US.get(code, _LEFT)
    if status is None:
        kind = None if code in _FIXED_CODES else _kind_of(reason)
        return _MEANINGS[kind or _CODES.get(code, CloseKind.UNKNOWN)]
    return _MEANINGS[_error_kind(status, reason) or _CODES.get(code, CloseKind.UNKNOWN)]


def _kind_of(reason: str) -> CloseKind | None:
    reason = reason[:MAX_REASON]
    return next((kind for kind, pattern in _REASONS if pattern.search(reason)), None)


def code_and_reason(code: int, reason: str) -> str:
    """Return code and reason, to be put into a sentence."""
    return f"{code}: {reason.rstrip('.')}" if reason else f"{code}, no reason given"


def closed_error(code: int, reason: str = "", *, by_us: bool = False) -> ConnectionClosedError:
    """Return the error of a close, with the reason; `by_us`: this side closed."""
    meaning = classify(code, reason, by_us=by_us)
    text = server_text(reason)
    message = f"{meaning.sentence} ({code_and_reason(code, text)})"
    return ConnectionClosedError(message, close_code=code, reason=text, remedy=meaning.remedy, by_us=by_us)


def closed_after(error: object, code: int) -> ConnectionClosedError:
    """Return the error of a close without a reason, after a server's error object."""
    status, reason = _status_and_reason(error)
    meaning = classify(code, reason, status=status)
    message = f"{meaning.sentence} (the server sent {error_text(error)}, then the connection ended with {code})"
    return ConnectionClosedError(
        message, close_code=code, reason=server_text(reason), remedy=meaning.remedy, status=status
    )


_STATUS = {
    400: ("refused the request", "Check the key, the model and the API version"),
    401: ("does not accept the credential", "Check the key or token"),
    402: ("asks for a payment", "Enable billing for the key's project, or check the address"),
    403: ("does not allow this", "Check that the key is valid, unrestricted for this API, and that the API is enabled"),
    404: ("has no Live API at this address", "Check the URL and the API version"),
    405: ("has no Live API at this address", "Check the URL and the API version"),
    407: ("is behind a proxy that requires a login", "Put the user name and password into HTTPS_PROXY"),
    408: ("gave up waiting for the request", "Try again in a moment"),
    410: ("has no Live API at this address any more", "Check the URL and the API version"),
    413: ("takes the request for too large", "Check the key and the address, which may be too long"),
    414: ("takes the request for too large", "Check the key and the address, which may be too long"),
    421: ("is not the server of this name", "Check the address, and whether a proxy changes it"),
    426: ("requires another protocol", "Check that the address is a Live API server"),
    429: ("has no quota left for this key", "Wait, or raise the quota or enable billing for the key's project"),
    431: ("takes the request for too large", "Check the key and the address, which may be too long"),
    451: ("is not allowed to offer this here", "Connect from another place"),
    501: ("does not support this", "Check that the address is a Live API server"),
    505: ("does not support HTTP/1.1", "Check that the address is a Live API server"),
    511: ("is behind a network that requires a login", "Log in to the network with a browser, then try again"),
}


CREDENTIAL_STATUS = frozenset((401, 403, 429))
"""HTTP statuses that refuse the credential or its quota."""

_STATUS_NAMES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""HTTP status of the names of `google.rpc.Code`."""

_ERROR_KINDS = {
    400: CloseKind.ARGUMENT,
    401: CloseKind.AUTH,
    403: CloseKind.AUTH,
    404: CloseKind.MODEL,
    429: CloseKind.QUOTA,
    500: CloseKind.INTERNAL,
}


def _error_kind(status: int, reason: str) -> CloseKind | None:
    if status in CREDENTIAL_STATUS:
        return _ERROR_KINDS[status]
    return _kind_of(reason) or _ERROR_KINDS.get(status, CloseKind.UNAVAILABLE if status >= 500 else None)


def _status_and_reason(error: object) -> tuple[int, str]:
    """Return HTTP status, 0 when unknown, and message of a `google.rpc.Status`."""
    fields: dict[str, Any] = error if isinstance(error, dict) else {"message": error}
    status, reason = fields.get("code"), fields.get("message")
    if not isinstance(status, int) or not 400 <= status < 600:
        status = _STATUS_NAMES.get(str(fields.get("status")), 0)
    return status, reason if isinstance(reason, str) else ""


def error_text(error: object) -> str:
    """Return status and message of a server's error object as `an error (403: …)`."""
    status, reason = _status_and_reason(error)
    details = ": ".join(part for part in (str(status or ""), server_text(reason).rstrip(".")) if part)
    return f"an error ({details})" if details else "an error"


def setup_refused(error: object) -> SetupRejectedError:
    """Return the error of an error object that answers the setup.

    `error` should be a `google.rpc.Status`.
    """
    status, reason = _status_and_reason(error)
    text = f"The server answered {error_text(error)} instead of setupComplete"
    if status in CREDENTIAL_STATUS:
        problem, remedy = _STATUS[status]
        text = f"{text}: the server {problem}"
    else:
        kind = _error_kind(status, reason)
        remedy = "Check that the address is a Live API server and the API version"
        if kind is not None:
            sentence, remedy = _MEANINGS[kind].sentence, _MEANINGS[kind].remedy
            text = f"{text}: {sentence[:1].lower()}{sentence[1:]}"
    return SetupRejectedError(text, status=status, remedy=remedy)


def upgrade_refused(where: str, status: int, body: bytes = b"", *, is_cut: bool = False) -> UpgradeRefusedError:
    """Return the error of a refused HTTP upgrade.

    `where` is the host; the reason is read from `body`: JSON, HTML or text, of which the end is missing if `is_cut`.
    """
    problem, remedy = _STATUS.get(status, ("refused the connection", "Check the address"))
    if status < 200:
        problem = "gives no answer but preliminary ones"
    elif status < 300 or status == 304:
        problem = "answered as a web server, not as a Live API server"
    elif 300 <= status < 400:
        problem, remedy = "redirects to another address, which is not followed", "Configure the final address"
    elif status >= 500 and status not in _STATUS:
        problem, remedy = "is currently unavailable", "Try again in a moment"
    reason = server_text(_cut_reason(body) if is_cut else _reason_of(body))
    if _kind_of(reason) is CloseKind.LOCATION:
        remedy = _MEANINGS[CloseKind.LOCATION].remedy
    message = f"{where} {problem} (HTTP {status}: {reason})" if reason else f"{where} {problem} (HTTP {status})"
    return UpgradeRefusedError(message, status=status, remedy=remedy)


def _reason_of(body: bytes) -> str:
    text = body[:8192].decode("utf-8", "replace").strip()
    try:
        value = json.loads(text)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, dict):
            error = value.get("error", value)
            message = error.get("message") if isinstance(error, dict) else error
            if isinstance(message, str):
                return message
    except (ValueError, RecursionError):
        pass
    if "<" in text:
        import html  # here, because it takes long to import and refusals are few

        title = re.search(r"<title>(.*?)(?:</title>|\Z)", text, re.IGNORECASE | re.DOTALL)
        return " ".join(html.unescape(title.group(1)).split()) if title else ""
    return " ".join(text.split())


_CUT_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)("?)')


def _cut_reason(body: bytes) -> str:
    """Return the reason in a body whose end is missing."""
    message = _CUT_MESSAGE.search(body[:8192].decode("utf-8", "ignore"))
    reason = _reason_of(body) if message is None else message[1]
    if message is not None:
        with contextlib.suppress(ValueError):
            reason = json.loads(f'"{reason}"', strict=False)
        if message[2]:
            return reason
    cut_at = redactor.cut_at(reason)
    if cut_at is not None:
        reason = reason[:cut_at] + REDACTED
    return f"{reason}…" if reason else ""
