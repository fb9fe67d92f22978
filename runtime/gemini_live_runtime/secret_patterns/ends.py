"""Find the beginnings of secrets at the end of a text or before an ellipsis."""

from __future__ import annotations

from collections.abc import Iterator

from gemini_live_runtime.secret_patterns.compiled import compiled
from gemini_live_runtime.secret_patterns.names import KEY_USES
from gemini_live_runtime.secret_patterns.prefix import tells
from gemini_live_runtime.secret_patterns.quick import start_of_last_word
from gemini_live_runtime.secret_patterns.shapes import CUT_KEY, OPEN_KEY, PRIVATE_KEY
from gemini_live_runtime.secret_patterns.values import (
    BEARER,
    CODE,
    COLON,
    NEW_LINE,
    OPENING_MARK,
    OTHER_SCHEME,
    OWNED_PASS,
    SCHEME,
    SEPARATOR,
    USER,
    WITHIN_MARKS,
)

_OPEN_LENGTH = 8192
"""Characters at the end of a text that can belong to the beginning of a recognised secret."""


_WORD_SIGN = r"[0-9A-Za-z_\-.~+/=]"
_TAGGED_SIGN, _PLAIN_SIGN, _QUOTED_SIGN = r"[^<>\s\"'\\]", r"[^\s&\"'`\\,;)]", r"[^\s\"'`\\]"
_OPTION_SIGN = r"[^\s\"'\\]"

_NAME = (
    rf"(?ai:(?:passw(?:or)?d|passphrase|passcode|{OWNED_PASS}|secret|pwd|(?<![0-9a-z])pw|token"
    rf"|(?:{'|'.join(KEY_USES)})[-_ ]?key|authorization)s?(?:[_\-]?v?[0-9]{{1,3}})?)"
)
_QUOTED_NAME = rf"(?:{_NAME}|(?ai:(?<![0-9a-z_\-])pass))\\{{0,7}}[\"'`]?\]?{OPENING_MARK}"
_PLAIN_NAME = rf"{_NAME}\]?(?:{SEPARATOR}|{COLON})"
_OPTION_NAME = (
    r"(?ai:--(?:(?:auth-|access-)?token|(?:api|access|secret)-key|password|passphrase|(?:client-)?secret))"
    r"(?: |(?: |\\{0,7}[\"'], ?)\\{0,7}(?P<quote>[\"']))"
)
_BLOCK_NAME = rf"{_NAME}:[ \t]{{0,3}}[|>][0-9+\-]{{0,2}}[ \t]{{0,3}}{NEW_LINE}[ \t]{{1,20}}"
_TAG_NAME = rf"{_NAME}(?:[ \t][^<>]{{0,100}})?>\s{{0,3}}"
_COOKIES = r"(?ai:cookie:) {0,3}(?:[^\s=;]{1,100}(?:=[^\s;]{0,400})?; ?){0,20}[^\s=;]{1,100}="
_AUTHORIZATION = r"authorization[:=][ \t]{0,3}"
_HEADER = rf"(?:(?ai:{_AUTHORIZATION}{SCHEME})|{_COOKIES})"
_OTHER_HEADER = rf"(?ai:{_AUTHORIZATION}(?:{OTHER_SCHEME})?)"
_BEARER = rf"(?ai:{BEARER}|token(?:[ \t]{{1,3}}|:))"
_CODE_NAME = rf"(?ai:{CODE})[\"']?{SEPARATOR}[\"']?"

