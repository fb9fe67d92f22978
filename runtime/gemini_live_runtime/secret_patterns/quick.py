"""Tell texts that certainly have no provider's key from others, quickly.

Searches for a single character are ten times as quick as others. So each prefix has a *hinge*, a sign that is rare in
ordinary texts; where it is, what stands before and behind it is compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache

from gemini_live_runtime.secret_patterns.compiled import compiled
from gemini_live_runtime.secret_patterns.prefix import RARE, SEPARATORS, Hinge, Prefix, begins
from gemini_live_runtime.secret_patterns.providers import PREFIXES
from gemini_live_runtime.secret_patterns.shapes import OTHER_SHAPES

_SEEN = 8
"""Signs of a key that are compared behind its prefix."""

# Behind a separator, ordinary texts have no digit and no capital soon, or are short. An ellipsis may end a key.
_SIGN = r"[0-9A-Za-z_\-+/=%\\&#;]"
_LIKE_KEY = rf"(?=[a-z_\-+/=%\\&#;]{{0,24}}+[0-9A-Z])(?={_SIGN}{{2,9}}+(?:{_SIGN}|\.\.\.|\u2026))"

_OPEN_SIGN = r"[_\-./~=$AKJGV]|xprv|nsec1|oy2|cio|dapi|dose|hooks"
"""Hinges, and words without one that begin keys or addresses."""

_CODE = "(?:2[fF]|3[aAdD]|7[cCeE]|40)"
_AFTER_PERCENT = rf"%(?:25)*{_CODE}"
_AFTER_BACKSLASH = rf"\\+(?:(?:[uU]00|[xX]){_CODE}|/)"

_LONG = 16
"""Characters of a word from which on it may be the beginning of a key without a prefix."""

_LONG_WITH_DIGIT = 8
"""The same, of a word with a digit."""


@cache
def _hinges() -> dict[str, list[tuple[Hinge, Prefix | None]]]:
    found: dict[str, list[tuple[Hinge, Prefix | None]]] = {}
    for one in PREFIXES:
        hinge = one.hinge
        if hinge is not None:
            found.setdefault(hinge.sign, []).append((hinge, one))
    for other in OTHER_SHAPES:
        found.setdefault(other.hinge.sign, []).append((other.hinge, None))
    return found


@cache
def _whole(sign: str) -> str:
    """Return the pattern of a prefix with the hinge `sign` and some signs of a key."""
    like, others = [], []
    for hinge, one in _hinges()[sign]:
        before = f"(?<={hinge.before}{re.escape(sign)})"
        if one is None or one.is_anywhere:
            others.append(f"{before}(?={hinge.behind})")
        elif hinge.behind:
            others.append(f"{before}(?={hinge.behind}{one.signs}{{{min(one.telling, one.least, _SEEN)}}})")
        elif one.form:
            others.append(before + one.form)
        else:
            like.append(before)
    both = ([f"{_LIKE_KEY}(?:{'|'.join(like)})"] if like else []) + others
    # A sign before a space, as at the end of each sentence, is in no key.
    return rf"{re.escape(sign)}(?=\S)(?:{'|'.join(both)})"


@cache
def _open(sign: str) -> str:
    """Return the pattern of a prefix up to its hinge `sign`."""
    befores = "|".join(f"(?<={hinge.before}{re.escape(sign)})" for hinge, _ in _hinges()[sign])
    return f"{re.escape(sign)}(?:{befores})"


@cache
def _plain() -> tuple[tuple[str, str], ...]:
    """Return the prefixes without a hinge, and the patterns to look for there."""
    rows = [one for one in PREFIXES if one.hinge is None]
    return tuple((one.anchor, rf"{begins(one.pattern)}{one.signs}{{{min(one.telling, _SEEN)}}}") for one in rows)


SIGNS = SEPARATORS + RARE
"""Hinges, each of which has patterns of its own."""


def compile_for(sign: str) -> None:
    """Compile the patterns of a hinge ahead of their first use."""
    compiled(_whole(sign))
    compiled(_open(sign))


def has_digit(text: str) -> bool:
    """Return True when `text` has a digit of ASCII."""
    # Ten searches for one character take half the time of one by a pattern.
    return (
        "0" in text
        or "1" in text
        or "2" in text
        or "3" in text
        or "4" in text
        or "5" in text
        or "6" in text
        or "7" in text
        or "8" in text
        or "9" in text
    )


def has_key(text: str, low: str, digit: bool) -> bool:
    """Return False when `text` certainly has no provider's key or webhook.

    `low` is `text` in lower case, `digit` is `has_digit(text)`.
    """
    found = (
        ("_" in text and _at["_"](text))
        or ("-" in text and _at["-"](text))
        or ("." in text and _at["."](text))
        or ("/" in text and _at["/"](text))
        or ("=" in text and _at["="](text))
        or ("~" in text and _at["~"](text))
        or ("$" in text and _at["$"](text))
        or (low != text and _has_capital_hinge(text))
        # A key whose prefix has no rare sign has a digit or a capital.
        or ((digit or low != text) and _has_plain(text, digit))
    )
    return bool(found)


def _has_capital_hinge(text: str) -> bool:
    return bool(
        ("A" in text and _at["A"](text))
        or ("K" in text and ("PRIVATE KEY" in text or _at["K"](text)))
        or ("J" in text and _at["J"](text))
        or ("G" in text and _at["G"](text))
        or ("V" in text and _at["V"](text))
    )


def _has_plain(text: str, digit: bool) -> bool:
    return (
        ("o" in text and ("cio" in text or (digit and "dose" in text) or ("2" in text and "oy2" in text)))
        or ("p" in text and ((digit and "dapi" in text) or ("x" in text and "xprv" in text)))
        or ("n" in text and "1" in text and "nsec1" in text)
    ) and any(anchor in text and compiled(pattern).search(text) for anchor, pattern in _plain())


class _Searches(dict[str, Callable[[str], re.Match[str] | None]]):
    """Searches for the prefixes with a hinge, compiled when they are first used."""

    def __missing__(self, sign: str) -> Callable[[str], re.Match[str] | None]:
        found = self[sign] = compiled(_whole(sign)).search
        return found


_at = _Searches()


_KEY_SIGNS = "".join(map(chr, range(33, 127)))


def start_of_last_word(text: str, first: int, end: int) -> int:
    """Return where the word of ASCII begins that ends at `end`, from `first` on.

    Languages without spaces write keys right behind other letters.
    """
    at = max(first, text.rfind(" ", first, end) + 1)
    word = text[at:end]
    return at if word.isascii() else at + len(word.rstrip(_KEY_SIGNS))


def may_open(text: str) -> bool:
    """Return False when certainly no provider's key begins at the end of `text`."""
    if "-" in text and "-----BEGIN" in text:
        return True
    # No key has a space, and most texts end in one or in an ordinary word.
    word = text[text.rfind(" ") + 1 :]
    if not word.isascii():
        word = text[start_of_last_word(text, 0, len(text)) :]
    return len(word) >= _LONG or (word != "" and _may_begin_key(word))


@lru_cache(maxsize=1024)
def _may_begin_key(word: str) -> bool:
    """Return True for a short word that may begin a key.

    Cached: words come again and again.
    """
    if len(word) >= _LONG_WITH_DIGIT and has_digit(word):
        return True
    signs = {match[0] for match in compiled(_OPEN_SIGN).finditer(word)}
    return any(len(sign) > 1 or compiled(_open(sign)).search(word) for sign in signs)


def _has_escape(text: str) -> bool:
    return compiled(_AFTER_BACKSLASH).search(text) is not None


def may_have_encoded_sign(text: str) -> bool:
    """Return True when a sign of a provider's key or a login may be escaped."""
    # One pattern for all would be tried at every character.
    return (
        "&#" in text
        or ("%" in text and compiled(_AFTER_PERCENT).search(text) is not None)
        # A line of JSON has many backslashes, most of them before quotation marks.
        or ("\\" in text and ("\\/" in text or "00" in text or "x" in text or "X" in text) and _has_escape(text))
    )
