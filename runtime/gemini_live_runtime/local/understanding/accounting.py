"""Account for the words of a sentence before something is done.

Every word of it must belong to what is done, to a value, or to words that any request has. "Cancel my newspaper" has
one too many: then a question is asked, not the order cancelled.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby

from gemini_live_runtime.local.language import everyday_words
from gemini_live_runtime.local.language.clauses import clauses_of
from gemini_live_runtime.local.language.idioms import in_plain_words
from gemini_live_runtime.local.language.vocabulary import (
    COMMON_WORDS,
    EVERYDAY_WORDS,
    NEGATIONS,
    NEVER_NAMES,
    OTHERS,
    base_forms,
    expand,
)
from gemini_live_runtime.local.language.words import (
    parse_digits,
    parse_duration,
    parse_number,
    parse_time,
    parse_year,
    split_words,
)
from gemini_live_runtime.local.scripts.script_types import ExtractRule, Intent, Meaning, Pattern, Script, Slot, SlotRef
from gemini_live_runtime.local.understanding.matching import SlotValue
from gemini_live_runtime.local.understanding.mood import only_speaks
from gemini_live_runtime.local.understanding.sentence import Sentence
from gemini_live_runtime.local.understanding.utterance_words import Words
from gemini_live_runtime.records import record

_TELLTALE = OTHERS.union(everyday_words.TELLTALE.split())
_COURTEOUS = COMMON_WORDS.union(everyday_words.COLOURING.split()) - _TELLTALE
"""Words that any request may have: none of them says what is asked for."""

_ORDINARY = EVERYDAY_WORDS | COMMON_WORDS | NEVER_NAMES
_OF_THE_TALK = OTHERS | {"you", "your", "message", "question", "already", "told", "said", "sorry", "hear", "answer"}
"""Words that a sentence may speak of, instead of being the text that was asked for."""

_SLOT = re.compile(r"\{(\w+)\??\}")

_TURNING = NEGATIONS.union(OTHERS, {"if", "unless", "until", "but", "except", "instead", "rather", "wrong"}) - {
    "already"
}
"""Words with which a remark is more than that."""

_IRONIC = frozenset({"sure", "fine", "right", "great", "good", "ok", "okay", "well", "of", "course", "oh", "and", "so"})
"""Words that agree in earnest only by themselves: "sure, blame the bank" does not."""

_CORRECTING = (("i", "said"), ("i", "meant"), ("never", "mind"))
"""Words that go before another wish: "I said five", "never mind, take the soup"."""

_PARSERS = (parse_time, parse_duration, parse_year, parse_digits, parse_number)


@record
class _Vocabulary:
    """Words that an intent has, and longer phrases."""

    words: frozenset[str]
    phrases: tuple[tuple[str, ...], ...]


class Accounting:
    """Vocabulary of the intents of a script, and what a sentence has beyond it."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._intents = {intent.name: intent for intent in script.intents}
        self._vocabularies: dict[str, _Vocabulary] = {}

    def unaccounted(self, intent: Intent, words: Words, *said: Mapping[str, SlotValue], asked: str = "") -> list[str]:
        """Return the words that neither `intent` nor a value that it uses explains.

        A consent may use the words of the question `asked`, a story any words. Where nothing is done but looked up,
        everyday words need no explanation.
        """
        if any(meaning.among_others for meaning in intent.means):
            return []
        used = used_slots(intent)
        told = [(name, value) for slots in said for name, value in slots.items() if name in used]
        of_values = (word for name, value in told for word in _words_of(self._script.slots[name], value))
        own = self._vocabulary_of(intent)
        known = own.words.union(of_values, split_words(asked) if intent.is_consent else ())
        filler = (*self._script.filler, *own.phrases)
        left = unaccounted(words, known, [value for _, value in told], filler)
        if any(str(value).split() == [word for word in words.original if word] for _, value in told):
            left += [word for word in words.plain if word in _OF_THE_TALK]
        if left and _only_agrees(intent) and _has_remark(words, known, filler):
            return []
        return left if intent.acts else [word for word in left if word not in _ORDINARY]

    def share(self, intent: Intent, words: Words, said: Mapping[str, SlotValue]) -> float:
        """Return the share of the words that belong to `intent` and its values, 0 to 1."""
        own = self._vocabulary_of(intent)
        known = own.words.union(
            word for name, value in said.items() for word in _words_of(self._script.slots[name], value)
        )
        sentence = Sentence(words, known)
        for phrase in own.phrases:
            for at in sentence.places(phrase):
                sentence.take(at, len(phrase))
        strange = sum(not _is_known(sentence, at, known) for at in sentence.free)
        return 1 - strange / max(1, len(sentence.words))

    def of_rules(self, rules: Collection[ExtractRule], words: Words, asked: str = "") -> list[str]:
        """Return the words that neither a field's rules nor the question `asked` know."""
        if any(meaning.among_others for rule in rules for meaning in rule.means):
            return []
        known, phrases = set(split_words(asked)), list(self._script.filler)
        for rule in rules:
            own = [_vocabulary(rule.when, rule.means)]
            own += [self._vocabulary_of(self._intents[rule.intent])] if rule.intent else []
            for vocabulary in own:
                known |= vocabulary.words
                phrases += vocabulary.phrases
        left = unaccounted(words, known, (), phrases)
        agrees = any(rule.intent and _only_agrees(self._intents[rule.intent]) for rule in rules)
        return [] if left and agrees and _has_remark(words, known, phrases) else left

    def phrase_for(self, intent: Intent, slots: Mapping[str, SlotValue]) -> str:
        """Return the phrase of `intent` with the most values of `slots`, "" for none."""
        patterns = [(_slots_in(pattern), pattern) for pattern in (*intent.say, *intent.typed)]
        fitting = [(len(names), pattern) for names, pattern in patterns if names <= slots.keys() & used_slots(intent)]
        if not fitting:
            return ""
        _, best = max(fitting, key=lambda one: one[0])
        return " ".join(str(slots[part.slot]) if isinstance(part, SlotRef) else part for part in best)

    def _vocabulary_of(self, intent: Intent) -> _Vocabulary:
        if intent.name not in self._vocabularies:
            slots = [self._script.slots[name] for name in used_slots(intent)]
            around = (phrase for slot in slots for phrase in (*slot.before, *slot.after))
            answers = (pattern for slot in slots for pattern in slot.answer)
            self._vocabularies[intent.name] = _vocabulary(
                (*intent.say, *intent.typed, *answers), intent.means, tuple(around)
            )
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


