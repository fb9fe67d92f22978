"""Share sound between the engine and its audio process.

Each process has its own objects over the same memory. Positions are not in it, because Python has no memory barrier:
they travel in the messages of the pipe, after the samples they cover, and each side clamps those of the other.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import tempfile

from gemini_live_runtime.audio.interface import CHUNK_SAMPLES, MicChunk

MAX_CHUNKS = 250
"""Chunks of 20 ms kept for an engine that does not read them (5 s)."""
SPEECH_BYTES = 1 << 19
"""Model speech (24 kHz s16le) on its way to the audio process: 11 s."""

_CHUNK = struct.Struct(f"<d?{CHUNK_SAMPLES * 2}s")
_CHUNKS_BYTES = MAX_CHUNKS * _CHUNK.size
MEMORY_BYTES = _CHUNKS_BYTES + SPEECH_BYTES


class MemoryFile:
    """File of the shared memory: anonymous, or elsewhere private to the user.

    `name` is the audio process's argument: a descriptor that it inherits, or a path.
    """

    def __init__(self) -> None:
        self.path = ""
        if hasattr(os, "memfd_create"):
            self.descriptor = os.memfd_create("gemini-live-audio")
        else:
            self.descriptor, self.path = tempfile.mkstemp(prefix="gemini-live-audio-")  # mode 0600
        self.name = self.path or f"fd:{self.descriptor}"
        os.ftruncate(self.descriptor, MEMORY_BYTES)

    @property
    def inherited(self) -> tuple[int, ...]:
        """Descriptors that the audio process inherits."""
        return () if self.path else (self.descriptor,)

    def close(self) -> None:
        """Close the file and remove its path; what is mapped stays. Idempotent."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
        if self.path:
            with contextlib.suppress(OSError):  # Windows keeps a file that is mapped.
                os.unlink(self.path)
                self.path = ""


def open_memory(name: str) -> mmap.mmap:
    """Return the memory that the engine calls `name`, and close its descriptor."""
    descriptor = int(name[3:]) if name.startswith("fd:") else os.open(name, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        return mmap.mmap(descriptor, MEMORY_BYTES)
    finally:
        os.close(descriptor)


class ChunkRing:
    """Ring of microphone chunks: the audio process writes, the engine takes."""

    __slots__ = ("_memory", "dropped", "taken", "written")

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self.written = 0
        self.taken = 0
        self.dropped = 0
        """Chunks dropped because the engine did not take them."""

    def write(self, chunk: MicChunk) -> None:
        """Append `chunk`; drop and count it when the engine is too far behind."""
        if self.written - self.taken >= MAX_CHUNKS:
            self.dropped += 1
            return
        at = self.written % MAX_CHUNKS * _CHUNK.size
        _CHUNK.pack_into(self._memory, at, chunk.captured_at, chunk.near_end, chunk.pcm)
        self.written += 1

    def on_taken(self, position: int) -> None:
        """Note how far the engine says it has read."""
        self.taken = min(max(position, self.taken), self.written)

    def take(self, written: int) -> list[MicChunk]:
        """Return the chunks up to the position that the audio process told."""
        self.written = min(max(written, self.taken), self.taken + MAX_CHUNKS)
        chunks = []
        while self.taken < self.written:
            at = self.taken % MAX_CHUNKS * _CHUNK.size
            captured_at, near_end, pcm = _CHUNK.unpack_from(self._memory, at)
            chunks.append(MicChunk(pcm, captured_at, near_end))
            self.taken += 1
        return chunks


class SpeechRing:
    """Ring of the model's speech: the engine writes, the audio process takes."""

    __slots__ = ("_memory", "taken", "written")

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self.written = 0
        self.taken = 0

    @property
    def room(self) -> int:
        """Bytes that can be written."""
        return SPEECH_BYTES - (self.written - self.taken)

    def write(self, pcm: bytes) -> None:
        """Append `pcm`, which has to fit in the room."""
        at = self.written % SPEECH_BYTES
        first = min(len(pcm), SPEECH_BYTES - at)
        start = _CHUNKS_BYTES
        self._memory[start + at : start + at + first] = pcm[:first]
        self._memory[start : start + len(pcm) - first] = pcm[first:]
        self.written += len(pcm)

    def on_taken(self, position: int) -> None:
        """Note how far the audio process says it has read."""
        self.taken = min(max(position, self.taken), self.written)

    def take(self, written: int) -> bytes:
        """Return the bytes up to the position that the engine told."""
        self.written = min(max(written, self.taken), self.taken + SPEECH_BYTES)
        at, count = self.taken % SPEECH_BYTES, self.written - self.taken
        first = min(count, SPEECH_BYTES - at)
        start = _CHUNKS_BYTES
        self.taken = self.written
        return self._memory[start + at : start + at + first] + self._memory[start : start + count - first]
