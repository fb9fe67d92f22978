"""Test spoken consent through real devices, with a second process as the user."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.audio.conversation import Conversation, is_a, say, set_echo, text_of

pytestmark = [
    pytest.mark.pulse,
    pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed"),
]


@pytest.fixture
def conversation(own_loop: dict[str, str], nobodys_home: Path) -> Iterator[Conversation]:
    set_echo(own_loop, 0.0)
    running = Conversation(own_loop, "--ask", "order_taxi")
    yield running
    running.kill()


ATTEMPTS = 4
"""Orders until the canceller has learned the room: a computer that is too busy loses sound, and it learns anew."""


def asks(conversation: Conversation, tmp_path: Path) -> dict[str, Any]:
    """Let the user order a taxi, and return the question once an answer counts."""
    order = say("order a taxi", tmp_path / "taxi.wav")
    conversation.until(is_a("session.state", word="listening"))
    for _ in range(ATTEMPTS):
        conversation.plays(order)
        asked: dict[str, Any] = conversation.until(is_a("consent.asked"))["data"]
        if conversation.until(is_a("consent.voice"))["data"]["state"] == "listening":
            return asked
        conversation.until(is_a("tool.finished", name="order_taxi"))
        conversation.until(is_a("playback.drained"))
    pytest.fail("the canceller never learned the room")


ANSWERS = [("yes please", True), ("no thank you", False)]
"""Answers; each takes half a minute of real time, so without SOAK only the first is given."""


@pytest.mark.parametrize(("said", "yes"), ANSWERS if os.environ.get("SOAK") else ANSWERS[:1])
def test_the_user_answers_aloud_what_the_model_asks(
    conversation: Conversation, tmp_path: Path, said: str, yes: bool
) -> None:
    for _ in range(ATTEMPTS):
        asked = asks(conversation, tmp_path)
        assert (asked["voice"], asked["question"]) == (True, "Shall I order a taxi?")
        assert text_of(conversation.events, "model").endswith(asked["question"])
        conversation.plays(say(said, tmp_path / "answer.wav"))
        given = conversation.until(is_a("consent.given"))["data"]
        if given["by"] == "voice":
            break
        # A computer that is too busy has lost the sound of the answer.
        conversation.until(is_a("tool.finished", name="order_taxi"))
        conversation.until(is_a("playback.drained"))
    assert (given["yes"], given["by"], given["said"], given["remembered"]) == (yes, "voice", said, False)
    finished = conversation.until(is_a("tool.finished", name="order_taxi"))["data"]
    assert finished["status"] == ("ok" if yes else "refused")


def test_the_question_that_the_microphone_records_is_no_answer_to_itself(
    conversation: Conversation, tmp_path: Path
) -> None:
    asks(conversation, tmp_path)
    given = conversation.until(is_a("consent.given"))["data"]
    assert (given["yes"], given["by"]) == (False, "time")
