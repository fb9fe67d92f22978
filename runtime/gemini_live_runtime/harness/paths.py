"""Name the files of a harness root, and find the root of a profile."""

from __future__ import annotations

from pathlib import Path

from gemini_live_runtime import paths
from gemini_live_runtime.errors import HarnessError, UsageError
from gemini_live_runtime.harness.choices import check_text
from gemini_live_runtime.records import record

DEFAULT_PROFILE = "default"

MAX_PROFILE_NAME = 64
"""Characters of the longest name of a profile."""


def default_root(profile: str = DEFAULT_PROFILE) -> Path:
    """Return the root of a profile in the data folder; it may not exist.

    Raises `UsageError` for a name that is no file name.
    """
    return paths.data_dir() / "harness" / check_profile_name(profile or DEFAULT_PROFILE)


def root_path(root: str | Path) -> Path:
    """Return the folder of a root, absolute and with `~` expanded; it may not exist.

    Raises `HarnessError` for the home of a user that does not exist.
    """
    try:
        return paths.expand_user(root, field="root").absolute()
    except UsageError as error:
        raise HarnessError(error.message, remedy=error.remedy, field="root", value=str(root)[:80]) from None


def may_exist(path: Path) -> bool:
    """Return False when a record is certainly not there.

    True for one in a folder that cannot be read, so that reading it tells why.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


def is_profile_name(name: str) -> bool:
    """Return True for a name that a profile may have."""
    return paths.is_safe_name(name) and len(name) <= MAX_PROFILE_NAME


def check_profile_name(name: str) -> str:
    """Return a profile's name when it is safe as a file name, else raise `UsageError`."""
    if not is_profile_name(name):
        raise UsageError(
            f"profile is {name!r:.60}, which cannot be used as a file name",
            remedy=f"Use letters, digits, dots, dashes and underscores, at most {MAX_PROFILE_NAME}",
            field="profile",
            value=name,
        )
    return name


@record
class HarnessPaths:
    """Files and folders beneath the root of a harness.

    ```
    harness.json                     format and version
    tasks/<id>/                      folder of a task, locked by the program that runs it
    tasks/<id>/task.json             its record
    tasks/<id>/events.jsonl          its events, one a line
    tasks/<id>/result.json           its result, once it has succeeded
    tasks/<id>/cancel.json           request to cancel it
    tasks/<id>/restart               empty; it may be started anew while its end is not recorded
    notifications/<id>.json
    memory/<scope>/<key>.json
    memory.index                     words of the memories, made from their files
    instances/<id>.lock              locked by the program that runs tasks, as long as it lives
    calls/<hash>.lock                locked by the program that runs a call, until that has ended or is a task
    consent.json                     grants that are remembered, and policies of tools
    delivery.lock                    locked by the engine that delivers notifications
    ```
    """

    root: Path

    @property
    def header(self) -> Path:
        """File with format and version."""
        return self.root / "harness.json"

    @property
    def of_ours(self) -> tuple[Path, ...]:
        """Files and folders that a root may have."""
        kinds = (self.tasks, self.notifications, self.memory, self.instances)
        locks = (*map(self.lock, kinds), self.consent_lock, self.delivery_lock)
        index = [
            self.memory_index.with_name(f"{self.memory_index.name}{end}") for end in ("", "-journal", "-wal", "-shm")
        ]
        return (self.header, *kinds, *locks, *index, self.consent, self.calls)

    @property
    def tasks(self) -> Path:
        """Folder of tasks."""
        return self.root / "tasks"

    @property
    def notifications(self) -> Path:
        """Folder of notifications."""
        return self.root / "notifications"

    @property
    def memory(self) -> Path:
        """Folder of memory, with a folder for each scope."""
        return self.root / "memory"

    @property
    def memory_index(self) -> Path:
        """Index of the search in memory; it may be deleted."""
        return self.root / "memory.index"

    @property
    def instances(self) -> Path:
        """Folder of the locks of programs that run tasks."""
        return self.root / "instances"

    @property
    def calls(self) -> Path:
        """Folder of the locks of calls that may become tasks."""
        return self.root / "calls"

    def call_lock(self, key: str) -> Path:
        """Return the lock of the call with a hash.

        Raises `HarnessError` for a hash that is no file name.
        """
        return self.calls / f"{segment(key, 'call')}.lock"

    @property
    def consent(self) -> Path:
        """File of remembered grants and policies."""
        return self.root / "consent.json"

    @property
    def consent_lock(self) -> Path:
        """Lock of those who change it."""
        return self.root / "consent.lock"

    @property
    def delivery_lock(self) -> Path:
        """Lock of the engine that delivers notifications."""
        return self.root / "delivery.lock"

    def lock(self, folder: Path) -> Path:
        """Return the lock of those who change records in `folder`."""
        return self.root / f"{folder.name}.lock"

    def task(self, task_id: str) -> Path:
        """Return the folder of one task.

        Raises `HarnessError` for an id that is no file name.
        """
        return self.tasks / segment(task_id, "task id")

    def task_file(self, task_id: str) -> Path:
        """Return the record of one task."""
        return self.task(task_id) / "task.json"

    def events_file(self, task_id: str) -> Path:
        """Return the events of one task."""
        return self.task(task_id) / "events.jsonl"

    def result_file(self, task_id: str) -> Path:
        """Return the result of one task."""
        return self.task(task_id) / "result.json"

    def cancel_file(self, task_id: str) -> Path:
        """Return the request to cancel one task."""
        return self.task(task_id) / "cancel.json"

    def restart_file(self, task_id: str) -> Path:
        """Return the empty file of a task that may be started anew, until its tool ends."""
        return self.task(task_id) / "restart"

    def notification(self, notification_id: str) -> Path:
        """Return the record of one notification.

        Raises `HarnessError` for an id that is no file name.
        """
        return self.notifications / f"{segment(notification_id, 'notification id')}.json"

    def memory_scope(self, scope: str) -> Path:
        """Return the folder of a scope's memory.

        Raises `HarnessError` for a scope that is no file name.
        """
        return self.memory / segment(scope, "scope")

    def memory_file(self, scope: str, key: str) -> Path:
        """Return the record of one memory.

        Raises `HarnessError` for a scope or key that is no file name.
        """
        return self.memory_scope(scope) / f"{segment(key, 'key')}.json"


def segment(name: str, field: str) -> str:
    """Return a name when it is safe as a part of a path, else raise `HarnessError`.

    Safe are at most 80 letters, digits, `.`, `_`, `-` without `..`, starting with a letter or digit.
    """
    try:
        return paths.safe_name(check_text(name, field=field), field=field)
    except UsageError as error:
        raise HarnessError(error.message, remedy=error.remedy, field=field, value=name[:80]) from None
