"""Test the recogniser on many synthetic sentences: accepted, lost and rejected.

CI says every 48th sentence, each voice others; `make soak` every third.
"""

from __future__ import annotations

import importlib.util
import os

import pytest
from tests.support.recogniser_evaluation import UNCOVERED, VOICES, Counts, by_default, by_phrases, evaluate
from tests.support.synthetic_speech import have_voices

from gemini_live_runtime.clock import run_virtual

pytestmark = [
    pytest.mark.skipif(not have_voices(), reason="espeak-ng and flite are not installed"),
    pytest.mark.skipif(
        importlib.util.find_spec("pocketsphinx") is None, reason="the recogniser is not installed (extra: local)"
    ),
]


STRIDE = len(VOICES) * (1 if os.environ.get("SOAK") else 16)


@pytest.fixture(scope="module", params=[by_default, by_phrases], ids=["default", "phrases"])
def counts(request: pytest.FixtureRequest) -> dict[str, Counts]:
    """Each voice says another share of the phrases and of the uncovered sentences."""
    return run_virtual(evaluate(VOICES, stride=STRIDE, make=request.param))


@pytest.mark.parametrize("voice", VOICES)
def test_nearly_every_covered_sentence_of_a_voice_is_right(counts: dict[str, Counts], voice: str) -> None:
    # Of the few that CI says one may be wrong, so the rate is that of all voices together.
    assert counts[voice].right >= 0.8 * counts[voice].covered, counts[voice]


def test_nine_of_ten_covered_sentences_are_right(counts: dict[str, Counts]) -> None:
    assert sum(c.right for c in counts.values()) >= 0.9 * sum(c.covered for c in counts.values()), counts


def test_at_most_one_covered_sentence_in_twenty_is_lost(counts: dict[str, Counts]) -> None:
    assert sum(c.lost for c in counts.values()) <= 0.05 * sum(c.covered for c in counts.values()), counts


def test_at_most_one_covered_sentence_in_ten_is_asked_about(counts: dict[str, Counts]) -> None:
    # Of the few that CI says it may be one.
    assert sum(c.asked for c in counts.values()) <= max(1, 0.1 * sum(c.covered for c in counts.values())), counts


def test_nine_of_ten_uncovered_sentences_are_refused(counts: dict[str, Counts]) -> None:
    said = sum(c.refused + c.accepted for c in counts.values())
    assert said >= len(UNCOVERED) * len(VOICES) // STRIDE
    assert sum(c.refused for c in counts.values()) >= 0.9 * said, counts
