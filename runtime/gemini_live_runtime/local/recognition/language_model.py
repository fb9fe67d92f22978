"""Build a small language model for what people say to one dialogue script.

A trigram model of the script's sample sentences, mixed with how a large model of English joins common words. It is
written in the ARPA format that recognisers read.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from gemini_live_runtime.local.language.contractions import CONTRACTIONS
from gemini_live_runtime.local.language.vocabulary import COMMON_WORDS, NEGATIONS
from gemini_live_runtime.local.scripts.sample_sentences import Spoken
from gemini_live_runtime.records import frozen_record

BEGIN, END = "<s>", "</s>"

COMMON = tuple(sorted({*COMMON_WORDS, *NEGATIONS, *CONTRACTIONS}))
"""Words that are said to any script."""

_LEAST_PAIR = 0.002
"""Least probability of a common word after another that is kept."""
_DISCOUNT = 0.5
"""Count taken from each n-gram that was seen, for those that were not."""
_LEAST_BACKOFF = 0.2
_OF_ENGLISH = 0.4
"""Share of English in the probability of single words."""
_OF_ENGLISH_PAIRS = 0.4
_SURE_AFTER = 20
"""Samples of a word from which on what follows it is taken from them mostly."""
_FLOOR = 1e-9

Follows = dict[str, float]
"""Probabilities of words."""


class English:
    """Words of a large model of English, and which of them follow each other."""

    def __init__(self, probability: Callable[[list[str]], float]) -> None:
        """`probability` takes a word and those before it, the last first."""
        self._probability = probability
        self.words = {word: probability([word]) for word in COMMON}
        self._common = self._pairs((BEGIN, *COMMON), (*COMMON, END))

    def pairs_with(self, words: Iterable[str]) -> Mapping[str, Follows]:
        """Return what follows common words, and `words` among them."""
        own = sorted({*words} - {*COMMON, END})
        leading = self._pairs(COMMON, own)
        pairs = {before: {**found, **leading.get(before, {})} for before, found in self._common.items()}
        return pairs | self._pairs(own, (*COMMON, END))

    def _pairs(self, before: Iterable[str], after: Sequence[str]) -> dict[str, Follows]:
        probability = self._probability
        pairs = {}
        for first in before:
            found = ((word, probability([word, first])) for word in after)
            pairs[first] = {word: chance for word, chance in found if chance > _LEAST_PAIR}
        return {first: found for first, found in pairs.items() if found}


@frozen_record
class LanguageModel:
    """Language model as ARPA text, and its words."""

    arpa: str
    words: tuple[str, ...]


def build_language_model(sentences: Iterable[Spoken], english: English) -> LanguageModel:
    """Return a model of `sentences` that knows common English as well."""
    ones: Counter[str] = Counter()
    twos: defaultdict[str, Counter[str]] = defaultdict(Counter)
    threes: defaultdict[Spoken, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        words = (BEGIN, *sentence, END)
        for at in range(1, len(words)):
            ones[words[at]] += 1
            twos[words[at - 1]][words[at]] += 1
            if at > 1:
                threes[words[at - 2 : at]][words[at]] += 1
    one = _single(ones, english.words)
    pairs = english.pairs_with(one)
    two = {before: _after(twos[before], one, pairs.get(before)) for before in {*twos, *pairs}}
    three = {before: _after(found, {word: two[before[-1]][word] for word in found}) for before, found in threes.items()}
    return LanguageModel(_arpa(one, two, three), tuple(sorted(one)))


def _single(counts: Counter[str], english: Mapping[str, float]) -> Follows:
    total, of_english = sum(counts.values()) or 1, sum(english.values())
    return {
        word: (1 - _OF_ENGLISH) * counts[word] / total + _OF_ENGLISH * english.get(word, 0.0) / of_english
        for word in {*counts, *english, END}
    }


def _after(counts: Counter[str], shorter: Follows, english: Follows | None = None) -> Follows:
    """Return probabilities after a history; `shorter` are those after one word less."""
    total = sum(counts.values())
    backoff = max(_DISCOUNT * len(counts) / total, _LEAST_BACKOFF) if total else _LEAST_BACKOFF
    kept = total - _DISCOUNT * len(counts)
    seen = {word: (count - _DISCOUNT) / kept for word, count in counts.items()}
    if english:
        own, all_english = (1 - _OF_ENGLISH_PAIRS) * min(1.0, total / _SURE_AFTER), sum(english.values())
        seen = {
            word: own * seen.get(word, 0.0) + (1 - own) * english.get(word, 0.0) / all_english
            for word in {*seen, *english}
        }
    return {word: (1 - backoff) * chance + backoff * shorter[word] for word, chance in seen.items()}


def _arpa(one: Follows, two: Mapping[str, Follows], three: Mapping[Spoken, Follows]) -> str:
    rest_two = {before: _backoff(found, one) for before, found in two.items()}
    rest_three = {before: _backoff(found, two[before[-1]]) for before, found in three.items()}
    ones = [f"-99 {BEGIN} {_log(rest_two.get(BEGIN, 1.0))}"]
    ones += [f"{_log(chance)} {word} {_log(rest_two.get(word, 1.0))}" for word, chance in sorted(one.items())]
    twos = [
        f"{_log(chance)} {before} {word} {_log(rest_three.get((before, word), 1.0))}"
        for before, found in sorted(two.items())
        for word, chance in sorted(found.items())
    ]
    threes = [
        f"{_log(chance)} {' '.join(before)} {word}"
        for before, found in sorted(three.items())
        for word, chance in sorted(found.items())
    ]
    sizes = [f"ngram {size}={len(lines)}" for size, lines in enumerate((ones, twos, threes), 1)]
    sections: Sequence[tuple[str, Sequence[str]]] = [("\\data\\", sizes)]
    sections = [*sections, *((f"\\{size}-grams:", lines) for size, lines in enumerate((ones, twos, threes), 1))]
    return "\n\n".join("\n".join((title, *lines)) for title, lines in sections) + "\n\n\\end\\\n"


def _backoff(found: Follows, shorter: Follows) -> float:
    """Return the weight that makes the probabilities of all words sum to one."""
    left = 1.0 - sum(found.values())
    return left / max(_FLOOR, 1.0 - sum(shorter[word] for word in found))


def _log(chance: float) -> str:
    return f"{math.log10(max(chance, _FLOOR)):.4f}"
