"""Open harnesses on a clock that the test moves."""

from __future__ import annotations

from pathlib import Path

from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.journal.disk import FileDisk


class Wall:
    """Wall clock of a test, in seconds."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class QuickDisk(FileDisk):
    """The real disk without waiting for the device.

    Waiting takes most of the time of these tests.
    """

    def sync(self, fd: int) -> None:
        pass

    def sync_folder(self, path: Path) -> None:
        pass


def opened(root: Path, wall: Wall | None = None) -> Harness:
    return Harness.open(root, disk=QuickDisk(), wall=wall or Wall())
