"""Find an echo that comes later than a filter reaches, as through Bluetooth.

The delay is where microphone and loudspeaker correlate best once every frequency counts the same (GCC-PHAT: C. Knapp
and G. Carter, "The generalized correlation method for estimation of time delay", IEEE Trans. ASSP 24, 1976).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np

from gemini_live_runtime.audio.echo.cancellers import SILENCE
from gemini_live_runtime.audio.samples import FRAME, FRAME_MS, Float32, Int16

_EVERY = 4
"""Samples that are averaged to one: 4 kHz has most of a voice."""
_PER_FRAME = FRAME // _EVERY
_MICROPHONE_FRAMES, _FAR_FRAMES = 100, 200
"""Frames that are compared; delays are found up to their difference, a second."""
_SIZE = 16_384
"""Samples of the transforms: no less than both together."""
_CHECK_FRAMES = 30
"""Frames with sound of the loudspeaker between two estimates."""
_LEAST_HEIGHT = 8.0
"""Least height of the peak, in standard deviations of the correlation."""
_LATE_FRAMES = 18
"""Delay (180 ms) from which a filter of 250 ms has too little left for the room."""
_AHEAD_FRAMES = 6
"""Frames (60 ms) by which the loudspeaker is still ahead then: a delay may become shorter."""
_KNOWN_FRAMES = 100
"""Frames with sound for which a filter has to be right in a row; with the wrong delay it is for some, by chance."""


class DelayTracker:
    """Estimator of the echo's delay in frames, for as long as nothing else knows it."""

    __slots__ = ("_far", "_found", "_microphone", "_sounding")

    def __init__(self) -> None:
        self._far: deque[Int16] = deque(maxlen=_FAR_FRAMES)
        self._microphone: deque[Int16] = deque(maxlen=_MICROPHONE_FRAMES)
        self.begin()

    def begin(self) -> None:
        """Forget all frames: those to come do not continue them."""
        self._far.clear()
        self._microphone.clear()
        self._sounding = 0
        self._found: int | None = None

    def add(self, far: Int16, microphone: Int16) -> int | None:
        """Take the next frame of both; return the delay when two estimates in a row agree."""
        self._far.append(far)
        self._microphone.append(microphone)
        self._sounding += bool(np.count_nonzero(far))
        if self._sounding < _CHECK_FRAMES:
            return None
        self._sounding = 0
        before, self._found = self._found, self.estimate()
        if before is None or self._found is None or abs(self._found - before) > 1:
            return None
        return self._found

    def estimate(self) -> int | None:
        """Return the delay in frames, None where nothing correlates."""
        if len(self._microphone) < _MICROPHONE_FRAMES:
            return None
        far, microphone = _fewer(self._far), _fewer(self._microphone)
        cross = np.fft.rfft(microphone, _SIZE) * np.fft.rfft(far, _SIZE).conj()
        cross /= np.abs(cross) + 1e-6 * np.abs(cross).max() + 1e-12
        correlation = np.fft.irfft(cross, _SIZE)
        # The microphone's first sample is that much later than the first of the loudspeaker.
        ahead = len(far) - len(microphone)
        later = np.roll(correlation, ahead)[: ahead + 1]
        at = int(later.argmax())
        if later[at] < _LEAST_HEIGHT * correlation.std():
            return None
        return at // _PER_FRAME


def _fewer(frames: Iterable[Int16]) -> Float32:
    return np.asarray(np.concatenate(list(frames)).reshape(-1, _EVERY).mean(axis=1, dtype=np.float32))


class FarDelay:
    """Delay of the loudspeaker's frames, where their echo comes too late."""

    __slots__ = ("_known", "_line", "_tracker", "frames")

    def __init__(self, delay_ms: float = 0.0) -> None:
        """Expect an echo after `delay_ms`, where that is known."""
        self._tracker = DelayTracker()
        self._line: deque[Int16] = deque()
        self._known = 0
        self.frames = _of_late_echo(int(delay_ms / FRAME_MS))
        """Frames by which they are delayed."""

    def delayed(self, far: Int16) -> Int16:
        """Take the newest frame; return the one that is due."""
        if not self.frames:
            return far
        self._line.append(far)
        return self._line.popleft() if len(self._line) > self.frames else SILENCE

    def follow(self, far: Int16, microphone: Int16, *, is_known: bool) -> bool:
        """Take the newest frame of both; return True when the number of frames changes.

        `is_known` tells that a filter seems to know the echo's path.
        """
        if not is_known:
            self._known = 0
        elif self._known == _KNOWN_FRAMES:
            return False
        elif np.count_nonzero(far):
            self._known += 1
            if self._known == _KNOWN_FRAMES:
                self._tracker.begin()
        delay = self._tracker.add(far, microphone)
        return delay is not None and self._change(_of_late_echo(delay))

    def follow_at_once(self) -> bool:
        """Return True when an echo is heard that comes later than was known."""
        delay = self._tracker.estimate() if self._known < _KNOWN_FRAMES else None
        frames = 0 if delay is None else _of_late_echo(delay)
        return frames > self.frames and self._change(frames)

    def _change(self, frames: int) -> bool:
        if frames == self.frames:
            return False
        self.frames = frames
        self._line.clear()
        return True


def _of_late_echo(delay: int) -> int:
    """Return the frames to delay for an echo after `delay`, 0 where it is early."""
    is_late = _LATE_FRAMES <= delay <= _FAR_FRAMES - _MICROPHONE_FRAMES
    return delay - _AHEAD_FRAMES if is_late else 0
