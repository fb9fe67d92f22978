"""Find the beginnings of secrets at the end of a text or before an ellipsis."""

from __future__ import annotations

from collections.abc import Iterator

from gemini_live_runtime.secret_patterns.compiled import compiled
from gemini_live_runtime.secret_patterns.prefixes import ANY, PREFIXES, begins, tells
from gemini_live_runtime.secret_patterns.shapes import DISCORD, SLACK
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


_TELLS = tells(ANY)
_WORD_SIGN = r"[0-9A-Za-z_\-.~+/=]"
_TAGGED_SIGN, _PLAIN_SIGN, _QUOTED_SIGN = r"[^<>\s\"'\\]", r"[^\s&\"'`\\,;)]", r"[^\s\"'`\\]"
_OPTION_SIGN = r"[^\s\"'\\]"

# What else begins a key, a sign of it, how many are fewer than in a whole key, and how many of them tell too much.
_KEYS = (
    ("AIza", ANY, (1, 9), 1),
    (begins("AQ[.]"), ANY, (1, 19), 6),
    (begins("hvs[.]"), ANY, (0, 23), 6),
    (begins("AKIA"), "[0-9A-Z]", (0, 16), 4),
    (begins("ASIA"), "[0-9A-Z]", (0, 16), 4),
    (begins("1//0"), ANY, (0, 19), 6),
    (begins("ATATT3"), r"[0-9A-Za-z_\-=]", (0, 49), 6),
    (rf"AAAA{ANY}{{7}}:", ANY, (0, 25), 2),
    (r"[0-9]{8,10}:AA", ANY, (0, 29), 2),
)