def _only_agrees(intent: Intent) -> bool:
    """Return True for a consent that calls no tool: "yes, I understand"."""
    return intent.is_consent and not intent.calls


def _has_remark(words: Words, known: Collection[str], filler: Collection[tuple[str, ...]]) -> bool:
    """Return True when a clause answers, and the others only add a remark.

    "Yes, I see, you want your money" agrees; "yes, but fifty" and "yes, if he pays" may not.
    """
    parts = [Words(clause) for clause in clauses_of(words.text)]
    remarks = [part for part in parts if unaccounted(part, known, (), filler)]
    answers = [part for part in parts if part not in remarks and not _IRONIC.issuperset(part.plain)]
    return bool(answers) and all(map(_is_remark, remarks))


def _is_remark(words: Words) -> bool:
    plain = words.plain
    is_counted = any(parse_number(plain, at) is not None for at in range(len(plain)))
    # "You said that already" denies nothing.
    denies = not _TURNING.isdisjoint(plain)
    return not (is_counted or denies or only_speaks(plain, is_question=words.is_question))


def used_slots(intent: Intent) -> set[str]:
    """Return the slots that matter to `intent`: not those that take any other words."""
    in_meanings = {name for meaning in intent.means for name in (*meaning.slots, *meaning.optional)}
    args = " ".join(str(value) for call in intent.calls for value in call.args.values())
    in_patterns = set[str]().union(*(_slots_in(pattern) for pattern in (*intent.say, *intent.typed)))
    return in_meanings | set(_SLOT.findall(args)) | (in_patterns if intent.remember else set())


def _slots_in(pattern: Pattern) -> set[str]:
    return {part.slot for part in pattern if isinstance(part, SlotRef)}


def _is_known(sentence: Sentence, at: int, known: Collection[str]) -> bool:
    word = sentence.words[at]
    return not base_forms(word).isdisjoint(known) or any(sentence.is_word(at, other) for other in known)


def _words_of(slot: Slot, value: SlotValue) -> Iterator[str]:
    words = expand(split_words(str(value)))
    yield from words
    yield from filter(None, in_plain_words(words))
    for phrase in slot.synonyms.get(str(value), ()):
        yield from phrase


def _of_patterns(patterns: Collection[Pattern]) -> Iterator[str]:
    return (part for pattern in patterns for part in pattern if isinstance(part, str))


def _vocabulary(
    patterns: Collection[Pattern], meanings: Collection[Meaning], around: Collection[tuple[str, ...]] = ()
) -> _Vocabulary:
    """Return words of `patterns`, and phrases of `meanings` and `around` values.

    A phrase counts whole: where "set up a table" is a booking, "set the table" is none.
    """
    phrases = {phrase for meaning in meanings for options in meaning.needs for phrase in options}
    phrases.update(phrase for meaning in meanings for phrase in meaning.also)
    phrases.update(around)
    phrases.update(run for run in _runs(patterns) if not _TELLTALE.isdisjoint(run))
    single = {phrase[0] for phrase in phrases if len(phrase) == 1}
    single.update(word for word in _of_patterns(patterns) if word not in _TELLTALE)
    return _Vocabulary(frozenset(single), tuple(phrase for phrase in phrases if len(phrase) > 1))


def _runs(patterns: Collection[Pattern]) -> Iterator[tuple[str, ...]]:
    """Yield the words of each pattern that stand side by side, such as "pay off"."""
    for pattern in patterns:
        for is_slot, parts in groupby(pattern, lambda part: isinstance(part, SlotRef)):
            if not is_slot:
                yield tuple(str(part) for part in parts)
