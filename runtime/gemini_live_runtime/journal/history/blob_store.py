"""Store compressed byte strings of a history in memory or in a temporary file.

The file has no name from its creation on, so nothing of it outlives the process; it is readable by this user alone.
"""

from __future__ import annotations

import contextlib
import tempfile
import zlib
from typing import IO

BlobRef = bytes | tuple[int, int]
"""Reference from `put` for `get`: the compressed bytes themselves, or their offset and length in the file."""

MAX_FILE_BYTES = 1 << 30
"""Largest size of the file in bytes; further blobs stay in memory."""

_LEVEL = 1
"""zlib level: at 6 a keyframe takes four times as long and is an eighth smaller."""


class BlobStore:
    """Byte strings by reference.

    `memory_bytes` counts the compressed bytes that are in memory.
    """

    def __init__(self) -> None:
        self.memory_bytes = 0
        self._file: IO[bytes] | None = None
        self._end = 0
        self._usable = True

    def put(self, data: bytes, *, disk: bool) -> BlobRef:
        """Store `data` in the file if `disk` and the file can take it, else in memory.

        Never raises.
        """
        packed = zlib.compress(data, _LEVEL)
        if disk and self._usable and self._end + len(packed) <= MAX_FILE_BYTES:
            try:
                return self._write(packed)
            except OSError:
                # Do not retry a full disk for every page: `MAX_MEMORY_BYTES` bounds what goes to memory instead.
                self._usable = False
        self.memory_bytes += len(packed)
        return packed

    def get(self, ref: BlobRef) -> bytes:
        """Return the stored bytes; raises `OSError` when the file cannot be read."""
        if isinstance(ref, bytes):
            return zlib.decompress(ref)
        if self._file is None:
            raise OSError("the history is closed")
        offset, length = ref
        self._file.seek(offset)
        packed = self._file.read(length)
        if len(packed) < length:
            raise OSError("the temporary file of the history is incomplete")
        return zlib.decompress(packed)

    def drop(self, ref: BlobRef) -> None:
        """Free the memory of a blob; its space in the file is not reused."""
        if isinstance(ref, bytes):
            self.memory_bytes -= len(ref)

    def close(self) -> None:
        """Close the file, which deletes it."""
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
        ref = (self._end, len(packed))
        self._end += len(packed)
        return ref
