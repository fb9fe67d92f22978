"""Normalise words; compare spellings; read numbers and times of day."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ONES = _TO_NINETEEN.split()
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = dict(zip(range(20, 100, 10), _TENS_WORDS.split(), strict=True))
_VALUES = {word: value for value, word in enumerate(_ONES)} | {word: value for value, word in _TENS.items()}
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?(am|pm)?")
_WORD = re.compile(r"\d+[:.]\d+(?:am|pm)?|[^\W_]+(?:'[^\W_]+)*")

_UNITS = {
    unit: minutes
    for units, minutes in (
        ("second seconds sec secs s", 1 / 60),
        ("minute minutes min mins m", 1.0),
        ("hour hours hr hrs h", 60.0),
    )
    for unit in units.split()
}
_MINUTES_TOLD = (5, 10, 20, 25)
_COUNTED_OUT = {"couple": 2, "pair": 2, "dozen": 12, "twice": 2}
_BETWEEN_DIGITS = frozenset({"a", "an", "and", "then"})
_JOINED = re.compile(r"(\d{1,2})h(?:rs?)?(?:(\d{1,2})(?:m|mins?)?)?|(\d{1,4})(m|mins?|s|secs?)")
_PARTS_OF_A_UNIT = {
    ("half", "an"): 0.5,
    ("half", "a"): 0.5,
    ("a", "half"): 0.5,
    ("a", "quarter", "of", "an"): 0.25,
    ("quarter", "of", "an"): 0.25,
    ("three", "quarters", "of", "an"): 0.75,
}
_SHARES_ADDED = {
    ("and", "a", "half"): 0.5,
    ("and", "half"): 0.5,
    ("and", "a", "quarter"): 0.25,
    ("and", "three", "quarters"): 0.75,
}
"""Parts of a unit behind a number: "two and a quarter hours", "an hour and a half"."""
_GO_ON_WITH_A_HALF = frozenset({"a", "an", "of", "past"})
"""Words behind a half that is no part of the number before it: "an hour and half an hour"."""
_DECIMAL = re.compile(r"\d{1,3}\.\d{1,2}")

MAX_SPOKEN = 999
MAX_SPELLED = 999_999
"""Largest number that is read digit by digit."""


def spoken_number(value: int) -> str:
    """Return `value` (0 to 999) in words."""
    if not 0 <= value <= MAX_SPOKEN:
        raise ValueError(f"value must be 0 to {MAX_SPOKEN}, not {value}")
    if value >= 100:
        rest = f" {spoken_number(value % 100)}" if value % 100 else ""
        return f"{_ONES[value // 100]} hundred{rest}"
    if value < 20:
        return _ONES[value]
    return _TENS[value - value % 10] + (f" {_ONES[value % 10]}" if value % 10 else "")


def split_words(text: str) -> list[str]:
    """Return lower-case words without punctuation and accents.

    `7:30`, `7pm` and `don't` stay one word each.
    """
    text = text.lower()
    if text.isascii():
        return _WORD.findall(text)
    plain = unicodedata.normalize("NFKD", text).replace("\u2019", "'")
    return _WORD.findall("".join(char for char in plain if not unicodedata.combining(char)))


def split_original(text: str) -> list[str]:
    """Return the words of `split_words` spelled as in `text`."""
    pieces = []
    for piece in text.split():
        count = len(split_words(piece))
        if count == 1:
            pieces.append(piece.strip('.,;:!?"()[]'))
        elif count > 1:
            pieces.extend(split_words(piece))
    return pieces


_WHICH_ONE = frozenset({
    "later", "earlier", "first", "last", "second", "next", "other", "same", "new", "old", "wrong", "early", "late",
    "right", "which", "every", "this", "either", "big", "small", "bigger", "smaller", "better", "latter", "former",
})  # fmt: skip
"""Words before a "one" that is no number: "the later one"."""


def parse_number(words: list[str], start: int) -> tuple[int, int] | None:
    """Read a number (up to 999) at `start`; return it and its number of words."""
    if start >= len(words):
        return None
    first = words[start]
    if first == "one" and start and words[start - 1] in _WHICH_ONE:
        return None
    if first.isascii() and first.isdigit() and len(first) <= len(str(MAX_SPELLED)):
        return int(first), 1
    if first == "hundred":
        return _with_rest(100, words, start, 1)
    for half in (["half", "a", "dozen"], ["half", "dozen"]):
        if words[start : start + len(half)] == half:
            return 6, len(half) + (words[start + len(half) : start + len(half) + 1] == ["of"])
    if first in _COUNTED_OUT:
        return _COUNTED_OUT[first], 1 + (words[start + 1 : start + 2] == ["of"])
    if first not in _VALUES:
        return None
    value, used = _VALUES[first], 1
    following = _VALUES.get(words[start + 1], 0) if start + 1 < len(words) else 0
    if value >= 20 and 1 <= following <= 9:
        value, used = value + following, 2
    if 1 <= value <= 9 and start + used < len(words) and words[start + used] == "hundred":
        return _with_rest(value * 100, words, start, used + 1)
    return value, used


def _with_rest(hundreds: int, words: list[str], start: int, used: int) -> tuple[int, int]:
    """Return a number of `hundreds` with what follows it: "a hundred and fifty"."""
    has_and = words[start + used : start + used + 1] == ["and"]
    rest = parse_number(words, start + used + has_and)
    if rest is None or rest[0] >= 100:
        return hundreds, used
    return hundreds + rest[0], used + has_and + rest[1]


def parse_digits(words: list[str], start: int) -> tuple[int, int] | None:
    """Read a number of digits; return it and its number of words.

    `four two`, `a four and a two`.
    """
    digits, at, end = "", start, start
    while at < len(words):
        if digit := _digit(words[at]):
            digits, end = digits + digit, at + 1
        elif words[at] not in _BETWEEN_DIGITS:
            break
        at += 1
    return (int(digits), end - start) if len(digits) > 1 and words[start] not in ("and", "then") else None


def _digit(word: str) -> str:
    if len(word) == 1 and word.isascii() and word.isdigit():
        return word
    value = 0 if word == "oh" else _VALUES.get(word, 10)
    return str(value) if value < 10 else ""


def parse_duration(words: list[str], start: int) -> tuple[int | float, int] | None:
    """Read a duration at `start`; return its minutes and its number of words.

    `ten minutes`, `half an hour`, `an hour and a half`, `two and a half hours`, `90 seconds`, `1 h 30 min`.
    Of "3 minutes and 7 minutes" only the first: they are two.
    """
    total, used, units = 0.0, 0, set[float]()
    while (found := _parse_part(words, start + used + _and(words, start + used, used))) is not None:
        unit = _unit(words, start + used + _and(words, start + used, used) + found[1] - 1)
        if unit and unit in units:
            break
        units.add(unit)
        used += _and(words, start + used, used) + found[1]
        total += found[0]
    if not used:
        return None
    return int(total) if total == int(total) else round(total, 2), used


def _and(words: list[str], at: int, used: int) -> int:
    return 1 if used and words[at : at + 1] == ["and"] else 0


def _parse_part(words: list[str], at: int) -> tuple[float, int] | None:
    """Read a number and a unit of time; return its minutes and its number of words."""
    for lead, share in _PARTS_OF_A_UNIT.items():
        if tuple(words[at : at + len(lead)]) == lead and (length := _unit(words, at + len(lead))):
            return share * length, len(lead) + 1
    together = _JOINED.fullmatch(words[at]) if at < len(words) else None
    if together is not None:
        hours, minutes, count, unit = together.groups()
        return (int(hours) * 60.0 + int(minutes or 0) if hours else int(count) * _UNITS[unit]), 1
    if at < len(words) and _DECIMAL.fullmatch(words[at]):
        return (float(words[at]) * length, 2) if (length := _unit(words, at + 1)) else None
    number = (1, 1) if words[at : at + 1] in (["a"], ["an"]) else parse_number(words, at)
    if number is None:
        return None
    value, used = _with_share(float(number[0]), words, at, number[1])
    length = _unit(words, at + used)
    if not length:
        return None
    value, used = _with_share(value, words, at, used + 1)
    return value * length, used


def _with_share(value: float, words: list[str], at: int, used: int) -> tuple[float, int]:
    """Return a number with the part of a unit that follows it, "and a half"."""
    for words_of_it, share in _SHARES_ADDED.items():
        end = at + used + len(words_of_it)
        # "An hour and half an hour" are two.
        if tuple(words[at + used : end]) == words_of_it and _GO_ON_WITH_A_HALF.isdisjoint(words[end : end + 1]):
            return value + share, used + len(words_of_it)
    return value, used


def _unit(words: list[str], at: int) -> float:
    return _UNITS.get(words[at], 0.0) if at < len(words) else 0.0


def parse_time(words: list[str], start: int) -> tuple[str, int] | None:
    """Read a time of day at `start`; return it as `HH:MM` and its number of words.

    `7`, `seven`, `seven thirty`, `half past seven`, `quarter to eight`, `7:30`, `7pm`, `seven p m`, `noon`. Hours 1 to
    11 without am or pm mean the afternoon or evening: a table is booked for then.
    """
    if start >= len(words):
        return None
    if words[start] in ("noon", "midday"):
        return "12:00", 1
    if words[start] == "midnight":
        return "00:00", 1
    shift, used = 0, 0
    if words[start : start + 2] == ["half", "past"]:
        shift, used = 30, 2
    elif words[start] == "half":  # British: "half seven" is 7:30.
        shift, used = 30, 1
    elif (minutes := parse_number(words, start)) is not None and minutes[0] in _MINUTES_TOLD:
        word = words[start + minutes[1] : start + minutes[1] + 1]
        if word in (["past"], ["to"]):
            shift, used = (minutes[0] if word == ["past"] else -minutes[0]), minutes[1] + 1
    elif words[start : start + 2] == ["quarter", "past"]:
        shift, used = 15, 2
    elif words[start : start + 2] == ["quarter", "to"]:
        shift, used = -15, 2
    clock = _CLOCK.fullmatch(words[start + used]) if start + used < len(words) else None
    if clock is not None:
        hour, minute, half, used = int(clock[1]), int(clock[2] or 0), clock[3] or "", used + 1
    else:
        found = parse_number(words, start + used)
        if found is None or not 0 <= found[0] <= 24:
            return None
        # "twenty three" is an hour, "eleven thirty" an hour and minutes.
        hour, minute, half = found[0], 0, ""
        used += found[1]
        minutes = parse_number(words, start + used) if not shift else None
        if minutes is not None and minutes[0] in range(5, 60, 5):
            minute, used = minutes[0], used + minutes[1]
    exact = clock is not None and clock[2] is not None and len(clock[1]) == 2
    if words[start + used : start + used + 1] in (["o'clock"], ["oclock"]):
        used += 1
    elif words[start + used : start + used + 2] == ["o", "clock"]:
        used += 2
    if words[start + used : start + used + 2] in (["p", "m"], ["a", "m"]):
        half, used = words[start + used] + "m", used + 2
    elif words[start + used : start + used + 1] in (["pm"], ["am"]):
        half, used = words[start + used], used + 1
    if hour > 24 or minute > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    elif 1 <= hour <= 11 and not exact:
        hour += 12
    total = (hour * 60 + minute + shift) % (24 * 60)
    return f"{total // 60:02d}:{total % 60:02d}", used


def parse_year(words: list[str], start: int) -> tuple[int, int] | None:
    """Read a year from 1900 to 2029 at `start`; return it and its number of words.

    `1982`, `82`, `eighty two`, `nineteen eighty two`, `two thousand and five`, `twenty ten`. Two digits from 10 to 29
    alone are no year.
    """
    first = words[start] if start < len(words) else ""
    if len(first) == 4 and first.isascii() and first.isdigit():
        return (int(first), 1) if 1900 <= int(first) < 2030 else None
    century = {"nineteen": 1900, "twenty": 2000}.get(first, 0)
    if words[start : start + 2] == ["two", "thousand"]:
        used = 2 + (words[start + 2 : start + 3] == ["and"])
        rest = parse_number(words, start + used)
        return (2000 + rest[0], used + rest[1]) if rest is not None and rest[0] < 30 else (2000, 2)
    rest = parse_number(words, start + 1) if century else None
    if rest is not None and 10 <= rest[0] < (100 if century == 1900 else 30):
        return century + rest[0], 1 + rest[1]
    number = parse_number(words, start)
    return (1900 + number[0], number[1]) if number is not None and 30 <= number[0] < 100 else None


def spoken_times() -> list[str]:
    """Return the recognised times: full and half hours, and noon."""
    hours = [spoken_number(hour) for hour in range(1, 13)]
    forms = ("{}", "{} o'clock", "{} thirty", "half past {}", "{} p m")
    return [form.format(hour) for hour in hours for form in forms] + ["noon"]


def edit_distance(one: str, other: str, limit: int) -> int:
    """Return the edits between two words, at most `limit + 1`.

    A swap of neighbours is one edit (optimal string alignment).
    """
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        current = [i]
        for j, b in enumerate(other, 1):
            cost = min(row[j] + 1, current[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        before, row = row, current
    return min(row[-1], limit + 1)


@lru_cache(maxsize=65_536)
def typos(word: str, meant: str) -> int | None:
    """Return the edits from `word` to `meant`, None when too many for a typing error.

    Allowed are 2 edits from 8 letters on, 1 from 4, and a swap in 3; none in numbers and times such as `16:00`.
    """
    if word == meant:
        return 0
    if word in _VALUES:
        return None  # "Nine" is no "nice".
    swapped = len(meant) == 3 and sorted(word) == sorted(meant)
    allowed = 1 if swapped else 0 if len(meant) < 4 else 1 if len(meant) < 8 else 2
    if word[:1].isdigit() or meant[:1].isdigit() or not allowed:
        return None
    edits = edit_distance(word, meant, allowed)
    return edits if edits <= allowed else None


def name_words(name: str) -> list[str]:
    """Return the words of a name in snake_case, kebab-case, dotted or camelCase."""
    spaced = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", name)
    return split_words(re.sub(r"[^A-Za-z0-9]+", " ", spaced))


def folded(text: str) -> str:
    """Return `text` for containment tests: case-folded, with single spaces."""
    return " ".join(text.casefold().split())
