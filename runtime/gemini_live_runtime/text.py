"""The two choke points for text: `sanitise` on the way to a display, `redact` on the way to anything kept.

Sanitising removes what a terminal would obey and what would reorder or hide text; it keeps every printable
character. Redacting replaces credentials; it runs before an event is made, so no journal, log or export has to.
"""

from __future__ import annotations

import re
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
    """`text` with escape sequences, control characters and bidi overrides removed; newline and tab stay.

    Carriage returns become newlines; lone surrogates become U+FFFD. Sanitised text is a fixed point.
    """
    if text.isprintable() or not _NEEDS_WORK.search(text):  # the first is far quicker, but knows no tab and newline
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SEQUENCES.sub("", text)
    text = _INVISIBLE.sub("", text)
    return _SURROGATE.sub("\ufffd", text)


def sanitise_line(text: str, limit: int = 0) -> str:
    """Sanitised `text` on one line, cut to `limit` characters with an ellipsis when `limit` > 0."""
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        line = text  # so are most
    else:
        line = " ".join(sanitise(text).split())
    return line if limit <= 0 or len(line) <= limit else line[: limit - 1] + "…"


# A word after "bearer" or "token" is a credential when it is long or has a digit: people also write of token holders.
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


# The ends of the secret fields' names, lower-cased and without "_" and "-", as they stand in JSON.
_FIELD_ENDS = (
    *('token":', 'ikey":', 'tekey":', 'handle":', 'authorization":', 'secret":', 'consentaudio":', 'cookie":'),
    *('password":', 'signature":'),
)


MAX_PASSING = 16
_SHORTEST = 6
_LONGEST_FIELD = 60


class Redactor:
    """Replaces credentials in text and in JSON-like values.

    Patterns catch keys and tokens by shape; `add` registers the exact secrets in use, whatever their shape.
    """

    __slots__ = ("_known", "_known_in_json", "_lasting", "_passing")

    def __init__(self) -> None:
        self._lasting: set[str] = set()
        self._passing: dict[str, None] = {}
        self._known: list[str] = []
        self._known_in_json: tuple[str, ...] = ()

    def add(self, secret: str) -> None:
        """Register an exact secret, also as it looks in a URL and inside JSON.

        Anything under six characters is ignored, it would blank ordinary words.
        """
        if len(secret) >= _SHORTEST:
            self._lasting.add(secret)
            self._spell()

    def add_passing(self, secret: str) -> None:
        """Like `add` for a secret that is soon replaced, such as a resumption handle: the last `MAX_PASSING` count."""
        if len(secret) >= _SHORTEST:
            self._passing.pop(secret, None)
            self._passing[secret] = None
            while len(self._passing) > MAX_PASSING:
                del self._passing[next(iter(self._passing))]
            self._spell()

    def _spell(self) -> None:
        import json

        spellings = {
            spelling
            for secret in (*self._lasting, *self._passing)
            for spelling in (
                secret,
                quote(secret, safe="", errors="replace"),
                json.dumps(secret)[1:-1],
                repr(secret)[1:-1],
            )
        }
        self._known = sorted(spellings, key=lambda known: (-len(known), known))
        self._known_in_json = tuple({json.dumps(known)[1:-1] for known in self._known})

    def may_change(self, line: str) -> bool:
        """Whether `value` might change a field of the event in `line`; a quick look, never wrong when it says no.

        The names of the event's own fields are taken for the vocabulary's, which are no secrets.
        """
        # One look at the whole costs a fraction of a walk through its parts, and a rare character spares it others.
        low = line.lower()
        if "bearer" in low or "key: " in low or "AIza" in line or "ya29." in line or "AQ." in line:
            return True
        if ("=" in line and "key=" in low) or ("'" in line and "key': '" in low) or ("@" in line and "://" in line):
            return True
        if "token" in low and ("token " in low or "token=" in low or "tokens/" in low):
            return True
        # U+212A is a "k" to lower-casing and to the shapes.
        if "\\" in line and ('key\\":' in low or "\\u212a" in low):
            return True
        if line.find("{", line.find("{", 1) + 1) >= 0:  # besides the event and its data: fields of any name
            names = low.replace("_", "").replace("-", "")
            if any(map(names.__contains__, _FIELD_ENDS)):
                return True
        return any(map(line.__contains__, self._known_in_json))

    def text(self, text: str) -> str:
        """`text` without any known or recognisable secret."""
        return _without_patterns(self._without_known(text) if self._known else text)

    def value(self, value: Any) -> Any:
        """A copy of a JSON-like value with secrets replaced, keys and nesting kept."""
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
                clean[name] = self._blank(item) if secret else self.value(item)
            return clean
        if isinstance(value, list | Sequence) and not isinstance(value, bytes | bytearray):
            return [self.value(item) for item in value]
        return value

    def _blank(self, value: Any) -> Any:
        """`value` with every string in it replaced and names redacted; numbers and the like are no secrets."""
        if isinstance(value, str):
            return REDACTED if value else value
        if isinstance(value, Mapping):
            return {
                self._field(name)[0] if isinstance(name, str) else name: self._blank(item)
                for name, item in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            return [self._blank(item) for item in value]
        return value

    def _field(self, name: str) -> tuple[str, bool]:
        clean, secret = (_field if len(name) <= _LONGEST_FIELD else _field.__wrapped__)(name)
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
    # Every shape has one of these in it or before it; asking for them first costs a fraction of a search.
    low = text.lower()
    if (
        ("key" in low and ("key=" in low or "key: " in low or 'key":' in low or "key': '" in low))
        or ("token" in low and ("token=" in low or "token " in low or "tokens/" in low))
        or "bearer" in low
        or ("://" in text and "@" in text)
        or "AIza" in text
        or "ya29." in text
        or "AQ." in text
    ):
        return _SECRETS.sub(REDACTED, text)
    return text


@lru_cache(maxsize=1024)
def _field(name: str) -> tuple[str, bool]:
    """The name of a field without secrets of a known shape, and whether what it holds is one: the same few come again
    and again."""
    return _without_patterns(name), _is_secret_field(name)


def _is_secret_field(name: str) -> bool:
    return name.replace("_", "").replace("-", "").lower() in _SECRET_FIELDS


redactor = Redactor()
"""The process-wide redactor: credentials register themselves here when they are loaded."""
