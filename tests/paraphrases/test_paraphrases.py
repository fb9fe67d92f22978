"""The bundled agents understand people's own words, and do nothing unasked."""

from __future__ import annotations

import pytest
from tests.paraphrases.measuring import Judged, measure, read

from gemini_live_runtime.agents.loader import BUNDLED


@pytest.fixture(scope="module", params=BUNDLED)
def judged(request: pytest.FixtureRequest) -> list[Judged]:
    return [measure(line) for line in read("open") if line["agent"] == request.param]


def test_no_sentence_leads_to_something_unasked(judged: list[Judged]) -> None:
    assert [one.line["say"] for one in judged if one.is_wrong] == []


def test_nearly_all_sentences_are_understood(judged: list[Judged]) -> None:
    missed = [one.line["say"] for one in judged if not one.is_right]
    assert len(missed) <= 0.15 * len(judged), missed


def test_of_sentences_that_were_held_back_few_are_missed_and_none_is_acted_on_wrongly() -> None:
    held = [measure(line) for line in read("held")]
    assert sum(one.is_wrong for one in held) == 0
    assert sum(one.is_right for one in held) >= 0.8 * len(held)
