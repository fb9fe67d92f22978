"""Run a program in a pseudo terminal and time what reaches the screen."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]
SIZE = (120, 36)
PATIENCE_S = 30.0

PACKAGES = os.pathsep.join(str(ROOT / part) for part in ("", "tui", "runtime"))
"""PYTHONPATH that runs this checkout without installing it."""


def private_environment(folder: Path, **more: str) -> dict[str, str]:
    """Return this environment with every folder of the product under `folder`.

    So the user's own settings have no part in what is measured.
    """
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TMUX")}
    kept = {name: value for name, value in kept.items() if not name.startswith(("GEMINI_LIVE_TUI_", "GEMINI_API"))}
    folders = {name: str(folder / name.lower()) for name in ("XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    for path in folders.values():
        Path(path).mkdir(parents=True, exist_ok=True, mode=0o700)
    return {**kept, **folders, "TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": PACKAGES, **more}


class Terminal:
    """`command` in a terminal of `SIZE`; what it writes must be read, or it stops."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True, cwd=ROOT
        )
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._master)

    def until(self, marker: bytes) -> float:
        """Read until `marker` was written; return the seconds since the start.

        Raises `TimeoutError` when it does not come, and `ChildProcessError` when the program ends.
        """
        seen, end = b"", time.monotonic() + PATIENCE_S
        while marker not in seen:
            ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
            if not ready or time.monotonic() > end:
                raise TimeoutError(f"{marker!r} was not painted within {PATIENCE_S:g} s, but: {_words(seen)}")
            try:
                seen += os.read(self._master, 65536)
            except OSError:
                raise ChildProcessError(f"ended before {marker!r} was painted: {_words(seen)}") from None
        return time.monotonic() - self.started

    def read_for(self, seconds: float) -> int:
        """Read for `seconds`; how many bytes came."""
        end = time.monotonic() + seconds
        count = 0
        while (left := end - time.monotonic()) > 0:
            ready, _, _ = select.select([self._master], [], [], left)
            if ready:
                try:
                    count += len(os.read(self._master, 65536))
                except OSError:
                    break
        return count

    def type(self, keys: bytes) -> None:
        """Send what a keyboard would send."""
        os.write(self._master, keys)

    def cpu_s(self) -> float:
        """Return the program's CPU seconds, without its children's."""
        parts = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    def quit(self) -> None:
        """Press ctrl+q and wait until the program has ended."""
        self.type(b"\x11")
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < end:
            self.read_for(0.05)


def _words(seen: bytes) -> str:
    """Return the end of what was painted, without styles and rules."""
    text = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]|[\u2500-\u257f]", " ", seen.decode("utf-8", "replace"))
    return " ".join(text.split())[-800:]
