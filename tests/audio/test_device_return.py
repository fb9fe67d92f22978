"""Test a whole program on a sound server that dies, loses or moves a sink."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audio.test_conversation import Conversation, is_a, say

pytestmark = pytest.mark.pulse

HERE = Path(__file__).parent


@pytest.fixture
def conversation(own_loop: dict[str, str]) -> Iterator[Conversation]:
    running = Conversation(own_loop)
    yield running
    running.kill()


def pactl(environment: dict[str, str], *words: str) -> str:
    return subprocess.run(["pactl", *words], env=environment, check=True, capture_output=True, text=True).stdout.strip()


def restart(environment: dict[str, str]) -> None:
    # A killed server leaves its number behind, and may still be there as a zombie.
    (Path(environment["PULSE_RUNTIME_PATH"]) / "pid").unlink(missing_ok=True)
    subprocess.run(["sh", str(HERE / "pulse_loop.sh"), "start"], env=environment, check=True, capture_output=True)


def test_a_sound_server_that_dies_in_mid_answer_is_told_and_voice_returns_with_it(
    conversation: Conversation, own_loop: dict[str, str], tmp_path: Path
) -> None:
    story = say("tell me a story", tmp_path / "story.wav")
    conversation.until(is_a("session.state", word="listening"))
    conversation.plays(story)
    conversation.until(is_a("playback.heard"))
    os.kill(int(own_loop["PULSE_PID"]), signal.SIGKILL)
    lost = [conversation.until(is_a("audio.lost"))["data"] for _ in range(2)]
    assert {one["direction"] for one in lost} == {"input", "output"}
    # ALSA sometimes leaves a reader waiting when the server dies, instead of ending the stream.
    assert all(one["reason"].endswith(("was disconnected.", "stopped responding.")) and one["remedy"] for one in lost)

    restart(own_loop)
    opened = conversation.until(is_a("audio.opened", again=True))["data"]
    cut = [event for event in conversation.events if is_a("turn.interrupted", by="device")(event)]
    assert len(cut) == 1
    assert cut[0]["data"]["heard_samples"] > 0
    assert cut[0]["data"]["unheard_samples"] > 24_000
    assert opened["input"]
    assert opened["output"]
    conversation.until(is_a("control.changed", mode="voice"))
    assert [event for event in conversation.events if is_a("control.changed", mode="text")(event)]
    # Both directions are back, with the rest of the answer.
    conversation.until(is_a("playback.heard"))
    conversation.until(is_a("wire.audio", direction="sent"))
    assert conversation.ends() == 130


def test_speech_goes_on_over_a_moved_and_an_unloaded_sink(
    conversation: Conversation, own_loop: dict[str, str], tmp_path: Path
) -> None:
    story = say("tell me a story", tmp_path / "story.wav")
    module = pactl(own_loop, "load-module", "module-null-sink", "sink_name=other", "rate=44100", "norewinds=1")
    conversation.until(is_a("session.state", word="listening"))
    conversation.plays(story)
    conversation.until(is_a("playback.heard"))
    stream = pactl(own_loop, "list", "short", "sink-inputs").split()[0]
    pactl(own_loop, "move-sink-input", stream, "other")
    conversation.until(is_a("playback.heard"))
    assert not [event for event in conversation.events if event["type"] == "audio.lost"]

    # PulseAudio moves the streams of a sink that is unloaded to the default one.
    pactl(own_loop, "unload-module", module)
    for _ in range(4):
        conversation.until(is_a("playback.heard"))
    assert not [event for event in conversation.events if event["type"] in ("audio.lost", "turn.interrupted")]
    assert conversation.ends() == 130
