"""Engines are listed with what keeps each of them running."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gemini_live_runtime.engine.registry import EngineInfo
from gemini_live_runtime.engine.status import EngineStatus
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import NewRunningTask
from gemini_live_tui.cli.engines import _why_it_stays, ps

ENGINE = EngineInfo(session_id="s1", pid=os.getpid(), agent="concierge", backend="local", started=0.0, program="test")


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (EngineStatus(word="listening", consoles=1), "a console"),
        (EngineStatus(word="dormant", consoles=2), "dormant, 2 consoles"),
        (EngineStatus(word="listening", alone_s=180.0, ends_in_s=120.0), "no console for 3 min, ends in 2 min"),
        (EngineStatus(word="offline", alone_s=9.0, tasks=1, finishes=True), "1 task, and ends after that"),
        (EngineStatus(word="listening"), "listening"),
        (None, "it does not answer"),
    ],
)
def test_the_reason_is_in_words(status: EngineStatus | None, why: str) -> None:
    assert _why_it_stays(ENGINE, status) == why


def test_the_latest_limit_of_its_tasks_is_named(tmp_path: Path) -> None:
    with Harness.open(tmp_path) as harness:
        harness.tasks.start(NewRunningTask(title="a", limit_s=60))
        last = harness.tasks.start(NewRunningTask(title="b", limit_s=7200))
        assert last.limit_at_ms is not None
        limit = time.strftime("%H:%M", time.localtime(last.limit_at_ms / 1000))
        status = EngineStatus(word="listening", tasks=2, harness_root=str(tmp_path), consoles=1)
        assert _why_it_stays(ENGINE, status) == f"2 tasks until at most {limit}, a console"


def test_records_that_cannot_be_read_leave_the_rest(tmp_path: Path) -> None:
    (tmp_path / "harness.json").write_text("{}x")
    status = EngineStatus(word="listening", tasks=2, harness_root=str(tmp_path), consoles=1)
    assert _why_it_stays(ENGINE, status) == "2 tasks, a console"


@pytest.mark.parametrize(("columns", "rows"), [(80, 3), (200, 2)])
def test_what_does_not_fit_beside_a_row_is_below_it(
    columns: int, rows: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status = EngineStatus(word="listening", alone_s=3.0, ends_in_s=297.0)
    engine = replace(ENGINE, session_id="20261128-101858-7823")
    monkeypatch.setattr("gemini_live_runtime.engine.registry.list_engines", lambda: [engine])
    monkeypatch.setattr("gemini_live_runtime.engine.poke.status_of", lambda session: status)
    monkeypatch.setattr("gemini_live_tui.cli.engines.time.time", lambda: 75.0)
    monkeypatch.setattr("gemini_live_tui.cli.sessions.columns", lambda: columns)
    assert ps.callback is not None
    ps.callback(as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == rows
    assert "    1:15" in lines[1]
    assert all(len(line) <= columns for line in lines)
    assert lines[-1].endswith("no console for 3 s, ends in 5 min")
    assert lines[0].endswith("WHY") is (columns == 200)
