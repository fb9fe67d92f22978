"""Echo cancelling behind two methods: `render` what is played, then `capture` what the microphone heard.

WebRTC's AEC3 alone is close to half-duplex: where person and loudspeaker are equally loud it cuts almost half of the
person's words. A linear filter in front of it removes most of the echo without touching the person, so AEC3 has little
left to suppress. `tests/bench/bench_audio.py` prints both.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np

from gemini_live_runtime.audio.linear_echo import LinearEchoFilter
from gemini_live_runtime.audio.samples import FRAME, Float32, Int16

_SILENCE: Int16 = np.zeros(FRAME, np.int16)
_FAR_BACKLOG = 8
"""Frames rendered ahead of capture that are kept; older ones belong to a moment that was never captured."""


class EchoCanceller(Protocol):
    """Frames are int16[160] at 16 kHz. `render(n)` comes before `capture(n)`; one thread drives an instance."""

    def render(self, frame: Int16) -> None:
        """What the loudspeaker plays now, silence included."""
        ...

    def capture(self, frame: Int16) -> Int16:
        """The microphone's frame without the echo of what was rendered."""
        ...


class NoCanceller:
    """Where nothing can leak (files): the microphone as it is."""

    name = ""

    def render(self, frame: Int16) -> None:
        """Nothing to remember."""

    def capture(self, frame: Int16) -> Int16:
        """The same frame."""
        return frame


class _FarQueue:
    """Pairs render with capture: silence where nothing was rendered, the oldest dropped beyond the backlog."""

    __slots__ = ("_frames",)

    def __init__(self) -> None:
        self._frames: deque[Int16] = deque(maxlen=_FAR_BACKLOG)

    def put(self, frame: Int16) -> None:
        self._frames.append(frame)

    def take(self) -> Int16:
        return self._frames.popleft() if self._frames else _SILENCE


class Aec3:
    """WebRTC AEC3 alone. It estimates the delay itself; noise suppression and gain control stay off."""

    name = "WebRTC AEC3"
    __slots__ = ("_far", "_processor")

    def __init__(self) -> None:
        from pywebrtc_audio import EchoCanceller as Processor

        self._processor = Processor(sample_rate=16_000)
        self._far = _FarQueue()

    def render(self, frame: Int16) -> None:
        """Queue the far frame for the next capture."""
        self._far.put(frame)

    def capture(self, frame: Int16) -> Int16:
        """Cancel and suppress."""
        return self.process(frame, self._far.take())

    def process(self, near: Int16, far: Int16) -> Int16:
        """One frame of both sides at once."""
        cleaned: Int16 = self._processor.process(near, far)
        return cleaned


_POWER_SMOOTHING = 0.85
"""About 60 ms: long enough not to jump at single frames, short enough to catch a moved echo path in a syllable."""
_WORSE = 1.25
"""The filter adds energy instead of removing it beyond this ratio: its echo path is not the room's any more."""
_BYPASS_FRAMES = 100
_AUDIBLE_FAR = 30.0
"""RMS (int16 units, -61 dBFS) above which the far side can make an echo."""


class LinearThenAec3:
    """The linear filter, then AEC3 on what is left.

    When the filter's prediction makes the frame louder (the delay jumped: device change, dropped buffer), it starts
    anew and AEC3 works on the bare microphone for one second.
    """

    name = "linear filter + WebRTC AEC3"
    __slots__ = ("_aec3", "_bypass", "_far", "_filter", "_in_power", "_out_power", "restarts")

    def __init__(self) -> None:
        self._filter = LinearEchoFilter()
        self._aec3 = Aec3()
        self._far = _FarQueue()
        self._in_power = 0.0
        self._out_power = 0.0
        self._bypass = 0
        self.restarts = 0

    def render(self, frame: Int16) -> None:
        """Queue the far frame for the next capture."""
        self._far.put(frame)

    def capture(self, frame: Int16) -> Int16:
        """Subtract, then suppress the rest."""
        far = self._far.take()
        error, echo = self._filter.step(far, frame)
        self._judge(frame, error, echo)
        if self._bypass > 0:
            self._bypass -= 1
            return self._aec3.process(frame, far)
        return self._aec3.process(np.clip(np.rint(error), -32768, 32767).astype(np.int16), far)

    def _judge(self, near: Int16, error: Float32, echo: Float32) -> None:
        if float(echo @ echo) < _AUDIBLE_FAR**2 * FRAME * 0.01:
            return
        bare = near.astype(np.float32)
        self._in_power = _POWER_SMOOTHING * self._in_power + (1 - _POWER_SMOOTHING) * float(bare @ bare)
        self._out_power = _POWER_SMOOTHING * self._out_power + (1 - _POWER_SMOOTHING) * float(error @ error)
        if self._out_power > _WORSE * self._in_power:
            self._filter.reset()
            self._bypass = _BYPASS_FRAMES
            self._in_power = self._out_power = 0.0
            self.restarts += 1


def make_canceller() -> Aec3 | LinearThenAec3:
    """The canceller for real devices: the one that measured best in double talk."""
    return LinearThenAec3()
