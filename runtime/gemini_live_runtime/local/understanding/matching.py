"""Match patterns with slots against words, allowing for typing errors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field

from gemini_live_runtime.local.language.dictated_words import FIRST_NAMES
from gemini_live_runtime.local.language.name_corrections import corrected_name
from gemini_live_runtime.local.language.vocabulary import (
    COMMON_WORDS,
    DENIALS,
    DENYING,
    EVERYDAY_WORDS,
    FILLERS,
    NEGATIONS,
    PARTS_OF_NAMES,
    WEIGHING,
    as_name,
    base_forms,
    is_name_like,
    is_no_text,
)
from gemini_live_runtime.local.language.words import (
    name_words,
    parse_digits,
    parse_duration,
    parse_number,
    parse_time,
    parse_year,
    split_words,
    typos,
)
from gemini_live_runtime.local.scripts.script_types import Pattern, Script, Slot, SlotRef
from gemini_live_runtime.local.understanding.utterance_words import Words
from gemini_live_runtime.records import record

MAX_WORDS = 60
"""Most words of an utterance; a longer one is not matched."""

SlotValue = str | int | float

_NEVER_MISTYPED = COMMON_WORDS | EVERYDAY_WORDS | NEGATIONS
_QUESTION_WORDS = frozenset({"who", "what", "when", "where", "why", "how", "which"})
_NO_TEXT = FILLERS | DENIALS
_ARTICLES = frozenset({"a", "an", "the", "my", "me"})
_BEFORE_THINGS = frozenset({"a", "an", "the", "my", "your", "his", "her", "our", "their", "this", "that"})
_LONGEST_NAME, _TELLING_WORDS, _LONG = 3, 2, 6
_EDIT, _ARTICLE, _FILLER, _FREE = 0.5, 0.3, 0.05, 0.2


_ALSO_NAMES = frozenset({
    "bill", "mark", "will", "rose", "grace", "penny", "joy", "hope", "faith", "chip", "pat", "rob", "drew", "grant",
    "dean", "guy", "ray", "dale", "glen", "heather", "holly", "daisy", "amber", "ruby", "pearl", "summer", "dawn",
    "miles", "frank", "earl", "victor", "norm", "basil", "chase", "hunter", "mason", "cooper", "taylor", "page",
})  # fmt: skip
"""Words that are first names, too, when they are written so."""


@record
class Match:
    """Result of a match: its cost (0: word for word) and the filled slots."""

    cost: float
    slots: Mapping[str, SlotValue] = field(default_factory=dict)


class Matcher:
    """Matcher of patterns; `filler` word groups may surround any pattern.

    `no_names` are words that are taken for no person's name unless they are written as one.
    """

    def __init__(
        self, slots: Mapping[str, Slot], filler: tuple[tuple[str, ...], ...] = (), no_names: Collection[str] = ()
    ) -> None:
        self._slots = slots
        self._no_names = frozenset(no_names)
        self._filler = tuple(group for group in filler if group)
        self._last: tuple[Words | None, bool, tuple[tuple[int, float], ...]] = (None, False, ())
        self._values = {
            name: (
                *((tuple(split_words(value)), value) for value in slot.values),
                *(
                    (phrase, int(value) if slot.kind == "number" else value)
                    for value, phrases in slot.synonyms.items()
                    for phrase in phrases
                ),
            )
            for name, slot in slots.items()
        }

    def cost_and_text(self, match: Match) -> tuple[float, int]:
        """Return a match's cost and the length of its texts."""
        texts = (str(value) for name, value in match.slots.items() if self._slots[name].kind == "text")
        return match.cost, sum(map(len, texts))

    def match(self, pattern: Pattern, words: Words) -> Match | None:
        """Return the cheapest match of all `words`, None when none is cheap enough."""
        count = len(words)
        if not 0 < count <= MAX_WORDS:
            return None
        is_asked, leads = self._read(words)
        if is_asked and self._is_text_only(pattern):
            return None
        limit = 0.3 + 0.25 * count
        best: Match | None = None
        has_text = self._has_text(pattern)
        for start, lead_cost in leads:
            found = self._from(pattern, 0, words, start, {}, limit - lead_cost, has_text=has_text)
            if found is not None and (best is None or found.cost + lead_cost < best.cost):
                best = Match(found.cost + lead_cost, found.slots)
        return best if best is None or not self._tells_text(pattern) else Match(best.cost / 2, best.slots)

    def is_filler(self, words: Words) -> bool:
        """Return True when `words` are nothing but filler."""
        return self._tail(words.plain, 0) is not None

    def _has_text(self, pattern: Pattern) -> bool:
        """Return True when a part of `pattern` takes any words."""
        return any(isinstance(part, SlotRef) and self._slots[part.slot].kind == "text" for part in pattern)

    def _tells_text(self, pattern: Pattern) -> bool:
        """Return True for a text behind words such as "tell him"."""
        texts = [part for part in pattern if isinstance(part, SlotRef) and self._slots[part.slot].kind == "text"]
        return bool(texts) and len(pattern) - len(texts) >= _TELLING_WORDS

    def _is_denied(self, plain: list[str], at: int) -> bool:
        """Return True when the words before `at` deny what follows."""
        while at > 1 and plain[at - 1] in WEIGHING:  # "not super urgent"
            at -= 1
        return at > 0 and plain[at - 1] in DENYING

    def _is_text_only(self, pattern: Pattern) -> bool:
        """Return True for a pattern that any words fit."""
        return all(isinstance(part, SlotRef) and self._slots[part.slot].kind == "text" for part in pattern)

    def find(self, pattern: Pattern, words: Words) -> Match | None:
        """Return the cheapest match of `pattern` anywhere within `words`, or None."""
        if len(words) > MAX_WORDS:
            return None
        limit = 0.3 + 0.25 * len(pattern)
        is_denial = not DENYING.isdisjoint(part for part in pattern if isinstance(part, str))
        starts = [at for at in range(len(words)) if is_denial or not self._is_denied(words.plain, at)]
        has_text = self._has_text(pattern)
        places = (self._from(pattern, 0, words, start, {}, limit, has_text=has_text, whole=False) for start in starts)
        return min((place for place in places if place is not None), key=lambda match: match.cost, default=None)

    def _read(self, words: Words) -> tuple[bool, tuple[tuple[int, float], ...]]:
        """Return True for words that are no text to keep; where a pattern may begin.

        A place has its cost: the start, and places after up to three groups of filler. Both are the same for every
        pattern, and an utterance is matched against hundreds.
        """
        of, is_asked, leads = self._last
        if of is not words:
            is_asked = words.is_question or is_no_text(words.plain) or bool(corrected_name(words.text))
            leads = tuple(self._find_leads(words.plain).items())
            self._last = words, is_asked, leads
        return is_asked, leads

    def _find_leads(self, plain: list[str]) -> dict[int, float]:
        starts = {0: 0.0}
        frontier = [0]
        for _ in range(3):
            following = []
            for start in frontier:
                for group in self._filler:
                    end = start + len(group)
                    if tuple(plain[start:end]) == group and end < len(plain) and end not in starts:
                        starts[end] = starts[start] + _FILLER
                        following.append(end)
            frontier = following
        return starts

    def _from(
        self,
        pattern: Pattern,
        at: int,
        words: Words,
        start: int,
        slots: dict[str, SlotValue],
        budget: float,
        *,
        has_text: bool,
        whole: bool = True,
    ) -> Match | None:
        if budget < 0:
            return None
        if at == len(pattern):
            cost = self._tail(words.plain, start) if whole else 0.0
            return None if cost is None or cost > budget else Match(cost, slots)
        best: Match | None = None
        for length, cost, filled in self._steps(pattern[at], words, start, budget):
            if has_text and cost and not _may_be_mistyped(pattern[at]):
                continue
            left = budget - cost
            rest = self._from(
                pattern, at + 1, words, start + length, slots | filled, left, has_text=has_text, whole=whole
            )
            if rest is not None and (best is None or rest.cost + cost < best.cost):
                best = Match(rest.cost + cost, rest.slots)
        # An additional article costs little.
        if start < len(words) and words.plain[start] in _ARTICLES:
            left = budget - _ARTICLE
            rest = self._from(pattern, at, words, start + 1, slots, left, has_text=has_text, whole=whole)
            if rest is not None and (best is None or rest.cost + _ARTICLE < best.cost):
                best = Match(rest.cost + _ARTICLE, rest.slots)
        return best

    def _steps(
        self, part: str | SlotRef, words: Words, start: int, budget: float
    ) -> Iterator[tuple[int, float, dict[str, SlotValue]]]:
        if isinstance(part, SlotRef):
            for length, cost, value in self._fillings(self._slots[part.slot], words, start, budget):
                yield length, cost, {part.slot: value}
            return
        if start < len(words):
            word = words.plain[start]
            # What a contraction was written out to is not mistyped: "isn't it" is no "note it".
            is_other = word != part and (word in _NEVER_MISTYPED or not words.original[start])
            edits = None if is_other else typos(word, part)
            if edits is not None:
                yield 1, edits * _EDIT, {}
        if part in _ARTICLES:
            yield 0, _ARTICLE, {}

    def _fillings(self, slot: Slot, words: Words, start: int, budget: float) -> Iterator[tuple[int, float, SlotValue]]:
        plain = words.plain
        if slot.kind == "number":
            number = (parse_digits(plain, start) if slot.spelled else None) or parse_number(plain, start)
            if number is not None and slot.minimum <= number[0] <= slot.maximum:
                yield number[1], 0.0, number[0]
        elif slot.kind == "duration":
            # A bare number, too: the phrase may say what it counts.
            for duration in (parse_duration(plain, start), parse_number(plain, start)):
                if duration is not None and slot.minimum <= duration[0] <= slot.maximum:
                    yield duration[1], 0.0, duration[0]
        elif slot.kind == "year":
            year = parse_year(plain, start)
            if year is not None:
                yield year[1], 0.0, year[0]
        elif slot.kind == "time":
            time = parse_time(plain, start)
            if time is not None:
                yield time[1], 0.0, time[0]
        for value_words, value in self._values[slot.name]:
            cost = 0.0
            for offset, meant in enumerate(value_words):
                word = plain[start + offset] if start + offset < len(plain) else ""
                edits = _typos_of(word, meant) if word else None
                if edits is None or (names_people(slot, str(value)) and is_another_name(word, meant)):
                    break
                cost += edits * _EDIT
            else:
                if cost <= budget:
                    yield len(value_words), cost, value
        if slot.kind == "name":
            yield from self._names(slot, words, start)
        if slot.kind == "text" and start < len(plain):
            for length in range(1, min(len(plain) - start, slot.maximum) + 1):
                if _NO_TEXT.issuperset(plain[start : start + length]) or _is_cut(plain, start, length):
                    continue
                text = " ".join(word for word in words.original[start : start + length] if word)
                yield length, _FREE, text

    def _names(self, slot: Slot, words: Words, start: int) -> Iterator[tuple[int, float, SlotValue]]:
        """Yield what may be a person's name; after "I am" it begins with a capital."""
        if start and words.plain[start - 1] in _BEFORE_THINGS:
            return  # "I am the account holder"
        is_told = words.plain[max(0, start - 2) : start] == ["i", "am"]
        for length in range(1, min(len(words) - start, slot.maximum, _LONGEST_NAME) + 1):
            word, written = words.plain[start + length - 1], words.original[start + length - 1]
            if not written or not word.replace("'", "").isalpha() or word in COMMON_WORDS | NEGATIONS:
                return
            if not is_name_like(word):
                return
            if not written[:1].isupper() and (is_told or word in EVERYDAY_WORDS):
                return
            if word in words.plain[start : start + length - 1]:
                return  # "Claire, Claire from accounting" tells it twice.
            is_written_so = written[:1].isupper() and (start + length > 1 or word in FIRST_NAMES or word in _ALSO_NAMES)
            if not (is_written_so or base_forms(word).isdisjoint(self._no_names)):
                return  # "Restart please" is no answer to "who should we ask for?"
            if length == len(word) == 1:
                continue  # A letter alone is no name.
            yield length, _FREE, as_name(words.original[start : start + length])

    def _tail(self, plain: list[str], start: int) -> float | None:
        """Return the cost of the words left over; None unless they are filler."""
        cost = 0.0
        while start < len(plain):
            group = next((g for g in self._filler if tuple(plain[start : start + len(g)]) == g), None)
            if group is None:
                return None
            start += len(group)
            cost += _FILLER
        return cost


