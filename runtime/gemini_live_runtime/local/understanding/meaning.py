"""Find what a sentence asks for by its words, wherever they stand.

A meaning names what a sentence has to say, in any order: words, each with its alternatives, and slots. Words that the
meaning does not explain stand against it, and negations do too where a tool would be called: what is unsure is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache

from gemini_live_runtime.local.language.vocabulary import (
    COMMON_WORDS,
    DENIALS,
    EVERYDAY_WORDS,
    NEGATIONS,
    OTHERS,
    PAST,
    TELLING,
    base_forms,
    is_same,
)
from gemini_live_runtime.local.language.words import (
    parse_digits,
    parse_duration,
    parse_number,
    parse_time,
    parse_year,
    split_words,
)
from gemini_live_runtime.local.scripts.script_types import Meaning, Script, Slot
from gemini_live_runtime.local.understanding.matching import (
    MAX_WORDS,
    SlotValue,
    is_another_name,
    names_people,
)
from gemini_live_runtime.local.understanding.sentence import Sentence
from gemini_live_runtime.local.understanding.utterance_words import Words
from gemini_live_runtime.records import record

_MAX_UNEXPLAINED = 4
_MAX_AMONG_OTHERS = 8
_NEAR_MINUTES, _NEAR_COUNT = 120, 2
_NAME_COUNTS = 3
_NEGATES_WITHIN = 4
"""Words after a negation that it may turn round."""
_DETERMINERS = frozenset({"a", "an", "the", "some", "one", "another", "two", "my"})
_AS_WELL = frozenset({"and", "plus", "with", "without"})
_IS_TOLD_OF = frozenset({
    "is", "was", "are", "were", "has", "had", "should", "can", "could", "may", "must", "smells", "looks", "costs",
    "takes", "makes", "comes", "keeps", "gives",
})  # fmt: skip
"""Words after a thing that tell something of it: "the coffee should be strong"."""
_SUITS = frozenset({
    "fine", "good", "ok", "okay", "great", "best", "perfect", "lovely", "easier", "better", "what", "right", "nice",
    "it",
})  # fmt: skip
_IS_MOVED = frozenset((to, where) for to in ("to", "in", "into") for where in ("my", "his", "her", "the", "a"))
"""Words after a thing that is put somewhere: "add the coffee to my room"."""
_UNITS = frozenset({
    "minute", "minutes", "moment", "moments", "second", "seconds", "sec", "secs", "hour", "hours", "day", "days",
    "week", "weeks", "question", "questions", "thing", "things", "time", "times", "receipt", "bill", "table", "bag",
    "bags",
})  # fmt: skip
"""Everyday words that a number may count."""
_MORE = frozenset({
    "more", "extra", "other", "further", "last", "quick", "small", "little", "big", "new", "clean", "single",
})  # fmt: skip
_BEFORE_TIMES = frozenset({"at", "around", "by", "from", "until", "till"})
_MOVES = frozenset({"move", "push", "shift", "bring", "postpone", "back", "forward", "later", "earlier"})
"""Words of "push it back to eight": what is moved is a time."""

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
    guessed: frozenset[str] = frozenset()
    """Slots filled by a bare number: the words around it tell nothing of it."""
    negated: bool = False
    """True when a word that the meaning does not ask for turns it round."""
    is_denied: bool = False
    """True when a negation stands close before what was found."""
    is_torn: bool = False
    """True when the words name another value of a slot, or another thing, too."""
    is_told: bool = False
    """True when the words tell of the past, or of another person."""
    is_past: bool = False
    is_told_of: bool = False
    """True when it tells something of a thing that it names: "the pasta is for my son"."""
    is_of_others: bool = False
    """True when it speaks of another person."""
    among_others: bool = False

    @property
    def is_sure(self) -> bool:
        """True when what was found outweighs what was not explained.

        A wish with a slot may have more around it than a story.
        """
        if self.among_others:
            return len(self.unexplained) <= _MAX_AMONG_OTHERS
        spare = 1 if self.slots and self.hits > 1 and not self.is_told else -1
        return len(self.unexplained) <= min(self.hits + spare, _MAX_UNEXPLAINED)

    @property
    def may_be_acted_on(self) -> bool:
        """True when nothing turns it round, and it tells of no other thing or time."""
        return self.is_sure and not (self.negated or self.is_torn or self.is_past)

    @property
    def cost(self) -> float:
        """Cost to compare with that of a phrase: lower is surer."""
        unexplained = len(self.unexplained)
        return 0.15 + 0.3 * (min(unexplained, 1) if self.among_others else unexplained) - 0.01 * self.hits


class MeaningMatcher:
    """Matcher of the meanings of a script."""

    def __init__(self, script: Script) -> None:
        self._slots = script.slots
        self.known = known_words(script)
        """Words that the script names."""
        self._last: tuple[Words, Sentence] | None = None

    def match(self, meaning: Meaning, words: Words) -> Understood | None:
        """Return what `meaning` finds in `words`, or None when a part is missing.

        None for more than `MAX_WORDS` words, too.
        """
        if len(words) > MAX_WORDS:
            return None
        sentence = self._read(words)
        before = set(sentence.free)
        slots, guessed = self._fill((*meaning.slots, *meaning.optional), sentence)
        if any(name not in slots for name in meaning.slots):
            return None
        is_torn = any(self._names_another(name, sentence) for name in slots)
        places = _assign(meaning.needs, sentence)
        if places is None:
            return None
        hits = len(slots) + len(places)
        # Somebody who gives a name tells it first of all.
        hits += sum(_NAME_COUNTS for name in slots if self._slots[name].kind == "name")
        # Words that a longer phrase has found do not stand against it.
        asked_for = {place for at, length in places if length > 1 for place in range(at, at + length)}
        if any(not asked_for.issuperset(range(at, at + len(p))) for p in meaning.without for at in sentence.places(p)):
            return None
        found_at = before - sentence.free
        # Other words for what was found make it surer, and words that may be said explain themselves.
        is_turned = False
        for alternatives, (start, length) in zip(meaning.needs, places, strict=True):
            denies = not DENIALS.isdisjoint(sentence.words[start : start + length])
            for phrase in alternatives:
                if (at := sentence.find_free(phrase)) is not None:
                    sentence.take(at, len(phrase))
                    hits += 1
                    # "I do not want to cancel it" keeps what "I do not want it" cancels.
                    is_turned |= (at > start) == denies and denies != (not DENIALS.isdisjoint(phrase))
        for phrase in meaning.also:
            if (at := sentence.find_free(phrase)) is not None:
                sentence.take(at, len(phrase))
        for at, length, _ in sentence.names():
            sentence.take(at, length)
        if any(self._slots[name].kind == "name" for name in slots):
            sentence.take_proper_names()
        rest = [sentence.words[at] for at in sorted(sentence.free)]
        negations = [at for at in sentence.free if sentence.words[at] in NEGATIONS]
        near = [at for at in negations if found_at & set(range(at, at + _NEGATES_WITHIN + 1))]
        is_denied = any(sentence.words[at] in DENIALS for at in near)
        if meaning.among_others:
            negations = near
        unexplained = tuple(word for word in rest if self._counts(word))
        is_told, is_past = sentence.has_any(TELLING), sentence.has_any(PAST) or sentence.is_opinion
        is_torn = is_torn or any(self._counts_another(name, sentence, found_at) for name in slots)
        is_torn = is_torn or any(self._is_another_thing(sentence, at) for at in sentence.free)
        return Understood(
            hits,
            unexplained,
            slots,
            guessed,
            bool(negations) or is_turned,
            is_denied,
            is_torn,
            is_told,
            is_past,
            any(self._is_told_of(name, slots[name], sentence) for name in meaning.slots),
            sentence.has_any(OTHERS),
            meaning.among_others,
        )

    def fill_only(
        self, names: Sequence[str], words: Words, said: Mapping[str, SlotValue] | None = None, *, bare: bool = True
    ) -> Mapping[str, SlotValue]:
        """Return the slots that the sentence names, when it says nothing else.

        With `bare` a number counts although nothing around it tells what it is. `said` are earlier values: of "make it
        three", three guests are more likely than three o'clock after a table for two at seven. What stays unsure fills
        no slot.
        """
        if len(words) > MAX_WORDS:
            return {}
        sentence = self._read(words)
        slots, guessed = self._fill(tuple(names), sentence, bare=bare)
        if len(guessed) > 1:
            return {}
        rest = [sentence.words[at] for at in sentence.free]
        if any(self._counts(word) for word in rest):
            return {}
        return self._likelier(next(iter(guessed)), slots, names, words, said) if guessed and said else slots

    def names_others(self, slots: Mapping[str, SlotValue], words: Words) -> bool:
        """Return True when `words` name another value of a choice in `slots`, too."""
        sentence = self._read(words)
        named = ((slots[name], _choices(self._slots[name], sentence)) for name in slots)
        return any(other != value for value, found in named for _, _, other in found)

    def _likelier(
        self,
        guessed: str,
        slots: dict[str, SlotValue],
        names: Sequence[str],
        words: Words,
        said: Mapping[str, SlotValue],
    ) -> Mapping[str, SlotValue]:
        """Return `slots` with the bare number in the slot whose earlier value is near."""
        counted = [name for name in names if self._slots[name].kind in ("number", "time") and name not in slots]
        near: list[dict[str, SlotValue]] = []
        for name in (guessed, *counted):
            others, _ = self._fill((name,), self._read(words), bare=True)
            if name in others and name in said and is_near(others[name], said[name]):
                near.append(others)
        rest = {name: value for name, value in slots.items() if name != guessed}
        return {**rest, **near[0]} if len(near) == 1 else {} if counted else slots

    def _read(self, words: Words) -> Sentence:
        """Return the sentence of `words`, read once for all meanings."""
        if self._last is None or self._last[0] is not words:
            self._last = words, Sentence(words, self.known)
        return self._last[1].restart()

    def _names_another(self, name: str, sentence: Sentence) -> bool:
        """Return True when the words left name another value of a slot."""
        slot = self._slots[name]
        return slot.kind == "choice" and next(_choices(slot, sentence), None) is not None

    def _counts_another(self, name: str, sentence: Sentence, found_at: set[int]) -> bool:
        """Return True when a slot's number counts an unexplained word: "two pizzas"."""
        if self._slots[name].kind != "number":
            return False
        words = sentence.words
        for at in found_at:
            if at + 1 in found_at or parse_number(words, at) is None:
                continue
            following = at + 1
            while following < len(words) and words[following] in _MORE:
                following += 1
            if following < len(words) and following in sentence.free:
                word = words[following]
                if self._counts(word) or word in _UNITS or (following > at + 1 and word in EVERYDAY_WORDS):
                    return True
        return False

    def _is_told_of(self, name: str, value: SlotValue, sentence: Sentence) -> bool:
        """Return True when the words go on to tell something of a choice."""
        slot, words = self._slots[name], sentence.words
        if slot.kind != "choice":
            return False
        phrases = (tuple(split_words(str(value))), *slot.synonyms.get(str(value), ()))
        named = {at for phrase in phrases for at in sentence.places(phrase)}
        for phrase in phrases:
            for at in sentence.places(phrase):
                following = words[at + len(phrase) : at + len(phrase) + 2]
                if at + len(phrase) + 2 in named:
                    continue  # "First thing in the morning" tells it twice.
                if following and following[0] in _IS_TOLD_OF and _SUITS.isdisjoint(following[1:]):
                    return True
                if tuple(following) in _IS_MOVED:
                    return True
        return False

    def _is_another_thing(self, sentence: Sentence, at: int) -> bool:
        """Return True when a word is asked for as well, as in "and a bicycle"."""
        words = sentence.words
        if not self._counts(words[at]) or at < 2:
            return False
        first = at - 1 if words[at - 1] in _DETERMINERS or parse_number(words, at - 1) else at
        return words[first - 1] in _AS_WELL and (first < at or words[first - 1] == "without")

    def _counts(self, word: str) -> bool:
        """Return True when `word` carries a meaning of its own."""
        if word in COMMON_WORDS or word in NEGATIONS:
            return False
        return word not in EVERYDAY_WORDS or not base_forms(word).isdisjoint(self.known)

    # -- slots -------------------------------------------------------------------------------------------------------

    def _fill(
        self, names: tuple[str, ...], sentence: Sentence, *, bare: bool = False
    ) -> tuple[dict[str, SlotValue], frozenset[str]]:
        """Fill slots, those that the words around a value tell best first.

        Return them, and the names of those that are filled by a bare number.
        """
        slots = [self._slots[name] for name in names if self._slots[name].kind != "text"]
        counted = {slot.name for slot in slots if slot.kind in ("number", "duration", "time", "year")}
        found: dict[str, SlotValue] = {}
        guessed: set[str] = set()
        for certainty in _CERTAINTIES:
            for slot in slots:
                # A bare number is taken only where it can stand for one thing.
                if slot.name in found or (certainty == _BARE and slot.is_told and not bare):
                    continue
                if certainty == _BARE and not bare and counted - {slot.name} - found.keys():
                    continue
                best = next(_values(slot, sentence, certainty, bare), None)
                if best is not None:
                    at, length, value = best
                    sentence.take(at, length)
                    found[slot.name] = value
                    if certainty == _BARE and slot.name in counted:
                        guessed.add(slot.name)
                    if slot.kind == "choice":
                        for other_at, other_length, other in list(_choices(slot, sentence)):
                            if other == value:  # The same in other words.
                                sentence.take(other_at, other_length)
        return found, frozenset(guessed)


