"""Fail each file-system call of saving a snapshot in turn.

Afterwards either the old snapshot or the new one is there, whole.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty_disk import FaultyFileDisk, Killed

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot
from gemini_live_runtime.session.persistence.stores import FsPersistence
from gemini_live_runtime.state.store import State


def snapshot(turns: int) -> SessionSnapshot:
    state = State({"app:text": "x" * 3000 * turns})
    return SessionSnapshot.take(state, session_id="s1", wall=0.0, turn_count=turns)


def disks(fault: int | str, **how: bool) -> Iterator[FaultyFileDisk]:
    for at in range(1, 100):
        disk = FaultyFileDisk(at, fault, **how)
        yield disk
        if not disk.failed:
            assert at > 6
            return
    raise AssertionError("saving never ends")


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("fault", ["kill", errno.ENOSPC, errno.EIO])
def test_whatever_fails_the_old_snapshot_or_the_new_one_is_there_whole(
    fault: int | str, half: bool, tmp_path: Path
) -> None:
    outcomes = set()
    for number, disk in enumerate(disks(fault, half=half)):
        folder = tmp_path / str(number)
        run_virtual(FsPersistence(folder).save(snapshot(1)))
        with contextlib.suppress(Killed, JournalError):
            run_virtual(FsPersistence(folder, disk=disk).save(snapshot(2)))
        assert fault == "kill" or not list(folder.glob(".*"))
        found = run_virtual(FsPersistence(folder).load("s1"))
        assert found in (snapshot(1), snapshot(2))
        outcomes.add(found.turn_count if found else 0)
        run_virtual(FsPersistence(folder).save(snapshot(3)))
        assert [path.name for path in folder.iterdir()] == ["s1.json"]
    assert outcomes == {1, 2}


@pytest.mark.parametrize("fault", ["kill", errno.EIO])
def test_a_damaged_file_survives_whatever_fails_while_another_takes_its_place(fault: int | str, tmp_path: Path) -> None:
    for number, disk in enumerate(disks(fault)):
        folder = tmp_path / str(number)
        folder.mkdir(mode=0o700)
        (folder / "s1.json").write_bytes(b"damaged")
        with contextlib.suppress(Killed, JournalError):
            run_virtual(FsPersistence(folder, disk=disk).save(snapshot(2)))
        assert b"damaged" in [path.read_bytes() for path in folder.iterdir()]
