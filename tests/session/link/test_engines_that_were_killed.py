"""A process that is killed in a conversation leaves enough to go on with."""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

import pytest
from tests.session.link.test_engines_killed_at_any_write import Image, go_on
from tests.support.told_by_process import told_by

from gemini_live_runtime.clock import run_virtual

CALLS = 80
"""Calls on the disk during a conversation, about."""

POINTS = list(range(1, CALLS + 1)) if os.environ.get("SOAK") else sorted(random.Random(7).sample(range(1, CALLS), 12))


@pytest.mark.skipif(sys.platform == "win32", reason="the processes are forked")
def test_a_killed_process_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    points = ",".join(map(str, POINTS))
    told = told_by("tests.session.killed_conversations", "--folder", str(tmp_path / "killed"), "--points", points)
    ends = [found["status"] for found in told.values()]
    assert ends.count(-signal.SIGKILL) > 0.8 * len(POINTS), ends
    for at, found in told.items():
        folder = tmp_path / "killed" / at
        files = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        if found["status"]:
            run_virtual(go_on(tmp_path / f"next-{at}", Image(files, found["sent"], found["paid"])))
