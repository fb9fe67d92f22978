"""The two choke points for text: `sanitise` on the way to a display, `redact` on the way to anything kept.

Sanitising removes what a terminal would obey and what would reorder or hide text; it keeps every printable
character. Redacting replaces credentials; it runs before an event is made, so no journal, log or export has to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

REDACTED = "[redacted]"

# ECMA-48 sequences: OSC/DCS/SOS/PM/APC strings up to their terminator, CSI sequences, then any other escape pair.
_SEQUENCES = re.compile(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 but tab and newline, DEL, C1; bidi controls and isolates; invisible operators, tags and the BOM; lone surrogates.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u2064\u2066-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEEDS_WORK = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u2064\u2066-\u206f\ufeff"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def sanitise(text: str) -> str:
    """`text` with escape sequences, control characters and bidi overrides removed; newline and tab stay.

    Carriage returns become newlines; lone surrogates become U+FFFD. Sanitised text is a fixed point.
    """
    if not _NEEDS_WORK.search(text):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SEQUENCES.sub("", text)
    text = _INVISIBLE.sub("", text)
    return _SURROGATE.sub("\ufffd", text)


def sanitise_line(text: str, limit: int = 0) -> str:
    """Sanitised `text` on one line, cut to `limit` characters with an ellipsis when `limit` > 0."""
    line = " ".join(sanitise(text).split())
    return line if limit <= 0 or len(line) <= limit else line[: limit - 1] + "…"


_SECRETS = re.compile(
    r"AIza[0-9A-Za-z_\-]{10,}"
    r"|auth_tokens/[0-9A-Za-z_\-.]+"
    r"|ya29\.[0-9A-Za-z_\-.]+"
    r"|(?i:(?<=bearer )|(?<=token ))[0-9A-Za-z_\-.~+/=]{12,}"
    r"|(?i:(?<=[?&]key=)|(?<=[?&]access_token=)|(?<=api[-_]key=)|(?<=api[-_]key: )|(?<=api[-_]key\": \"))[^&\s\"']+"
)
_SECRET_FIELDS = frozenset(
    {
        "handle",
        "newhandle",
        "apikey",
        "accesstoken",
        "authorization",
        "xgoogapikey",
        "password",
        "secret",
        "token",
        "consentaudio",
        "voiceconsentsignature",
        "signature",
    }
)


class Redactor:
    """Replaces credentials in text and in JSON-like values.

    Patterns catch keys and tokens by shape; `add` registers the exact secrets in use, whatever their shape.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: list[str] = []

    def add(self, secret: str) -> None:
        """Register an exact secret; anything under six characters is ignored, it would blank ordinary words."""
        if len(secret) >= 6 and secret not in self._known:
            self._known.append(secret)
            self._known.sort(key=len, reverse=True)

    def text(self, text: str) -> str:
        """`text` without any known or recognisable secret."""
        for secret in self._known:
            if secret in text:
                text = text.replace(secret, REDACTED)
        return _SECRETS.sub(REDACTED, text)

    def value(self, value: Any) -> Any:
        """A copy of a JSON-like value with secrets replaced, keys and nesting kept."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {
                (self.text(key) if isinstance(key, str) else key): (
                    REDACTED if item and self._is_secret_field(key, item) else self.value(item)
                )
                for key, item in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            return [self.value(item) for item in value]
        return value

    @staticmethod
    def _is_secret_field(key: object, item: object) -> bool:
        if not isinstance(key, str) or not isinstance(item, str):
            return False
        return key.replace("_", "").replace("-", "").lower() in _SECRET_FIELDS


redactor = Redactor()
"""The process-wide redactor: credentials register themselves here when they are loaded."""
