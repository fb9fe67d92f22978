"""Let a group of processes die with the program that has started it."""

from __future__ import annotations

import contextlib
import subprocess

_WATCH = 'read -r over || kill -s KILL -- "-$1"'
"""Script that kills a group when its input ends without a line: the kernel closes the pipe of a program that dies."""


class GroupGuard:
    """Process that kills a group once this program has died, however it does."""

    def __init__(self, group: int) -> None:
        """`group` is the number of the group; does nothing where there is no shell."""
        self._shell: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", _WATCH, "sh", str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                # Neither a key in the terminal nor the end of the watched group reaches it.
                start_new_session=True,
                close_fds=True,
                bufsize=0,
            )

    def release(self) -> None:
        """End the guard; to be called while the group's number is still taken."""
        if self._shell is not None:
            with contextlib.suppress(OSError):
                self._shell.communicate(b"over\n")
