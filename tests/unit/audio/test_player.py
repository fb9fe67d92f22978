"""Test the player process: playback, reports, and that it closes the device."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gemini_live_runtime.audio.checks.player import Player
from gemini_live_runtime.audio.interface import AudioListener, AudioOpened, OpenDevice
from gemini_live_runtime.clock import run_virtual

RATE = 24_000
RUNTIME = Path(__file__).resolve().parents[3] / "runtime"


class Speaker:
    """Takes sound as fast as time goes by."""

    def __init__(self, problem: str = "", dies_at: float = 1e9) -> None:
        self.log: list[str] = []
        self.played = b""
        self.most_ahead = 0
        self._problem = problem
        self._dies_at = dies_at
        self._began = 0.0
        self._since: float | None = None

    async def open(self, listener: AudioListener) -> AudioOpened:
        loop = asyncio.get_running_loop()
        self._began = loop.time()
        loop.call_later(self._dies_at, listener.on_device_lost, "output", "The loudspeaker 'Box' was disconnected.")
        if self._problem:
            return AudioOpened(None, None, (self._problem,), "")
        return AudioOpened(None, OpenDevice("output", "Box", 48_000, 10), (), "")

    def play(self, gen: int, pcm: bytes) -> None:
        assert len(pcm) % 2 == 0
        if self._since is None:
            self._since = asyncio.get_running_loop().time()
        self.played += pcm
        self.most_ahead = max(self.most_ahead, len(self.played) // 2 - self.played_samples(gen))

    def played_samples(self, gen: int) -> int:
        passed = 0.0 if self._since is None else asyncio.get_running_loop().time() - self._since
        return min(len(self.played) // 2, round(passed * RATE))

    def cut(self, cut_below: int) -> None:
        self.log.append("cut")

    async def close(self) -> None:
        self.log.append("close")


def run(speaker: Speaker, blocks: list[bytes], seconds: float) -> tuple[int, list[dict[str, Any]]]:
    """Play `blocks`, which are there from the beginning, and stop after `seconds`."""
    reports: list[dict[str, Any]] = []

    async def playing() -> int:
        player = Player(reports.append, speaker)  # type: ignore[arg-type]
        for block in blocks:
            player.blocks.put_nowait(block)
        asyncio.get_running_loop().call_later(seconds, player.stop)
        return await player.run()

    return run_virtual(playing()), reports


def test_it_plays_everything_in_order_and_says_how_far_it_has_come() -> None:
    speaker = Speaker()
    blocks = [bytes([number]) * 4801 for number in range(20)]
    status, reports = run(speaker, blocks, 3.0)
    assert status == 0
    assert speaker.played == b"".join(blocks)
    assert reports[0] == {"report": "opened", "output": "Box"}
    positions = [report["samples"] for report in reports[1:]]
    assert positions == sorted(set(positions))
    assert positions[-1] == len(speaker.played) // 2
    assert len(positions) == pytest.approx(40, abs=3)


def test_it_gives_the_device_no_more_than_half_a_second_ahead() -> None:
    speaker = Speaker()
    run(speaker, [bytes(4800)] * 100, 5.0)
    assert speaker.most_ahead <= RATE * 0.6


def test_it_stops_at_once_and_lets_go_of_the_device() -> None:
    speaker = Speaker()
    status, reports = run(speaker, [bytes(4800)] * 100, 1.0)
    assert status == 0
    assert reports[-1]["samples"] <= RATE
    assert speaker.log == ["cut", "close"]


def test_without_a_device_it_says_so_and_ends() -> None:
    speaker = Speaker(problem="No loudspeaker was found.")
    status, reports = run(speaker, [bytes(4800)], 1.0)
    assert (status, reports) == (1, [{"report": "problem", "text": "No loudspeaker was found."}])
    assert speaker.log == ["cut", "close"]


def test_a_device_that_goes_away_is_told() -> None:
    status, reports = run(Speaker(dies_at=0.5), [bytes(4800)] * 100, 9.0)
    assert status == 1
    assert reports[-1] == {"report": "problem", "text": "The loudspeaker 'Box' was disconnected."}


def test_the_process_says_in_a_sentence_why_it_plays_nothing() -> None:
    env = {**os.environ, "PYTHONPATH": str(RUNTIME)}
    env.pop("ALSA_CONFIG_PATH", None)  # the tests' own aborts whoever asks
    child = subprocess.run(
        [sys.executable, "-m", "gemini_live_runtime.audio.checks.player", "no such device"],
        input=b"", capture_output=True, env=env, timeout=60, check=False,
    )  # fmt: skip
    (report,) = [json.loads(line) for line in child.stdout.splitlines()]
    assert report["report"] == "problem"
    assert report["text"].endswith(".")
    assert child.returncode == 1
    assert child.stderr == b""
