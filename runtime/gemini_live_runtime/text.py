"""Sanitise text for display, and redact credentials in text and JSON values.

Sanitising removes what a terminal would obey and what would reorder or hide text; it keeps every printable character.
All text from outside passes it on the way to a display. Redacting replaces credentials before an event is created, so
journals, logs and exports need no redaction of their own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

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
    r"|\beyJ[0-9A-Za-z_\-]{8,}\.[0-9A-Za-z_\-]{8,}\.[0-9A-Za-z_\-]*"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
    r"(?:(?:[^\-]|-(?!----)){0,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----|(?:(?:\s|\\+[nr])*[0-9A-Za-z+/=]{20,})+)"
    # Keys of OpenAI and Anthropic, GitHub, AWS, Slack and Stripe.
    r"|\bsk-(?=[A-Za-z_\-]{0,60}[0-9])[0-9A-Za-z_\-]{20,}"
    r"|\b(?:gh[opsur]_|github_pat_)[0-9A-Za-z_]{20,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bxox[abeoprs]-[0-9A-Za-z\-]{10,}"
    r"|\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"
    r"|(?<=://)[^/\s:@\"']{0,200}:[^/\s@\"']{1,200}(?=@)"
    rf"|(?i:(?<=bearer )|(?<=bearer%20)|(?<=token )){_CREDENTIAL_WORD}"
    r"|(?i:(?<=[?&]key=)|(?<=[?&]access_token=)|(?<=[?&]token=)|(?<=api[-_]key=)|(?<=apikey=))[^&\s\"']+"
    r"|(?i:(?<=api[-_]key: )|(?<=apikey: )|(?<=api[-_]key\": \")|(?<=api[-_]key\":\")|(?<=apikey\": \")"
    r"|(?<=apikey\":\")|(?<=api[-_]key': '))[^&\s\"']+"
    # The value of an argument or a field, also in JSON within a string: `password="..."`, `\"token\": \"...`.
    r"|(?ai:(?:api[-_]?key|password|passwd|secret|token|authorization|private[-_]?key|access[-_]?key))"
    r"\\{0,7}[\"']? ?[:=] ?\\{0,7}[\"'](?P<quoted>[^\"'\\]{1,4000})(?=\\{0,7}[\"'])"
    r"|(?ai:(?:password|passwd|secret|(?:access|auth|refresh|session|id)[-_]token)=)(?P<plain>[^\s&\"'\\,;)]{4,})"
    r"|(?ai:(?:password|passwd|secret): )(?P<said>(?=[^\s\"'\\,;)]{0,40}[0-9])[^\s\"'\\,;)]{8,})"
    rf"|(?ai:token(?:=|: ))(?P<token>{_CREDENTIAL_WORD})"
    r"|(?ai:authorization: (?:basic )?)(?P<basic>(?=[0-9A-Za-z+/=_.\-]{0,40}[0-9])[0-9A-Za-z+/=_.\-]{12,})"
    r"|(?ai:cookie: )[^\s=;]{1,100}=(?P<cookie>(?=[^\s;\"'\\]{0,40}[0-9])[^\s;\"'\\]{8,})"
    r"|(?ai:--(?:api-key|password|token|secret) )(?P<option>[^\s\"'\\\-][^\s\"'\\]{7,})"
)
# The beginning of a secret at the end of a text, from its first private character on.
_OPEN_SECRETS = re.compile(
    r"(?:AIza[0-9A-Za-z_\-]{1,9}"
    r"|\bAQ\.[0-9A-Za-z_\-]{1,19}"
    r"|(?<=://)[^/\s@\"']{1,400}"
    r"|(?i:(?<=bearer )|(?<=bearer%20)|(?<=token ))[0-9A-Za-z_\-.~+/=]{1,23})\Z"
)
# The same, where even the beginning tells so much that it is replaced when nothing more comes in time.
_CUT_SECRETS = re.compile(
    r"(?:AIza[0-9A-Za-z_\-]{1,9}"
    r"|\bAQ\.[0-9A-Za-z_\-]{6,19}"
    r"|(?<=://)[^/\s:@\"'\[]{1,200}:(?![0-9]*\Z)[^/\s@\"']{4,200}"
    r"|(?i:(?<=bearer )|(?<=bearer%20)|(?<=token ))(?=[A-Za-z_\-.~+/=]*[0-9])[0-9A-Za-z_\-.~+/=]{6,23})\Z"
)
_NUMBERS = frozenset((int, float, bool))
# A value may follow. In a line of JSON the quotation marks within a text are escaped.
_KEY_VALUE = re.compile(r"key(?:[=:'\\]| [=:])")
_TOKEN_VALUE = re.compile(r"token(?:[=:'\\ ]|s/)")
_GITHUB = re.compile(r"gh[opsur]_")
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
    *('password":', 'signature":', 'passwd":', 'passphrase":', 'pwd":', 'secretkey":', 'accesskey":'),
)


_SECRET_ENDINGS = (
    "apikey",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secretkey",
    "accesskey",
    "privatekey",
    "token",
)
"""Ends of the names of other fields that hold secrets."""

_NO_SECRETS = ("pagetoken", "synctoken", "continuationtoken")
"""Ends of the names of fields that hold a place in a list."""

MAX_TEMPORARY = 16
"""Secrets registered by `add_temporary` that are remembered, the newest."""

_MIN_SECRET = 6
"""Characters of the shortest secret; shorter ones would blank ordinary words."""

_OPEN_KNOWN = 3
"""Characters of a registered secret from which on the end of a text counts as its beginning."""

_CUT_KNOWN = 6
"""Characters of a registered secret from which on such an end is replaced when nothing more comes in time."""

_HEAD = 16
"""Characters of a registered secret from which on it is found although its other end is cut off."""

Spans = list[tuple[int, int]]
"""Parts of a text as [first, beyond)."""

_MAX_CACHED_NAME = 60
"""Characters of the longest field name that is cached."""


class Redactor:
    """Redactor of credentials in text and in JSON values.

    Patterns find keys and tokens by their shape; `add` registers the exact secrets in use, of any shape.
    """

    __slots__ = (
        "_beginnings",
        "_heads",
        "_known",
        "_known_in_json",
        "_known_in_low",
        "_permanent",
        "_shortest",
        "_streamed",
        "_tails",
        "_temporary",
    )

    def __init__(self) -> None:
        self._permanent: set[str] = set()
        self._temporary: dict[str, None] = {}
        self._known: list[str] = []
        self._streamed: list[str] = []
        """Spellings that are expected in a text that comes in pieces."""
        self._known_in_json: tuple[str, ...] = ()
        self._known_in_low: tuple[str, ...] = ()
        self._heads: tuple[str, ...] = ()
        self._shortest = 0
        self._tails: tuple[str, ...] = ()
        self._beginnings: tuple[str, ...] = ()

    def add(self, secret: str) -> None:
        """Register a secret, also as URLs, JSON, base64 and capitals spell it.

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
        from gemini_live_runtime.json_values import encode_line

        streamed = {spelling for secret in (*self._permanent, *self._temporary) for spelling in _spellings(secret)}
        others = {spelling for secret in self._permanent for spelling in (*_spellings(secret), *_encodings(secret))}
        self._known = sorted(streamed | others, key=lambda known: (-len(known), known))
        self._streamed = [known for known in self._known if known in streamed]
        heads = {known: encode_line(known[:_HEAD])[1:-1] for known in self._known}
        self._tails = tuple(sorted(known for known in self._permanent if len(known) > _HEAD))
        tails = [encode_line(known[-_HEAD:])[1:-1] for known in self._tails]
        # One search in a lowered line does for a secret and for its capitals.
        self._known_in_low = tuple({_lowered(part) for part in (*map(heads.__getitem__, others), *tails)})
        self._known_in_json = tuple({heads[known] for known in streamed - others})
        parts = (*(known[:_HEAD] for known in self._known), *(known[-_HEAD:] for known in self._tails))
        self._heads = tuple({part.lower() for part in parts})
        self._shortest = min(map(len, self._heads), default=0)
        self._beginnings = tuple({known[:_OPEN_KNOWN] for known in self._streamed})

    def may_redact(self, line: str) -> bool:
        """Return False when `value` certainly changes no field of the event in `line`.

        Cheaper than `value`. Assumes that the event's own field names are the vocabulary's, which hold no secrets.
        """
        # Searching the whole line costs a fraction of a walk through its fields, and the cheap tests for a rare
        # character come first.
        low = line.lower() if line.isascii() else _lowered(line)
        if "bearer" in low or "--api-key " in low or "AIza" in line or "ya29." in line or "AQ." in line:
            return True
        if "secret" in low or "passw" in low or "authorization" in low or "cookie" in low or _has_provider_key(line):
            return True
        if ("key" in low and _KEY_VALUE.search(low)) or ("token" in low and _TOKEN_VALUE.search(low)):
            return True
        # U+212A, the Kelvin sign, matches "k" in the patterns, which ignore case.
        if ("@" in line and "://" in line) or "\u212a" in line:
            return True
        if line.find("{", line.find("{", 1) + 1) >= 0:  # deeper than the event and its data, fields have any name
            names = low.replace("_", "").replace("-", "")
            if any(map(names.__contains__, _FIELD_ENDS)):
                return True
        return any(map(low.__contains__, self._known_in_low)) or any(map(line.__contains__, self._known_in_json))

    def text(self, text: str) -> str:
        """Replace every registered or recognisable secret in text."""
        return _without_patterns(self._without_known(text) if self._known else text)

    def may_hold_secret(self, text: str) -> bool:
        """Return False when `spans` and `open_at` certainly find nothing in `text`."""
        return _may_match(text) or "://" in text or any(map(text.__contains__, self._beginnings))

    def spans(self, text: str) -> Spans:
        """Return the parts of `text` that are secrets, sorted and disjoint."""
        return joined_spans([*map(_private_span, _SECRETS.finditer(text)), *self._known_spans(text)])

    def _known_spans(self, text: str) -> Iterator[tuple[int, int]]:
        for secret in self._known:
            at = text.find(secret[:_HEAD])
            while at >= 0:
                end = at + _common_length(secret, text, at)
                yield at, end
                at = text.find(secret[:_HEAD], end)
        for secret in self._tails:
            end = text.find(secret[-_HEAD:]) + _HEAD
            while end >= _HEAD:
                backwards = text[max(0, end - len(secret)) : end][::-1]
                yield end - _common_length(secret[::-1], backwards, 0), end
                end = text.find(secret[-_HEAD:], end) + _HEAD

    def open_at(self, text: str) -> int | None:
        """Return where a secret begins that goes beyond the end of `text`, or None."""
        match = _OPEN_SECRETS.search(text)
        return _earliest(match, self._open_known_at(text, _OPEN_KNOWN))

    def cut_at(self, text: str) -> int | None:
        """Return `open_at` when the part that is there tells too much, else None."""
        match = _CUT_SECRETS.search(text)
        return _earliest(match, self.open_known_at(text))

    def open_known_at(self, text: str) -> int | None:
        """Return where a registered secret begins that `text` cuts off, or None."""
        return self._open_known_at(text, _CUT_KNOWN)

    def _open_known_at(self, text: str, at_least: int) -> int | None:
        starts = []
        for secret in self._streamed:
            head = secret[:at_least]
            at = text.find(head, max(0, len(text) - len(secret) + 1))
            while at >= 0 and not secret.startswith(text[at:]):
                at = text.find(head, at + 1)
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
        if self._known and len(name) >= self._shortest:
            rest = self._without_known(name)
            clean = clean if rest is name else _without_patterns(rest)
        return clean, secret

    def _without_known(self, text: str) -> str:
        if len(text) < self._shortest or not any(map(text.lower().__contains__, self._heads)):
            return text
        return redacted_part(text, 0, joined_spans(list(self._known_spans(text))))


