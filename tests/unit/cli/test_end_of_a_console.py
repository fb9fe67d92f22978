"""Printed when the console has restored the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_live_tui.cli import start
from gemini_live_tui.settings import ConsoleOutcome, ConsoleSettings


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, False), ("", False), ('{"format": "x"}\n', True)],
    ids=["no folder could be made", "nothing could be written", "events were written"],
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
