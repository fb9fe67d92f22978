"""Silence C libraries that print to file descriptor 2, such as PortAudio and ALSA.

Their messages would corrupt the console's screen. Descriptor 2 belongs to the process, so the state is global and
counted under a lock.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TextIO

_lock = threading.Lock()
_depth = 0
_saved_descriptor = -1
_saved_stream: TextIO | None = None
_own_stream: TextIO | None = None


def private_stdout() -> TextIO:
    """Return standard output as a new stream; discard output to descriptors 1 and 2.

    For child processes whose C libraries would print into their reports.
    """
    out = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    return os.fdopen(out, "w", encoding="utf-8")


def silence() -> None:
    """Redirect descriptor 2 to the null device until the matching `restore`.

    `sys.stderr` keeps working. Calls nest, also across threads.
    """
    global _depth, _saved_descriptor, _saved_stream, _own_stream
    with _lock:
        _depth += 1
        if _depth > 1:
            return
        try:
            _saved_descriptor = os.dup(2)
        except OSError:
            _saved_descriptor = -1  # Descriptor 2 is closed already.
            return
        if _writes_to_descriptor_2(sys.stderr):
            _saved_stream = sys.stderr
            _saved_stream.flush()
            _own_stream = sys.stderr = os.fdopen(os.dup(_saved_descriptor), "w", buffering=1, errors="backslashreplace")
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)


def restore() -> None:
    """End one `silence`; the last one restores descriptor 2."""
    global _depth, _saved_descriptor, _saved_stream, _own_stream
    with _lock:
        _depth -= 1
        if _depth > 0 or _saved_descriptor < 0:
            return
        os.dup2(_saved_descriptor, 2)
        os.close(_saved_descriptor)
        _saved_descriptor = -1
        if _own_stream is not None:
            if sys.stderr is _own_stream and _saved_stream is not None:
                sys.stderr = _saved_stream
            _own_stream.close()
            _own_stream = _saved_stream = None


def _writes_to_descriptor_2(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.fileno() == 2
    except (OSError, ValueError):
        return False
