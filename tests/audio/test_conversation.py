"""Test a conversation through real devices, with a second process as the user."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.audio.conversation import RATE, Conversation, is_a, say, set_echo, text_of

from gemini_live_runtime.audio.echo.pause_probe import LEAD_FRAMES
from gemini_live_runtime.audio.samples import FRAME
from gemini_live_runtime.journal.files.tracks import read_track

pytestmark = [
    pytest.mark.pulse,
    pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed"),
]

UNDERSTOOD_S = 8.0
"""Time limit in seconds of session time for words to be understood."""


ATTEMPTS = 3
"""Most times that a sentence is said where the computer was too busy to hear it."""

HEARD_S = 3.0
"""Session time in seconds in which a sentence interrupts the model, and meters follow."""


def lost_frames(conversation: Conversation) -> int:
    """Return the number of the reference's frames that were lost or dropped so far."""
    meters = [event["data"] for event in conversation.events if event["type"] == "meters"]
    return int(meters[-1]["far_missing"] + meters[-1]["far_dropped"]) if meters else 0


def interrupted_by(conversation: Conversation, sentence: Path) -> dict[str, Any]:
    """Return the interruption of the model by a sentence.

    A canceller that misses frames has to learn again: what is said just then may be lost, and is said again.
    """
    for attempt in range(1, ATTEMPTS + 1):
        before = lost_frames(conversation)
        conversation.plays(sentence)
        if conversation.within(HEARD_S, is_a("turn.interrupted")):
            break
        lost = lost_frames(conversation) - before
        print(f"attempt {attempt} of {ATTEMPTS}: {lost} frames were lost")
        assert lost, "nothing was lost, and the person was not heard"
    assert is_a("turn.interrupted")(conversation.events[-1])
    return conversation.events[-1]


@pytest.fixture
def conversation(own_loop: dict[str, str], request: pytest.FixtureRequest) -> Iterator[Conversation]:
    set_echo(own_loop, request.param)
    running = Conversation(own_loop)
    yield running
    running.kill()


@pytest.mark.parametrize("conversation", [-6.0, 0.0, 6.0], indirect=True, ids=["quiet", "even", "loud"])
def test_one_can_talk_and_barge_in_through_real_devices(
    conversation: Conversation, tmp_path: Path, nobodys_home: Path
) -> None:
    story = say("tell me a story", tmp_path / "story.wav")
    question = say("what time is it", tmp_path / "time.wav")
    conversation.until(is_a("session.state", word="listening"))

    # A question is heard and answered.
    conversation.plays(story)
    conversation.until(is_a("playback.started"))
    assert text_of(conversation.events, "user") == "tell me a story"
    began = len(conversation.events)

    # While the model speaks the microphone goes on sending, and the model does not take its own voice for a person's.
    heard = 0
    while heard < 4 * 24_000:
        heard += conversation.until(is_a("playback.heard"))["data"]["count"]
    during = conversation.events[began:]
    spans = [e for e in during if is_a("wire.audio", direction="sent")(e)]
    first, last = spans[0], spans[-1]
    sent = last["data"]["first"] + last["data"]["count"] - first["data"]["first"] - first["data"]["count"]
    seconds = last["t"] - first["t"]
    assert seconds > 2
    # What may be the beginning of a person's first word waits as long as the model is heard.
    assert sent + LEAD_FRAMES * FRAME >= 0.95 * seconds * RATE
    assert not [e for e in during if e["type"] in ("turn.interrupted", "turn.started")]
    assert text_of(during, "user") == ""

    # Somebody speaks into the answer: it stops, and the words are understood. Speech over speech costs a sound now and
    # then (`make bench` counts them), so the person may have to say it again.
    cut = interrupted_by(conversation, question)
    assert cut["data"]["by"] == "server"
    assert cut["data"]["unheard_samples"] > 24_000
    after = len(conversation.events)
    called = conversation.within(UNDERSTOOD_S, is_a("tool.called", name="get_time"))
    is_whole = text_of(conversation.events[after:], "user") == "what time is it"
    if called and not is_whole:
        conversation.until(is_a("playback.drained"))
    if not (called and is_whole):
        after = len(conversation.events)
        conversation.plays(question)
        conversation.until(is_a("tool.called", name="get_time"))
    assert text_of(conversation.events[after:], "user") == "what time is it"
    conversation.until(is_a("turn.completed", outcome="complete"))

    assert conversation.ends() == 130
    session = conversation.events[0]["data"]["session_id"]
    recorded = read_track(nobodys_home / "data" / "gemini-live-tui" / "sessions" / session / "user.wav").samples
    assert recorded == sum(e["data"]["count"] for e in conversation.events if is_a("wire.audio", track="user")(e))
