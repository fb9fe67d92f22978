"""Move sessions to the trash: whole, private, restorable, bounded in size."""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from pathlib import Path

import pytest
from tests.faults.faulty_disk import FaultyDisk
from tests.support.recordings import Recorder, debt_call

from gemini_live_runtime import paths
from gemini_live_runtime.errors import GeminiLiveError, JournalError, UsageError
from gemini_live_runtime.journal.sessions import trash
from gemini_live_runtime.journal.sessions.catalog import CACHE_FILE, DELETED_FILE, list_entries, rename
from gemini_live_runtime.journal.sessions.trash import delete, empty, expire, list_trash, restore, trash_dir


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return paths.private_dir(tmp_path / "sessions")


def test_a_deleted_session_comes_back_as_it_was(root: Path) -> None:
    folder = debt_call().write(root, tracks={"user": b"\1\0" * 100})
    rename(folder, "Mine")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert delete(root, "s1", wall=lambda: 1.5e9) == "s1"
    assert list_entries(root) == []
    (entry,) = list_trash(root)
    assert (entry.id, entry.title, entry.flags) == ("s1", "Mine", ("sound", "1 interruption"))
    assert entry.deleted_at == 1.5e9
    assert stat.S_IMODE(trash_dir(root).stat().st_mode) == 0o700
    assert restore(root, "s1") == "s1"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert list_trash(root) == []


def test_a_running_session_is_not_deleted(root: Path) -> None:
    made = Recorder()
    made.start()
    writer = made.writer(root)
    with pytest.raises(JournalError, match=r"is running.*stop s1"):
        delete(root, "s1")
    assert (root / "s1").is_dir()
    assert not (root / "s1" / DELETED_FILE).exists()
    writer.close()
    delete(root, "s1")


@pytest.mark.parametrize("name", ["..", "../x", "/etc", "a/b", "", ".hidden"])
def test_a_name_that_could_lead_elsewhere_is_refused(root: Path, name: str) -> None:
    with pytest.raises(UsageError):
        delete(root, name)
    with pytest.raises(UsageError):
        restore(root, name)


def test_neither_a_link_nor_what_is_not_there_is_moved(root: Path, tmp_path: Path) -> None:
    outside = debt_call().write(tmp_path / "elsewhere")
    (root / "link").symlink_to(outside)
    for name in ("link", "nothing"):
        with pytest.raises(JournalError, match="There is no session"):
            delete(root, name)
    with pytest.raises(JournalError, match="in the trash"):
        restore(root, "nothing")
    assert outside.is_dir()


def test_two_of_a_name_both_wait_and_neither_is_overwritten_by_the_other(root: Path) -> None:
    debt_call(agent="one").write(root)
    delete(root, "s1")
    debt_call(agent="two").write(root)
    assert delete(root, "s1") == "s1.2"
    assert restore(root, "s1.2") == "s1"
    assert list_entries(root)[0].agent == "two"
    with pytest.raises(JournalError, match="another session s1"):
        restore(root, "s1")
    assert [entry.agent for entry in list_trash(root)] == ["one"]


def test_a_stamp_that_names_a_place_elsewhere_restores_nothing(root: Path) -> None:
    debt_call().write(root)
    delete(root, "s1")
    (trash_dir(root) / "s1" / DELETED_FILE).write_text(json.dumps({"id": "../../evil", "when": 1.0}))
    with pytest.raises(GeminiLiveError):
        restore(root, "s1")
    assert (trash_dir(root) / "s1").is_dir()


def _deleted(root: Path, name: str, when: float) -> None:
    debt_call().write(root, name)
    delete(root, name, wall=lambda: when)


def test_what_was_deleted_thirty_days_ago_goes(root: Path) -> None:
    now = 2e9
    _deleted(root, "old", now - 30 * 86_400 - 1)
    _deleted(root, "young", now - 30 * 86_400 + 1)
    assert expire(root, now).session_ids == ("old",)
    assert [entry.id for entry in list_trash(root)] == ["young"]


