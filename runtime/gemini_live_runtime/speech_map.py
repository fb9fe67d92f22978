"""Map the text of an answer to the samples that speak it.

Each delta of the transcript has a place. The cut, the fold and the console share this map.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

Place = tuple[int, int, int]
"""First character of a delta, its first sample and its length in samples, both estimated. Samples are at 24 kHz."""

MAX_PLACES = 2_000
"""Places of a text: ten minutes of speech in pieces of a word."""

MAX_STRETCH = 3.0
"""Factor beyond which a generation's total is no measure for its rest: text or sound is missing."""

_UNSPACED = 0x2E80
"""First code point of the scripts that write without spaces."""


def add_place(places: tuple[Place, ...], place: Place) -> tuple[Place, ...]:
    """Return `places` with one more; beyond `MAX_PLACES` the last one is extended."""
    if len(places) < MAX_PLACES:
        return (*places, place)
    char, first, _ = places[-1]
    return (*places[:-1], (char, first, max(1, place[1] + place[2] - first)))


def add_text(places: tuple[Place, ...], length: int, text: str, first: int, count: int) -> tuple[Place, ...]:
    """Return `places` with that of `text`, which follows `length` characters."""
    return add_place(places, (length + len(text) - len(text.lstrip()), first, count))


def chars_at(places: Sequence[Place], length: int, samples: int) -> int:
    """Return the characters of a text of `length` that are complete after `samples`."""
    index = bisect_right(places, samples, key=_first_sample) - 1
    if index < 0:
        return 0
    char, first, end, stop = _stretch(places, length, index)
    return end if samples >= stop else char + (end - char) * (samples - first) // (stop - first)


def begun_at(places: Sequence[Place], length: int, samples: int) -> int:
    """Return the characters of a text of `length` that have begun after `samples`."""
    index = bisect_right(places, samples, key=_first_sample) - 1
    if index < 0:
        return 0
    char, first, end, stop = _stretch(places, length, index)
    return end if samples >= stop else min(end, char + (end - char) * (samples - first) // (stop - first) + 1)


def sample_of(places: Sequence[Place], length: int, char: int) -> int:
    """Return the sample at which character number `char` begins, as `begun_at` has it."""
    index = max(0, bisect_right(places, char, key=_first_char) - 1)
    begin, first, end, stop = _stretch(places, length, index)
    # Rounded up, as `begun_at` rounds down.
    return first if end <= begin else first - (begin - char) * (stop - first) // (end - begin)


def _stretch(places: Sequence[Place], length: int, index: int) -> tuple[int, int, int, int]:
    """Return first character and sample of a delta, and those behind its end."""
    char, first, count = places[index]
    if index + 1 == len(places):
        return char, first, max(char, length), first + count
    following, sample, _ = places[index + 1]
    # A pause before the next delta does not slow the words before it.
    return char, first, following, min(sample, first + 2 * count)


def whole_words(text: str, chars: int) -> int:
    """Return the end of the last word that is complete within `chars` characters."""
    while 0 < chars < len(text) and (text[chars - 1].isspace() or _inside_word(text, chars)):
        chars -= 1
    return chars


def begun_words(text: str, chars: int) -> int:
    """Return the beginning of the word after the one that `chars` reach into."""
    while 0 < chars < len(text) and (text[chars].isspace() or _inside_word(text, chars)):
        chars += 1
    return chars


def stretched(places: Sequence[Place], total: int) -> tuple[Place, ...]:
    """Return `places` once it is known that the generation has `total` samples.

    Deltas at the end that follow each other without a gap were placed by their length alone. Their estimate is
    stretched to the end of the sound.
    """
    if not places:
        return ()
    at = len(places) - 1
    while at > 0 and places[at - 1][1] + places[at - 1][2] == places[at][1]:
        at -= 1
    first, end = places[at][1], places[-1][1] + places[-1][2]
    wanted, estimated = total - first, end - first
    if estimated <= 0 or not estimated / MAX_STRETCH <= wanted <= estimated * MAX_STRETCH:
        return tuple(places)
    moved = (
        (char, first + (begin - first) * wanted // estimated, count * wanted // estimated)
        for char, begin, count in places[at:]
    )
    return (*places[:at], *moved)


def _first_sample(place: Place) -> int:
    return place[1]


def _first_char(place: Place) -> int:
    return place[0]


def _inside_word(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    return not (before.isspace() or after.isspace() or ord(before) >= _UNSPACED or ord(after) >= _UNSPACED)
