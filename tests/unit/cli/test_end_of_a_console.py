"""Printed when the console has restored the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.recordings import debt_call

from gemini_live_tui.cli import console_start as start
from gemini_live_tui.cli.engine_specs import Sound
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
    monkeypatch.setattr("gemini_live_tui.run_console.run_console", lambda source, settings: outcome)
    start.show(None, ConsoleSettings(), recorded=True)
    expected = ["The session is over: done.", *(["Recorded: gemini-live-tui replay s1"] if told else [])]
    assert capsys.readouterr().out.splitlines() == expected


def test_a_recording_with_events_missing_is_named_as_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "events.jsonl").write_text('{}\n{"seq": 1}\n')
    outcome = ConsoleOutcome(0, "The session is over: done.", "s1", folder=str(tmp_path), missing="3 are missing.")
    monkeypatch.setattr("gemini_live_tui.run_console.run_console", lambda source, settings: outcome)
    start.show(None, ConsoleSettings(), recorded=True)
    told = capsys.readouterr().out.splitlines()
    assert told[1:] == ["3 are missing.", "Recorded in part: gemini-live-tui replay s1"]
    # A console that attached says nothing of the recording, which is another's.
    start.show(None, ConsoleSettings())
    assert capsys.readouterr().out.splitlines()[1:] == ["3 are missing."]
    start.show(None, ConsoleSettings(replay=True), recorded=True)
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_what_was_chosen_in_a_console_is_shown_next_until_nothing_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = debt_call("s1")
    folder = call.write(tmp_path, "s1")
    outcomes = [
        ConsoleOutcome(0, replay=folder),
        ConsoleOutcome(0, session=folder),
        ConsoleOutcome(0, session=folder),
        ConsoleOutcome(3),
    ]
    shown: list[tuple[bool, ConsoleSettings]] = []

    def run(source: object, settings: ConsoleSettings) -> ConsoleOutcome:
        shown.append((source is not None, settings))
        return outcomes[len(shown) - 1]

    lives = iter((False, True))
    monkeypatch.setattr("gemini_live_tui.run_console.run_console", run)
    monkeypatch.setattr("gemini_live_runtime.engine.registry.is_alive", lambda folder: next(lives))
    starter = start.EngineStarter({}, Sound())
    assert start.show_all(start.resumed_source(folder), ConsoleSettings(attached=True, starter=starter)) == 3
    assert [has_source for has_source, _ in shown] == [True, False, True, True]
    assert [settings.replay for _, settings in shown] == [False, True, False, False]
    assert [settings.attached for _, settings in shown] == [True, False, False, True]
    assert [settings.starter is starter for _, settings in shown] == [True, False, True, True]
    assert shown[1][1].recording is not None
    assert shown[2][1].recording is None
