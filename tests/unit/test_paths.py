"""Folders of this user, in any environment."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from gemini_live_runtime import paths


def test_the_runtime_folder_is_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert len({paths.runtime_dir() for _ in range(3)}) == 1


@pytest.mark.parametrize("given", ["", "relative/folder", "/no/such/folder"])
def test_an_unusable_runtime_folder_is_replaced_by_a_private_one(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", given)
    assert "glt-" in paths.runtime_dir().name or str(paths.runtime_dir()).startswith("/run/user/")


def test_a_runtime_folder_too_deep_for_a_socket_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 90)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    assert paths.runtime_dir().name.startswith("glt-")


def test_a_file_that_cannot_be_written_in_full_leaves_the_old_one_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    paths.write_private_text(path, "old")

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        paths.write_private_text(path, "new", sync=True)
    assert [(item.name, item.read_text()) for item in tmp_path.iterdir()] == [("config.toml", "old")]


def test_a_new_file_is_written_although_its_first_name_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: Path, missing_ok: bool = False) -> None:
        if not path.exists():
            raise FileNotFoundError
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "unlink", fails)
    paths.write_private_text(tmp_path / "work.toml", "new", new=True)
    assert (tmp_path / "work.toml").read_text() == "new"


def test_a_file_is_written_although_its_folder_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def fails_for_folders(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EIO, "Input/output error")
        sync(fd)

    monkeypatch.setattr(os, "fsync", fails_for_folders)
    paths.write_private_text(tmp_path / "config.toml", "new", sync=True)
    assert [(item.name, item.read_text()) for item in tmp_path.iterdir()] == [("config.toml", "new")]
