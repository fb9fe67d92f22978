"""Spell a transcript of all English as people type it, and read its numbers.

Moonshine writes "to-night", and "for to" or "To salads" where a number was said: "to", "too" and "for" sound like it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise, product

from gemini_live_runtime.local.language.vocabulary import expand
from gemini_live_runtime.local.language.words import parse_number, split_words

_OLD_SPELLING = re.compile(r"\b(to)-(day|night|morrow)\b", re.IGNORECASE)

_NO_MORE = re.compile(r"\b(no more), (?!thank|please|that)", re.IGNORECASE)

_NUMBERS = {"to": "two", "too": "two", "for": "four"}

_SOUNDS_LIKE_ONE = re.compile(
    # Nobody says "for to", except before a verb; before a plural, at the beginning, "to" has no meaning.
    r"(?P<before>\bfor )(?P<said>to|too|for)\b(?! (?:be|go|do|have|get|see|the|a|an|my|us|you|it|long|much|late)\b)"
    r"|(?P<start>^|[.!?] |\band )(?P<word>to|too|for)(?= (?!days|weeks|months|years|hours|ages|kids)[a-z]+[^\Wsiy]s\b)"
    r"|(?<!\w)(?P<other>to|too)(?= (?:hundred|thousand|as well)\b)",
    re.IGNORECASE,
)

_SPELLED = re.compile(r"\d+")

_YEAR = re.compile(r"\b(1[89]|20)(\d\d)\b")

_MAX_WAYS = 64

_PARTS = {"half": 0.5, "quarter": 0.25, "quarters": 0.25}

_DENYING = frozenset({"not", "never", "no"})

_SOUNDS_LIKE_NOT = re.compile(
    r"\b(?:is|was|are|were|does|do|did|can|could|would|should|has|have|had)\W+(?:and|ant|end)\b", re.IGNORECASE
)
"""Words that are written down for "isn't": "That is, and right."."""

_SHORT = 5
_CAPITALISED = re.compile(r"\b[A-Z][\w']*")
_IS_A_NAME = re.compile(r"\b(?:is|was|are) [A-Z]")
_IS = frozenset({"is", "was", "are"})
_NOT_TOLD = frozenset({"i", "you", "he", "she", "it", "we", "they", "there", "that", "this", "the", "a", "an", "my"})
"""Pronouns and articles: a sentence tells nothing by them."""

_AMOUNT_DIGITS = 3
"""Digits of the largest amount that is said as a whole: "two hundred and fifteen"."""

_EASILY_CONFUSED: dict[float, float] = {13: 30, 14: 40, 15: 50, 16: 60, 17: 70, 18: 80, 19: 90}
"""Numbers that sound much the same: "fifteen" and "fifty"."""
_CONFUSED_WITH = _EASILY_CONFUSED | {tens: teens for teens, tens in _EASILY_CONFUSED.items()}


def in_todays_spelling(text: str) -> str:
    """Return a transcript without the hyphen of "to-night" and a comma too many.

    Behind "no more" a pause is heard: "no more, pasta".
    """
    return _NO_MORE.sub(r"\1 ", _OLD_SPELLING.sub(r"\1\2", text))


def with_numbers(text: str) -> str:
    """Return a transcript with numbers in place of words that have no meaning there."""
    return _SOUNDS_LIKE_ONE.sub(_number, text)


def _number(found: re.Match[str]) -> str:
    said = found["said"] or found["word"] or found["other"]
    number = _NUMBERS[said.lower()]
    before = found["before"] or found["start"] or ""
    return before + (number.capitalize() if said[0].isupper() else number)


def numbers_said(text: str) -> list[float]:
    """Return the numbers that a text names, in order.

    "8:30" has two and "8:00" has one; "4428" is said digit by digit. A half and a quarter count.
    """
    words = [part for word in split_words(text) for part in _parts(word)]
    found: list[float] = []
    at = 0
    while at < len(words):
        number = parse_number(words, at)
        at += 1 if number is None else number[1]
        if number is not None:
            found.append(number[0])
        elif words[at - 1] in _PARTS:
            found.append(_PARTS[words[at - 1]])
    return found


def _parts(word: str) -> tuple[str, ...]:
    if word.isdecimal() and len(word) > _AMOUNT_DIGITS:
        return tuple(word)
    return tuple(part for part in _SPELLED.findall(word) if part != "00") or (word,)


def are_same_numbers(one: str, other: str) -> bool:
    """Return True when two texts name the same numbers.

    4428 is "four four two eight", 1990 "nineteen ninety" as well, and 2005 "two thousand and five".
    """
    return not _readings(one).isdisjoint(_readings(other))


def _readings(text: str) -> set[tuple[float, ...]]:
    """Return the numbers of a text, whose years may be said in three ways."""
    by_digits = tuple(numbers_said(text))
    if _YEAR.search(text) is None:
        return {by_digits}
    in_halves = tuple(numbers_said(_YEAR.sub(r"\1 \2", text)))
    return {by_digits, in_halves, tuple(numbers_said(_YEAR.sub(_in_words, text)))}


def _in_words(year: re.Match[str]) -> str:
    """Return "two thousand and 5" for 2005."""
    thousands, rest = divmod(int(year[0]), 1000)
    return f"{thousands} thousand" + (f" and {rest}" if rest else "")


def sound_numbers_alike(text: str, decoding: str) -> bool:
    """Return True when a decoding has a text's numbers, or sounds like them.

    "Order to soups" sounds like two, but "order soups" does not.
    """
    wanted = _readings(text)
    words = split_words(decoding)
    likely = {at: _NUMBERS[word] for at, word in enumerate(words) if word in _NUMBERS}
    # What sounds like a number may be one or not: each way is tried, of few.
    ways = product(*((word, likely[at]) if at in likely else (word,) for at, word in enumerate(words)))
    return any(not wanted.isdisjoint(_readings(" ".join(way))) for way in islice(ways, _MAX_WAYS))


def has_more_numbers(decoding: str, text: str) -> bool:
    """Return True when a decoding has a number that a text lacks.

    At the end of a sentence a "to" is one: "I can't come up to" was "at two".
    """
    numbers = numbers_said(re.sub(r"\bto\W*$", "two", decoding))
    return not set(numbers) <= set(numbers_said(text))


def may_be_confused(text: str, other: str) -> bool:
    """Return True when one has "fifty" and the other "fifteen"."""
    said, others = set(numbers_said(text)), set(numbers_said(other))
    return any(_CONFUSED_WITH.get(number) in others - said for number in said - others)


def denials_in(text: str) -> frozenset[str]:
    """Return the words that deny something: "not" for "don't", and for "is and"."""
    said = _DENYING.intersection(expand(split_words(text)))
    return said | {"not"} if _SOUNDS_LIKE_NOT.search(text) else said


def may_have_lost_a_not(text: str, others: Iterable[str]) -> bool:
    """Return True for a short "it is working" of which no other has "is working".

    Of "isn't working" the "n't" is easily lost, with what follows it.
    """
    words, others = expand(split_words(text)), tuple(others)
    # A name is often decoded as other words, and has its capital only in a transcript of all English.
    names = {name.lower() for name in _CAPITALISED.findall(text)}
    is_a_name = any(map(_IS_A_NAME.search, others))
    said = _after_is(words) - names if len(words) <= _SHORT and not is_a_name else set()
    return not said <= set[str]().union(*(_after_is(expand(split_words(other))) for other in others))


def _after_is(words: Sequence[str]) -> set[str]:
    return {after for word, after in pairwise(words) if word in _IS} - _NOT_TOLD
