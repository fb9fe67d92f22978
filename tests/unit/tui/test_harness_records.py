"""Records are read in a thread, and only what has changed is read again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.harness_records import queue, records, remember
from tests.support.manual_clock import ManualClock

from gemini_live_runtime.clock import LoopClock
from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.memory import MemoryRecord, MemoryWrite
from gemini_live_runtime.harness.memory_store import MemoryChangedError
from gemini_live_runtime.harness.record_files import RecordFiles
from gemini_live_runtime.harness.tasks import NewRunningTask
from gemini_live_tui.harness.records import Found, Records


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Records]:
    found = Records(str(tmp_path), ManualClock())
    yield found
    found.close()


async def test_the_clock_of_the_loop_is_read_in_the_loop(tmp_path: Path) -> None:
    with records(tmp_path) as harness:
        queue(harness)
    found = Records(str(tmp_path), LoopClock())
    assert len((await found.call(Records.look)).notifications) == 1
    found.close()


async def test_records_that_are_no_longer_shown_refuse_in_a_sentence(tmp_path: Path) -> None:
    found = Records(str(tmp_path), ManualClock())
    found.close()
    with pytest.raises(HarnessError, match="The console shows other records by now"):
        await found.call(Records.look)


def test_a_root_that_does_not_exist_is_empty_and_is_not_made(tmp_path: Path) -> None:
    found = Records(str(tmp_path / "none"), ManualClock())
    assert found.look() == Found()
    assert list(tmp_path.iterdir()) == []
    found.close()


def test_only_changed_files_are_read_again(there: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with records(tmp_path) as harness:
        first, second = queue(harness, "one"), queue(harness, "two")
        there.look()
        read: list[str] = []
        whole = RecordFiles.read

        def counted(files: RecordFiles, kind: type[object], path: str | Path) -> object:
            read.append(Path(path).stem)
            return whole(files, kind, path)

        harness.notifications.acknowledge(second.id)
        monkeypatch.setattr(RecordFiles, "read", counted)
        assert [item.status for item in there.look().notifications] == ["queued", "acknowledged"]
        assert read == [second.id]
        assert first.id not in read


def test_a_damaged_file_hides_no_other_and_is_named(there: Records, tmp_path: Path) -> None:
    with records(tmp_path) as harness:
        queue(harness)
    (tmp_path / "notifications" / "bad.json").write_text("{")
    found = there.look()
    assert [item.title for item in found.notifications] == ["the oven is ready"]
    assert len(found.problems) == 1
    assert "bad.json is damaged" in found.problems[0]


def test_records_of_a_newer_version_are_a_sentence(there: Records, tmp_path: Path) -> None:
    (tmp_path / "harness.json").write_text('{"format": "gemini-live-harness", "version": 99}')
    assert "has version 99, this program reads up to 1. Update gemini-live-tui" in there.look().error


def test_a_task_whose_program_has_ended_is_interrupted(there: Records, tmp_path: Path) -> None:
    with records(tmp_path) as harness:
        harness.tasks.start(NewRunningTask(title="build"))
    found = there.look()
    assert [(item.tool, item.status) for item in found.tasks] == [("build", "interrupted")]


def test_a_task_of_a_living_program_is_asked_to_end(there: Records, tmp_path: Path) -> None:
    with records(tmp_path) as harness:
        task = harness.tasks.start(NewRunningTask(title="build"))
        assert [item.lives for item in there.look().tasks] == [True]
        there.cancel(task.id, "enough")
        assert harness.tasks.cancel_request(task.id) == "enough"


def test_names_are_found_by_parts_and_values_by_words(there: Records, tmp_path: Path) -> None:
    with records(tmp_path) as harness:
        remember(harness, "diet", "vegetarian")
        remember(harness, "vehicle", "car")
        there.look()
        assert there.search("veh") == [("user", "vehicle")]
        assert there.search("ve") == [("user", "vehicle")]
        assert there.search("vegetarian") == [("user", "diet")]
        assert there.search("!") == []


def test_a_memory_that_another_program_has_changed_is_not_written_over(there: Records, tmp_path: Path) -> None:
    with records(tmp_path) as harness:
        seen = remember(harness)
        theirs = remember(harness, value="Grace")
        with pytest.raises(MemoryChangedError) as caught:
            there.write(seen, MemoryWrite(scope="user", key="name", value="mine"))
        assert caught.value.found == theirs


def test_a_deleted_memory_comes_back_as_it_was(there: Records, tmp_path: Path) -> None:
    with records(tmp_path) as harness:
        before = remember(harness, value={"first": "Ada"})
        deleted = there.delete_memory(("user", "name"))
        assert deleted == before
        with pytest.raises(HarnessError):
            harness.memory.get("user", "name")


def test_only_wanted_values_are_read(there: Records, tmp_path: Path) -> None:
    with records(tmp_path) as harness:
        one = remember(harness)
        remember(harness, "diet", "x")
        (tmp_path / "memory" / "user" / "bad.json").write_text("{")
        assert there.look().memories == (("user", "bad"), ("user", "diet"), ("user", "name"))
        values = there.memories([("user", "name"), ("user", "bad"), ("user", "gone")])
        assert values["user", "name"] == one
        assert isinstance(values["user", "bad"], str)
        assert values["user", "gone"] is None
        assert all(isinstance(value, MemoryRecord | str | None) for value in values.values())


def test_a_notification_queued_again_has_its_content_and_no_time_that_is_over(there: Records, tmp_path: Path) -> None:
    wall_ms = round(ManualClock().wall() * 1000)
    with records(tmp_path, age_s=60.0) as harness:
        old = queue(harness, body="It has 200 degrees.", expires_at_ms=wall_ms - 1, due_at_ms=wall_ms - 30_000)
        asyncio.run(there.call(lambda records: records.queue_again(old)))
        new = next(one for one in harness.notifications.find().records if one.id != old.id)
        assert (new.title, new.body, new.source) == (old.title, old.body, old.source)
        assert (new.expires_at_ms, new.due_at_ms) == (None, None)
