"""Open harnesses on a clock that the test moves."""

from __future__ import annotations

from pathlib import Path

from tests.support.quick_disk import QuickDisk

from gemini_live_runtime.harness.store import Harness


class Wall:
    """Wall clock of a test, in seconds."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def opened(root: Path, wall: Wall | None = None) -> Harness:
    return Harness.open(root, disk=QuickDisk(), wall=wall or Wall())
