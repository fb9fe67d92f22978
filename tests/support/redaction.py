"""Redact values and texts as the journal does."""

from __future__ import annotations

from gemini_live_runtime.events import Event, Unknown
from gemini_live_runtime.journal.privacy.split_secrets import SplitSecrets
from gemini_live_runtime.redactor import Redactor

ODD = 'ca"na/ry \\ß+key%'
"""Secret with characters that each encoding writes in another way."""

PIECES = (
    *("AIza", "auth_tokens/", "ya29.", "AQ.", "://", "bearer ", "BEARER%20", "Token ", "?key=", "&access_token="),
    *("password=", "secret: ", "token: ", "token=", "api_key = '", '"token": "', "Authorization: ", "Basic "),
    *("Cookie: a=", "--password ", "sk-", "ghp_", "AKIA", "eyJ", "xoxb-", "sk_live_"),
    *("-----BEGIN RSA PRIVATE KEY-----", "'", '"', "<password>", "</password>", "curl -u a:"),
    *("hooks.slack.com/services/", "/api/webhooks/1/", "%3D", "password%3A", "&quot;", "\\u003d", "：", "＝", "…"),
    *("...", "pin: ", "DB_PASS", "_2=", "=> ", '"""', "4711", "|\n  ", "Authorization:", "ApiKey "),
    *("AAAAabcdefg:APA91b", "?token=", "api_key=", "apikey=", "api-key: ", 'apikey": "', "api_key':'"),
    *("user:secret@", "a1" * 15),
)
"""Pieces of secrets and of the words that tell them."""


def may_redact(value: object) -> bool:
    """Return True when a line of JSON with `value` is not taken for harmless."""
    return Redactor().may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data={"value": value})).to_line())


def redacted_in_pieces(*pieces: str) -> str:
    """Return what is kept of a text that comes in pieces."""
    found = SplitSecrets(Redactor())
    kept: list[str] = []
    for piece in pieces:
        found.add("user", 1, piece, kept.append)
    found.close()
    return "".join(kept)
