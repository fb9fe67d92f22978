"""`calibrate` and `doctor` say when the voice is too quiet."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
from tests.support.command_line import run

from gemini_live_runtime.audio.checks.calibration import describe, judge
from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.audio.echo.echo_path import EchoPath, store_echo_path
from gemini_live_tui.cli import calibrate, checks

MIC = SoundDevice(0, "Desk Microphone", "Fake API", 2, 0, 48_000)
SPEAKERS = SoundDevice(1, "Desk Speakers", "Fake API", 0, 2, 48_000)
PATH = EchoPath(measured_at=1e9, room_db=-60.0, delay_ms=41.5, level_db=-12.0, response=(0.1,))

LEVELS = (
    (None, -60.0, "", ""),
    (-30.0, -60.0, "", ""),
    (-50.0, -75.0, "Your voice is very quiet.", "come closer"),
    (-30.0, -40.0, "The room is loud: your voice is only 10 dB above it.", "headset"),
)


@pytest.mark.parametrize(("voice_db", "room_db", "text", "remedy"), LEVELS)
def test_doctor_judges_the_measured_voice(voice_db: float | None, room_db: float, text: str, remedy: str) -> None:
    store_echo_path(MIC, SPEAKERS, replace(PATH, voice_db=voice_db, room_db=room_db))
    check = checks._calibration(MIC, SPEAKERS)
    assert check.state == ("missing" if text else "ok")
    assert check.found.startswith(text or "the echo comes")
    assert "41 ms" in check.found or "42 ms" in check.found
    assert remedy in check.remedy


@pytest.mark.parametrize(("voice_db", "room_db", "text", "remedy"), LEVELS)
def test_calibrate_judges_the_voice_at_once(
    voice_db: float | None, room_db: float, text: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = replace(PATH, voice_db=voice_db, room_db=room_db)
    verdict = judge(path)
    result: dict[str, Any] = {"text": describe(path), "file": "/x", "remedy": verdict.remedy, "verdict": verdict.text}
    monkeypatch.setattr(calibrate, "_run", lambda *_, **__: {**result, **asdict(path)})
    lines = run("calibrate").out.splitlines()
    assert len(lines) == (3 if text else 2)
    if text:
        assert lines[1].startswith(text)
        assert lines[1].endswith(", and run it again.")
        assert remedy in lines[1]
