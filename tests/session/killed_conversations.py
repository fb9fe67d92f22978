"""Hold conversations in processes that are killed at a call on the disk.

    .venv/bin/python -m tests.session.killed_conversations --folder FOLDER --points 3,40,71

Each point is the number of a call on the disk. A process of its own is ended by SIGKILL before that call, or in the
middle of it when it is a write. Journal, snapshots and events go over the hub and the journal's thread.

Prints a JSON object: for each point how the process ended, and what had happened outside by then.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path
from typing import Any

from tests.session.link.test_conversations_on_a_failing_disk import converse
from tests.session.payment import Outside

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.journal.files.disk import FileDisk


class KillingDisk(FileDisk):
    """Disk that kills its process at call number `at` (from 1)."""

    def __init__(self, at: int) -> None:
        self._left = at

    def _is_last(self) -> bool:
        self._left -= 1
        return self._left == 0

    def _call(self) -> None:
        if self._is_last():
            os.kill(os.getpid(), signal.SIGKILL)

    def folder(self, path: Path) -> None:
        self._call()
        super().folder(path)

    def create(self, path: Path) -> int:
        self._call()
        return super().create(path)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self._is_last():
            super().write(fd, bytes(data[: len(data) // 2]))
            os.kill(os.getpid(), signal.SIGKILL)
        return super().write(fd, data)

    def replace(self, source: Path, target: Path) -> None:
        self._call()
        super().replace(source, target)

    def sync(self, fd: int) -> None:
        self._call()

    def sync_folder(self, path: Path) -> None:
        self._call()


class Reported(list[Any]):
    """List whose items are known outside of the process as soon as they are added."""

    def __init__(self, pipe: int, name: str) -> None:
        super().__init__()
        self._pipe, self._name = pipe, name

    def append(self, item: Any) -> None:
        os.write(self._pipe, json.dumps([self._name, item]).encode() + b"\n")
        super().append(item)


def killed_at(folder: Path, at: int) -> dict[str, Any]:
    """Hold the conversation in a process that is killed; return what is known of it."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        os.close(reader)
        disk = KillingDisk(at)
        outside = Outside(Reported(writer, "sent"), Reported(writer, "paid"))
        run_virtual(converse(folder, outside, disk, disk))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        reports = [json.loads(line) for line in pipe]
    _, status = os.waitpid(process, 0)
    return {
        "status": os.waitstatus_to_exitcode(status),
        **{kind: [item for name, item in reports if name == kind] for kind in ("sent", "paid")},
    }


def main() -> None:
    """Print the accounts of all points."""
    parser = argparse.ArgumentParser(prog="python -m tests.session.killed_conversations", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--points", required=True)
    chosen = parser.parse_args()
    print(json.dumps({at: killed_at(chosen.folder / at, int(at)) for at in chosen.points.split(",")}))


if __name__ == "__main__":
    main()
