from __future__ import annotations

import itertools

import pytest

from gemini_live_runtime.local.recognition.language_model import COMMON, English, LanguageModel, build_language_model
from gemini_live_runtime.local.scripts.sample_sentences import SampleSentences, sample_sentences
from gemini_live_runtime.local.scripts.script import bundled_names, bundled_script

SENTENCES = [("set", "a", "timer"), ("set", "a", "timer"), ("start", "a", "clock")]


def even_english() -> English:
    return English(lambda words: 0.01 if len(words) == 1 else 0.001)


def ngrams(model: LanguageModel) -> dict[tuple[str, ...], tuple[float, float]]:
    """Return probability and weight of backing off of each n-gram in ARPA text."""
    found = {}
    for size, lines in itertools.groupby(filter(None, model.arpa.splitlines()), key=_Section().size_of):
        for line in lines if size else ():
            chance, *words = line.split()
            weight = float(words.pop()) if len(words) > size else 0.0
            found[tuple(words)] = 10 ** float(chance), 10**weight
    return found


class _Section:
    def __init__(self) -> None:
        self._size = 0

    def size_of(self, line: str) -> int:
        if line.startswith("\\"):
            self._size = int(line[1]) if line[1].isdigit() else 0
            return 0
        return self._size


def chance(model: dict[tuple[str, ...], tuple[float, float]], word: str, *before: str) -> float:
    if (*before, word) in model:
        return model[*before, word][0]
    return model.get(before, (0.0, 1.0))[1] * chance(model, word, *before[1:])


@pytest.mark.parametrize("before", [(), ("a",), ("set", "a"), ("the",), ("<s>", "set")])
def test_probabilities_after_any_words_sum_to_one(before: tuple[str, ...]) -> None:
    built = build_language_model(SENTENCES, even_english())
    model = ngrams(built)
    assert sum(chance(model, word, *before) for word in built.words) == pytest.approx(1.0, abs=0.01)


def test_what_samples_say_is_likelier_than_what_they_do_not() -> None:
    model = ngrams(build_language_model(SENTENCES, even_english()))
    assert chance(model, "timer", "set", "a") > chance(model, "clock", "set", "a") > chance(model, "set", "set", "a")


def test_common_words_are_known_without_samples() -> None:
    assert set(COMMON) < set(build_language_model([], even_english()).words)


def test_words_that_follow_each_other_in_english_do_so_here() -> None:
    pairs = {("of", "because"): 0.2, ("timer", "the"): 0.1, ("please", "timer"): 0.1}
    english = English(lambda words: pairs.get((words[0], words[-1]), 0.001) if len(words) == 2 else 0.001)
    model = ngrams(build_language_model(SENTENCES, english))
    for word, before in pairs:
        assert chance(model, word, before) > 5 * chance(model, "the", "of"), before


@pytest.mark.parametrize("name", bundled_names())
def test_samples_are_words_that_can_be_spoken(name: str) -> None:
    sentences = SampleSentences(bundled_script(name)).sentences
    assert len(sentences) > 100
    assert {char for sentence in sentences for word in sentence for char in word} <= set("abcdefghijklmnopqrstuvwxyz'")


def test_samples_have_what_phrases_lack() -> None:
    sentences = SampleSentences(bundled_script("concierge")).sentences
    said = [" ".join(sentence) for sentence in sentences]
    for part in ("what's the weather", "quarter past", "half an hour", "timer for ten minutes"):
        assert any(part in sentence for sentence in said), part


def test_a_script_has_the_same_samples_each_time() -> None:
    script = bundled_script("neutral")
    assert sample_sentences(script) is sample_sentences(script)
    assert SampleSentences(script).sentences == SampleSentences(script).sentences
