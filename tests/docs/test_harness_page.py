"""The page on tasks, notifications and memory runs and is true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.docs.test_guide import blocks

from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import TaskStatus

PAGE = Path(__file__).parents[2] / "docs" / "harness.md"


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks(PAGE):
        if block.language == "python":
            exec(compile("\n" * block.line + block.text, str(PAGE), "exec"), names)
    assert names["agent"].plan().declared[0].mode.spills
    with Harness.open(tmp_path / "records") as harness:
        assert [task.status for task in harness.tasks.find().records] == [TaskStatus.SUCCEEDED]


def test_the_page_names_the_files_that_there_are() -> None:
    page, paths = PAGE.read_text("utf-8"), HarnessPaths(Path("root"))
    for path in (
        paths.header,
        paths.task_file("ID"),
        paths.events_file("ID"),
        paths.result_file("ID"),
        paths.notification("ID"),
        paths.memory_file("SCOPE", "KEY"),
        paths.cancel_file("ID"),
        paths.memory_index,
        paths.consent,
        paths.delivery_lock,
    ):
        name = path.relative_to("root").as_posix()
        shown = name.replace("ID", "<id>").replace("SCOPE", "<scope>").replace("KEY", "<key>")
        assert shown in page, shown


def test_every_state_of_a_task_is_explained() -> None:
    page = PAGE.read_text("utf-8")
    assert all(f"| `{status.value}` |" in page for status in TaskStatus)
