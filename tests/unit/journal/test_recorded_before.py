"""Read journals of an earlier version: same view, plain text and export.

Each folder of `tests/data/journals` holds a session's `events.jsonl` and how the version that recorded it showed it.
The journal and `view.json` never change. When the wording of a rendering improves, write it anew with UTC as the time
zone:

    TZ=UTC gemini-live-tui replay --plain --detail all FOLDER > FOLDER/plain.txt
    TZ=UTC gemini-live-tui export --to - FOLDER > FOLDER/export.md
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import run

from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.history.recorded_history import RecordedHistory
from gemini_live_runtime.journal.recording.reader import read_journal

FOLDERS = sorted((Path(__file__).parents[2] / "data" / "journals").iterdir())

pytestmark = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def without_wording(view: dict[str, Any]) -> dict[str, Any]:
    """Leave out the text of notices: `plain.txt` and `export.md` have it."""
    blocks = [{**block, "text": ""} if block["kind"] == "notice" else block for block in view["blocks"]]
    return {**view, "blocks": blocks, "block_chars": 0}


def as_recorded(view: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the recording version did not have: it is at rest."""
    rest = SessionView().to_json()
    view = _known(view, recorded, rest)
    return {**view, "meters": _known(view["meters"], recorded["meters"], rest["meters"])}


def _known(now: dict[str, Any], recorded: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    assert all(now[name] == rest[name] for name in now.keys() - recorded.keys())
    return {name: value for name, value in now.items() if name in recorded}


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the time zone: an export says in local time when the session started."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def test_every_line_is_read(folder: Path) -> None:
    journal = read_journal(folder)
    events = list(journal)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (journal.problems, journal.torn) == ([], False)


def test_the_fold_gives_the_recorded_view(folder: Path) -> None:
    recorded = json.loads((folder / "view.json").read_text())
    view = fold(read_journal(folder))
    folded = as_recorded(json.loads(json.dumps(view.to_json())), recorded)
    assert without_wording(folded) == without_wording(recorded)
    restored = SessionView.from_json(recorded).to_json()
    assert as_recorded(json.loads(json.dumps(restored)), recorded) == recorded


def test_a_history_of_it_ends_with_the_recorded_view(folder: Path) -> None:
    history = RecordedHistory(folder)
    while history.load():
        pass
    assert history.live.to_json() == history.view_at(history.last_seq).to_json() == fold(read_journal(folder)).to_json()
    history.close()


def test_replay_prints_the_recorded_lines(folder: Path) -> None:
    printed = run("replay", "--plain", "--detail", "all", str(folder))
    assert printed.out.splitlines() == (folder / "plain.txt").read_text().splitlines()


@pytest.mark.usefixtures("utc")
def test_export_writes_the_recorded_document(folder: Path) -> None:
    printed = run("export", "--to", "-", str(folder))
    assert printed.out.splitlines() == (folder / "export.md").read_text().splitlines()