def _spellings(secret: str) -> Iterator[str]:
    """Yield a secret as it may stand in texts."""
    import json

    from gemini_live_runtime.json_values import encode_line

    yield secret
    yield quote(secret, safe="", errors="replace")
    yield json.dumps(secret)[1:-1]
    yield encode_line(secret)[1:-1]
    yield repr(secret)[1:-1]


def _encodings(secret: str) -> Iterator[str]:
    """Yield further spellings, by which programs pass a secret on."""
    import base64
    import json

    data = secret.encode("utf-8", "surrogatepass")
    yield secret.upper()
    yield secret.lower()
    yield quote(secret, errors="replace")
    yield quote_plus(secret, errors="replace")
    yield repr(data)[2:-1]
    yield json.dumps(json.dumps(secret)[1:-1])[1:-1]
    for before in range(3):
        # Four characters encode three bytes, at any of which the secret may begin: those at the ends hold others, too.
        code = base64.b64encode(bytes(before) + data).decode()
        code = code[(0, 2, 3)[before] : len(code) - (0, 3, 2)[(before + len(data)) % 3]]
        yield from (code, code.replace("+", "-").replace("/", "_")) if len(code) >= _HEAD else ()


def _common_length(secret: str, text: str, at: int) -> int:
    """Return the number of characters that `text` has from `at` on as the secret does."""
    if text.startswith(secret, at):
        return len(secret)
    length = _HEAD
    while at + length < len(text) and text[at + length] == secret[length]:
        length += 1
    return length


