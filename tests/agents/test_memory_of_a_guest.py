"""A guest who has told the concierge something is known in the next conversation."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conversation import ConversationJournal, talk_by_text, talk_by_voice

from gemini_live_runtime.harness.memory import MemoryRecord
from gemini_live_runtime.harness.paths import default_root
from gemini_live_runtime.harness.store import Harness

TOLD = "my name is Ada and I am vegetarian"


@pytest.fixture(autouse=True)
def _each_conversation_is_held_here() -> Iterator[None]:
    talk_by_text.cache_clear()
    yield
    talk_by_text.cache_clear()


def memories() -> dict[str, MemoryRecord]:
    with Harness.open(default_root()) as harness:
        return {one.key: one for one in harness.memory.find("user").records}


def told_memory(journal: ConversationJournal) -> list[str]:
    return [f"{data['action']} {data['key']} {data['value']}" for data in journal.all("memory.changed")]


def test_what_was_typed_in_one_conversation_is_used_in_the_next() -> None:
    first = talk_by_text("concierge", "hello", "my name is Ada, I am vegetarian")
    assert "Ada" not in first.model_text.partition("Nice to meet you")[0]
    assert told_memory(first) == ["put name Ada", "put diet vegetarian"]
    assert memories()["name"].provenance is not None
    second = talk_by_text("concierge", "hello", "what do you know about me", "book a table for four at seven")
    assert "Welcome back, Ada!" in second.model_text
    assert "You're Ada, and you're vegetarian." in second.model_text
    assert "the kitchen knows that you're vegetarian" in second.model_text
    assert second.state["app:kitchen"].endswith("vegetarian")
    assert told_memory(second) == []


def test_what_was_said_in_one_conversation_is_used_in_the_next(tmp_path: Path) -> None:
    talk_by_text("concierge", TOLD)  # for its pauses alone
    shutil.rmtree(default_root())
    first = talk_by_voice("concierge", tmp_path, TOLD)
    assert told_memory(first) == ["put name Ada", "put diet vegetarian"]
    origin = memories()["diet"].provenance
    assert origin is not None
    assert (origin.text or "").lower().startswith("my name is ada")
    second = talk_by_voice("concierge", tmp_path, "what do you know about me")
    assert "You're Ada, and you're vegetarian." in second.model_text


def test_a_guest_who_asks_for_it_is_forgotten() -> None:
    talk_by_text("concierge", TOLD)
    forgetting = talk_by_text("concierge", "forget what you know about me", "what do you know about me")
    assert "I've forgotten it." in forgetting.model_text
    assert "I don't know anything about you yet." in forgetting.model_text
    assert memories() == {}
    again = talk_by_text("concierge", "hello", "forget me")
    assert "Ada" not in again.model_text
    assert "I don't know anything about you." in again.model_text


def test_a_guest_who_asks_to_forget_the_name_keeps_the_diet() -> None:
    forgetting = talk_by_text("concierge", TOLD, "forget my name", "what do you know about me")
    assert told_memory(forgetting)[2:] == ["deleted name "]
    assert "I've forgotten your name. I still know that you're vegetarian." in forgetting.model_text
    assert list(memories()) == ["diet"]


def test_a_guest_who_asks_to_forget_the_diet_keeps_the_name() -> None:
    forgetting = talk_by_text("concierge", TOLD, "forget that I am vegetarian")
    assert "I've forgotten what you eat. I still know your name, Ada." in forgetting.model_text
    assert list(memories()) == ["name"]


def test_a_timer_set_right_leaves_those_of_earlier_conversations() -> None:
    talk_by_text("concierge", "set a timer for five minutes")
    later = talk_by_text("concierge", "set a pasta timer for eight minutes", "I meant nine", "which timers are running")
    assert "You have 2 running: 5 minutes" in later.model_text
    assert "8 minutes" not in later.model_text.partition("instead.")[2]


def test_an_earlier_timer_is_not_set_right_once_the_own_one_is_cancelled() -> None:
    talk_by_text("concierge", "set a timer for five minutes")
    later = talk_by_text("concierge", "set a timer for eight minutes", "cancel the timer", "cancel the timer")
    assert "I've cancelled the timer for 8 minutes." in later.model_text
    assert "I've cancelled the timer for 5 minutes." in later.model_text


def test_a_guest_is_told_what_a_new_name_replaces() -> None:
    talk = talk_by_text(
        "concierge", "my name is Ada", "my name is Tom", "my name is Tom", "I am vegan", "I am vegetarian"
    )
    assert talk.model_text.count("not Ada.") == 1
    assert talk.model_text.endswith("I'll remember that you're vegetarian, not vegan.")
