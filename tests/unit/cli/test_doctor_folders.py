"""Doctor says of each folder what is wrong with it, and what helps."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gemini_live_runtime import paths
from gemini_live_tui.cli import checks


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    found = {"sessions": tmp_path / "data" / "sessions", "engines": tmp_path / "run"}
    monkeypatch.setattr(paths, "sessions_dir", lambda: found["sessions"])
    monkeypatch.setattr(paths, "runtime_dir", lambda: found["engines"])
    return found


def found_of(name: str) -> checks.Check:
    (check,) = (check for check in checks._folders() if check.name == name)
    return check


def dangle(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def write(path: Path) -> None:
    path.write_text("x")


@pytest.mark.parametrize("name", ["sessions", "engines"])
@pytest.mark.parametrize("make", [dangle, os.mkfifo, write], ids=["dangling link", "pipe", "file"])
def test_what_is_no_folder_is_told_with_its_remedy(
    folders: dict[str, Path], name: str, make: Callable[[Path], None]
) -> None:
    folders[name].parent.mkdir(exist_ok=True)
    make(folders[name])
    check = found_of(name)
    assert check.state == "failed"
    assert str(folders[name]) in check.found
    assert "Error" not in check.found
    assert check.remedy.startswith("Remove it, or set XDG_")


def test_a_file_above_the_folders_is_named(folders: dict[str, Path]) -> None:
    write(folders["sessions"].parent)
    assert found_of("sessions").found == f"{folders['sessions'].parent} is not a folder"


def test_folders_that_are_made_at_need_are_fine(folders: dict[str, Path]) -> None:
    assert [check.state for check in checks._folders()] == ["ok", "ok"]
    assert not folders["engines"].exists()


def test_a_folder_that_cannot_be_looked_at_is_a_sentence(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> Path:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(paths, "own_folder", refuse)
    check = found_of("engines")
    assert check.found == f"{folders['engines']} cannot be used: Permission denied"
    assert check.remedy.startswith("Set XDG_DATA_HOME and XDG_RUNTIME_DIR")
