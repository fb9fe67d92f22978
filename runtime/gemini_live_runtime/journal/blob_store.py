"""Where the parts of a history wait that nobody looks at: compressed, in memory or in a temporary file.

The file has no name from its creation on, so nothing of it outlives the process; it is readable by this user alone.
"""

from __future__ import annotations

import contextlib
import tempfile
import zlib
from typing import IO

BlobRef = bytes | tuple[int, int]
"""What `put` gives for `get`: the compressed bytes themselves, or their offset and length in the file."""

MAX_FILE_BYTES = 1 << 30
"""Bytes of the file; what comes after it is full stays in memory."""

_LEVEL = 1
"""A keyframe takes four times as long at 6 and becomes an eighth smaller."""


class BlobStore:
    """Byte strings by ticket. `held` counts the compressed bytes that are in memory."""

    def __init__(self) -> None:
        self.held = 0
        self._file: IO[bytes] | None = None
        self._end = 0
        self._usable = True

    def put(self, data: bytes, *, disk: bool) -> BlobRef:
        """Keep `data`; with `disk` in the file where that is possible, otherwise in memory. Never raises."""
        packed = zlib.compress(data, _LEVEL)
        if disk and self._usable and self._end + len(packed) <= MAX_FILE_BYTES:
            try:
                return self._write(packed)
            except OSError:
                # A full disk is not asked again: memory has a limit of its own.
                self._usable = False
        self.held += len(packed)
        return packed

    def get(self, ticket: BlobRef) -> bytes:
        """What was put for `ticket`; raises `OSError` when the file cannot be read."""
        if isinstance(ticket, bytes):
            return zlib.decompress(ticket)
        if self._file is None:
            raise OSError("the history is closed")
        offset, length = ticket
        self._file.seek(offset)
        packed = self._file.read(length)
        if len(packed) < length:
            raise OSError("the temporary file of the history is incomplete")
        return zlib.decompress(packed)

    def drop(self, ticket: BlobRef) -> None:
        """Forget what was put for `ticket`; room in the file is not used again."""
        if isinstance(ticket, bytes):
            self.held -= len(ticket)

    def close(self) -> None:
        """Let go of the file."""
        file, self._file, self._usable = self._file, None, False
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()

    def _write(self, packed: bytes) -> BlobRef:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="gemini-live-tui-", buffering=0)  # noqa: SIM115 - `close`
        self._file.seek(self._end)
        rest = memoryview(packed)
        while rest:
            rest = rest[self._file.write(rest) :]
        ticket = (self._end, len(packed))
        self._end += len(packed)
        return ticket
