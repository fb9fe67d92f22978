"""Printed when the console has restored the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_live_tui.cli import console_start as start
from gemini_live_tui.settings import ConsoleOutcome, ConsoleSettings


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, False), ("", False), ("{}\n", False), ('{}\n{"seq', False), ('{}\n{"seq": 1}\n', True)],
    ids=["no folder", "nothing written", "a header alone", "half an event", "events written"],
)
def test_a_recording_is_named_only_when_there_is_one(
    content: str | None, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = "" if content is None else str(tmp_path)
    if content is not None:
        (tmp_path / "events.jsonl").write_text(content)
    outcome = ConsoleOutcome(0, "The session is over: done.", "s1", folder=folder)
    monkeypatch.setattr("gemini_live_tui.app.run_console", lambda source, settings: outcome)
    start.show(None, ConsoleSettings(), recorded=True)
    expected = ["The session is over: done.", *(["Recorded: gemini-live-tui replay s1"] if told else [])]
    assert capsys.readouterr().out.splitlines() == expected


def test_a_recording_with_events_missing_is_named_as_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "events.jsonl").write_text('{}\n{"seq": 1}\n')
    outcome = ConsoleOutcome(0, "The session is over: done.", "s1", folder=str(tmp_path), missing="3 are missing.")
    monkeypatch.setattr("gemini_live_tui.app.run_console", lambda source, settings: outcome)
    start.show(None, ConsoleSettings(), recorded=True)
    told = capsys.readouterr().out.splitlines()
    assert told[1:] == ["3 are missing.", "Recorded in part: gemini-live-tui replay s1"]
    # A console that attached says nothing of the recording, which is another's.
    start.show(None, ConsoleSettings())
    assert capsys.readouterr().out.splitlines()[1:] == ["3 are missing."]
    start.show(None, ConsoleSettings(replay=True), recorded=True)
    assert len(capsys.readouterr().out.splitlines()) == 1
