"""Sanitise text for display, and redact credentials in text and JSON values.

Sanitising removes what a terminal would obey and what would reorder or hide text; it keeps every printable character.
All text from outside passes it on the way to a display. Redacting replaces credentials before an event is created, so
journals, logs and exports need no redaction of their own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

REDACTED = "[redacted]"

# ECMA-48 sequences: OSC/DCS/SOS/PM/APC strings up to their terminator, CSI sequences, then any other escape pair.
_SEQUENCES = re.compile(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 but tab and newline, DEL, C1; bidi controls and isolates; invisible operators, annotations, tags and the BOM.
_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f"
)
_INVISIBLE = re.compile(f"[{_UNSEEN}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEEDS_WORK = re.compile(f"[{_UNSEEN}\ud800-\udfff]")


def sanitise(text: str) -> str:
    """Remove escape sequences, control characters and bidi overrides from text.

    Newlines and tabs stay; carriage returns become newlines, lone surrogates U+FFFD. Idempotent.
    """
    if text.isprintable() or not _NEEDS_WORK.search(text):  # the first is far quicker, but False for tab and newline
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SEQUENCES.sub("", text)
    text = _INVISIBLE.sub("", text)
    return _SURROGATE.sub("\ufffd", text)


def sanitise_line(text: str, limit: int = 0) -> str:
    """Sanitise text into one line of at most `limit` characters; 0 is no limit."""
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        line = text  # the usual case
    else:
        line = " ".join(sanitise(text).split())
    return line if limit <= 0 or len(line) <= limit else line[: limit - 1] + "…"


# A word after "bearer" or "token" is a credential when it is long or has a digit: "token holders" is not.
_CREDENTIAL_WORD = r"(?:(?=[A-Za-z_\-.~+/=]*[0-9])[0-9A-Za-z_\-.~+/=]{12,}|[0-9A-Za-z_\-.~+/=]{24,})"
_SECRETS = re.compile(
    r"AIza[0-9A-Za-z_\-]{10,}"
    r"|auth_tokens/[0-9A-Za-z_\-.]+"
    r"|ya29\.[0-9A-Za-z_\-.]+"
    r"|\bAQ\.[0-9A-Za-z_\-]{20,}"
    r"|(?<=://)[^/\s:@\"']{1,200}:[^/\s@\"']{1,200}(?=@)"
    rf"|(?i:(?<=bearer )|(?<=bearer%20)|(?<=token )){_CREDENTIAL_WORD}"
    r"|(?i:(?<=[?&]key=)|(?<=[?&]access_token=)|(?<=[?&]token=)|(?<=api[-_]key=)|(?<=apikey=))[^&\s\"']+"
    r"|(?i:(?<=api[-_]key: )|(?<=apikey: )|(?<=api[-_]key\": \")|(?<=api[-_]key\":\")|(?<=apikey\": \")"
    r"|(?<=apikey\":\")|(?<=api[-_]key': '))[^&\s\"']+"
)
# The beginning of a secret at the end of a text, from its first private character on.
_OPEN_SECRETS = re.compile(
    r"(?:AIza[0-9A-Za-z_\-]{1,9}"
    r"|\bAQ\.[0-9A-Za-z_\-]{1,19}"
    r"|(?<=://)[^/\s@\"']{1,400}"
    r"|(?i:(?<=bearer )|(?<=bearer%20)|(?<=token ))[0-9A-Za-z_\-.~+/=]{1,23})\Z"
)
_NUMBERS = frozenset((int, float, bool))
_SECRET_FIELDS = frozenset(
    {
        "accesstoken",
        "apikey",
        "authorization",
        "clientsecret",
        "consentaudio",
        "cookie",
        "handle",
        "idtoken",
        "newhandle",
        "password",
        "privatekey",
        "proxyauthorization",
        "refreshtoken",
        "secret",
        "setcookie",
        "signature",
        "token",
        "voiceconsentsignature",
        "xgoogapikey",
    }
)
# Ends of the secret fields' names as in JSON, lower-cased and without "_" and "-".
_FIELD_ENDS = (
    *('token":', 'ikey":', 'tekey":', 'handle":', 'authorization":', 'secret":', 'consentaudio":', 'cookie":'),
    *('password":', 'signature":'),
)


MAX_TEMPORARY = 16
"""Secrets registered by `add_temporary` that are remembered, the newest."""

_MIN_SECRET = 6
"""Characters of the shortest secret; shorter ones would blank ordinary words."""

_OPEN_KNOWN = 3
"""Characters of a registered secret from which on the end of a text counts as its beginning."""

Spans = list[tuple[int, int]]
"""Parts of a text as [first, beyond)."""

_MAX_CACHED_NAME = 60
"""Characters of the longest field name that is cached."""


class Redactor:
    """Redactor of credentials in text and in JSON values.

    Patterns find keys and tokens by their shape; `add` registers the exact secrets in use, of any shape.
    """

    __slots__ = ("_beginnings", "_known", "_known_in_json", "_permanent", "_temporary")

    def __init__(self) -> None:
        self._permanent: set[str] = set()
        self._temporary: dict[str, None] = {}
        self._known: list[str] = []
        self._known_in_json: tuple[str, ...] = ()
        self._beginnings: tuple[str, ...] = ()

    def add(self, secret: str) -> None:
        """Register a secret, also as it is spelled in a URL and in JSON.

        Ignores secrets of fewer than `_MIN_SECRET` characters.
        """
        if len(secret) >= _MIN_SECRET:
            self._permanent.add(secret)
            self._update_spellings()

    def add_temporary(self, secret: str) -> None:
        """Register a secret that is soon replaced, such as a resumption handle.

        Only the last `MAX_TEMPORARY` are remembered.
        """
        if len(secret) >= _MIN_SECRET:
            self._temporary.pop(secret, None)
            self._temporary[secret] = None
            while len(self._temporary) > MAX_TEMPORARY:
                del self._temporary[next(iter(self._temporary))]
            self._update_spellings()

    def _update_spellings(self) -> None:
        import json

        from gemini_live_runtime.json_values import encode_line

        spellings = {
            spelling
            for secret in (*self._permanent, *self._temporary)
            for spelling in (
                secret,
                quote(secret, safe="", errors="replace"),
                json.dumps(secret)[1:-1],
                encode_line(secret)[1:-1],
                repr(secret)[1:-1],
            )
        }
        self._known = sorted(spellings, key=lambda known: (-len(known), known))
        self._known_in_json = tuple({encode_line(known)[1:-1] for known in self._known})
        self._beginnings = tuple({known[:_OPEN_KNOWN] for known in self._known})

    def may_redact(self, line: str) -> bool:
        """Return False when `value` certainly changes no field of the event in `line`.

        Cheaper than `value`. Assumes that the event's own field names are the vocabulary's, which hold no secrets.
        """
        # Searching the whole line costs a fraction of a walk through its fields, and the cheap tests for a rare
        # character come first.
        low = line.lower() if line.isascii() else _lowered(line)
        if "bearer" in low or "key: " in low or "AIza" in line or "ya29." in line or "AQ." in line:
            return True
        if ("=" in line and "key=" in low) or ("'" in line and "key': '" in low) or ("@" in line and "://" in line):
            return True
        if "token" in low and ("token " in low or "token=" in low or "tokens/" in low):
            return True
        # U+212A, the Kelvin sign, matches "k" in the patterns, which ignore case.
        if ("\\" in line and 'key\\":' in low) or "\u212a" in line:
            return True
        if line.find("{", line.find("{", 1) + 1) >= 0:  # deeper than the event and its data, fields have any name
            names = low.replace("_", "").replace("-", "")
            if any(map(names.__contains__, _FIELD_ENDS)):
                return True
        return any(map(line.__contains__, self._known_in_json))

    def text(self, text: str) -> str:
        """Replace every registered or recognisable secret in text."""
        return _without_patterns(self._without_known(text) if self._known else text)

    def may_hold_secret(self, text: str) -> bool:
        """Return False when `spans` and `open_at` certainly find nothing in `text`."""
        return _may_match(text) or "://" in text or any(map(text.__contains__, self._beginnings))

    def spans(self, text: str) -> Spans:
        """Return the parts of `text` that are secrets, sorted and disjoint."""
        found = [match.span() for match in _SECRETS.finditer(text)]
        for secret in self._known:
            at = text.find(secret)
            while at >= 0:
                found.append((at, at + len(secret)))
                at = text.find(secret, at + len(secret))
        return joined_spans(found)

    def open_at(self, text: str) -> int | None:
        """Return where a secret begins that goes beyond the end of `text`, or None."""
        match = _OPEN_SECRETS.search(text)
        starts = [match.start()] if match is not None else []
        for secret in self._known:
            at = text.find(secret[:_OPEN_KNOWN], max(0, len(text) - len(secret) + 1))
            while at >= 0 and not secret.startswith(text[at:]):
                at = text.find(secret[:_OPEN_KNOWN], at + 1)
            if at >= 0:
                starts.append(at)
        return min(starts, default=None)

    def value(self, value: Any) -> Any:
        """Return a copy of a JSON value with secrets replaced; keys and nesting stay."""
        if value is None or type(value) in _NUMBERS:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict | Mapping):
            clean = {}
            for name, item in value.items():
                secret = False
                if isinstance(name, str):
                    name, secret = self._field(name)
                clean[name] = self._redact_strings(item) if secret else self.value(item)
            return clean
        if isinstance(value, list | Sequence) and not isinstance(value, bytes | bytearray):
            return [self.value(item) for item in value]
        return value

    def _redact_strings(self, value: Any) -> Any:
        """Return the value of a secret field with every string replaced, at any depth.

        Field names are redacted too; numbers, booleans and null stay.
        """
        if isinstance(value, str):
            return REDACTED if value else value
        if isinstance(value, Mapping):
            return {
                self._field(name)[0] if isinstance(name, str) else name: self._redact_strings(item)
                for name, item in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            return [self._redact_strings(item) for item in value]
        return value

    def _field(self, name: str) -> tuple[str, bool]:
        clean, secret = (_field if len(name) <= _MAX_CACHED_NAME else _field.__wrapped__)(name)
        if self._known:
            rest = self._without_known(name)
            clean = clean if rest is name else _without_patterns(rest)
        return clean, secret

    def _without_known(self, text: str) -> str:
        for secret in self._known:
            if secret in text:
                text = text.replace(secret, REDACTED)
        return text


def _without_patterns(text: str) -> str:
    return _SECRETS.sub(REDACTED, text) if _may_match(text) else text


def _may_match(text: str) -> bool:
    # Every pattern needs one of these substrings; testing for them costs a fraction of a search.
    low = text.lower()
    return (
        ("key" in low and ("key=" in low or "key: " in low or 'key":' in low or "key': '" in low))
        or ("token" in low and ("token=" in low or "token " in low or "tokens/" in low))
        or "bearer" in low
        or ("://" in text and "@" in text)
        or "AIza" in text
        or "ya29." in text
        or "AQ." in text
    )


def joined_spans(spans: Spans) -> Spans:
    """Return spans sorted, those that touch or overlap as one."""
    merged: Spans = []
    for first, beyond in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(beyond, merged[-1][1]))
        else:
            merged.append((first, beyond))
    return merged


def redacted_part(text: str, at: int, spans: Spans) -> str:
    """Redact the part `text` of a longer one, in which it begins at `at`.

    A span over several parts is replaced in the part where it begins, and removed from the others.
    """
    end = at + len(text)
    pieces, here = [], at
    for number in range(max(0, bisect_right(spans, (at, at)) - 1), len(spans)):
        first, beyond = spans[number]
        if first >= end:
            break
        if beyond <= at:
            continue
        if first >= at:
            pieces += [text[here - at : first - at], REDACTED]
        here = min(end, max(here, beyond))
    return "".join((*pieces, text[here - at :]))


def _lowered(line: str) -> str:
    """Return `line` in lower case, with anything in place of other than ASCII."""
    # Lower-casing text beyond ASCII takes a hundred times as long: the bytes of UTF-8 are treated as characters.
    return line.encode("utf-8", "surrogatepass").lower().decode("latin-1")


@lru_cache(maxsize=1024)
def _field(name: str) -> tuple[str, bool]:
    """Return a field's name without recognisable secrets, and True for a secret field.

    Cached: the same few names come again and again.
    """
    return _without_patterns(name), _is_secret_field(name)


def _is_secret_field(name: str) -> bool:
    return name.replace("_", "").replace("-", "").lower() in _SECRET_FIELDS


redactor = Redactor()
"""Process-wide redactor, at which every credential is registered when it is loaded."""
