"""The agents understand people's own words, typed and spoken, and do nothing else.

CI types every sixteenth sentence and says few, `make soak` all of them.
"""

from __future__ import annotations

import importlib.util
import os

import pytest
from tests.paraphrases.measuring import Judged, measure, read
from tests.support.synthetic_speech import have_voices

STRIDE, SPOKEN_STRIDE = (1, 1) if os.environ.get("SOAK") else (16, 50)
SPOKEN = ("open", "held") if os.environ.get("SOAK") else ("open",)
LEAST_RIGHT = {
    "open": 0.95, "held": 0.85, "open-2": 0.9, "held-2": 0.8, "open-3": 0.9, "held-3": 0.8, "open-4": 0.85,
    "held-4": 0.85, "open-5": 0.85, "held-5": 0.8, "open-6": 0.9, "held-6": 0.85, "open-7": 0.85, "held-7": 0.75,
    "open-8": 0.9, "held-8": 0.9, "open-9": 0.95, "held-9": 0.9, "open-10": 0.9,
    "held-10": 0.9, "open-11": 0.9, "held-11": 0.85, "open-12": 0.9, "held-12": 0.85,
    "open-13": 0.85, "held-13": 0.8,
}  # fmt: skip
ENOUGH = 60
"""Sentences of a file from which on it is judged by itself."""
VOICE = "flite:slt"

speaks = [
    pytest.mark.skipif(not have_voices(), reason="espeak-ng and flite are not installed"),
    pytest.mark.skipif(
        importlib.util.find_spec("pocketsphinx") is None, reason="the recogniser is not installed (extra: local)"
    ),
]


@pytest.fixture(scope="module", params=("open", "held"))
def judged(request: pytest.FixtureRequest) -> dict[str, list[Judged]]:
    """Return the judged sentences of each file of a half."""
    files = [name for name in LEAST_RIGHT if name.startswith(request.param)]
    return {name: [measure(line) for line in read(name)[::STRIDE]] for name in files}


def test_no_sentence_leads_to_something_unasked(judged: dict[str, list[Judged]]) -> None:
    # The sentences held back stay unread.
    assert {name: sum(one.is_wrong for one in ones) for name, ones in judged.items()} == dict.fromkeys(judged, 0)


def test_most_sentences_are_understood(judged: dict[str, list[Judged]]) -> None:
    right = {name: sum(one.is_right for one in ones) for name, ones in judged.items()}
    # A file of which only a few are typed tells little by itself.
    assert sum(right.values()) >= sum(LEAST_RIGHT[name] * len(ones) for name, ones in judged.items()), right
    for name, ones in judged.items():
        assert len(ones) < ENOUGH or right[name] >= LEAST_RIGHT[name] * len(ones), (name, right[name], len(ones))


@pytest.fixture(scope="module", params=[pytest.param(half, marks=speaks) for half in SPOKEN])
def spoken(request: pytest.FixtureRequest) -> list[Judged]:
    lines = [line for line in read(request.param) if line.get("speakable", True)]
    return [measure(line, VOICE) for line in lines[::SPOKEN_STRIDE]]


def test_no_spoken_sentence_leads_to_something_unasked(spoken: list[Judged]) -> None:
    assert sum(one.is_wrong for one in spoken) == 0


def test_most_spoken_sentences_are_understood(spoken: list[Judged]) -> None:
    assert sum(one.is_right for one in spoken) >= 0.7 * len(spoken)
