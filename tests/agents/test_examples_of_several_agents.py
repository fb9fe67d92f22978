"""Examples of agents of classes, by text and by voice, through the whole program."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.conversation import ConversationJournal, talk_by_text, talk_by_voice

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"

Case = tuple[str, tuple[str, ...], list[str], dict[str, object]]

CASES: dict[str, Case] = {
    "ordering": (
        "ordering.py:agent",
        ("order dish soup", "send order"),
        [],
        {"app:dishes": ["soup"]},
    ),
    "reservation": (
        "reservation.py:agent",
        ("ask restaurant", "book table saturday"),
        ["restaurant", "reception"],
        {"app:day": "saturday"},
    ),
    "survey": (
        "survey.py:agent",
        ("check out", "give answer good"),
        ["survey", "checkout"],
        {"app:answer": "good"},
    ),
}


def check(journal: ConversationJournal, agents: list[str], state: dict[str, object]) -> None:
    """Check which agents took over, and what the state is at the end."""
    assert [data["agent"] for data in journal.all("agent.handed_off")] == agents
    assert {key: journal.state.get(key) for key in state} == state


@pytest.mark.parametrize("name", CASES)
def test_an_example_works_by_text(name: str) -> None:
    file, texts, agents, state = CASES[name]
    check(talk_by_text(str(EXAMPLES / file), *texts), agents, state)


@pytest.mark.parametrize("name", CASES)
def test_an_example_works_by_voice(name: str, tmp_path: Path) -> None:
    file, texts, agents, state = CASES[name]
    check(talk_by_voice(str(EXAMPLES / file), tmp_path, *texts), agents, state)
