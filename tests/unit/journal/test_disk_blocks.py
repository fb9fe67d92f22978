"""Tell in one line of the transcript what a full disk refuses."""

from __future__ import annotations

from tests.unit.journal.test_link_blocks import typed, view

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.view import Block

FULL = "No space left on device"


def notice(code: str, text: str, remedy: str = "") -> ev.Notice:
    return ev.Notice(level="error", code=code, text=text, remedy=remedy)


SOUND = notice(
    "audio-recording-stopped", f"Sound can no longer be recorded: {FULL}. What there is is kept.", "Free space"
)
FILE = notice("journal-failed", f"The session file cannot be written: {FULL}. The conversation goes on.", "Free space")
STATE = notice("snapshot", f"The session cannot be saved to /data/s.json: {FULL}")
TEXT = notice("not-on-disk", "A message was sent before the disk had it")
TASK = notice("harness", f"The end of the task taxi is not recorded yet, and tried again: /data/r.json: {FULL}")
AGAIN = notice("journal-recovered", "The session file is written again")


def notices(*payloads: ev.Payload) -> list[Block]:
    return [block for block in view(*payloads).blocks if block.kind == "notice"]


def test_all_that_a_full_disk_refuses_is_one_line() -> None:
    (line,) = notices(SOUND, FILE, typed("hello"), TEXT, STATE, STATE, TEXT)
    assert line.text == SOUND.text
    assert line.detail == (
        "Free space. The session file cannot be written, so events are kept in memory and written again later. "
        "What you send goes out before the disk has it. The session's state cannot be saved."
    )


def test_a_task_that_ends_on_a_full_disk_is_in_the_same_line() -> None:
    (line,) = notices(STATE, FILE, TASK, TASK)
    assert line.detail.endswith("written again later. The end of the task taxi is not recorded yet, and tried again.")


def test_a_task_whose_progress_a_full_disk_refuses_begins_the_line() -> None:
    path = "/data/tasks/task_1.x/task.json cannot be written"
    progress = notice("harness", f"Progress of the task taxi is not recorded: {path}: {FULL}", "Free space")
    end = notice("harness", f"The end of the task taxi is not recorded yet, and tried again: {path}: {FULL}")
    (line,) = notices(progress, STATE, FILE, progress, end, end)
    assert line.text == progress.text
    assert line.detail == (
        "Free space. The session's state cannot be saved. "
        "The session file cannot be written, so events are kept in memory and written again later. "
        "The end of the task taxi is not recorded yet, and tried again."
    )


def test_a_task_that_is_refused_for_another_reason_begins_no_line() -> None:
    other = notice("harness", "taxi is not recorded as a task: 100 tasks are open")
    assert len(notices(other, STATE)) == 2


def test_tasks_without_end_on_a_full_disk_make_no_line_without_end() -> None:
    tasks = [notice("harness", f"The end of the task {number} is not recorded yet: {FULL}") for number in range(50)]
    (line,) = notices(FILE, *tasks)
    assert len(line.detail) < 1_100


def test_a_disk_that_refuses_for_another_reason_has_a_line_of_its_own() -> None:
    other = notice("snapshot", "The session cannot be saved to /data/s.json: Permission denied")
    assert len(notices(FILE, other)) == 2


def test_once_there_is_room_again_the_next_refusal_is_a_line_of_its_own() -> None:
    assert [line.text for line in notices(FILE, AGAIN, typed("hello"), FILE)] == [FILE.text, AGAIN.text, FILE.text]


def test_warnings_about_snapshots_that_name_no_reason_stay_apart() -> None:
    assert len(notices(notice("snapshot", "Another session has saved as s"), STATE, FILE)) == 2
