"""Sanitise text for display.

Sanitising removes what a terminal would obey and what would reorder or hide text; it keeps every printable character.
All text from outside passes it on the way to a display.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

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
MAX_MARKS = 8
"""Signs without a width of their own (accents, vowel signs, joiners) that are kept after one another."""

# Vowels and ends of Hangul syllables are letters, but take no cell after the beginning of theirs.
_JAMO = "\u1160-\u11ff\u3164\ud7b0-\ud7ff\uffa0"
# Candidates for those signs; which of them have no width says their category. Of emoji only skin tones have none.
_CANDIDATE = rf"(?:[^\w\s\x00-\x7f\u200d\U0001f000-\U0001f3fa\U0001f400-\U000dffff]|[{_JAMO}])"
_PILED = re.compile(rf"(?:{_CANDIDATE}|\u200d){{{MAX_MARKS + 1},}}")
_IS_JAMO = re.compile(f"[{_JAMO}]")
_BEGINS_SIGN = re.compile(rf"(?![{_JAMO}])[\w ]")
_NO_WIDTH = frozenset(("Mn", "Me", "Mc", "Cf"))
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_PICTURES = range(0x1F000, 0xE0000)
"""Code points of emoji and ideographs: newer ones than Python knows have no category, but a width."""

_TABLED = _PICTURES.start
"""Code points of which a table has the width: of those above it, ranges say it."""

_LONG = 500
"""Characters of a pile or chain from which on a table is used: making it takes as long as many short ones."""

_MANY = 2000
"""Different signs from which on the table of all is made, which takes 25 ms, on the event loop, the first time."""

_JOINER = "\u200d"
_MAX_JOINED = (MAX_MARKS + 1) * (MAX_MARKS + 2)
"""Characters of the longest sign made of `MAX_MARKS` joiners, with marks on each part."""

_CHAINED = re.compile(rf"(?:\u200d[^\u200d]?{_CANDIDATE}*){{{MAX_MARKS + 1},}}")
# In what a table makes of a text: "w" has a width, "m" has none, "j" is a joiner. Code points above it stay.
_NONE = "m\U0001f3fb-\U0001f3ff\U000e0000-\U000effff\U000ffffe\U000fffff\U0010fffe\U0010ffff"
_LONG_PILE = re.compile(f"[j{_NONE}]{{{MAX_MARKS + 1},}}")
_LONG_CHAIN = re.compile(f"(?:j[^j{_NONE}]?[{_NONE}]*){{{MAX_MARKS}}}j")
_LEADING_JOINERS = re.compile(rf"(?:^|(?<=\s)){_JOINER}+")
_NEEDS_WORK = re.compile(f"[{_UNSEEN}\ud800-\udfff]")


def sanitise(text: str) -> str:
    """Remove escape sequences, control characters and bidi overrides from text.

    Newlines and tabs stay; carriage returns become newlines, lone surrogates U+FFFD. Of more than `MAX_MARKS` signs
    without a width in a row the rest is left out: a row of the screen could hold thousands of them. Idempotent.
    """
    if text.isprintable() or not _NEEDS_WORK.search(text):  # the first is far quicker, but False for tab and newline
        return _without_piles(text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SEQUENCES.sub("", text)
    text = _INVISIBLE.sub("", text)
    return _without_piles(_SURROGATE.sub("\ufffd", text))


def sanitise_next(before: str, text: str) -> str:
    """Return sanitised `text` that continues `before`, a sanitised text.

    Both together have no more signs without a width in a row than one text may have, and a joiner at the beginning of
    `text` stays where it has a sign to join.
    """
    if not before or (before[-1] != _JOINER and (text.isascii() or _BEGINS_SIGN.match(text))):
        return sanitise(text)  # the usual case
    # A letter stands for what precedes the end of `before`, which may begin within joined signs.
    end = "x" + before[-_MAX_JOINED:]
    return sanitise(end + text)[len(end) :]


def _without_piles(text: str) -> str:
    if text.isascii():
        return text
    if _JOINER in text:
        # What a joiner without a sign before it does to the width differs between programs.
        text = _LEADING_JOINERS.sub("", text)
        if text.count(_JOINER) > MAX_MARKS:
            text = _without_chains(text)
    return _PILED.sub(_shorter_pile, text)


def _without_chains(text: str) -> str:
    """Drop each joiner that follows `MAX_MARKS` others within one sign."""
    return _CHAINED.sub(_shorter_chain, text)


def _shorter_chain(match: re.Match[str]) -> str:
    chain = match[0]
    if len(chain) > _LONG:
        drops = [(found.end() - 1, found.end()) for found in _LONG_CHAIN.finditer(chain.translate(_widths(chain)))]
        return _without(chain, drops)
    kept, joined, before = [], 0, ""
    for sign in chain:
        if sign == _JOINER:
            joined += 1
            if joined > MAX_MARKS:
                joined, before = 0, ""
                continue
        elif before != _JOINER and not _has_no_width(sign):
            joined = 0
        kept.append(sign)
        before = sign
    return "".join(kept)


def _shorter_pile(match: re.Match[str]) -> str:
    pile = match[0]
    if len(pile) > _LONG:
        runs = _LONG_PILE.finditer(pile.translate(_widths(pile)))
        return _without(pile, [(run.start() + MAX_MARKS, run.end()) for run in runs])
    kept, marks = [], 0
    for sign in pile:
        marks = marks + 1 if _has_no_width(sign) else 0
        if marks <= MAX_MARKS:
            kept.append(sign)
    return "".join(kept)


def _without(text: str, drops: list[tuple[int, int]]) -> str:
    """Return `text` without the parts [first, beyond)."""
    ends = [0, *(beyond for _, beyond in drops)]
    firsts = [*(first for first, _ in drops), len(text)]
    return "".join([text[end:first] for end, first in zip(ends, firsts, strict=True)])


def _widths(text: str) -> str | dict[int, int]:
    """Return a table for `str.translate` of the signs of a text below `_TABLED`."""
    signs = set(text)
    if len(signs) > _MANY:
        return _all_widths()
    few = "".join(sign for sign in signs if ord(sign) < _TABLED)
    return str.maketrans(few, _letters(few))


@cache
def _all_widths() -> str:
    return _letters("".join(map(chr, range(_TABLED))))


def _letters(signs: str) -> str:
    """Return letters: "m" for a sign without a width, "w" with one, "j" the joiner."""
    letters = ["m" if kind in _NO_WIDTH or kind == "Cn" else "w" for kind in map(unicodedata.category, signs)]
    for found in _IS_JAMO.finditer(signs):
        letters[found.start()] = "m"
    if (joiner := signs.find(_JOINER)) >= 0:
        letters[joiner] = "j"
    return "".join(letters)


def _has_no_width(sign: str) -> bool:
    category = unicodedata.category(sign)
    if category == "Cn":
        return ord(sign) not in _PICTURES
    return category in _NO_WIDTH or ord(sign) in _SKIN_TONES or _IS_JAMO.match(sign) is not None


def sanitise_line(text: str, limit: int = 0) -> str:
    """Sanitise text into one line of at most `limit` characters; 0 is no limit."""
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        line = _without_piles(text)  # the usual case
    else:
        line = " ".join(sanitise(text).split())
    return line if limit <= 0 or len(line) <= limit else line[: limit - 1] + "…"


def clip(text: str, limit: int) -> str:
    """Return at most `limit` characters of `text`; an ellipsis ends a longer one."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