def test_what_is_too_much_goes_oldest_deletion_first_but_never_the_last(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(("a", "b", "c")):
        _deleted(root, name, 2e9 + number)
    size = list_trash(root)[0].total_bytes
    monkeypatch.setattr(trash, "MAX_TRASH_BYTES", 2 * size + 50)
    assert expire(root, 2e9 + 10).session_ids == ("a",)
    monkeypatch.setattr(trash, "MAX_TRASH_BYTES", 0)
    assert expire(root, 2e9 + 10).session_ids == ("b",)
    assert [entry.id for entry in list_trash(root)] == ["c"]


def test_emptying_takes_all_and_tells_what_stays(root: Path) -> None:
    _deleted(root, "a", 2e9)
    _deleted(root, "b", 2e9)
    (trash_dir(root) / "b" / "precious").mkdir()
    (trash_dir(root) / "b" / "precious" / "file").write_text("mine")
    emptied = empty(root)
    assert emptied.session_ids == ("a",)
    assert emptied.bytes_freed > 1000
    assert emptied.not_deleted[0][0] == "b"
    assert (trash_dir(root) / "b" / "precious" / "file").exists()


def test_a_disk_that_refuses_is_told(root: Path) -> None:
    _deleted(root, "a", 2e9)
    emptied = empty(root, disk=FaultyDisk(1, 5))
    assert emptied.not_deleted[0][0] == "a"
    assert [entry.id for entry in list_trash(root)] == ["a"]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
def test_deleting_and_restoring_need_no_free_space(root: Path, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    debt_call().write(root)
    list_entries(root, wall=lambda: time.time() + 10)
    make_folder, attempts = paths.private_dir, []

    def private_dir(path: Path) -> Path:
        attempts.append(path)
        if (root / CACHE_FILE).exists():
            raise OSError(error, "full")
        return make_folder(path)

    def write_private(path: Path, value: object) -> None:
        raise OSError(error, "full")

    with monkeypatch.context() as patch:
        patch.setattr(paths, "private_dir", private_dir)
        patch.setattr(paths, "write_private", write_private)
        assert delete(root, "s1", wall=lambda: 1.5e9) == "s1"
        assert attempts == [trash_dir(root)] * 2
        assert (trash_dir(root) / "s1").stat().st_mtime == 1.5e9
        expire(root, 1.5e9 + 29 * 86_400)
        assert [entry.id for entry in list_trash(root)] == ["s1"]
        assert restore(root, "s1") == "s1"
    delete(root, "s1", wall=lambda: 1.5e9)
    assert expire(root, 1.5e9 + 31 * 86_400).session_ids == ("s1",)


def test_without_a_trash_there_is_nothing_to_do(root: Path) -> None:
    assert (list_trash(root), expire(root, 2e9).session_ids, empty(root).session_ids) == ([], (), ())
    assert not trash_dir(root).exists()


@pytest.mark.parametrize(
    "stamp", ["", "noise", "[]", '{"when": "x"}', '{"when": null}', '{"id": 3}', '{"when": 1e999}']
)
def test_a_stamp_that_cannot_be_read_lets_nothing_go_early(root: Path, stamp: str) -> None:
    debt_call().write(root)
    delete(root, "s1")
    (trash_dir(root) / "s1" / DELETED_FILE).write_text(stamp)
    assert expire(root, time.time() + 60).session_ids == ()
    assert restore(root, "s1") == "s1"


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EROFS, "Mount the disk of {place} writable."),
        (errno.EACCES, "Give yourself the right to write in {place}."),
        (errno.ENOSPC, "To delete it for good: gemini-live-tui sessions purge s1."),
    ],
)
def test_the_remedy_for_a_session_that_cannot_be_moved_fits_the_cause(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int, remedy: str
) -> None:
    def refuse(folder: Path, target: Path) -> Path:
        raise OSError(number, os.strerror(number))

    debt_call().write(root)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(JournalError) as raised:
        delete(root, "s1")
    assert str(raised.value).endswith(remedy.format(place=root.parent))
