"""Every export command of the documents works as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.support.command_line import run
from tests.support.recordings import debt_call, sound_call

from gemini_live_runtime import events as ev
from gemini_live_runtime import paths
from gemini_live_runtime.journal.formats.base import ENDINGS, FORMATS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "export.md").read_text("utf-8")
COMMANDS = re.findall(r"^gemini-live-tui (export .*?)\s*(?:#.*)?$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_works(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recorder, tracks = sound_call() if "stereo" in command else (debt_call(), {})
    if "stereo" not in command:
        recorder.events.pop()
        recorder.emit(ev.MarkSet(text="here"), after=60.0)
        recorder.begin_turn()
        recorder.end()
    recorder.write(paths.sessions_dir(), "20261120-1-abcd", tracks=tracks)
    ended = run(*shlex.split(command))
    assert ended.code == 0, ended


def test_all_formats_and_their_files_are_listed() -> None:
    assert len(COMMANDS) == 7
    assert re.findall(r"^\| `(\w+)` \| `(\S+)` \|", PAGE, re.MULTILINE) == [(fmt, ENDINGS[fmt]) for fmt in FORMATS]
