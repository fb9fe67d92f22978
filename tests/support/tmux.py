"""Run a program in a real tmux: read its screen, and type keys through tmux."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

import pytest
from tests.support.patience import PATIENCE_S

POLL_S = 0.05

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Tmux:
    """Tmux server with one window of `size` for `command`; its socket is in `folder`."""

    def __init__(
        self, command: str, folder: Path, *, size: tuple[int, int] = (120, 36), environment: Mapping[str, str]
    ) -> None:
        self._socket = str(folder / "tmux")
        config = folder / "tmux.conf"
        config.write_text("set -g escape-time 0\nset -g default-terminal tmux-256color\nset -g status off\n")
        self._environment = {**os.environ, **environment}
        self._environment.pop("TMUX", None)
        # A program that has ended leaves its last words on the screen; tmux may clear those of a dead pane.
        shell = f"{command}; exec sleep 3600"
        self._run(
            "-f", str(config), "new-session", "-d", "-s", "test", "-x", str(size[0]), "-y", str(size[1]), shell
        )  # fmt: skip

    def __enter__(self) -> Tmux:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True, check=False)

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE_S,
        )
        return done.stdout

    def screen(self) -> str:
        """Return the text of the screen, row by row."""
        return self._run("capture-pane", "-p", "-t", "test")

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: `Enter`, `C-b`, `F2`, `x`."""
        self._run("send-keys", "-t", "test", *keys)

    def write(self, text: str) -> None:
        """Type a text, letter by letter."""
        self._run("send-keys", "-t", "test", "-l", text)

    def paste(self, text: str) -> None:
        """Paste a text, bracketed as terminals do."""
        self._run("set-buffer", "-b", "pasted", text)
        self._run("paste-buffer", "-p", "-b", "pasted", "-t", "test")

    def resize(self, width: int, height: int) -> None:
        """Change the terminal's size."""
        self._run("resize-window", "-t", "test", "-x", str(width), "-y", str(height))

    def until(self, *texts: str, gone: str = "") -> str:
        """Wait until all of `texts` are on the screen, and `gone` is not; the screen then."""
        return self.when(
            lambda screen: all(text in screen for text in texts) and not (gone and gone in screen),
            f"{texts} {'without ' + repr(gone) if gone else ''}",
        )

    def when(self, holds: Callable[[str], bool], what: str) -> str:
        """Wait until the screen is as it should be; the screen then."""
        deadline = time.monotonic() + PATIENCE_S
        screen = self.screen()
        while not holds(screen):
            assert time.monotonic() < deadline, f"waited in vain for {what}:\n{screen}"
            time.sleep(POLL_S)
            screen = self.screen()
        return screen

    def attached(self) -> None:
        """Wait until a terminal is attached, whose keys tmux reads."""
        deadline = time.monotonic() + PATIENCE_S
        while not self._run("list-clients"):
            assert time.monotonic() < deadline, "no terminal was attached"
            time.sleep(POLL_S)

    @property
    def pid(self) -> int:
        """The process that runs in the window."""
        return int(self._run("display-message", "-p", "-t", "test", "#{pane_pid}"))


class Keyboard:
    """Terminal attached to the tmux of `Tmux`: keys pass tmux's prefix."""

    def __init__(self, tmux: Tmux, size: tuple[int, int] = (120, 36)) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self._process = subprocess.Popen(
            ["tmux", "-S", tmux._socket, "attach", "-t", "test"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**tmux._environment, "TERM": "xterm-256color"},
            start_new_session=True,
        )
        os.close(slave)
        tmux.attached()

    def __enter__(self) -> Keyboard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def type(self, keys: bytes) -> None:
        """Send bytes as the keyboard does."""
        os.write(self._master, keys)