def words_for_things(script: Script) -> frozenset[str]:
    """Return the words for the tools and things of a script, which are no names.

    Such as "restart", and a "delivery" among the values of a slot.
    """
    found: set[str] = set()
    for intent in script.intents:
        if intent.calls:
            patterns = (pattern for pattern in (*intent.say, *intent.typed))
            found.update(part for pattern in patterns for part in pattern if isinstance(part, str))
            found.update(word for call in intent.calls for word in name_words(call.tool))
        # The first words that a meaning needs are things, too: "wifi" is no person.
        found.update(word for meaning in intent.means for part in meaning.needs for phrase in part for word in phrase)
    values = (value for slot in script.slots.values() if slot.kind == "choice" for value in slot.values)
    found.update(value for value in values if value == value.lower() and " " not in value)
    people = (value for slot in script.slots.values() for value in slot.values if value != value.lower())
    found.difference_update(word for value in people for word in split_words(value))
    return frozenset(found - PARTS_OF_NAMES)


def _may_be_mistyped(part: str | SlotRef) -> bool:
    """Return True for a part of a pattern with a text that need not be exact.

    Such a pattern fits any words after it: "notes of vanilla" is no "note {note}".
    """
    return isinstance(part, SlotRef) or part in _ARTICLES or len(part) >= _LONG


