"""No secret gets into a record, from a session or another program."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness_support import opened

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.memory import MemoryAuthor, MemoryProvenance, MemoryWrite
from gemini_live_runtime.harness.notifications import NewNotification
from gemini_live_runtime.harness.tasks import NewRunningTask
from gemini_live_runtime.redactor import REDACTED

KEY = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"
TEXT = f"the key is {KEY}"
NESTED = {"headers": [{"x-goog-api-key": KEY}], "note": TEXT}


def files(root: Path) -> str:
    return "".join(path.read_text() for path in root.rglob("*.json*"))


def test_notifications_have_none(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        one = harness.notifications.queue(
            NewNotification(title=TEXT, body=TEXT, payload=NESTED, source=TEXT, dedupe_key=TEXT)
        )
        harness.notifications.give_up(one.id, TEXT)
        assert one.title == f"the key is {REDACTED}"
    assert KEY not in files(tmp_path)


def test_memories_have_none_and_no_index_finds_one(tmp_path: Path) -> None:
    origin = MemoryProvenance(author=MemoryAuthor.PROGRAM, text=TEXT)
    with opened(tmp_path) as harness:
        memory = harness.memory.put(
            MemoryWrite(scope="user", key="a", value=NESTED, summary=TEXT, metadata=NESTED, provenance=origin)
        )
        assert memory.value["note"] == f"the key is {REDACTED}"
        assert not harness.memory.search(KEY).records
        assert KEY.encode() not in harness.paths.memory_index.read_bytes()
    assert KEY not in files(tmp_path)


def test_tasks_their_events_results_and_requests_have_none(tmp_path: Path) -> None:
    new = NewRunningTask(title=TEXT, instructions=TEXT, metadata=NESTED)
    with opened(tmp_path) as harness:
        ids = [harness.tasks.start(new).id for _ in range(4)]
        harness.tasks.progress(ids[0], TEXT, details=NESTED)
        harness.tasks.complete(ids[0], NESTED, summary=TEXT)
        harness.tasks.fail(ids[1], TEXT)
        harness.tasks.cancel(ids[2], TEXT)
        with opened(tmp_path) as other:
            other.tasks.request_cancel(ids[3], TEXT)
        assert harness.paths.cancel_file(ids[3]).exists()
        assert KEY not in files(tmp_path)


def test_a_task_whose_arguments_had_one_is_not_started_anew(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        assert harness.tasks.start(NewRunningTask(title="a", metadata=NESTED, restart="again")).restart is None
        plain = NewRunningTask(title="a", metadata={"toolArgs": {"n": [1, 2]}}, restart="again")
        assert harness.tasks.start(plain).restart == "again"


def test_values_with_too_many_levels_are_refused_in_a_sentence(tmp_path: Path) -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with opened(tmp_path) as harness:
        with pytest.raises(HarnessError, match="payload has too many levels"):
            harness.notifications.queue(NewNotification(title="a", payload=value))
        task = harness.tasks.start(NewRunningTask(title="a"))
        with pytest.raises(HarnessError, match="output has too many levels"):
            harness.tasks.complete(task.id, value)


@pytest.mark.parametrize("title", ["\x1b[2J", "\u202e\u200b", "\x00"])
def test_a_notification_of_which_nothing_can_be_seen_is_refused(tmp_path: Path, title: str) -> None:
    with opened(tmp_path) as harness, pytest.raises(HarnessError, match="needs a text"):
        harness.notifications.queue(NewNotification(title=title))