def is_near(value: SlotValue, said: SlotValue) -> bool:
    """Return True when a number or time differs from `said`, and not by much."""
    if isinstance(value, str) and isinstance(said, str):
        return 0 < abs(_minutes(value) - _minutes(said)) <= _NEAR_MINUTES
    if isinstance(value, str) or isinstance(said, str):
        return False
    return 0 < abs(value - said) <= max(_NEAR_COUNT, said / 2)


def _minutes(time: str) -> int:
    hours, _, minutes = time.partition(":")
    return int(hours) * 60 + int(minutes)


def _assign(needs: tuple[tuple[tuple[str, ...], ...], ...], sentence: Sentence) -> list[tuple[int, int]] | None:
    """Take a phrase for each of `needs`; return places and lengths, or None.

    Longer phrases are tried first, shorter ones where they leave the others a word.
    """
    if not needs:
        return []
    found = {(-len(phrase), at) for phrase in needs[0] if (at := sentence.find_free(phrase)) is not None}
    for longest, at in sorted(found):
        length = -longest
        free = set(sentence.free)
        sentence.take(at, length)
        rest = _assign(needs[1:], sentence)
        if rest is not None:
            return [(at, length), *rest]
        sentence.free = free
    return None


def known_words(script: Script) -> frozenset[str]:
    """Return the words that a script names: none of them is a mistyped other one."""
    known: set[str] = set()
    for slot in script.slots.values():
        # Proper names may be a person's own.
        known.update(word for value in slot.values if value == value.lower() for word in split_words(value))
        known.update(word for phrases in slot.synonyms.values() for phrase in phrases for word in phrase)
    patterns = (pattern for intent in script.intents for pattern in (*intent.say, *intent.typed))
    known.update(part for pattern in patterns for part in pattern if isinstance(part, str))
    meanings = [meaning for intent in script.intents for meaning in intent.means]
    meanings += [meaning for rules in script.extract.values() for rule in rules for meaning in rule.means]
    for meaning in meanings:
        phrases = (*(phrase for options in meaning.needs for phrase in options), *meaning.also, *meaning.without)
        known.update(word for phrase in phrases for word in phrase)
    return frozenset(known)


