"""Tell a person from an echo by loudness, before a filter knows the echo.

A filter's prediction is right only once it knows each sample of the echo path. How much of each band the path returns,
and how late, it knows within half a second, or beforehand from an earlier call, whose delay differed by some
milliseconds. So the power of the echo is expected band by band, without phase. Speech leaves most bands empty at any
moment: a person who is as loud as the echo on the whole is louder in some of them.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from gemini_live_runtime.audio.echo.linear_echo import LinearEchoFilter
from gemini_live_runtime.audio.samples import Complex64, Float32

_EDGES = (4, 6, 8, 10, 12, 15, 18, 22, 26, 31, 37, 44, 52, 62, 74, 88)
"""Bins (of 50 Hz) at which bands begin, 200 to 4,400 Hz: about a third of an octave, where speech has its power."""
_WIDTHS: Float32 = np.diff(_EDGES).astype(np.float32)


def _bands(powers: Float32) -> Float32:
    out: Float32 = np.add.reduceat(powers, _EDGES, axis=-1)[..., :-1]
    return out


class LouderSpeech:
    """Detect a person who exceeds the echo to be expected by 6 dB."""

    FRAMES, WINDOW = 6, 12
    """Frames, of the newest, in which most of the sound has to exceed the echo.

    An echo that begins exceeds what is expected in one or two."""
    LEARNING_FRAMES = 60
    """Audible frames (600 ms) from which the loudness of an unknown echo path is known, its reverberation included."""
    LEARNING_AGAIN_FRAMES = 120
    """The same after a jump of the delay, when the filter has two paths to sort out."""
    _KNOWN_FACTOR = 3
    """Number of frames for which one counts that is as loud as a path known beforehand lets expect.

    With another volume or place the first words are louder than that, and it is learned like an unknown one."""
    _LOUDER = 4.0
    """Power ratio (6 dB) to the expected echo."""
    _LEAST_SHARE = 0.5
    """Share of the microphone's power that exceeds the echo."""
    _LEAST_INCOHERENCE = 0.7
    """Part of what the filter leaves that is not like its prediction.

    A filter that still learns expects too little of a loud echo, but the rest is like it: below 0.7
    in drawn rooms, but for one (0.76) whose stored path was that of another room."""
    _SMOOTHING = 0.7
    """Smoothing over about 30 ms."""

    __slots__ = (
        "_expected",
        "_far",
        "_incoherence",
        "_is_known",
        "_left",
        "_microphone",
        "_recent",
        "_share",
        "_to_learn",
    )

    def __init__(self, partitions: int, *, is_known: bool) -> None:
        """Expect a first echo.

        `partitions` are those of the filter; `is_known` tells that it begins with a path measured before.
        """
        self._far = np.zeros((partitions, len(_WIDTHS)), np.float32)
        self._expected = np.zeros(len(_WIDTHS), np.float32)
        self._left = np.zeros(len(_WIDTHS), np.float32)
        self._microphone = np.zeros(len(_WIDTHS), np.float32)
        self._recent: deque[bool] = deque(maxlen=self.WINDOW)
        self._share = self._incoherence = 0.0
        self._is_known = is_known
        self._to_learn = self.LEARNING_FRAMES

    def begin(self) -> None:
        """Expect an echo of which nothing is known."""
        self._is_known = False
        self._to_learn = self.LEARNING_FRAMES
        self._recent.clear()

    def begin_again(self) -> None:
        """Expect another echo path in mid-answer."""
        self._is_known = False
        self._to_learn = self.LEARNING_AGAIN_FRAMES
        self._recent.clear()

    def forget_sound(self) -> None:
        """Begin after a pause."""
        self._far[:] = 0
        self._expected[:] = self._left[:] = self._microphone[:] = 0
        self._recent.clear()

    @property
    def passing_share(self) -> float:
        """Part (0 to 1) of what the filter leaves that may pass for the person's.

        It is all where most of the sound exceeds the echo.
        """
        return min(1.0, self._share / self._LEAST_SHARE)

    def update(
        self, echo_filter: LinearEchoFilter, spectra: Complex64, incoherence: float, *, proven: bool, is_audible: bool
    ) -> bool:
        """Return True when a person speaks.

        Takes the filter after its step, the spectra of what it leaves and of what it predicts (two frames under a Hann
        window), and the part of what it leaves that the prediction does not explain. Of a `proven` filter only what it
        leaves counts: another learns a person's words, too. `is_audible` tells that the microphone exceeds the noise.
        """
        self._far[1:] = self._far[:-1]
        self._far[0] = _bands(echo_filter.newest_far_power)
        echo = (_bands(echo_filter.path_power) * self._far).sum(0) / _WIDTHS
        keep = self._SMOOTHING
        # The end of an echo may be longer than the path that is known.
        self._expected = np.maximum(echo, keep * self._expected + (1 - keep) * echo)
        both = np.stack((spectra[0], spectra.sum(axis=0)))
        left, microphone = _bands(both.real**2 + both.imag**2)
        self._left = keep * self._left + (1 - keep) * (np.minimum(left, microphone) if proven else microphone)
        self._microphone = keep * self._microphone + (1 - keep) * microphone
        more = np.maximum(self._left - self._LOUDER * self._expected, 0).sum()
        self._share = float(more / (self._microphone.sum() + 1e-9)) if is_audible else 0.0
        self._incoherence = keep * self._incoherence + (1 - keep) * incoherence
        exceeds = self._share > self._LEAST_SHARE
        if self._to_learn > 0:
            if is_audible and self._far.any():
                self._to_learn -= self._KNOWN_FACTOR if self._is_known and not exceeds else 1
            return False
        self._recent.append(exceeds)
        return exceeds and sum(self._recent) >= self.FRAMES and self._incoherence > self._LEAST_INCOHERENCE
