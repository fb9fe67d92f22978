"""Redact credentials in text and JSON values.

Credentials are replaced before an event is created, so journals, logs and exports need no redaction of their own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import NoneType
from typing import Any
from urllib.parse import quote, quote_plus

from gemini_live_runtime.secret_patterns import said, search
from gemini_live_runtime.secret_patterns.names import is_code_field, is_private_part_of_jwk, is_secret_field
from gemini_live_runtime.secret_patterns.quick import may_open

REDACTED = "[redacted]"

_NUMBERS = frozenset((int, float, bool, NoneType))

MAX_TEMPORARY = 16
"""Secrets registered by `add_temporary` that are remembered, the newest."""

MAX_TEMPORARY_CHARS = 8192
"""Characters of the longest such secret: each is searched for in many spellings."""

_MIN_SECRET = 6
"""Characters of the shortest secret; shorter ones would blank ordinary words."""

_MIN_TEMPORARY = 16
"""Characters of the shortest such secret: a server names them, and must not choose which words are blanked."""

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

_MAX_CLEAN = 256
"""Texts without a secret that are remembered."""

_MAX_CLEAN_CHARS = 1000
"""Characters of the longest of them."""

_MIN_CODE = 4
"""Digits of the shortest PIN."""

_MAX_CODE = 40
"""Characters of a value that are searched for digits of a PIN."""


class Redactor:
    """Redactor of credentials in text and in JSON values.

    Patterns find keys and tokens by their shape; `add` registers the exact secrets in use, of any shape.
    """

    __slots__ = (
        "_beginnings",
        "_clean",
        "_gates",
        "_gates_of_lines",
        "_heads",
        "_known",
        "_known_in_json",
        "_known_in_low",
        "_last",
        "_permanent",
        "_plain",
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
        self._gates: tuple[str, ...] = ()
        """Signs of which each head has one, rare ones where possible."""
        self._gates_of_lines: tuple[str, ...] = ()
        self._shortest = 0
        self._tails: tuple[str, ...] = ()
        self._beginnings: tuple[str, ...] = ()
        self._last: tuple[str, Spans] = ("", [])
        """Newest text that was searched, and its secrets."""
        # Most texts come several times: in a message on the wire, as what was said, in state, in a tool's result.
        self._clean: set[str] = set()
        """Texts of late without a secret."""
        self._plain: set[str] = set()
        """Texts of late without a secret or the beginning of one."""

    def add(self, secret: str) -> None:
        """Register a secret, also as URLs, JSON, base64 and capitals spell it.

        Ignores secrets of fewer than `_MIN_SECRET` characters.
        """
        if len(secret) >= _MIN_SECRET:
            self._permanent.add(secret)
            self._update_spellings()

    def add_temporary(self, secret: str) -> None:
        """Register a secret that is soon replaced, such as a resumption handle.

        Ignores secrets of fewer than `_MIN_TEMPORARY` and of more than `MAX_TEMPORARY_CHARS` characters. Only the last
        `MAX_TEMPORARY` are remembered.
        """
        if _MIN_TEMPORARY <= len(secret) <= MAX_TEMPORARY_CHARS:
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
        ends = {spelling for secret in self._permanent for spelling in _spellings_of_ends(secret)}
        self._tails = tuple(sorted(known for known in ends if len(known) > _HEAD))
        tails = [encode_line(known[-_HEAD:])[1:-1] for known in self._tails]
        # One search in a lowered line does for a secret and for its capitals.
        self._known_in_low = tuple({_lowered(part) for part in (*map(heads.__getitem__, others), *tails)})
        self._known_in_json = tuple({heads[known] for known in streamed - others})
        parts = (*(known[:_HEAD] for known in self._known), *(known[-_HEAD:] for known in self._tails))
        self._heads = tuple({part.lower() for part in parts})
        self._gates = _rare_signs(self._heads)
        self._gates_of_lines = _rare_signs((*self._known_in_low, *map(_lowered, self._known_in_json)))
        self._shortest = min(map(len, self._heads), default=0)
        self._beginnings = tuple({known[:_OPEN_KNOWN] for known in self._streamed})
        # Last, and new ones: another thread may be searching a text for the secrets of before.
        self._last, self._clean, self._plain = ("", []), set(), set()

    def may_redact(self, line: str) -> bool:
        """Return False when `value` certainly changes no field of the event in `line`.

        Cheaper than `value`. Assumes that the event's own field names are the vocabulary's, which hold no secrets.
        """
        data = line[max(0, line.find("{", 1)) :]
        low = data.lower() if data.isascii() else _lowered(data)
        if search.may_match_data(data, low):
            return True
        # A search for a single sign takes a fraction of one for a head.
        for sign in self._gates_of_lines:
            if sign in low:
                contains = any(map(low.__contains__, self._known_in_low))
                return contains or any(map(data.__contains__, self._known_in_json))
        return False

    def text(self, text: str) -> str:
        """Replace every registered or recognisable secret in text."""
        clean = self._clean
        if text in clean:
            return text
        rest, low = text, text.lower() if text.isascii() else search.lowered(text)
        if self._may_hold_known(low):
            rest = self._without_known(text)
            low = search.lowered(rest)
        if search.may_match(rest, low):
            rest = _without_matches(rest, low)
        if rest == text:
            _remember(text, clean)
        return rest

    def may_hold_secret(self, text: str) -> bool:
        """Return False when `spans` and `open_at` certainly find nothing in `text`."""
        plain = self._plain
        if text in plain:
            return False
        if self._may_hold_secret(text):
            return True
        _remember(text, plain)
        return False

    def _may_hold_secret(self, text: str) -> bool:
        low = text.lower() if text.isascii() else search.lowered(text)
        # Also ends and encodings of registered secrets, whose beginnings do not begin one that goes on.
        if search.may_match(text, low) or may_open(text) or said.may_open(low) or self._may_hold_known(low):
            return True
        for beginning in self._beginnings:
            if beginning in text:
                return True
        return ":" in text and "://" in text

    def _may_hold_known(self, low: str) -> bool:
        """Return False when a text in lower case certainly has no registered secret."""
        # A search for a single sign takes a fraction of one for a head.
        for sign in self._gates:
            if sign in low:
                return any(map(low.__contains__, self._heads))
        return False

    def spans(self, text: str) -> Spans:
        """Return the parts of `text` that are secrets, sorted and disjoint."""
        # A long text of the server comes twice: in its message, and as what was said.
        if text != self._last[0]:
            low = search.lowered(text)
            found = search.spans_of(text, low) if search.may_match(text, low) else ()
            self._last = text, joined_spans([*found, *self._known_spans(text)])
        return self._last[1]

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
        return _earliest(search.open_at(text), self._open_known_at(text, _OPEN_KNOWN))

    def cut_at(self, text: str) -> int | None:
        """Return `open_at` when the part that is there tells too much, else None."""
        return _earliest(search.cut_at(text), self.open_known_at(text))

    def begun_at(self, text: str) -> int | None:
        """Return where a key begins at the end of `text`, by its prefix alone, or None."""
        return _earliest(search.begun_at(text), self.open_known_at(text))

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
        exact: type = type(value)
        if exact in _NUMBERS:
            return value
        if exact is str or isinstance(value, str):
            return self.text(value)
        if exact is dict or isinstance(value, Mapping):
            clean = {}
            for name, item in value.items():
                kind = ""
                if isinstance(name, str):
                    if len(name) <= 2 and is_private_part_of_jwk(name, item):
                        clean[name] = REDACTED
                        continue
                    name, kind = self._field(name)
                clean[name] = self._field_value(kind, item) if kind else self.value(item)
            return clean
        if exact is list or (isinstance(value, Sequence) and not isinstance(value, bytes | bytearray)):
            return [self.value(item) for item in value]
        return value

    def _field_value(self, kind: str, value: Any) -> Any:
        if kind == "secret":
            return self._redact_strings(value)
        return REDACTED if _is_code(value) else self.value(value)

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

    def _field(self, name: str) -> tuple[str, str]:
        clean, kind = (_field if len(name) <= _MAX_CACHED_NAME else _field.__wrapped__)(name)
        if len(name) >= self._shortest and self._may_hold_known(name.lower()):
            clean = self.text(name)
        return clean, kind

    def _without_known(self, text: str) -> str:
        return redacted_part(text, 0, joined_spans(list(self._known_spans(text))))


@lru_cache(maxsize=2 * MAX_TEMPORARY)
def _spellings(secret: str) -> tuple[str, ...]:
    """Return a secret as it may stand in texts.

    Cached: a server may send another handle with each message.
    """
    import json

    from gemini_live_runtime.json_values import encode_line

    quoted, line = quote(secret, safe="", errors="replace"), encode_line(secret)
    return secret, quoted, json.dumps(secret)[1:-1], line[1:-1], repr(secret)[1:-1]


def _spellings_of_ends(secret: str) -> Iterator[str]:
    """Yield a secret as its end may stand in texts."""
    yield secret
    yield secret.upper()
    yield secret.lower()
    yield quote(secret, safe="", errors="replace")
    yield quote(secret, errors="replace")


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


_BY_RARITY = "qzjx0123456789kvbpygfwmucldrhsnioate"
"""Letters and digits, those first that are rarer in ordinary texts; other signs are rarer still."""


def _rare_signs(heads: Iterable[str]) -> tuple[str, ...]:
    """Return few signs of which each text has one."""
    found: dict[str, None] = {}
    for head in sorted(heads):
        if not any(map(head.__contains__, found)):
            found[min(head, key=_BY_RARITY.find)] = None
    return tuple(found)


def _common_length(secret: str, text: str, at: int) -> int:
    """Return the number of characters that `text` has from `at` on as the secret does."""
    if text.startswith(secret, at):
        return len(secret)
    length = _HEAD
    while at + length < len(text) and text[at + length] == secret[length]:
        length += 1
    return length


def _remember(text: str, texts: set[str]) -> None:
    if len(text) <= _MAX_CLEAN_CHARS:
        if len(texts) >= _MAX_CLEAN:
            texts.clear()
        texts.add(text)


def _earliest(one: int | None, other: int | None) -> int | None:
    return min((at for at in (one, other) if at is not None), default=None)


def _without_matches(text: str, low: str) -> str:
    return redacted_part(text, 0, joined_spans(list(search.spans_of(text, low))))


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


def _is_code(value: Any) -> bool:
    """Return True for a number or a string with as many digits as a PIN."""
    return (type(value) is int or isinstance(value, str)) and sum(map(str.isdigit, str(value)[:_MAX_CODE])) >= _MIN_CODE


@lru_cache(maxsize=1024)
def _field(name: str) -> tuple[str, str]:
    """Return a field's name without recognisable secrets, and its kind.

    That is "secret", "code" (a PIN) or "". Cached: the same few names come again and again.
    """
    low = search.lowered(name)
    clean = _without_matches(name, low) if search.may_match(name, low) else name
    return clean, "secret" if is_secret_field(name) else "code" if is_code_field(name) else ""


redactor = Redactor()
"""Process-wide redactor, at which every credential is registered when it is loaded."""


def traceback_lines(cause: BaseException | str) -> list[str]:
    """Return the redacted lines of a traceback, or of an error's; not sanitised.

    A private key in it has many lines, which tell nothing one by one.
    """
    from gemini_live_runtime.author_code import traceback_of

    text = cause if isinstance(cause, str) else traceback_of(cause)
    return redactor.text(text).splitlines()