def _values(slot: Slot, sentence: Sentence, certainty: int, bare: bool) -> Iterator[tuple[int, int, SlotValue]]:
    """Yield place, count of words and value of what may fill `slot`."""
    if slot.kind == "choice":
        found = tuple(_choices(slot, sentence))
        return iter(found) if found or not slot.others else sentence.proper_names_after(slot.before)
    return sentence.names() if slot.kind == "name" else _numbers(slot, sentence, certainty, bare)


def _choices(slot: Slot, sentence: Sentence) -> Iterator[tuple[int, int, SlotValue]]:
    """Yield place, count of words and value of what free words name."""
    named = sentence.named.get(slot.name)
    if named is None:
        named = sentence.named[slot.name] = _named(slot, sentence)
    free = sentence.free
    return iter([found for found in named if free.issuperset(range(found[0], found[0] + found[1]))])


def _named(slot: Slot, sentence: Sentence) -> list[tuple[int, int, str]]:
    """Return place, count of words and value of all that is named, longest first."""
    phrases = [(_plain(value), value) for value in slot.values]
    phrases += [(phrase, value) for value, others in slot.synonyms.items() for phrase in others]
    found = [
        (at, len(phrase), value)
        for phrase, value in phrases
        for at in sentence.places(phrase)
        if not (names_people(slot, value) and is_another_name(sentence.words[at + len(phrase) - 1], phrase[-1]))
    ]
    return sorted(found, key=lambda item: (-item[1], item[0]))


