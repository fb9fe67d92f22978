"""Write to the real disk without waiting for the device."""

from __future__ import annotations

from pathlib import Path

from gemini_live_runtime.journal.files.disk import FileDisk


class QuickDisk(FileDisk):
    """Real disk that does not wait for the device, most of the time of such tests."""

    def sync(self, fd: int) -> None:
        """Do nothing."""

    def sync_folder(self, path: Path) -> None:
        """Do nothing."""
