"""Hold a conversation with the program through real devices.

The program runs as a process of its own, with PortAudio streams on a PulseAudio loop: its microphone records both the
model's answers and the user, a second process, as in a room.
"""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
RATE = 16_000
FULL_VOLUME = 65_536
"""Volume of 0 dB in PulseAudio, whose volumes are cubic."""


def set_echo(environment: dict[str, str], db: float) -> None:
    """Set the level of the echo in the microphone, in dB of what is played."""
    # A level written in dB with its sign would be relative.
    volume = round(FULL_VOLUME * 10 ** (db / 60))
    subprocess.run(["pactl", "set-source-volume", "loop.monitor", str(volume)], env=environment, check=True)


def say(text: str, path: Path, voice: str = "slt") -> Path:
    """Write a spoken text to a file."""
    subprocess.run(["flite", "-voice", voice, "-t", text, "-o", str(path)], check=True)
    return path


class Conversation:
    """A running `talk --devices --json`: its events as they come."""

    def __init__(self, environment: dict[str, str], *options: str) -> None:
        self._environment = environment
        self.events: list[dict[str, Any]] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "gemini_live_tui",
                *["talk", "--devices", "--json", "--backend", "local", "--timeout", str(3 * PATIENCE_S), *options],
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

    def within(self, seconds: float, wanted: Callable[[dict[str, Any]], bool]) -> bool:
        """Read events until `wanted` returns True, for up to `seconds` of session time."""
        end = self.events[-1]["t"] + seconds
        return wanted(self.until(lambda event: wanted(event) or event["t"] > end))

    def plays(self, path: Path, db: float = 0.0) -> None:
        """Play a file into the same sink in a second process, `db` louder than it is."""
        volume = round(FULL_VOLUME * 10 ** (db / 60))
        subprocess.run(["paplay", f"--volume={volume}", str(path)], env=self._environment, check=True)

    def ends(self) -> int:
        """Interrupt the program as a person would; its exit code."""
        self._process.send_signal(signal.SIGINT)
        while (line := self._lines.get(timeout=PATIENCE_S)) is not None:
            self.events.append(json.loads(line))
        return self._process.wait(PATIENCE_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def is_a(kind: str, **data: object) -> Callable[[dict[str, Any]], bool]:
    return lambda event: event["type"] == kind and all(event["data"][name] == value for name, value in data.items())


def text_of(events: list[dict[str, Any]], side: str) -> str:
    return "".join(e["data"]["text"] for e in events if is_a("transcript.delta", side=side)(e)).strip()
