"""Make sentences like those that a dialogue script understands.

A language model learns from them which words people say one after the other. They are drawn by a fixed seed, so that a
script always gives the same ones.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import cached_property

from gemini_live_runtime.local.language.contractions import contract
from gemini_live_runtime.local.language.dictated_words import FIRST_NAMES, spoken_year
from gemini_live_runtime.local.language.words import spoken_number
from gemini_live_runtime.local.scripts.grammar import spoken_values
from gemini_live_runtime.local.scripts.script_types import Meaning, Pattern, Script, Slot, SlotRef

Spoken = tuple[str, ...]

_DURATIONS = ("a minute", "half an hour", "a quarter of an hour", "an hour", "an hour and a half", "ninety seconds")
_TIMES = ("{} fifteen", "{} forty five", "quarter past {}", "quarter to {}", "half {}", "{} pm", "{} am", "{} a m")
_INTRODUCTIONS = ("my name is", "this is", "it is", "i am")
_MAX_NUMBERS = 100
_MAX_SCRIPTS = 12
"""Most scripts whose sentences are kept."""
_OF_A_PHRASE, _OF_A_MEANING = 4, 3
"""Sentences of a phrase with a slot, and of each word of a meaning."""


class SampleSentences:
    """Sentences of a script as tuples of words; compared by identity.

    They are made when they are first read.
    """

    def __init__(self, script: Script) -> None:
        self._script = script

    @cached_property
    def sentences(self) -> tuple[Spoken, ...]:
        """All sentences, with and without contractions."""
        made = [words for words in _Sampler(self._script).sentences() if words]
        return tuple(form for words in made for form in dict.fromkeys((words, contract(words))))


_kept: OrderedDict[int, tuple[Script, SampleSentences]] = OrderedDict()


def sample_sentences(script: Script) -> SampleSentences:
    """Return the sentences of `script`, the same object for the same script."""
    if id(script) not in _kept:
        _kept[id(script)] = script, SampleSentences(script)
    _kept.move_to_end(id(script))
    while len(_kept) > _MAX_SCRIPTS:
        _kept.popitem(last=False)
    return _kept[id(script)][1]


class _Sampler:
    def __init__(self, script: Script) -> None:
        self._script = script
        self._random = random.Random(1)
        self._values = {name: _values(slot) for name, slot in script.slots.items()}

    def sentences(self) -> Iterator[Spoken]:
        script = self._script
        for intent in script.intents:
            for pattern in (*intent.say, *intent.typed):
                has_slot = any(isinstance(part, SlotRef) for part in pattern)
                for _ in range(_OF_A_PHRASE if has_slot else 2):
                    yield self._said(pattern)
        for slot in script.slots.values():
            for value in self._values[slot.name]:
                for pattern in slot.answer:
                    yield self._said(pattern, {slot.name: value})
        for intent in script.intents:
            for meaning in intent.means:
                yield from self._meant(meaning)
        for rules in script.extract.values():
            for meaning in (meaning for rule in rules for meaning in rule.means):
                yield from self._meant(meaning)
        if any("name" in pattern for intent in script.intents for pattern in intent.say):
            for at, name in enumerate(FIRST_NAMES):
                yield (*_INTRODUCTIONS[at % len(_INTRODUCTIONS)].split(), name)
            for year in range(1930, 2000):
                yield ("born", "in", *spoken_year(str(year)).split())
        yield from map(_spelled, script.filler)
        for pattern in script.listen_for:
            for _ in range(_OF_A_PHRASE):
                yield self._said(pattern)

    def _said(self, pattern: Pattern, chosen: Mapping[str, Spoken] | None = None) -> Spoken:
        """Return a sentence of `pattern`, () when a slot has no spoken value."""
        words: list[str] = []
        for part in pattern:
            if isinstance(part, str):
                words += _spelled((part,)) or ("",)
            else:
                words += (chosen or {}).get(part.slot) or self._value(part.slot) or ("",)
        return () if "" in words else tuple(words)

    def _meant(self, meaning: Meaning) -> Iterator[Spoken]:
        """Yield sentences in which each way to say a part of `meaning` comes up."""
        rng = self._random
        for turn in range(_OF_A_MEANING * max((len(options) for options in meaning.needs), default=1)):
            first, *others = meaning.needs or ((),)
            parts = [first[turn % len(first)]] if first else []
            parts += [options[turn % len(options)] if turn % 2 else rng.choice(options) for options in others]
            parts += [self._value(name) for name in meaning.slots]
            parts += [self._value(name) for name in meaning.optional if rng.random() < 0.4]
            if meaning.also and rng.random() < 0.3:
                parts.append(rng.choice(meaning.also))
            if turn % 3:
                rng.shuffle(parts)
            if self._script.filler and rng.random() < 0.3:
                parts.insert(0, rng.choice(self._script.filler))
            yield _spelled(tuple(word for part in parts for word in part))

    def _value(self, name: str) -> Spoken:
        values = self._values[name]
        return self._random.choice(values) if values else ()


def _values(slot: Slot) -> list[Spoken]:
    """Return what people say for the values of `slot`, more than the grammar has."""
    texts = list(spoken_values(slot))
    if slot.kind == "time":
        texts += [form.format(spoken_number(hour)) for hour in range(1, 13) for form in _TIMES]
    if slot.kind == "duration":
        texts += _DURATIONS
    if slot.kind == "number":
        last = min(slot.maximum, slot.minimum + _MAX_NUMBERS, _MAX_NUMBERS)
        texts += [spoken_number(number) for number in range(slot.minimum, last + 1)]
    if slot.kind == "name":
        texts += FIRST_NAMES
    values = [tuple(text.split()) for text in texts]
    values += [phrase for phrases in slot.synonyms.values() for phrase in phrases]
    return [spelled for value in values if (spelled := _spelled(value))]


def _spelled(words: Spoken) -> Spoken:
    """Return `words` with numbers written out, () when a word has other digits."""
    spelled: list[str] = []
    for word in words:
        if word.isascii() and word.isdigit() and len(word) <= 3:
            spelled += spoken_number(int(word)).split()
        elif year := spoken_year(word):
            spelled += year.split()
        elif any(char.isdigit() for char in word):
            return ()
        else:
            spelled.append(word)
    return tuple(spelled)
