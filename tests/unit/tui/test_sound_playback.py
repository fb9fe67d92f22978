"""The sound of the past is fed as it is heard, and reports position and problems."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gemini_live_runtime.journal.history.live_history import LiveHistory
from gemini_live_runtime.journal.sound.playback_sound import RATE, Portion
from gemini_live_tui.session_data import sound_playback
from gemini_live_tui.session_data.sound_playback import AHEAD_S, SoundPlayback


class _Pipe:
    def __init__(self) -> None:
        self.taken = 0
        self.closed = False

    def write(self, data: bytes) -> None:
        self.taken += len(data) // 2

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        self.closed = True


class _Player:
    """A player in a test's hands."""

    def __init__(self) -> None:
        self.stdin = _Pipe()
        self.stdout = asyncio.StreamReader()
        self.returncode: int | None = None

    def report(self, **value: Any) -> None:
        self.stdout.feed_data(json.dumps(value).encode() + b"\n")

    def end(self) -> None:
        self.returncode = 1
        self.stdout.feed_eof()

    async def wait(self) -> int:
        return 0


def _portions(missing: tuple[str, ...] = (), seconds: int = 30) -> Iterator[Portion]:
    return (Portion(at, at + 2.0, bytes(2 * 2 * RATE), missing) for at in range(0, seconds, 2))  # type: ignore[arg-type]


async def _begun(monkeypatch: pytest.MonkeyPatch, portions: Iterator[Portion], speed: float = 1.0):
    player, told = _Player(), []
    monkeypatch.setattr(sound_playback, "_portions", lambda *_: portions)

    async def spawn(device: str) -> Any:
        assert device == "Desk speaker"
        return player

    sound = SoundPlayback(
        LiveHistory(), Path("nowhere"), begin=10.0, speed=speed, device="Desk speaker",
        on_change=lambda: told.append(None), spawn=spawn,
    )  # fmt: skip
    await _settle()
    return sound, player, told


async def _settle() -> None:
    for _ in range(60):
        await asyncio.sleep(0.001)


async def test_what_is_heard_says_where_the_session_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    sound, player, told = await _begun(monkeypatch, _portions(), speed=2.0)
    assert sound.position is None
    player.report(report="opened", output="Desk speaker")
    player.report(report="position", samples=RATE)
    await _settle()
    assert sound.note == "with sound"
    assert sound.position == pytest.approx(12.0)
    assert told
    sound.stop()
    await sound.gone()
    assert player.stdin.closed


async def test_no_more_is_handed_over_than_a_few_seconds_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    sound, player, _ = await _begun(monkeypatch, _portions())
    assert player.stdin.taken <= (AHEAD_S + 2) * RATE
    before = player.stdin.taken
    player.report(report="position", samples=4 * RATE)
    await _settle()
    assert player.stdin.taken > before
    sound.stop()
    await sound.gone()


async def test_without_tracks_nothing_is_started_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    sound, player, _ = await _begun(monkeypatch, _portions(("user", "model")))
    assert sound.note == "silent: no sound was recorded"
    assert player.stdin.taken == 0
    await sound.gone()


async def test_a_speaker_that_fails_leaves_its_reason_without_control_characters(monkeypatch) -> None:
    sound, player, _ = await _begun(monkeypatch, _portions())
    player.report(report="problem", text="No speaker\x1b[2J here.")
    player.stdout.feed_data(b"not json\n[1]\n{}\n")
    player.end()
    await _settle()
    assert sound.note.startswith("silent: No speaker")
    assert "\x1b" not in sound.note
    assert sound.position is None
    await sound.gone()
