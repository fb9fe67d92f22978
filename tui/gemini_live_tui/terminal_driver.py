"""Run the console in a terminal whose process may be stopped at any time."""

from __future__ import annotations

import contextlib
import os
import termios
from typing import Any

from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Driver that reads the terminal once, also after SIGSTOP and SIGCONT.

    Textual's own takes each SIGCONT for the end of a suspension by Ctrl+Z, and starts another reader: keys change
    places between the two.
    """

    _attributes: list[Any] | None = None

    def start_application_mode(self) -> None:
        """Start, and keep the terminal's attributes for `_sigcont_application`."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        with contextlib.suppress(termios.error):
            self._attributes = termios.tcgetattr(self.fileno)

    def _sigcont_application(self, *arguments: Any) -> None:
        if self._must_signal_resume:
            super()._sigcont_application(*arguments)
            return
        if not self._auto_restart or self._key_thread is None:
            return
        # A shell that noticed the stop has set its own attributes. In the background they are not ours to change.
        with contextlib.suppress(termios.error, OSError):
            if self._attributes is not None and os.tcgetpgrp(self.fileno) == os.getpgrp():
                termios.tcsetattr(self.fileno, termios.TCSANOW, self._attributes)
                self.write("\x1b[?1049h\x1b[?25l")
        self._loop.call_soon_threadsafe(self._app.refresh)
