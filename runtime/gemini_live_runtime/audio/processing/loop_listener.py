"""Pass the audio worker's calls to a listener on the event loop.

The worker appends to two deques (atomic, so without a lock) and wakes the loop once for a batch: chunks wait for
`flush`, which follows the step that brings them. Who can take chunks on the worker's thread gets them there: a wake-up
costs more than what the loop does with them. The wake-up flag is cleared before the deques are drained: an append
during the drain is either drained or wakes the loop again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from gemini_live_runtime.audio.interface import AudioListener, AudioOpened, Direction, MicChunk

MAX_CHUNKS = 250
"""Chunks of 20 ms queued for a stalled loop (5 s); then the oldest is dropped and counted."""


class LoopListener:
    """`AudioListener` for another thread that calls the real listener on the loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        listener: AudioListener,
        *,
        on_device_lost: Callable[[Direction, str], None] | None = None,
        on_chunks: Callable[[Sequence[MicChunk]], None] | None = None,
    ) -> None:
        """`on_device_lost` is called on the loop instead of the listener's own.

        `on_chunks` gets the chunks of a step on the worker's thread, in place of the listener.
        """
        self._loop = loop
        self._listener = listener
        self._on_device_lost = on_device_lost or listener.on_device_lost
        self._on_chunks = on_chunks
        self._chunks: deque[MicChunk] = deque()
        self._calls: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._awake = False
        self._closed = False
        self.dropped_chunks = 0

    def on_mic_chunk(self, chunk: MicChunk) -> None:
        """Queue `chunk` for the next `flush`; drop the oldest of too many."""
        if len(self._chunks) >= MAX_CHUNKS:
            # The loop may drain at the same moment, so the deque may be empty by now.
            with contextlib.suppress(IndexError):
                self._chunks.popleft()
                self.dropped_chunks += 1
        self._chunks.append(chunk)

    def flush(self) -> None:
        """Pass the chunks of a step on, or wake the loop for them."""
        if not self._chunks:
            return
        if self._on_chunks is None:
            self._wake()
        elif not self._closed:
            chunks = tuple(self._chunks)
            self._chunks.clear()
            self._on_chunks(chunks)

    def on_playback_started(self, gen: int) -> None:
        """Pass the call on."""
        self._call(self._listener.on_playback_started, gen)

    def on_playback_heard(self, gen: int, first: int, count: int, heard_at: float | None = None) -> None:
        """Pass the call on."""
        self._call(self._listener.on_playback_heard, gen, first, count, heard_at)

    def on_playback_drained(self, gen: int) -> None:
        """Pass the call on."""
        self._call(self._listener.on_playback_drained, gen)

    def on_voice(self, speaking: bool) -> None:
        """Pass the call on."""
        self._call(self._listener.on_voice, speaking)

    def on_echo_warning(self, leaking: bool) -> None:
        """Pass the call on."""
        self._call(self._listener.on_echo_warning, leaking)

    def on_device_lost(self, direction: Direction, reason: str) -> None:
        """Pass the call on."""
        self._call(self._on_device_lost, direction, reason)

    def on_devices_opened(self, opened: AudioOpened) -> None:
        """Pass the call on."""
        self._call(self._listener.on_devices_opened, opened)

    def drain(self) -> None:
        """Deliver everything queued. Called on the loop."""
        # Cleared first: a call queued during the drain must wake the loop again.
        self._awake = False
        while self._calls:
            call, arguments = self._calls.popleft()
            call(*arguments)
        while self._chunks:
            try:
                chunk = self._chunks.popleft()
            except IndexError:
                break
            self._listener.on_mic_chunk(chunk)

    def close(self) -> None:
        """Deliver everything queued and stop."""
        self.drain()
        self._closed = True

    def call(self, call: Callable[..., None], *arguments: Any) -> None:
        """Call on the loop, after everything that was queued before."""
        self._call(call, *arguments)

    def _call(self, call: Callable[..., None], *arguments: Any) -> None:
        self._calls.append((call, arguments))
        self._wake()

    def _wake(self) -> None:
        if self._awake or self._closed:
            return
        self._awake = True
        with contextlib.suppress(RuntimeError):  # The loop is closed.
            self._loop.call_soon_threadsafe(self._scheduled)

    def _scheduled(self) -> None:
        if not self._closed:
            self.drain()
