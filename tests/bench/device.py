"""Deliver stamped microphone chunks from a thread; standard library only."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

CHUNK_S = 0.02
CHUNK_BYTES = 640
"""20 ms at 16 kHz, s16le mono."""

_NOISE = os.urandom(CHUNK_BYTES - 8)


def stamped_chunk(stamp: int) -> bytes:
    """20 ms of noise whose first 8 bytes are `stamp`."""
    return stamp.to_bytes(8, "little") + _NOISE


class DeviceThread:
    """Thread that calls `deliver(chunk)` every 20 ms, as an audio worker would.

    Each chunk is stamped at delivery.

    `first` is the CLOCK_MONOTONIC time (s) of the first chunk, so that several processes can take turns.
    """

    def __init__(self, deliver: Callable[[bytes], object], *, first: float, count: int) -> None:
        self._deliver = deliver
        self._first = first
        self._count = count
        self._thread = threading.Thread(target=self._run, name="device", daemon=True)

    def start(self) -> None:
        """Begin; the first chunk comes at its time."""
        self._thread.start()

    def _run(self) -> None:
        for number in range(self._count):
            due = self._first + number * CHUNK_S
            time.sleep(max(0.0, due - time.monotonic()))
            self._deliver(stamped_chunk(time.monotonic_ns()))
