"""Decide when the audio worker steps: in phase with the callbacks of the devices.

Steps on a clock of their own would find each block up to 10 ms after it came. A chunk of the microphone takes two
frames, so a step for each of them delivers nothing earlier than one for both, and costs a wake-up more.
"""

from __future__ import annotations

from collections.abc import Iterable

from gemini_live_runtime.audio.devices.streams import DeviceStream
from gemini_live_runtime.audio.samples import FRAME_MS

CHUNK_FRAMES = 2
"""Frames of a chunk: a step for each while someone speaks or something plays."""
IDLE_FRAMES = 5 * CHUNK_FRAMES
"""Frames of a step while neither happens."""
IDLE_AFTER_S = 2.0
"""Seconds of silence before that: the end of a turn must not be noticed late."""

_AFTER_CALLBACK_S = 0.001
"""Seconds that a callback is given to copy its block."""
_RETRY_S = 0.002
"""Pause before a late callback is looked for again."""
_LATE_S = FRAME_MS / 1000
"""Seconds after which a step is taken without it."""


class StepClock:
    """Timer of the worker's steps, by the blocks that they wait for.

    Times are monotonic seconds.
    """

    def __init__(self) -> None:
        self._awaited: list[tuple[DeviceStream, int]] = []
        """Streams, each with the number of callbacks to wait for."""
        self._latest = 0.0
        self._active_at = 0.0

    def frames(self, now: float, *, active: bool) -> int:
        """Return the frames to process with the next step."""
        if active:
            self._active_at = now
        return CHUNK_FRAMES if now - self._active_at < IDLE_AFTER_S else IDLE_FRAMES

    def plan(self, now: float, wanted: Iterable[tuple[DeviceStream, int, int]]) -> None:
        """Wait for frames of each stream: `wanted` are stream, callbacks and frames.

        Callbacks are those whose blocks were found by the step that began at `now`. Later ones count as waited for.
        """
        self._awaited, longest = [], 0.0
        for stream, callbacks, frames in wanted:
            blocks = -(-frames * FRAME_MS // stream.block_ms)
            self._awaited.append((stream, callbacks + max(0, blocks)))
            longest = max(longest, blocks * stream.block_ms / 1000)
        self._latest = now + longest + _LATE_S

    def left(self, now: float) -> float | None:
        """Return the seconds to wait, 0 when a step is due; None without a stream."""
        if not self._awaited:
            return None
        due = now
        for stream, callbacks in self._awaited:
            # In this order: the time of a callback that is not counted yet would make the step a block late.
            last = stream.last_callback
            missing = callbacks - stream.callbacks
            if missing <= 0:
                continue
            expected = last + missing * stream.block_ms / 1000 + _AFTER_CALLBACK_S
            if expected <= now:
                # Late blocks come together, and all at once consume what is ready for the loudspeaker.
                expected = now + (_RETRY_S if now - expected < _LATE_S else _LATE_S)
            due = max(due, expected)
        return max(0.0, min(due, self._latest) - now)
