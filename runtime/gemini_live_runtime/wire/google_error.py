"""Google's error objects, as its HTTP APIs send them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gemini_live_runtime.text import redactor, sanitise_line


def google_error(reply: bytes) -> tuple[str, str]:
    """The message of Google's error object, fit to be shown, and the reason in its details; "" for what is absent."""
    try:
        error = json.loads(reply)["error"]
        details = error.get("details") or []
        reasons = [str(item["reason"]) for item in details if isinstance(item, Mapping) and "reason" in item]
        return shown(str(error.get("message") or "")), next(iter(reasons), "")
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return "", ""


def shown(text: str) -> str:
    """What a server said, fit to be shown: one line without secrets."""
    return sanitise_line(redactor.text(text), 200)
