"""Tell a person from an echo by loudness, before a filter knows the echo.

A filter's prediction is right only once it knows each sample of the echo path. How much of each band the path returns,
and how late, it knows within half a second, or beforehand from an earlier call, whose delay differed by some
milliseconds. So the power of the echo is expected band by band, without phase. Speech leaves most bands empty at any
moment: a person who is as loud as the echo on the whole is louder in some of them.
"""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.echo.linear_echo import LinearEchoFilter
from gemini_live_runtime.audio.echo.transforms import PowerSpectra
from gemini_live_runtime.audio.samples import Complex64, Float32, constant

_EDGES = (4, 6, 8, 10, 12, 15, 18, 22, 26, 31, 37, 44, 52, 62, 74, 88)
"""Bins (of 50 Hz) at which bands begin, 200 to 4,400 Hz: about a third of an octave, where speech has its power."""
_FIRST, _END = _EDGES[0], _EDGES[-1]
_STARTS = np.array(_EDGES[:-1]) - _FIRST
_WIDTHS: Float32 = np.diff(_EDGES).astype(np.float32)


def _bands(powers: Float32, out: Float32) -> Float32:
    """Write the sums over each band to `out`; `powers` begin with the first band's."""
    np.add.reduceat(powers, _STARTS, axis=-1, out=out)
    return out


class LouderSpeech:
    """Detect a person who exceeds the echo to be expected by 6 dB."""

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
    _KEPT, _NEW = constant(_SMOOTHING), constant(1 - _SMOOTHING)
    _MARGIN, _ZERO = constant(_LOUDER), constant(0)
    _DECAY = constant(0.83)
    """Decay of an echo per frame, at least: an RT60 of 0.74 s."""
    _LIKELY_FRAMES = 4
    """Frames in a row after which a person is likely."""
    _SUSPICIOUS = ((0.3, 0.65), (0.7, 0.5))
    """Pairs of both, of which either makes a person suspected: what is unlike the prediction, or very loud.

    0.3 and 0.5 together suspect half as many echoes again in drawn rooms, and people hardly sooner."""
    _SUSPECT_FRAMES = 2
    """Frames in a row after which one is suspected."""

    __slots__ = (
        "_both",
        "_exceeding_run",
        "_expected",
        "_far",
        "_far_power",
        "_incoherence",
        "_newest",
        "_path",
        "_powers",
        "_share",
        "_smoothed",
        "_squares",
        "_squares_of_both",
        "_suspect_run",
    )

    def __init__(self, partitions: int) -> None:
        """Expect an echo through a filter with so many `partitions`."""
        bins, bands = _END - _FIRST, len(_WIDTHS)
        self._far = np.zeros((partitions, bands), np.float32)
        self._path = np.zeros((partitions, bands), np.float32)
        self._both = np.zeros((2, bins), np.complex64)
        """Spectra of what the filter leaves and of the microphone."""
        self._powers = np.zeros((2, bins), np.float32)
        self._far_power = np.zeros(bins, np.float32)
        self._squares, self._squares_of_both = PowerSpectra(bins), PowerSpectra(2, bins)
        # Of the echo to be expected, of what the filter leaves, and of the microphone.
        self._newest = np.zeros((3, bands), np.float32)
        self._expected = np.zeros(bands, np.float32)
        self._smoothed = np.zeros((2, bands), np.float32)
        self._share = self._incoherence = 0.0
        self._exceeding_run = self._suspect_run = 0

    def forget_sound(self) -> None:
        """Begin after a pause."""
        self._far[:] = 0
        self._expected[:] = 0
        self._smoothed[:] = 0
        self._exceeding_run = self._suspect_run = 0

    @property
    def is_likely(self) -> bool:
        """True while a person has been louder than the echo for some frames."""
        return self._exceeding_run >= self._LIKELY_FRAMES

    @property
    def suspects(self) -> bool:
        """True while a person may be louder than the echo, as far as that is known."""
        return self._suspect_run >= self._SUSPECT_FRAMES

    @property
    def passing_share(self) -> float:
        """Part (0 to 1) of what the filter leaves that may pass for the person's.

        It is all where most of the sound exceeds the echo.
        """
        return min(1.0, self._share / self._LEAST_SHARE)

    def update(
        self,
        echo_filter: LinearEchoFilter,
        spectra: Complex64,
        incoherence: float,
        *,
        proven: bool,
        is_audible: bool,
    ) -> bool:
        """Return True for a frame in which a person seems to speak.

        Takes the filter after its step, the spectra of what it leaves and of what it predicts (two frames under a Hann
        window), and the part of what it leaves that the prediction does not explain. Of a `proven` filter only what it
        leaves counts: another learns a person's words, too. `is_audible` tells that the microphone exceeds the noise.
        """
        self._far[1:] = self._far[:-1]
        far = echo_filter.newest_far_spectrum(_FIRST, _END)
        _bands(self._squares.of(far, self._far_power), self._far[0])
        path = _bands(echo_filter.path_power[:, _FIRST:_END], self._path)
        path *= self._far
        both, newest, smoothed = self._both, self._newest, self._smoothed
        both[0] = spectra[0, _FIRST:_END]
        np.add(both[0], spectra[1, _FIRST:_END], out=both[1])
        _bands(self._squares_of_both.of(both, self._powers), newest[1:])
        echo, left = newest[0], newest[1]
        np.divide(np.add.reduce(path), _WIDTHS, echo)
        if proven:
            np.minimum(left, newest[2], out=left)
        else:
            left[:] = newest[2]
        expected = self._expected
        # The end of an echo may be longer than the path that is known.
        expected *= self._DECAY
        np.maximum(echo, expected, out=expected)
        smoothed *= self._KEPT
        smoothed += self._NEW * newest[1:]
        self._share = 0.0
        if is_audible:
            more = np.add.reduce(np.maximum(smoothed[0] - self._MARGIN * expected, self._ZERO))
            self._share = float(more / (np.add.reduce(smoothed[1]) + 1e-9))
        keep = self._SMOOTHING
        self._incoherence = keep * self._incoherence + (1 - keep) * incoherence
        exceeds = self._share > self._LEAST_SHARE and self._incoherence > self._LEAST_INCOHERENCE
        self._exceeding_run = self._exceeding_run + 1 if exceeds else 0
        suspicious = any(self._share > share and self._incoherence > unlike for share, unlike in self._SUSPICIOUS)
        self._suspect_run = self._suspect_run + 1 if suspicious else 0
        return exceeds
