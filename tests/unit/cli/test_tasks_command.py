"""`tasks`: list, show and cancel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.canaries import HOSTILE
from tests.support.command_line import run

from gemini_live_runtime.harness.paths import default_root
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import HarnessTask, NewRunningTask


@pytest.fixture
def harness() -> Iterator[Harness]:
    with Harness.open(default_root()) as opened:
        yield opened


def start(harness: Harness, tool: str = "write_report", **args: object) -> HarnessTask:
    metadata = {"toolName": tool, "toolArgs": args}
    return harness.tasks.start(NewRunningTask(title=f"Background tool: {tool}", metadata=metadata))


def test_without_tasks_the_list_says_so() -> None:
    assert run("tasks").out == "No task runs, and none has ended.\n"


@pytest.mark.parametrize(
    "command", [("tasks",), ("notify", "--list"), ("memory", "list"), ("memory", "search", "x")], ids=" ".join
)
def test_a_list_without_records_creates_no_folder(command: tuple[str, ...]) -> None:
    done = run(*command)
    assert (done.code, done.err) == (0, "")
    assert not default_root().exists()


def test_the_list_shows_a_line_each_the_newest_first(harness: Harness) -> None:
    done = start(harness, "search")
    harness.tasks.complete(done.id, {}, summary="3 found")
    task = start(harness)
    harness.tasks.progress(task.id, "page 4", fraction=0.4)
    head, *rows = run("tasks").out.splitlines()
    assert head.split() == ["TASK", "TOOL", "STATUS", "DONE", "AGE", "NEWEST"]
    assert [row.split()[1:4] for row in rows] == [["write_report", "running", "40%"], ["search", "succeeded", "0"]]
    assert rows[0].endswith("page 4")
    assert rows[1].endswith("3 found")


def test_the_list_is_also_json(harness: Harness) -> None:
    task = start(harness)
    (item,) = [json.loads(line) for line in run("tasks", "--json").out.splitlines()]
    assert (item["id"], item["status"]) == (task.id, "running")


def test_a_root_in_which_nothing_can_be_locked_hides_no_task(harness: Harness) -> None:
    task = start(harness)
    harness.paths.lock(harness.paths.tasks).unlink(missing_ok=True)
    harness.paths.lock(harness.paths.tasks).mkdir()
    ended = run("tasks")
    assert ended.code == 1
    assert task.id[-12:] in ended.out
    assert "tasks.lock cannot be written" in ended.err


def test_a_task_is_shown_by_the_end_of_its_id(harness: Harness) -> None:
    task = start(harness, pages=12)
    harness.tasks.fail(task.id, "no paper")
    shown = run("tasks", "show", task.id[-8:])
    assert shown.code == 0
    for text in (task.id, "failed", '{"pages": 12}', "no paper", "created", "started"):
        assert text in shown.out, text
    told = json.loads(run("tasks", "show", task.id, "--json").out)
    assert [event["type"] for event in told["events"]] == ["created", "started", "failed"]


def test_a_task_of_a_living_program_is_asked_to_end(harness: Harness) -> None:
    task = start(harness)
    assert "is asked to end" in run("tasks", "cancel", task.id, "--reason", "not needed").out
    assert harness.tasks.cancel_request(task.id) == "not needed"


def test_json_may_stand_before_the_subcommand(harness: Harness) -> None:
    task = start(harness)
    assert json.loads(run("tasks", "--json", "show", task.id).out)["task"]["id"] == task.id
    assert json.loads(run("tasks", "--json", "cancel", task.id).out)["id"] == task.id


def test_a_task_whose_program_is_gone_is_interrupted_as_soon_as_somebody_looks(harness: Harness) -> None:
    start(harness)
    harness.close()
    assert run("tasks").out.splitlines()[1].split()[2] == "interrupted"


def test_a_task_that_has_ended_cannot_be_cancelled(harness: Harness) -> None:
    task = start(harness)
    harness.tasks.complete(task.id)
    ended = run("tasks", "cancel", task.id)
    assert ended.code == 1
    assert "has ended already" in ended.sentence


@pytest.mark.parametrize("name", ["../../etc/passwd", "nothing", ""])
def test_a_name_of_no_task_is_refused_in_a_sentence(harness: Harness, name: str) -> None:
    start(harness)
    for command in ("show", "cancel"):
        ended = run("tasks", command, name)
        assert ended.code in (1, 2)
        assert "See: gemini-live-tui tasks" in ended.sentence


def test_an_end_that_several_tasks_share_is_refused(harness: Harness) -> None:
    for _ in range(40):
        start(harness)
    shared = next(
        digit
        for digit in "0123456789abcdef"
        if sum(task.id.endswith(digit) for task in harness.tasks.find().records) > 1
    )
    assert "Give more of the id" in run("tasks", "show", shared).sentence


def test_records_of_another_root_are_used(tmp_path: Path) -> None:
    with Harness.open(tmp_path / "other") as other:
        task = start(other)
        assert task.id[-12:] in run("tasks", "--root", str(tmp_path / "other")).out
        assert run("tasks", "--root", str(tmp_path / "other"), "show", task.id).code == 0
    assert "not both" in run("tasks", "--root", "x", "--profile", "y").sentence


@pytest.mark.parametrize("profile", ["../x", "a/b", "..", "\x1b[2J"])
def test_a_profile_that_is_no_name_is_refused(profile: str) -> None:
    assert "profile" in run("tasks", "--profile", profile).sentence


def test_a_damaged_record_hides_no_other_and_is_named(harness: Harness) -> None:
    task, damaged = start(harness), start(harness)
    harness.paths.task_file(damaged.id).write_text("{")
    ended = run("tasks")
    assert ended.code == 1
    assert task.id[-12:] in ended.out
    assert damaged.id in ended.err


def test_nothing_of_a_record_reaches_the_terminal_unsanitised(harness: Harness) -> None:
    task = start(harness, HOSTILE, text=HOSTILE)
    harness.tasks.progress(task.id, HOSTILE)
    harness.tasks.fail(task.id, HOSTILE)
    for ended in (run("tasks"), run("tasks", "show", task.id), run("tasks", "show", task.id, "--json")):
        assert ended.code == 0
        assert not ended.control


@pytest.mark.parametrize("root", ["", " ", "~nobody-of-this-name/x"])
def test_a_root_that_no_folder_can_be_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "root is " in run("tasks", "--root", root).sentence
    assert not list(tmp_path.iterdir())


def test_a_folder_with_files_of_others_is_no_root_and_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "main.py").touch()
    for command in (["tasks"], ["memory"], ["notify", "--list"]):
        assert "other files and no records: 'main.py'" in run(*command, "--root", str(tmp_path)).sentence
    assert [path.name for path in tmp_path.iterdir()] == ["main.py"]
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_damaged_task_is_shown_as_damaged_and_not_as_unknown(harness: Harness) -> None:
    task = start(harness)
    harness.paths.task_file(task.id).write_text("{")
    for command in ("show", "cancel"):
        assert "task.json is damaged: " in run("tasks", command, task.id[-12:]).sentence
