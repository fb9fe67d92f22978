"""Test a conversation through real devices, with a second process as the user.

The program runs as a process of its own, with PortAudio streams on a PulseAudio loop: its microphone records both the
model's answers and the user, as in a room.
"""

from __future__ import annotations

import json
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gemini_live_runtime.journal.tracks import read_track

pytestmark = pytest.mark.pulse

ROOT = Path(__file__).parents[2]
PATIENCE_S = 40.0
RATE = 16_000


def say(text: str, path: Path) -> Path:
    if shutil.which("flite") is None:
        pytest.skip("flite is not installed")
    subprocess.run(["flite", "-voice", "slt", "-t", text, "-o", str(path)], check=True)
    return path


class Conversation:
    """A running `talk --devices --json`: its events as they come."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self.events: list[dict[str, Any]] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "gemini_live_tui",
                *["talk", "--devices", "--json", "--backend", "local", "--timeout", "120"],
            ],
            cwd=ROOT,
            env={**environment, "PYTHONPATH": f"{ROOT / 'tui'}:{ROOT / 'runtime'}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def until(self, wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Return the next event for which `wanted` returns True."""
        while True:
            line = self._lines.get(timeout=PATIENCE_S)
            assert line is not None, f"the program ended; its last events: {self.events[-5:]}"
            event: dict[str, Any] = json.loads(line)
            self.events.append(event)
            if wanted(event):
                return event

    def plays(self, path: Path) -> None:
        """Play a file into the same sink in a second process."""
        subprocess.run(["paplay", str(path)], env=self._environment, check=True)

    def ends(self) -> int:
        """Interrupt the program as a person would; its exit code."""
        self._process.send_signal(signal.SIGINT)
        while (line := self._lines.get(timeout=PATIENCE_S)) is not None:
            self.events.append(json.loads(line))
        return self._process.wait(PATIENCE_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def conversation(own_loop: dict[str, str]) -> Iterator[Conversation]:
    running = Conversation(own_loop)
    yield running
    running.kill()


def is_a(kind: str, **data: object) -> Callable[[dict[str, Any]], bool]:
    return lambda event: event["type"] == kind and all(event["data"][name] == value for name, value in data.items())


def text_of(events: list[dict[str, Any]], side: str) -> str:
    return "".join(e["data"]["text"] for e in events if is_a("transcript.delta", side=side)(e)).strip()


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
    assert sent >= 0.95 * seconds * RATE
    assert not [e for e in during if e["type"] in ("turn.interrupted", "turn.started")]
    assert text_of(during, "user") == ""

    # Somebody speaks into the answer: it stops, and the words are understood.
    conversation.plays(question)
    cut = conversation.until(is_a("turn.interrupted"))
    assert cut["data"]["by"] == "server"
    assert cut["data"]["unheard_samples"] > 24_000
    after = len(conversation.events)
    conversation.until(is_a("tool.called", name="get_time"))
    assert text_of(conversation.events[after:], "user") == "what time is it"
    conversation.until(is_a("turn.completed", outcome="complete"))

    assert conversation.ends() == 130
    session = conversation.events[0]["data"]["session_id"]
    recorded = read_track(nobodys_home / "data" / "gemini-live-tui" / "sessions" / session / "user.wav").samples
    assert recorded == sum(e["data"]["count"] for e in conversation.events if is_a("wire.audio", track="user")(e))