@lru_cache(maxsize=4096)
def _plain(value: str) -> tuple[str, ...]:
    """Return the words of a slot's value."""
    return tuple(split_words(value))


def _numbers(slot: Slot, sentence: Sentence, certainty: int, bare: bool) -> Iterator[tuple[int, int, SlotValue]]:
    """Yield place, count of words and value of numbers that are as certain."""
    if certainty == _TOLD_BY_UNIT:
        yield from ((at, length, int(value)) for at, length, value in _choices(slot, sentence))
    if slot.spelled and any(word.isdigit() and int(word) > slot.maximum for word in sentence.words):
        return  # A number with more digits is another one.
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
    if slot.kind == "year":
        return parse_year(words, at)
    if slot.spelled and (spelled := parse_digits(words, at)) is not None:
        return _within(slot, spelled)
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
        is_clock = is_clock or (at > 0 and words[at - 1] == "to" and not _MOVES.isdisjoint(words))
        return at, last, _TOLD_BY_CLOCK if is_clock else _BARE
    if slot.kind == "year" and (length > 1 or len(words[at]) == len("1982")):
        return at, last, _TOLD_BY_UNIT
    for phrase in slot.after:
        if len(words) >= last + len(phrase) and all(map(is_same, words[last:], phrase)):
            return at, last + len(phrase), _TOLD_BY_UNIT
    for phrase in slot.before:
        if tuple(words[max(0, at - len(phrase)) : at]) == phrase:
            return at - len(phrase), last, _TOLD_BEFORE
    return at, last, _BARE
