"""Compare what a linear echo filter leaves with the echo that it predicts."""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.echo.transforms import PowerSpectra, RealTransform
from gemini_live_runtime.audio.samples import FRAME, Complex64, Float32, constant


class Incoherence:
    """Estimator of the part of a signal that another does not explain.

    Where the echo path has moved a little, as with clocks that drift, residual and predicted echo still go together in
    phase for some 50 ms; a person's words do not.
    """

    _SMOOTHING = constant(0.8)
    _NEW = constant(float(1 - _SMOOTHING[()]))
    _FLOOR = 1e-8
    """Least power of a bin, as the forward transform scales it: that of noise far below one step of the microphone."""
    _POWER = 2
    """Exponent that makes up for the coherence of short averages with anything."""

    __slots__ = (
        "_before",
        "_cross",
        "_cross_parts",
        "_halves",
        "_newest",
        "_powers",
        "_product",
        "_squares",
        "_sums",
        "_windowed",
        "spectra",
    )

    def __init__(self) -> None:
        bins = FRAME + 1
        silence: Float32 = np.zeros(FRAME, np.float32)
        # Error and echo of the frame before.
        self._before = (silence, silence)
        self._windowed = np.zeros((2, 2 * FRAME), np.float32)
        # Those of the frame before, then those of the newest one.
        self._halves = (*self._windowed[:, :FRAME], *self._windowed[:, FRAME:])
        self._newest = np.zeros((2, bins), np.float32)
        self._powers = np.zeros((2, bins), np.float32)
        self._cross = np.zeros(bins, np.complex64)
        # numpy multiplies a complex array by a real number twice as fast so.
        self._cross_parts = self._cross.view(np.float32)
        self._sums = np.zeros((2, bins), np.float32)
        self._product = np.zeros(bins, np.complex64)
        self._squares = PowerSpectra(2, bins)
        self.spectra: Complex64 = np.zeros((2, bins), np.complex64)
        """Spectra of both in the newest two frames under a Hann window."""

    def update(self, error: Float32, echo: Float32) -> float:
        """Return the share (0 to 1) of the power of `error` that `echo` does not explain.

        Both are kept until the next call, and must not be changed.
        """
        cross, product, sums = self._cross, self._product, self._sums
        for frame, window, half in zip((*self._before, error, echo), _HANN, self._halves, strict=True):
            np.multiply(frame, window, out=half)
        self._before = error, echo
        spectra = _transform.forward(self._windowed, self.spectra)
        powers = self._squares.of(spectra, self._newest)
        powers *= self._NEW
        self._powers *= self._SMOOTHING
        self._powers += powers
        np.multiply(self._NEW, spectra[0], out=product)
        product *= spectra[1].conj()
        self._cross_parts *= self._SMOOTHING
        cross += product
        explained = cross.real**2 + cross.imag**2
        explained /= self._powers[1] + self._FLOOR
        sums[1] = error_power = self._powers[0]
        np.maximum(error_power - explained, _ZERO, out=sums[0])
        rest = np.add.reduce(sums, 1)
        return float(rest[0] / (rest[1] + self._FLOOR)) ** self._POWER


_ZERO = constant(0)
_RISE, _FALL = np.hanning(2 * FRAME).astype(np.float32).reshape(2, FRAME)
_HANN = (_RISE, _RISE, _FALL, _FALL)
_transform = RealTransform(2 * FRAME)
