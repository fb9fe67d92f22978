"""Cancel echo: `render` each played frame, then `capture` the microphone's.

WebRTC's AEC3 alone is close to half-duplex: in double talk at equal levels it cuts almost half of the near-end words. A
linear filter in front of it removes most of the echo without touching near-end speech, so AEC3 has little left to
suppress. Where near-end speech is clearly present, the filter's output is used instead of AEC3's.
`tests/bench/bench_audio.py` measures each stage.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Protocol

import numpy as np

from gemini_live_runtime.audio.linear_echo import LinearEchoFilter
from gemini_live_runtime.audio.samples import FRAME, Float32, Int16

_SILENCE: Int16 = np.zeros(FRAME, np.int16)
_FAR_BACKLOG = 8
"""Rendered frames kept for later captures; older ones belong to lost microphone samples."""


class EchoCanceller(Protocol):
    """Echo canceller for int16[160] frames at 16 kHz, driven by one thread.

    `render(n)` comes before `capture(n)`.
    """

    def render(self, frame: Int16) -> None:
        """Take the frame that the loudspeaker plays, silence included."""
        ...

    def capture(self, frame: Int16) -> Int16:
        """Return the microphone's frame without the echo of the rendered frames."""
        ...

    def on_frames_lost(self) -> None:
        """Note that frames of one side were lost, so the echo's delay has changed."""
        ...


class NoCanceller:
    """Canceller that passes the microphone through, for files and `echo=False`."""

    name = ""

    def render(self, frame: Int16) -> None:
        """Do nothing."""

    def capture(self, frame: Int16) -> Int16:
        """Return `frame`."""
        return frame

    def on_frames_lost(self) -> None:
        """Do nothing."""


class _FarQueue:
    """Rendered frames waiting for their captures; silence when empty, bounded."""

    __slots__ = ("_frames",)

    def __init__(self) -> None:
        self._frames: deque[Int16] = deque(maxlen=_FAR_BACKLOG)

    def put(self, frame: Int16) -> None:
        self._frames.append(frame)

    def take(self) -> Int16:
        return self._frames.popleft() if self._frames else _SILENCE


class Aec3:
    """WebRTC AEC3 without noise suppression and gain control."""

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
        """Cancel the echo and suppress the rest."""
        return self.process(frame, self._far.take())

    def on_frames_lost(self) -> None:
        """Do nothing: AEC3 re-estimates its delay."""

    def process(self, near: Int16, far: Int16) -> Int16:
        """Process one frame of both sides."""
        # The library reads memory as it lies there: views with gaps between their samples would be misread.
        assert near.dtype == far.dtype == np.int16
        cleaned: Int16 = self._processor.process(np.ascontiguousarray(near), np.ascontiguousarray(far))
        return cleaned


_POWER_SMOOTHING = 0.85
"""Smoothing over about 60 ms.

Long enough to ignore single frames, short enough to find a moved echo path within a syllable."""
_WORSE = 1.25
"""Ratio of output to input power from which the filter's echo path counts as wrong."""
_BYPASS_FRAMES = 100
_AUDIBLE_ECHO = 3.0
"""RMS (int16 units, -81 dBFS) below which a predicted echo is too weak to judge the filter."""
_AEC3_DELAY = 128
"""Delay of AEC3's output in samples (8 ms)."""