def _is_cut(plain: list[str], start: int, length: int) -> bool:
    """Return True for a text such as the "I don't want to" of "make a note"."""
    if plain[start : start + 1] == ["me"] and is_no_text(plain[start:]):
        return True
    if start and plain[start - 1] in ("me", "forget", "remember") and plain[start] in _QUESTION_WORDS:
        return True
    if start and (plain[start] in ("reads", "says", "said", "of") or plain[start : start + 2] == ["to", "you"]):
        return True
    if start > 1 and plain[start - 2 : start] == ["a", "note"] and "would" in plain[start:]:
        return True  # "A note for my wife would be too romantic" dictates none.
    if start or length == len(plain):
        return False
    return plain[length - 1] in ("not", "to", "never", "should", "i", "you") or is_no_text(plain[:length])


def names_people(slot: Slot, value: str) -> bool:
    """Return True when `value` is one of the people that a slot names."""
    return not slot.others and value[:1].isupper()


def is_another_name(word: str, meant: str) -> bool:
    """Return True when a word is another name: Roberta, not Robert.

    Names differ in their last letter, as Marie and Maria; who is mistaken for another is harmed.
    """
    if word != meant and word in COMMON_WORDS:
        return True  # A mate is no Kate.
    return word != meant and word[-1:] != meant[-1:] and not meant.startswith(word)


def _typos_of(word: str, meant: str) -> int | None:
    """Return the typing errors of a word that is no other word: a waiter is no water."""
    return None if word != meant and word in EVERYDAY_WORDS else typos(word, meant)
