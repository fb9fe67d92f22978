"""Test both ends of the rings that engine and audio process share."""

from __future__ import annotations

import mmap
import os
import random
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.audio.interface import MicChunk
from gemini_live_runtime.audio.process.shared_rings import (
    MAX_CHUNKS,
    MEMORY_BYTES,
    SPEECH_BYTES,
    ChunkRing,
    MemoryFile,
    SpeechRing,
    open_memory,
)


def chunk(number: int) -> MicChunk:
    return MicChunk(number.to_bytes(4, "little") * 160, number / 50, near_end=number % 3 != 0)


@pytest.fixture
def memory() -> Iterator[mmap.mmap]:
    with mmap.mmap(-1, MEMORY_BYTES) as made:
        yield made


def test_chunks_arrive_in_order_with_their_times_over_many_rounds(memory: mmap.mmap) -> None:
    writer, reader = ChunkRing(memory), ChunkRing(memory)
    arrived = []
    for number in range(3 * MAX_CHUNKS):
        writer.write(chunk(number))
        if number % 7 == 0:
            arrived += reader.take(writer.written)
            writer.on_taken(reader.taken)
    arrived += reader.take(writer.written)
    assert arrived == [chunk(number) for number in range(3 * MAX_CHUNKS)]
    assert writer.dropped == 0


def test_chunks_that_the_engine_does_not_take_are_dropped_and_counted(memory: mmap.mmap) -> None:
    writer, reader = ChunkRing(memory), ChunkRing(memory)
    for number in range(MAX_CHUNKS + 5):
        writer.write(chunk(number))
    assert writer.dropped == 5
    assert reader.take(writer.written) == [chunk(number) for number in range(MAX_CHUNKS)]


def test_speech_of_any_lengths_arrives_byte_for_byte(memory: mmap.mmap) -> None:
    writer, reader = SpeechRing(memory), SpeechRing(memory)
    lengths = random.Random(1)
    sent, arrived = bytearray(), bytearray()
    while len(sent) < 3 * SPEECH_BYTES:
        piece = lengths.randbytes(lengths.randint(1, writer.room))
        writer.write(piece)
        sent += piece
        if lengths.random() < 0.7 or writer.room == 0:
            arrived += reader.take(writer.written)
            writer.on_taken(reader.taken)
    arrived += reader.take(writer.written)
    assert arrived == sent


@given(st.lists(st.integers(-(1 << 40), 1 << 40), max_size=8))
def test_positions_that_make_no_sense_never_reach_beyond_the_ring(told: list[int]) -> None:
    with mmap.mmap(-1, MEMORY_BYTES) as memory:
        chunks, speech = ChunkRing(memory), SpeechRing(memory)
        for position in told:
            assert len(chunks.take(position)) <= MAX_CHUNKS
            assert len(speech.take(position)) <= SPEECH_BYTES
            chunks.on_taken(position)
            speech.on_taken(position)
            assert chunks.taken <= chunks.written
            assert 0 <= speech.room <= SPEECH_BYTES


def test_without_anonymous_memory_it_is_a_file_that_only_the_user_reads_and_that_goes_when_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = MemoryFile()
    path = Path(file.name)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert file.inherited == ()
    writer, reader = ChunkRing(open_memory(file.name)), ChunkRing(open_memory(file.name))
    file.close()
    file.close()
    assert list(tmp_path.iterdir()) == []
    writer.write(chunk(1))
    assert reader.take(1) == [chunk(1)]