class LinearThenAec3:
    """Linear filter, then AEC3, which is bypassed while near-end speech is clear.

    When the filter's prediction makes the frame louder (the delay jumped: device change, dropped buffer), the filter is
    reset and AEC3 works on the unfiltered microphone for one second. The delay is 8 ms in all.
    """

    name = "linear filter + WebRTC AEC3"
    __slots__ = (
        "_aec3",
        "_bypass",
        "_far",
        "_filter",
        "_in_power",
        "_left",
        "_out_power",
        "_person",
        "_share",
        "restarts",
    )

    def __init__(self) -> None:
        self._filter = LinearEchoFilter()
        self._aec3 = Aec3()
        self._far = _FarQueue()
        self._person = PersonShare()
        self._left: Float32 = np.zeros(_AEC3_DELAY + FRAME, np.float32)
        self._share = 0.0
        self._in_power = 0.0
        self._out_power = 0.0
        self._bypass = 0
        self.restarts = 0

    def render(self, frame: Int16) -> None:
        """Queue the far frame for the next capture."""
        self._far.put(frame)

    def capture(self, frame: Int16) -> Int16:
        """Subtract the predicted echo, then suppress the rest."""
        far = self._far.take()
        error, echo = self._filter.step(far, frame)
        error_power, echo_power = float(error @ error) / FRAME, float(echo @ echo) / FRAME
        self._judge(frame, error_power, echo_power)
        share = self._person.update(error_power, echo_power)
        if self._bypass > 0:
            self._bypass -= 1
            left, share = frame, 0.0
        else:
            left = np.clip(np.rint(error), -32768, 32767).astype(np.int16)
        return self._blend(self._aec3.process(left, far), left, share)

    def on_frames_lost(self) -> None:
        """Do nothing: both stages detect a changed delay after a moment."""

    def _blend(self, suppressed: Int16, left: Int16, share: float) -> Int16:
        """Mix `share` of the filter's output, aligned in time, with AEC3's output."""
        self._left[:_AEC3_DELAY] = self._left[FRAME:]
        self._left[_AEC3_DELAY:] = left
        before, self._share = self._share, share
        if before == share == 0.0:
            return suppressed
        ramp = before + (share - before) * _RAMP
        out: Int16 = np.rint(ramp * self._left[:FRAME] + (1 - ramp) * suppressed).astype(np.int16)
        return out

    def _judge(self, near: Int16, error_power: float, echo_power: float) -> None:
        if echo_power < _AUDIBLE_ECHO**2:
            return
        bare = near.astype(np.float32)
        near_power = float(bare @ bare) / FRAME
        self._in_power = _POWER_SMOOTHING * self._in_power + (1 - _POWER_SMOOTHING) * near_power
        self._out_power = _POWER_SMOOTHING * self._out_power + (1 - _POWER_SMOOTHING) * error_power
        if self._out_power > _WORSE * self._in_power:
            self._filter.reset()
            self._person.reset()
            self._bypass = _BYPASS_FRAMES
            self._in_power = self._out_power = 0.0
            self.restarts += 1


_RAMP: Float32 = ((np.arange(FRAME, dtype=np.float32) + 1) / FRAME).astype(np.float32)


class PersonShare:
    """Estimator of the share (0 to 1) of near-end speech in the filter's output.

    The filter leaves a part of every echo, which is learned slowly while there is no near-end speech. Output from 6 dB
    above the expected residual echo counts partly as speech, from 10 dB fully. Constants were chosen by the double-talk
    columns of `tests/bench/bench_audio.py`.
    """

    _SMOOTHING = 0.7
    _ECHO_DECAY = 0.93
    """Decay per frame of the expected echo: at most 31 dB in 100 ms."""
    _LEAST_ECHO = 100.0
    _LEARNABLE_ECHO = 1000.0
    _MARGIN = 2.0
    _FROM_DB, _TO_DB = 6.0, 10.0
    _RISE, _RISE_WITH_PERSON, _FALL = 0.004, 0.0005, 0.05
    _RELEASE = 0.1
    _UNTRAINED = 10.0
    """Ratio of residual to predicted echo assumed for a new filter."""

    __slots__ = ("_echo", "_held_echo", "_left", "_leftover", "_share")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start over for a new filter, whose whole output may be echo."""
        self._leftover = self._UNTRAINED
        self._left = self._echo = self._held_echo = self._share = 0.0

    def update(self, left: float, echo: float) -> float:
        """Return the share, from the powers of the filter's output and predicted echo.

        Powers are mean squares in int16 units.
        """
        self._left += (1 - self._SMOOTHING) * (left - self._left)
        self._echo += (1 - self._SMOOTHING) * (echo - self._echo)
        self._held_echo = max(self._echo, self._held_echo * self._ECHO_DECAY)
        share = 0.0
        if self._held_echo > self._LEAST_ECHO:
            if echo > self._LEARNABLE_ECHO:
                self._learn()
            expected = self._MARGIN * self._leftover * self._held_echo + 1.0
            excess_db = 10 * math.log10(min(left, 2 * self._left) / expected + 1e-9)
            share = min(1.0, max(0.0, (excess_db - self._FROM_DB) / (self._TO_DB - self._FROM_DB)))
        self._share = share if share > self._share else self._share + self._RELEASE * (share - self._share)
        if self._share < 1e-3:
            self._share = 0.0
        return self._share

    def _learn(self) -> None:
        ratio = min(max(1.0, self._leftover), self._left / (self._held_echo + 1000.0))
        rise = self._RISE_WITH_PERSON if self._share > 0.5 else self._RISE
        self._leftover += (self._FALL if ratio < self._leftover else rise) * (ratio - self._leftover)
