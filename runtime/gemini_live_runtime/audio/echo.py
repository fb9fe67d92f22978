"""Echo cancelling behind two methods: `render` what is played, then `capture` what the microphone heard.

WebRTC's AEC3 alone is close to half-duplex: where person and loudspeaker are equally loud it cuts almost half of the
person's words. A linear filter in front of it removes most of the echo without touching the person, so AEC3 has little
left to suppress, and where a person speaks over the rest, AEC3's word is not taken. `tests/bench/bench_audio.py`
prints what each stage does.
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
"""Frames rendered ahead of capture that are kept; older ones belong to a moment that was never captured."""


class EchoCanceller(Protocol):
    """Frames are int16[160] at 16 kHz. `render(n)` comes before `capture(n)`; one thread drives an instance."""

    def render(self, frame: Int16) -> None:
        """What the loudspeaker plays now, silence included."""
        ...

    def capture(self, frame: Int16) -> Int16:
        """The microphone's frame without the echo of what was rendered."""
        ...

    def on_frames_lost(self) -> None:
        """Frames of one side were lost: what was learned of the echo's delay holds no more."""
        ...


class NoCanceller:
    """Where nothing can leak (files): the microphone as it is."""

    name = ""

    def render(self, frame: Int16) -> None:
        """Nothing to remember."""

    def capture(self, frame: Int16) -> Int16:
        """The same frame."""
        return frame

    def on_frames_lost(self) -> None:
        """Nothing was learned."""


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

    def on_frames_lost(self) -> None:
        """It notices by itself."""

    def process(self, near: Int16, far: Int16) -> Int16:
        """One frame of both sides at once."""
        cleaned: Int16 = self._processor.process(near, far)
        return cleaned


_POWER_SMOOTHING = 0.85
"""About 60 ms: long enough not to jump at single frames, short enough to catch a moved echo path in a syllable."""
_WORSE = 1.25
"""The filter adds energy instead of removing it beyond this ratio: its echo path is not the room's any more."""
_BYPASS_FRAMES = 100
_AUDIBLE_ECHO = 3.0
"""RMS (int16 units, -81 dBFS) of a predicted echo below which there is nothing to judge the filter by."""
_AEC3_DELAY = 128
"""Samples by which AEC3's output is later than its input (8 ms)."""


class LinearThenAec3:
    """The linear filter, then AEC3 on what is left; where a person clearly speaks, what the filter left is kept.

    When the filter's prediction makes the frame louder (the delay jumped: device change, dropped buffer), it starts
    anew and AEC3 works on the bare microphone for one second. 8 ms of delay in all.
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
        """Subtract, then suppress the rest."""
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
        """Both stages notice by themselves, after a moment."""

    def _blend(self, suppressed: Int16, left: Int16, share: float) -> Int16:
        """`share` of what the filter left, aligned with AEC3's output, and the rest of AEC3's output."""
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
    """How much of what the linear filter left is a person, from 0 to 1.

    The filter leaves a share of every echo; it is learned slowly while nobody talks. What is left beyond 6 dB over the
    echo expected from it begins to count as a person, from 10 dB on it is one. Constants were chosen by the double-talk
    columns of `tests/bench/bench_audio.py`.
    """

    _SMOOTHING = 0.7
    _ECHO_DECAY = 0.93
    """A room's tail: the expected echo falls by 31 dB in 100 ms at most."""
    _LEAST_ECHO = 100.0
    _LEARNABLE_ECHO = 1000.0
    _MARGIN = 2.0
    _FROM_DB, _TO_DB = 6.0, 10.0
    _RISE, _RISE_WITH_PERSON, _FALL = 0.004, 0.0005, 0.05
    _RELEASE = 0.1
    _UNTRAINED = 10.0
    """Echo over predicted echo of a filter that has just begun."""

    __slots__ = ("_echo", "_held_echo", "_left", "_leftover", "_share")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """The filter is new: everything it leaves may be echo."""
        self._leftover = self._UNTRAINED
        self._left = self._echo = self._held_echo = self._share = 0.0

    def update(self, left: float, echo: float) -> float:
        """The frame's share, from the mean squares (int16 units) of what is left and of the predicted echo."""
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
