"""Read the error objects of Google's HTTP APIs."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gemini_live_runtime.text import redactor, sanitise_line


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
