"""Test a notification through real devices, with a second process as the user."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audio.conversation import Conversation, is_a, say, set_echo, text_of

from gemini_live_runtime.session.agent.harness.silence import LULL_S
from gemini_live_tui.cli import main

pytestmark = [
    pytest.mark.pulse,
    pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed"),
]


@pytest.fixture
def conversation(own_loop: dict[str, str], nobodys_home: Path) -> Iterator[Conversation]:
    set_echo(own_loop, 0.0)
    running = Conversation(own_loop)
    yield running
    running.kill()


def test_it_is_spoken_when_nobody_speaks_and_not_while_the_user_does(
    conversation: Conversation, tmp_path: Path
) -> None:
    question = say("what is the weather in Lisbon", tmp_path / "question.wav")
    conversation.until(is_a("session.state", word="listening"))
    # Longer than the program takes to notice a new file.
    user = threading.Thread(target=lambda: [conversation.plays(question) for _ in range(4)])
    user.start()
    conversation.until(is_a("voice.marked", speaking=True))
    assert main(["notify", "the oven is ready"]) == 0
    conversation.until(is_a("notification.changed", status="queued"))
    assert user.is_alive(), "the user has not spoken for long enough"
    conversation.until(is_a("notification.changed", status="delivered"))
    assert not user.is_alive(), "the model was asked while the user spoke"
    conversation.until(is_a("notification.changed", status="acknowledged"))
    begun = [event["t"] for event in conversation.events if is_a("notification.changed", status="delivered")(event)]
    marks = [event["t"] for event in conversation.events if event["type"] == "voice.marked" and event["t"] < begun[-1]]
    assert marks[-1] + LULL_S - 0.1 <= begun[-1]
    after = [event for event in conversation.events if event["t"] >= begun[-1]]
    assert "oven is ready" in text_of(after, "model").lower()
    assert any(is_a("playback.started")(event) for event in after)
