"""Test that the worker's calls reach the loop in order, in batches, bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest
from tests.unit.audio.audio_support import Recorder

from gemini_live_runtime.audio.interface import MicChunk
from gemini_live_runtime.audio.processing.loop_listener import MAX_CHUNKS, LoopListener


async def test_chunks_wait_for_a_stalled_loop_up_to_a_limit_then_the_oldest_are_dropped_and_counted() -> None:
    recorder = Recorder()
    relay = LoopListener(asyncio.get_running_loop(), recorder)
    for number in range(MAX_CHUNKS + 7):
        relay.on_mic_chunk(MicChunk(b"", float(number)))
    relay.flush()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert relay.dropped_chunks == 7
    assert [chunk.captured_at for chunk in recorder.chunks] == [float(number) for number in range(7, MAX_CHUNKS + 7)]


async def test_the_chunks_of_a_step_cost_one_wake_up_after_the_last_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    wakes: list[Awaitable[None] | None] = []
    real = loop.call_soon_threadsafe
    monkeypatch.setattr(loop, "call_soon_threadsafe", lambda *call: (wakes.append(None), real(*call))[1])
    relay = LoopListener(loop, Recorder())
    for number in range(3):
        relay.on_mic_chunk(MicChunk(b"", float(number)))
    assert wakes == []
    relay.flush()
    for _ in range(50):
        relay.on_voice(True)
    await asyncio.sleep(0)
    assert len(wakes) == 1
    relay.flush()
    assert len(wakes) == 1


async def test_who_takes_chunks_on_the_workers_thread_gets_them_without_a_wake_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, recorder = asyncio.get_running_loop(), Recorder()
    steps: list[list[float]] = []
    relay = LoopListener(loop, recorder, on_chunks=lambda chunks: steps.append([chunk.captured_at for chunk in chunks]))
    monkeypatch.setattr(loop, "call_soon_threadsafe", lambda *call: pytest.fail("the loop is woken"))
    for number in range(3):
        relay.on_mic_chunk(MicChunk(b"", float(number)))
    relay.flush()
    relay.flush()
    assert steps == [[0.0, 1.0, 2.0]]
    assert recorder.chunks == []


async def test_after_closing_a_relay_tells_nothing_more() -> None:
    recorder = Recorder()
    relay = LoopListener(asyncio.get_running_loop(), recorder)
    relay.on_voice(True)
    relay.close()
    relay.on_voice(False)
    await asyncio.sleep(0)
    assert recorder.calls == [("voice", True)]
