"""Find what a sentence asks for by its words, wherever they stand.

A meaning names what a sentence has to say, in any order: words, each with its alternatives, and slots. Words that the
meaning does not explain stand against it, and negations do too where a tool would be called: what is unsure is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field

from gemini_live_runtime.local.matching import MAX_WORDS, SlotValue, Words
from gemini_live_runtime.local.script_types import Meaning, Slot
from gemini_live_runtime.local.vocabulary import COMMON_WORDS, NEGATIONS, expand, is_same
from gemini_live_runtime.local.words import parse_duration, parse_number, parse_time, split_words, typos
from gemini_live_runtime.records import record

_MOST_UNEXPLAINED = 3
_BEFORE_TIMES = frozenset({"at", "around", "by", "from", "until", "till"})
_TOLD_BY_UNIT, _TOLD_BY_CLOCK, _TOLD_BEFORE, _BARE = _CERTAINTIES = (3, 2, 1, 0)
"""Degrees of certainty that the words around a number give to its slot."""


@record
class Understood:
    """Slots that a meaning filled, with the words and slots that it found (`hits`).

    `unexplained` are the words that nothing explains.
    """

    hits: int
    unexplained: tuple[str, ...]
    slots: Mapping[str, SlotValue] = field(default_factory=dict)
    negated: bool = False
    """True when a word that the meaning does not ask for turns it round."""

    @property
    def is_sure(self) -> bool:
        """True when what was found outweighs what was not explained."""
        return len(self.unexplained) <= min(self.hits - 1, _MOST_UNEXPLAINED)

    @property
    def cost(self) -> float:
        """Cost to compare with that of a phrase: lower is surer."""
        return 0.15 + 0.3 * len(self.unexplained) - 0.01 * self.hits


class Sentence:
    """Words of an utterance, written out, with the places that are not used yet."""

    def __init__(self, words: Words) -> None:
        self.words = expand(words.plain) if len(words) <= MAX_WORDS else []
        self.free = set(range(len(self.words)))

    def take(self, start: int, length: int) -> None:
        """Mark the words as used."""
        self.free -= set(range(start, start + length))

    def find(self, phrase: tuple[str, ...]) -> int | None:
        """Return the place of `phrase`, or None."""
        last = len(self.words) - len(phrase)
        return next((at for at in range(last + 1) if all(map(is_same, self.words[at:], phrase))), None)

    def find_free(self, phrase: tuple[str, ...]) -> int | None:
        """Return the place of `phrase` among the words that are not used, or None."""
        for at in range(len(self.words) - len(phrase) + 1):
            places = range(at, at + len(phrase))
            if self.free.issuperset(places) and all(map(is_same, self.words[at:], phrase)):
                return at
        return None


class MeaningMatcher:
    """Matcher of meanings; `filler` are further words that any sentence may have."""

    def __init__(self, slots: Mapping[str, Slot], filler: Collection[str] = ()) -> None:
        self._slots = slots
        self._filler = frozenset(filler)

    def match(self, meaning: Meaning, words: Words) -> Understood | None:
        """Return what `meaning` finds in `words`, or None when a part is missing."""
        sentence = Sentence(words)
        if any(sentence.find(phrase) is not None for phrase in meaning.without):
            return None
        slots = self._fill((*meaning.slots, *meaning.optional), sentence)
        if any(name not in slots for name in meaning.slots):
            return None
        hits = len(slots)
        for alternatives in meaning.needs:
            found = [(len(phrase), at) for phrase in alternatives if (at := sentence.find_free(phrase)) is not None]
            if not found:
                return None
            length, at = max(found)
            sentence.take(at, length)
            hits += 1
        for phrase in meaning.also:
            if (at := sentence.find_free(phrase)) is not None:
                sentence.take(at, len(phrase))
        rest = [sentence.words[at] for at in sorted(sentence.free)]
        negated = any(word in NEGATIONS for word in rest)
        return Understood(hits, tuple(word for word in rest if self._counts(word)), slots, negated)

    def fill_only(self, names: Collection[str], words: Words) -> Mapping[str, SlotValue]:
        """Return the slots that the sentence names, when it says nothing else."""
        sentence = Sentence(words)
        slots = self._fill(tuple(names), sentence, bare=True)
        rest = [sentence.words[at] for at in sentence.free]
        return {} if any(self._counts(word) for word in rest) else slots

    def _counts(self, word: str) -> bool:
        """Return True when `word` carries a meaning of its own."""
        return not (word in COMMON_WORDS or word in self._filler or word in NEGATIONS)

    # -- slots -------------------------------------------------------------------------------------------------------

    def _fill(self, names: tuple[str, ...], sentence: Sentence, *, bare: bool = False) -> dict[str, SlotValue]:
        """Fill slots, those that the words around a value tell best first."""
        slots = [self._slots[name] for name in names if self._slots[name].kind != "text"]
        counted = {slot.name for slot in slots if slot.kind != "choice"}
        found: dict[str, SlotValue] = {}
        for certainty in _CERTAINTIES:
            for slot in slots:
                # A bare number is taken only where it can stand for one thing.
                if slot.name in found or (certainty == _BARE and not bare and counted - {slot.name} - found.keys()):
                    continue
                values = (
                    _choices(slot, sentence) if slot.kind == "choice" else _numbers(slot, sentence, certainty, bare)
                )
                best = next(values, None)
                if best is not None:
                    at, length, value = best
                    sentence.take(at, length)
                    found[slot.name] = value
        return found


def _choices(slot: Slot, sentence: Sentence) -> Iterator[tuple[int, int, SlotValue]]:
    named = [(tuple(split_words(value)), value) for value in slot.values]
    named += [(phrase, value) for value, phrases in slot.synonyms.items() for phrase in phrases]
    found = [
        (-len(phrase), at, value)
        for phrase, value in named
        for at in range(len(sentence.words) - len(phrase) + 1)
        if sentence.free.issuperset(range(at, at + len(phrase)))
        and all(_is_value(word, meant) for word, meant in zip(sentence.words[at:], phrase, strict=False))
    ]
    for length, at, value in sorted(found, key=lambda item: item[:2]):
        yield at, -length, value


def _is_value(word: str, meant: str) -> bool:
    return word == meant or is_same(word, meant) or (word not in COMMON_WORDS and typos(word, meant) is not None)


def _numbers(slot: Slot, sentence: Sentence, certainty: int, bare: bool) -> Iterator[tuple[int, int, SlotValue]]:
    """Yield place, count of words and value of numbers that are as certain."""
    for at in sorted(sentence.free):
        found = _read(slot, sentence.words, at)
        has_unit = found is not None
        if found is None and bare and slot.kind == "duration":
            found = _within(slot, parse_number(sentence.words, at))
        if found is None:
            continue
        first, last, told = _surroundings(slot, sentence.words, at, found[1])
        if not has_unit:
            told = _BARE
        if told == certainty and sentence.free.issuperset(range(at, at + found[1])):
            yield first, last - first, found[0]


def _read(slot: Slot, words: list[str], at: int) -> tuple[SlotValue, int] | None:
    """Return the number, time or duration at `at` and its count of words."""
    if slot.kind == "time":
        return parse_time(words, at)
    return _within(slot, parse_duration(words, at) if slot.kind == "duration" else parse_number(words, at))


def _within(slot: Slot, found: tuple[int | float, int] | None) -> tuple[int | float, int] | None:
    return found if found is not None and slot.minimum <= found[0] <= slot.maximum else None


def _surroundings(slot: Slot, words: list[str], at: int, length: int) -> tuple[int, int, int]:
    """Return where a value begins and ends, and how certain its slot is.

    Words that tell the slot belong to it.
    """
    last = at + length
    if slot.kind == "duration":
        return at, last, _TOLD_BY_UNIT
    if slot.kind == "time":
        is_clock = length > 1 or any(mark in words[at] for mark in (":", "am", "pm", "noon", "midday", "midnight"))
        is_clock = is_clock or (at > 0 and words[at - 1] in _BEFORE_TIMES)
        return at, last, _TOLD_BY_CLOCK if is_clock else _BARE
    for phrase in slot.after:
        if len(words) >= last + len(phrase) and all(map(is_same, words[last:], phrase)):
            return at, last + len(phrase), _TOLD_BY_UNIT
    for phrase in slot.before:
        if tuple(words[max(0, at - len(phrase)) : at]) == phrase:
            return at - len(phrase), last, _TOLD_BEFORE
    return at, last, _BARE