def _earliest(match: re.Match[str] | None, other: int | None) -> int | None:
    if match is None:
        return other
    return match.start() if other is None else min(match.start(), other)


def _private_span(match: re.Match[str]) -> tuple[int, int]:
    """Return the part of a match that is the secret: all, or its named group."""
    return match.span(match.lastgroup or 0)


def _without_patterns(text: str) -> str:
    return (
        redacted_part(text, 0, joined_spans([*map(_private_span, _SECRETS.finditer(text))]))
        if _may_match(text)
        else text
    )


def _may_match(text: str) -> bool:
    # Every pattern needs one of these substrings. Testing for them, most after a rare sign, costs less than a search.
    low = text.lower()
    if "AIza" in text or "bearer" in low or ("token" in low and ('token"' in low or _TOKEN_VALUE.search(low))):
        return True
    if ("." in text and ("ya29." in text or "AQ." in text)) or ("@" in text and "://" in text):
        return True
    return _has_value(low) or _has_provider_key(text)


def _has_value(low: str) -> bool:
    """Return True when a field with a secret's name may have a value in `low`."""
    if "=" not in low and ":" not in low and "--" not in low:
        return False
    return (
        ("key" in low and ('key"' in low or "--api-key " in low or _KEY_VALUE.search(low) is not None))
        or "secret" in low
        or "passw" in low
        or "authorization" in low
        or "cookie" in low
    )


def _has_provider_key(text: str) -> bool:
    return (
        ("-" in text and ("sk-" in text or "xox" in text or "PRIVATE KEY" in text))
        or ("." in text and "eyJ" in text)
        or ("IA" in text and ("AKIA" in text or "ASIA" in text))
        or ("_" in text and ("_pat_" in text or "k_live_" in text or "k_test_" in text))
        or ("gh" in text and _GITHUB.search(text) is not None)
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
    plain = name.replace("_", "").replace("-", "").lower()
    return plain in _SECRET_FIELDS or (plain.endswith(_SECRET_ENDINGS) and not plain.endswith(_NO_SECRETS))


redactor = Redactor()
"""Process-wide redactor, at which every credential is registered when it is loaded."""
