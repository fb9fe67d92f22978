"""Runs a Python program in a pseudo terminal and reads what really reaches it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from tests.support.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]


class PseudoTerminal:
    """A program in a terminal of its own; everything it writes is kept in `seen`."""

    def __init__(
        self, program: str, *, size: tuple[int, int] = (120, 36), python: Path | None = None, **environment: str
    ) -> None:
        """Run `program` with this checkout, or with the installation of another `python`."""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        path = os.pathsep.join(str(ROOT / part) for part in (".", "tui", "runtime"))
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TMUX", "COLORTERM")}
        values = {**kept, "TERM": "xterm-256color", "PYTHONPATH": path, **environment}
        if python is not None and "PYTHONPATH" not in environment:
            del values["PYTHONPATH"]
        self.process = subprocess.Popen(
            [str(python or sys.executable), "-c", program],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=values,
            cwd=ROOT if python is None else python.parent,
        )
        os.close(slave)
        self.seen = b""
        self._looked_at = 0

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)

    def type(self, keys: bytes) -> None:
        """Send what a keyboard would, and look only for what comes from now on."""
        self.forget()
        os.write(self.master, keys)

    def forget(self) -> None:
        """Look only for what comes from now on."""
        self._looked_at = len(self.seen)

    def read_until(self, *texts: bytes) -> bytes:
        """Read until one of `texts` comes, and return all up to it since the last one."""
        start = self._looked_at
        self.read_while(lambda: not any(text in self.seen[start:] for text in texts), f"{texts!r}")
        # On a busy machine what is waited for next may have come in the same piece.
        self._looked_at = min(self.seen.index(text, start) + len(text) for text in texts if text in self.seen[start:])
        return self.seen[start : self._looked_at]

    def read_while(self, condition: Callable[[], bool], what: str) -> None:
        """Read as long as a condition holds: a full terminal would stop the program."""
        deadline = time.monotonic() + PATIENCE_S
        while condition():
            ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"waited for {what} in vain: {self.seen[-3000:]!r}"
            self.seen += os.read(self.master, 65536)
