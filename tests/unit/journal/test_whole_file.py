"""A file is replaced whole, also while other programs tidy up."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.record_files import RecordFiles
from gemini_live_runtime.journal.files.disk import FileDisk
from gemini_live_runtime.journal.files.whole_file import NotSyncedError, remove_leftovers, write_whole


class TidiedDisk(FileDisk):
    """Disk on which another program removes leftovers just after a file was created."""

    def __init__(self, target: Path, times: int) -> None:
        self.target, self.times = target, times

    def create(self, path: Path) -> int:
        fd = super().create(path)
        if self.times:
            self.times -= 1
            remove_leftovers(FileDisk(), self.target)
        return fd


def test_a_new_file_that_another_program_takes_for_a_leftover_is_written_again(tmp_path: Path) -> None:
    target = tmp_path / "task.json"
    write_whole(TidiedDisk(target, 1), target, b"new")
    assert target.read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["task.json"]


def test_a_file_that_is_taken_each_time_is_an_error_and_the_old_one_stays(tmp_path: Path) -> None:
    target = tmp_path / "task.json"
    target.write_bytes(b"old")
    with pytest.raises(FileNotFoundError):
        write_whole(TidiedDisk(target, 100), target, b"new")
    assert target.read_bytes() == b"old"


def test_a_folder_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(FileDisk(), tmp_path / "gone" / "task.json", b"new")


class UnsyncedDisk(FileDisk):
    """Disk that cannot bring a folder to the device."""

    def sync_folder(self, path: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")


def test_a_file_that_only_its_folder_could_not_be_synced_for_is_said_to_be_written(tmp_path: Path) -> None:
    told = r"was written, but may be lost if the computer loses power: Input/output error"
    with pytest.raises(NotSyncedError):
        write_whole(UnsyncedDisk(), tmp_path / "a.json", b"new")
    with pytest.raises(HarnessError, match=f"b.json {told}"):
        RecordFiles(UnsyncedDisk()).write(tmp_path / "b.json", {"a": 1})
    assert (tmp_path / "a.json").read_bytes() == b"new"
    assert (tmp_path / "b.json").exists()