# The beginning of a secret at the end of a text, from its first private character on.
_OPEN = (
    "(?:"
    r"-----BEGIN [A-Z ]{0,45}-{0,4}"
    rf"|{PRIVATE_KEY}(?:[^\-]|-(?!----END)){{0,8000}}"
    rf"|{_QUOTED_NAME}(?P<quoted>(?>{WITHIN_MARKS}{{1,400}}))"
    rf"|{_OPTION_NAME}(?P<option>{_OPTION_SIGN}(?(quote)[^\"'\\]{{0,400}}\\{{0,7}}|{_OPTION_SIGN}{{0,6}}))"
    rf"|{_TAG_NAME}(?P<tagged>{_TAGGED_SIGN}{{1,400}}\s{{0,3}}<?)"
    rf"|{_BLOCK_NAME}(?P<block>[^\r\n]{{1,400}})"
    rf"|{_PLAIN_NAME}(?P<plain>{_PLAIN_SIGN}{{1,400}})"
    rf"|{_CODE_NAME}(?P<code>[0-9 \-]{{1,15}})"
    rf"|(?:{_HEADER}|{_OTHER_HEADER})(?P<basic>[^\s;\"'\\]{{1,400}})"
    rf"|curl[ \t](?:[^|;]{{0,120}}\s)?{USER}(?P<password>[^\s\"'\\]{{1,200}})"
    r"|(?<=://)[^/\s@\"']{1,400}"
    rf"|{_BEARER}(?P<word>{_WORD_SIGN}{{1,23}}))\Z"
)
# The same, where even the beginning tells so much that it is replaced when nothing more comes in time.
_CUT = (
    "(?:"
    rf"{PRIVATE_KEY}(?:[^\-]|-(?!----END)){{0,8000}}"
    rf"|{_QUOTED_NAME}(?P<quoted>{tells(_QUOTED_SIGN)}{_QUOTED_SIGN}{{6,400}})"
    rf"|{_TAG_NAME}(?P<tagged>{tells(_TAGGED_SIGN)}{_TAGGED_SIGN}{{6,400}}\s{{0,3}}<?)"
    rf"|{_BLOCK_NAME}(?P<block>[^\r\n]{{6,400}})"
    rf"|{_PLAIN_NAME}(?P<plain>{tells(_PLAIN_SIGN)}{_PLAIN_SIGN}{{6,400}})"
    rf"|{_CODE_NAME}(?P<code>[0-9]{{3,15}})"
    rf"|{_HEADER}(?P<basic>[^\s;\"'\\]{{6,400}})"
    rf"|{_OTHER_HEADER}(?P<other>(?=[^\s;\"'\\]{{0,60}}[0-9])[^\s;\"'\\]{{6,400}})"
    r"|(?<=://)[^/\s:@\"'\[]{1,200}:(?![0-9]*\Z)[^/\s@\"']{4,200}"
    rf"|{_OPTION_NAME}(?P<option>{tells(_OPTION_SIGN)}{_OPTION_SIGN}{{6,400}})"
    rf"|{_BEARER}(?P<word>{tells(_WORD_SIGN)}{_WORD_SIGN}{{6,23}}))\Z"
)

PATTERNS = (OPEN_KEY, _OPEN, CUT_KEY, _CUT)
"""Patterns of this module that take milliseconds to compile."""

_ELLIPSIS = r"(?<=[0-9A-Za-z_\-+/=])(?:\u2026|\.\.\.)"
_BEFORE_ELLIPSIS = 500
"""Characters before an ellipsis that can belong to the beginning of a secret."""


def open_at(text: str) -> int | None:
    """Return where a secret may begin that goes beyond the end of `text`, or None."""
    return _start(OPEN_KEY, _OPEN, text, max(0, len(text) - _OPEN_LENGTH), len(text))


def cut_at(text: str) -> int | None:
    """Return `open_at` when the part that is there tells too much, else None."""
    return _start(CUT_KEY, _CUT, text, max(0, len(text) - _OPEN_LENGTH), len(text))


def begun_at(text: str) -> int | None:
    """Return where a key begins that goes beyond the end of `text`, or None.

    Its prefix is enough.
    """
    word = start_of_last_word(text, max(0, len(text) - _OPEN_LENGTH), len(text))
    found = compiled(OPEN_KEY).search(text, word)
    return None if found is None else found.start(found.lastgroup or 0)


def _start(key: str, other: str, text: str, first: int, end: int) -> int | None:
    """Return where a key or another secret begins that ends at `end`, from `first` on."""
    word = start_of_last_word(text, first, end)
    found = (compiled(key).search(text, word, end), compiled(other).search(text, first, end))
    return min((match.start(match.lastgroup or 0) for match in found if match is not None), default=None)


def has_ellipsis(text: str) -> bool:
    """Return True when `text` has an ellipsis."""
    return "\u2026" in text or "..." in text


def spans_before_ellipses(text: str) -> Iterator[tuple[int, int]]:
    """Yield secrets that end in an ellipsis as [first, beyond)."""
    at = 0
    for ellipsis in compiled(_ELLIPSIS).finditer(text):
        end = ellipsis.start()
        found = _start(CUT_KEY, _CUT, text, max(at, end - _BEFORE_ELLIPSIS), end)
        if found is not None:
            yield found, end
        at = ellipsis.end()
