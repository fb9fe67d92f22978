"""Open a harness: the tasks, notifications and memory beneath one folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.consent_store import ConsentStore
from gemini_live_runtime.harness.memory_store import MemoryStore
from gemini_live_runtime.harness.notification_store import NotificationStore
from gemini_live_runtime.harness.paths import DEFAULT_PROFILE, HarnessPaths, default_root, root_path
from gemini_live_runtime.harness.record_files import VERSION, RecordFiles
from gemini_live_runtime.harness.task_store import TaskStore
from gemini_live_runtime.journal.files.disk import FileDisk
from gemini_live_runtime.journal.files.whole_file import remove_leftovers
from gemini_live_runtime.plain_types import JSON_CONFIG
from gemini_live_runtime.records import keyword_record

FORMAT = "gemini-live-harness"

MAX_DAYS = 90
MAX_TASKS = 10_000
MAX_NOTIFICATIONS = 10_000
"""Days that ended tasks and acknowledged notifications are kept, and how many of them at most."""


@keyword_record
class _Header:
    __pydantic_config__ = JSON_CONFIG

    format: str = FORMAT
    version: int = VERSION


class Harness:
    """Tasks, notifications and memory of one root.

    The files are the truth: other programs may read them, and any number of harnesses may be open on one root. All
    methods wait for the disk, so a program with an event loop calls them in a thread. Errors are `HarnessError`.
    """

    def __init__(self, paths: HarnessPaths, files: RecordFiles, wall: Callable[[], float]) -> None:
        """Create one with `open`, `open_profile` or `open_default`."""
        self.paths = paths
        self.files = files

        def wall_ms() -> int:
            return round(wall() * 1000)

        self._wall_ms = wall_ms
        self.notifications = NotificationStore(paths, files, wall_ms)
        self.tasks = TaskStore(paths, files, self.notifications, wall_ms)
        self.memory = MemoryStore(paths, files, wall_ms)
        self.consent = ConsentStore(paths, files, wall_ms)

    @classmethod
    def open(cls, root: str | Path, *, disk: FileDisk | None = None, wall: Callable[[], float] = time.time) -> Harness:
        """Open a root, and create what is missing of it.

        `wall` returns Unix seconds. Raises `HarnessError` for a root that is no folder of ours, a symbolic link, of a
        newer version, or that cannot be written.
        """
        paths = HarnessPaths(root_path(root))
        files = RecordFiles(disk)
        harness = cls(paths, files, wall)
        harness._create()
        return harness

    @classmethod
    def open_profile(cls, profile: str = DEFAULT_PROFILE) -> Harness:
        """Open the root of a profile in the data folder."""
        return cls.open(default_root(profile))

    @classmethod
    def open_default(cls) -> Harness:
        """Open the root of the default profile."""
        return cls.open_profile()

    def _create(self) -> None:
        if os.path.exists(self.paths.root) and not os.path.isdir(self.paths.root):
            raise HarnessError(
                f"{self.paths.root} is no folder",
                remedy="Give the folder that is to hold the records",
                field="root",
                value=str(self.paths.root),
            )
        found = self.files.read(_Header, self.paths.header)
        if found is None:
            self._refuse_foreign()
        if found is not None and found.format != FORMAT:
            raise HarnessError(
                f"{self.paths.root} belongs to another program",
                remedy="Give another folder",
                field="root",
                value=str(self.paths.root),
            )
        for folder in (
            self.paths.root,
            self.paths.tasks,
            self.paths.notifications,
            self.paths.memory,
            self.paths.instances,
        ):
            self.files.folder(folder)
        if found is None:
            self.files.write(self.paths.header, _Header())

    def _refuse_foreign(self) -> None:
        """Raise `HarnessError` for a folder with files of others.

        It would get mode 0700: as the root of the records, `/` would lock out everybody else.
        """
        ours = {path.name for path in self.paths.of_ours}
        try:
            names = os.listdir(self.paths.root)
        except FileNotFoundError:
            return
        except OSError as error:
            raise HarnessError(
                f"{self.paths.root} cannot be read: {error.strerror or error}",
                remedy="Give another folder",
                field="root",
                value=str(self.paths.root),
            ) from None
        leftovers = f".{self.paths.header.name}."
        other = next((name for name in sorted(names) if name not in ours and not name.startswith(leftovers)), None)
        if other is not None:
            raise HarnessError(
                f"{self.paths.root} has other files and no records: {other[:60]!r}",
                remedy="Give a folder of its own, which need not exist",
                field="root",
                value=str(self.paths.root),
            )

    def reconcile(self) -> None:
        """Bring order after programs that ended in the middle of something.

        Tasks of programs that have ended are interrupted, half-written ends finished, leftovers of writes removed, and
        old records deleted. Tasks of living programs stay as they are.
        """
        self.tasks.reconcile()
        for folder in (self.paths.root, self.paths.notifications):
            remove_leftovers(self.files.disk, folder / "*")
        for task in self.paths.tasks.glob("*"):
            remove_leftovers(self.files.disk, task / "*")
        self.memory.remove_leftovers()
        before = self._wall_ms() - MAX_DAYS * 86_400_000
        self.tasks.retire(before, MAX_TASKS)
        self.notifications.retire(before, MAX_NOTIFICATIONS)

    def close(self) -> None:
        """Give the instance lock back.

        Tasks that still run here count as interrupted from now on.
        """
        self.tasks.close()

    def __enter__(self) -> Harness:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
