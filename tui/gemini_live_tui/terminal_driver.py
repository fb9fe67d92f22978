"""Run the console in a terminal whose process may be stopped at any time."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import termios
from codecs import getincrementaldecoder
from collections.abc import Iterator
from threading import Event
from typing import Any

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

_SEQUENCE = re.compile(r"(\x1b\[[^\x1b@-~]*[@-~])")
READ_BYTES = 4096
TICK_S = 0.1
"""Seconds after which the parser looks whether an escape is a key of its own."""


class TerminalDriver(LinuxDriver):
    """Driver that reads the terminal once, also after SIGSTOP, and any bytes.

    Textual's own takes each SIGCONT for the end of a suspension by Ctrl+Z, and starts another reader: keys change
    places between the two. It ends the console at a byte that is no UTF-8 and at the code of a key that does not exist.
    """

    _attributes: list[Any] | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.exit_event: WakingEvent = WakingEvent()

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

    def run_input_thread(self) -> None:
        """Read keys until the driver stops."""
        keys = KeyReader(debug=self._debug)
        with selectors.SelectSelector() as selector:
            terminal = selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self.exit_event, selectors.EVENT_READ)
            is_over = False
            while not is_over:
                # An idle console sleeps: ten looks a second cost a fifth of its processor time.
                ready = selector.select(TICK_S if keys.is_waiting else None)
                # What was typed up to the end is read, too: the shell would get it.
                is_over = self.exit_event.is_set()
                data = os.read(self.fileno, READ_BYTES) if (terminal, selectors.EVENT_READ) in ready else b""
                if data:
                    self._app.expect_key()  # type: ignore[attr-defined]
                for message in keys.feed(data):
                    self.process_message(message)
        keys.close()


class WakingEvent(Event):
    """Event that a selector can wait for."""

    def __init__(self) -> None:
        super().__init__()
        self._reader, self._writer = os.pipe()

    def fileno(self) -> int:
        """Return the descriptor that is readable once the event is set."""
        return self._reader

    def set(self) -> None:
        """Set the event and wake the selector."""
        if not self.is_set():
            super().set()
            os.write(self._writer, b"\0")

    def clear(self) -> None:
        """Reset the event."""
        if self.is_set():
            super().clear()
            os.read(self._reader, 1)


class KeyReader:
    """Reader of a terminal's messages; garbage is shown or passed over."""

    def __init__(self, *, debug: bool = False) -> None:
        self._debug = debug
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._parser = XTermParser(debug)

    @property
    def is_waiting(self) -> bool:
        """True while an escape waits for what follows it, for a moment."""
        return getattr(self._parser, "_timeout_time", 0.0) is not None

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages in `data`, and an escape that waited too long."""
        for piece in _SEQUENCE.split(self._decode(data)):
            try:
                if piece:
                    yield from self._parser.feed(piece)
                yield from self._parser.tick()
            except (ValueError, OverflowError):
                # The code of a key that is no character: the parser has ended with it.
                self._parser = XTermParser(self._debug)

    def close(self) -> None:
        """End the parser."""
        with contextlib.suppress(EOFError, ParseError):
            for _ in self._parser.feed(""):
                pass
