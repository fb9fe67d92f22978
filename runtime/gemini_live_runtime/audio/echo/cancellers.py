"""Cancel echo: `render` each played frame, then `capture` the microphone's.

WebRTC's AEC3 alone is close to half-duplex: in double talk at equal levels it cuts almost half of the near-end words.
`DualCanceller` (`dual_canceller.py`) does better; here is what all cancellers are, and the simple ones.
"""

from __future__ import annotations

from collections import deque
from typing import Literal, Protocol

import numpy as np

from gemini_live_runtime.audio.echo.pause_probe import PauseProbe
from gemini_live_runtime.audio.samples import FRAME, Int16

SILENCE: Int16 = np.zeros(FRAME, np.int16)
_FAR_BACKLOG = 8
"""Rendered frames kept for later captures; older ones belong to lost microphone samples."""


EchoState = Literal["", "learning", "proven", "disturbed"]
"""State of a linear filter, "" without one.

`learning`: it has not shown yet that it removes the echo. `proven`: it leaves little. `disturbed`: the echo's delay has
just changed, and nothing that the filter says counts.
"""


class EchoCanceller(Protocol):
    """Echo canceller for int16[160] frames at 16 kHz, driven by one thread.

    `render(n)` comes before `capture(n)`.
    """

    @property
    def has_near_end(self) -> bool:
        """True when what `capture` returned last may be a person's voice."""
        ...

    @property
    def state(self) -> EchoState:
        """State of the linear filter, "" without one."""
        ...

    @property
    def probe(self) -> PauseProbe | None:
        """Probe that decides what may be a person's voice; None for one that never asks."""
        ...

    def render(self, frame: Int16) -> None:
        """Take the frame that the loudspeaker plays, silence included."""
        ...

    def capture(self, frame: Int16) -> Int16:
        """Return the microphone's frame without the echo of the rendered frames."""
        ...

    def on_frames_lost(self, later: int = 0) -> None:
        """Note that frames of one side were lost.

        Echoes come `later` frames later, or earlier below 0; 0 is for an unknown change.
        """
        ...


class NoCanceller:
    """Canceller that passes the microphone through, for files and `echo=False`."""

    name = ""
    has_near_end = True
    state: EchoState = ""
    probe: PauseProbe | None = None

    def render(self, frame: Int16) -> None:
        """Do nothing."""

    def capture(self, frame: Int16) -> Int16:
        """Return `frame`."""
        return frame

    def on_frames_lost(self, later: int = 0) -> None:
        """Do nothing."""


class FarQueue:
    """Rendered frames waiting for their captures; silence when empty, bounded."""

    __slots__ = ("_frames",)

    def __init__(self) -> None:
        self._frames: deque[Int16] = deque(maxlen=_FAR_BACKLOG)

    def put(self, frame: Int16) -> None:
        """Append a rendered frame; drop the oldest of too many."""
        self._frames.append(frame)

    def take(self) -> Int16:
        """Remove and return the oldest frame."""
        return self._frames.popleft() if self._frames else SILENCE


class Aec3:
    """WebRTC AEC3 without noise suppression and gain control."""

    name = "WebRTC AEC3"
    has_near_end = True
    state: EchoState = ""
    probe: PauseProbe | None = None
    __slots__ = ("_far", "_processor")

    def __init__(self) -> None:
        from pywebrtc_audio import EchoCanceller as Processor

        self._processor = Processor(sample_rate=16_000)
        self._far = FarQueue()

    def render(self, frame: Int16) -> None:
        """Queue the far frame for the next capture."""
        self._far.put(frame)

    def capture(self, frame: Int16) -> Int16:
        """Cancel the echo and suppress the rest."""
        return self.process(frame, self._far.take())

    def on_frames_lost(self, later: int = 0) -> None:
        """Do nothing: AEC3 re-estimates its delay."""

    def process(self, near: Int16, far: Int16) -> Int16:
        """Process one frame of both sides."""
        # The library reads memory as it lies there: views with gaps between their samples would be misread.
        assert near.dtype == far.dtype == np.int16
        cleaned: Int16 = self._processor.process(np.ascontiguousarray(near), np.ascontiguousarray(far))
        return cleaned
