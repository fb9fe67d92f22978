"""Account for the words of a sentence before something is done.

Every word of it must belong to what is done, to a value, or to words that any request has. "Cancel my newspaper" has
one too many: then a question is asked, not the order cancelled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from gemini_live_runtime.local.language import everyday_words
from gemini_live_runtime.local.language.vocabulary import COMMON_WORDS, OTHERS, base_forms
from gemini_live_runtime.local.language.words import (
    parse_digits,
    parse_duration,
    parse_number,
    parse_time,
    parse_year,
    split_words,
)
from gemini_live_runtime.local.scripts.script_types import ExtractRule, Intent, Meaning, Pattern, Script, Slot, SlotRef
from gemini_live_runtime.local.understanding.matching import SlotValue, Words
from gemini_live_runtime.local.understanding.sentence import Sentence

_TELLTALE = OTHERS.union(everyday_words.TELLTALE.split())
_COURTEOUS = COMMON_WORDS.union(everyday_words.COLOURING.split()) - _TELLTALE
"""Words that any request may have: none of them says what is asked for."""

_CORRECTING = (("i", "said"), ("i", "meant"), ("never", "mind"))
"""Words that go before another wish: "I said five", "never mind, take the soup"."""

_PARSERS = (parse_time, parse_duration, parse_year, parse_digits, parse_number)


class Accounting:
    """Vocabulary of the intents of a script, and what a sentence has beyond it."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._intents = {intent.name: intent for intent in script.intents}
        self._vocabularies: dict[str, frozenset[str]] = {}

    def unaccounted(self, intent: Intent, words: Words, *said: Mapping[str, SlotValue], asked: str = "") -> list[str]:
        """Return the words that neither `intent` nor a value that it uses explains.

        A consent may use the words of the question `asked`, a story any words.
        """
        if any(meaning.among_others for meaning in intent.means):
            return []
        used = used_slots(intent)
        told = [(name, value) for slots in said for name, value in slots.items() if name in used]
        of_values = (word for name, value in told for word in _words_of(self._script.slots[name], value))
        known = self._vocabulary_of(intent).union(of_values, split_words(asked) if intent.is_consent else ())
        return unaccounted(words, known, [value for _, value in told], self._script.filler)

    def of_rules(self, rules: Collection[ExtractRule], words: Words, asked: str = "") -> list[str]:
        """Return the words that neither a field's rules nor the question `asked` know."""
        if any(meaning.among_others for rule in rules for meaning in rule.means):
            return []
        known = set(split_words(asked))
        for rule in rules:
            known.update(_of_patterns(rule.when), _of_meanings(rule.means))
            known |= self._vocabulary_of(self._intents[rule.intent]) if rule.intent else set()
        return unaccounted(words, known, (), self._script.filler)

    def phrase_for(self, intent: Intent, slots: Mapping[str, SlotValue]) -> str:
        """Return the phrase of `intent` with the most values of `slots`, "" for none."""
        patterns = [(_slots_in(pattern), pattern) for pattern in (*intent.say, *intent.typed)]
        fitting = [(len(names), pattern) for names, pattern in patterns if names <= slots.keys() & used_slots(intent)]
        if not fitting:
            return ""
        _, best = max(fitting, key=lambda one: one[0])
        return " ".join(str(slots[part.slot]) if isinstance(part, SlotRef) else part for part in best)

    def _vocabulary_of(self, intent: Intent) -> frozenset[str]:
        if intent.name not in self._vocabularies:
            slots = [self._script.slots[name] for name in used_slots(intent)]
            around = (word for slot in slots for phrase in (*slot.before, *slot.after) for word in phrase)
            answers = (word for slot in slots for word in _of_patterns(slot.answer))
            said = (*_of_patterns((*intent.say, *intent.typed)), *_of_meanings(intent.means))
            self._vocabularies[intent.name] = frozenset((*said, *around, *answers))
        return self._vocabularies[intent.name]


def unaccounted(
    words: Words,
    known: Collection[str],
    values: Collection[SlotValue] = (),
    filler: Collection[tuple[str, ...]] = (),
) -> list[str]:
    """Return the words that say something, and are not `known`.

    Numbers are known when they are one of `values`; `filler` are phrases that any sentence may have.
    """
    sentence = Sentence(words, known)
    for phrase in (*filler, *_CORRECTING):
        if len(phrase) > 1:
            for at in sentence.places(phrase):
                sentence.take(at, len(phrase))
    plain = sentence.words
    if plain[:1] == ["no"]:
        sentence.take(0, 1)  # It answers, as in "no, make it three": what it denies is no match.
    for at in sorted(sentence.free):
        for parse in _PARSERS:
            found = parse(plain, at)
            if found is not None and found[0] in values:
                sentence.take(at, found[1])
    single = {phrase[0] for phrase in filler if len(phrase) == 1}
    return [
        plain[at]
        for at in sorted(sentence.free)
        if not (plain[at] in _COURTEOUS or plain[at] in single or _is_known(sentence, at, known))
    ]


def used_slots(intent: Intent) -> set[str]:
    """Return the slots that matter to `intent`: not those that take any other words."""
    in_meanings = {name for meaning in intent.means for name in (*meaning.slots, *meaning.optional)}
    args = " ".join(str(value) for call in intent.calls for value in call.args.values())
    in_patterns = set[str]().union(*(_slots_in(pattern) for pattern in (*intent.say, *intent.typed)))
    return in_meanings | {name for name in in_patterns if intent.remember or f"{{{name}" in args}


def _slots_in(pattern: Pattern) -> set[str]:
    return {part.slot for part in pattern if isinstance(part, SlotRef)}


def _is_known(sentence: Sentence, at: int, known: Collection[str]) -> bool:
    word = sentence.words[at]
    return not base_forms(word).isdisjoint(known) or any(sentence.is_word(at, other) for other in known)


def _words_of(slot: Slot, value: SlotValue) -> Iterator[str]:
    yield from split_words(str(value))
    for phrase in slot.synonyms.get(str(value), ()):
        yield from phrase


def _of_patterns(patterns: Collection[Pattern]) -> Iterator[str]:
    return (part for pattern in patterns for part in pattern if isinstance(part, str))


def _of_meanings(meanings: Collection[Meaning]) -> Iterator[str]:
    for meaning in meanings:
        for phrase in (*(phrase for options in meaning.needs for phrase in options), *meaning.also):
            yield from phrase
