"""The agents do nothing on sentences that only speak of what they can do.

CI types every 16th, `make soak` all.
"""

from __future__ import annotations

import os

import pytest
from tests.agents.sentences_that_ask_nothing import sentences
from tests.paraphrases.measuring import Turn, measure

STRIDE = 1 if os.environ.get("SOAK") else 16
MAX_WRONG = 0.02
"""Share that leads to something nevertheless; it was a quarter before words were accounted for."""

_READING = {"get_weather", "get_time", "list_notes", "list_timers"}
_OF_THE_TALK = {"app:anger", "app:gentle"}


def test_a_sentence_that_asks_for_nothing_leads_to_nothing() -> None:
    chosen = list(sentences())[::STRIDE]
    wrong = [say for agent, before, say in chosen if _does_something(_turn(agent, before, say))]
    assert len(wrong) <= MAX_WRONG * len(chosen), wrong


@pytest.mark.parametrize(("answer", "is_cancelled"), [("yes", True), ("no", False), ("a coffee please", False)])
def test_only_a_clear_yes_turns_a_doubtful_sentence_into_its_action(answer: str, is_cancelled: bool) -> None:
    turn = _turn("restaurant", ("A pasta please.", "Cancel my newspaper."), answer)
    assert turn.state.get("app:cancelled", False) is is_cancelled


def test_a_doubtful_payment_is_taken_after_a_clear_yes() -> None:
    before = ("Yes I understand.", "My name is Maria Lopez. The digits are forty two.", "I pay fifty dollars in rent.")
    assert [args for _, args in _turn("debt_collection", before, "Yes please.").calls] == [{"amount": 50}]


def _turn(agent: str, before: tuple[str, ...], say: str) -> Turn:
    return measure({"agent": agent, "before": list(before), "say": say, "refuses": True}).turn


def _does_something(turn: Turn) -> bool:
    return any(tool not in _READING for tool, _ in turn.calls) or bool(turn.changed - _OF_THE_TALK)