_PRIVATE_KEY = r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
_ENCRYPTED = r"(?:\.[0-9A-Za-z_\-]{0,4000}+){0,4}"
_NAME = (
    rf"(?ai:(?:passw(?:or)?d|passphrase|passcode|{OWNED_PASS}|secret|pwd|token"
    r"|(?:api|access|private|secret|account)[-_ ]?key|authorization)s?(?:[_\-]?v?[0-9]{1,3})?)"
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
    + "|".join(one.open for one in PREFIXES)
    + "".join(rf"|{begin}{sign}{{{least},{most}}}" for begin, sign, (least, most), _ in _KEYS)
    + rf"|{begins('eyJ')}{ANY}{{0,400}}+{_ENCRYPTED}"
    rf"|{begins('xox')}[a-eoprs]?-?[0-9A-Za-z\-%+/=]{{0,9}}"
    rf"|{begins('SG[.]')}{ANY}{{0,100}}+(?:\.{ANY}{{0,15}})?"
    r"|AAAA[0-9A-Za-z_\-]{0,7}"
    r"|-----BEGIN [A-Z ]{0,45}-{0,4}"
    rf"|{_PRIVATE_KEY}(?:[^\-]|-(?!----END)){{0,8000}}"
    rf"|{_QUOTED_NAME}(?P<quoted>{WITHIN_MARKS}{{1,400}}+)"
    rf"|{_OPTION_NAME}(?P<option>{_OPTION_SIGN}(?(quote)[^\"'\\]{{0,400}}\\{{0,7}}|{_OPTION_SIGN}{{0,6}}))"
    rf"|{_TAG_NAME}(?P<tagged>{_TAGGED_SIGN}{{1,400}}\s{{0,3}}<?)"
    rf"|{_BLOCK_NAME}(?P<block>[^\r\n]{{1,400}})"
    rf"|{_PLAIN_NAME}(?P<plain>{_PLAIN_SIGN}{{1,400}})"
    rf"|{_CODE_NAME}(?P<code>[0-9 \-]{{1,15}})"
    rf"|(?:{_HEADER}|{_OTHER_HEADER})(?P<basic>[^\s;\"'\\]{{1,400}})"
    rf"|curl[ \t](?:[^|;]{{0,120}}\s)?{USER}(?P<password>[^\s\"'\\]{{1,200}})"
    rf"|(?:{SLACK}|{DISCORD})(?P<path>[0-9A-Za-z_\-/]{{1,80}})"
    r"|(?<=://)[^/\s@\"']{1,400}"
    rf"|{_BEARER}(?P<word>{_WORD_SIGN}{{1,23}}))\Z"
)
# The same, where even the beginning tells so much that it is replaced when nothing more comes in time.
_CUT = (
    "(?:"
    + "|".join(one.cut for one in PREFIXES)
    + "".join(rf"|{begin}{sign}{{{tell},{most}}}" for begin, sign, (_, most), tell in _KEYS)
    + rf"|{begins('eyJ')}{ANY}{{8,400}}+{_ENCRYPTED}"
    rf"|{begins('xox')}[a-eoprs]-[0-9A-Za-z\-%+/=]{{4,9}}"
    rf"|{begins('SG[.]')}{_TELLS}{ANY}{{8,100}}+(?:\.{ANY}{{0,15}})?"
    rf"|{_PRIVATE_KEY}(?:[^\-]|-(?!----END)){{0,8000}}"
    rf"|{_QUOTED_NAME}(?P<quoted>{tells(_QUOTED_SIGN)}{_QUOTED_SIGN}{{6,400}})"
    rf"|{_TAG_NAME}(?P<tagged>{tells(_TAGGED_SIGN)}{_TAGGED_SIGN}{{6,400}}\s{{0,3}}<?)"
    rf"|{_BLOCK_NAME}(?P<block>[^\r\n]{{6,400}})"
    rf"|{_PLAIN_NAME}(?P<plain>{tells(_PLAIN_SIGN)}{_PLAIN_SIGN}{{6,400}})"
    rf"|{_CODE_NAME}(?P<code>[0-9]{{3,15}})"
    rf"|{_HEADER}(?P<basic>[^\s;\"'\\]{{6,400}})"
    rf"|{_OTHER_HEADER}(?P<other>(?=[^\s;\"'\\]{{0,60}}[0-9])[^\s;\"'\\]{{6,400}})"
    rf"|(?:{SLACK}|{DISCORD})(?P<path>[0-9A-Za-z_\-/]{{8,80}})"
    r"|(?<=://)[^/\s:@\"'\[]{1,200}:(?![0-9]*\Z)[^/\s@\"']{4,200}"
    rf"|{_OPTION_NAME}(?P<option>{tells(_OPTION_SIGN)}{_OPTION_SIGN}{{6,400}})"
    rf"|{_BEARER}(?P<word>{tells(_WORD_SIGN)}{_WORD_SIGN}{{6,23}}))\Z"
)

_ELLIPSIS = r"(?<=[0-9A-Za-z_\-+/=])(?:\u2026|\.\.\.)"
_BEFORE_ELLIPSIS = 500
"""Characters before an ellipsis that can belong to the beginning of a secret."""


def open_at(text: str) -> int | None:
    """Return where a secret may begin that goes beyond the end of `text`, or None."""
    return _start(_OPEN, text)


def cut_at(text: str) -> int | None:
    """Return `open_at` when the part that is there tells too much, else None."""
    return _start(_CUT, text)


def _start(pattern: str, text: str) -> int | None:
    match = compiled(pattern).search(text, max(0, len(text) - _OPEN_LENGTH))
    return None if match is None else match.start(match.lastgroup or 0)


def has_ellipsis(text: str) -> bool:
    """Return True when `text` has an ellipsis."""
    return "\u2026" in text or "..." in text


def spans_before_ellipses(text: str) -> Iterator[tuple[int, int]]:
    """Yield secrets that end in an ellipsis as [first, beyond)."""
    at = 0
    for ellipsis in compiled(_ELLIPSIS).finditer(text):
        end = ellipsis.start()
        found = compiled(_CUT).search(text, max(at, end - _BEFORE_ELLIPSIS), end)
        if found is not None:
            yield found.start(found.lastgroup or 0), end
        at = ellipsis.end()
