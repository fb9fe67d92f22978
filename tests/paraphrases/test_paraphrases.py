"""The bundled agents understand people's own words, and do nothing unasked.

CI says every fifth sentence, `make soak` all of them.
"""

from __future__ import annotations

import os

import pytest
from tests.paraphrases.measuring import Judged, measure, read

STRIDE = 1 if os.environ.get("SOAK") else 5


@pytest.fixture(scope="module", params=["open", "held"])
def judged(request: pytest.FixtureRequest) -> list[Judged]:
    return [measure(line) for line in read(request.param)[::STRIDE]]


def test_no_sentence_leads_to_something_unasked(judged: list[Judged]) -> None:
    assert sum(one.is_wrong for one in judged) == 0  # The sentences held back stay unread.


def test_four_of_five_sentences_are_understood(judged: list[Judged]) -> None:
    assert sum(one.is_right for one in judged) >= 0.8 * len(judged)
