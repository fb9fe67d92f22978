"""Cancel echo linearly by a partitioned-block frequency-domain Kalman filter.

It models loudspeaker, room and microphone as one long FIR filter and subtracts the predicted echo. Unlike a suppressor
it leaves near-end speech in double talk intact, so it runs before one.

After G. Enzner and P. Vary, "Frequency-domain adaptive Kalman filter for acoustic echo control in hands-free
telephones" (Signal Processing 86, 2006), in the partitioned form of F. Kuech, E. Mabande and G. Enzner, "State-space
architecture of the partitioned-block-based acoustic echo controller" (ICASSP 2014), with a diagonal state covariance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gemini_live_runtime.audio.echo.transforms import PowerSpectra, RealTransform
from gemini_live_runtime.audio.samples import FRAME, FRAME_MS, Complex64, Float32, Int16, constant

TAIL_MS = 250
"""Longest echo modelled: delay of the devices plus the room's decay."""

_FORGETTING = 0.998
"""Part of the echo path expected to survive a frame.

Measured best trade of tracking against depth."""
_FORGETTING_SQUARED = _FORGETTING**2
_START_COVARIANCE = 1e-2
_LEAST_COVARIANCE = 1e-3
"""The same beside a path that was known before, which may be wrong."""
_MAX_COVARIANCE = 10.0
_SIZE = 2 * FRAME
"""Samples of a transform, by which spectra are divided."""
_START_NOISE = 1e3 / _SIZE**2
_LEAST_POWER = 1e-6 / _SIZE**2
_NOISE_SMOOTHING = 0.9
_FRAME_SHARE = 0.5
"""Part of a double-length transform that carries new samples."""

# Constants as arrays; those of spectra are complex.
_ONE, _SCALE, _SHARE, _LEAST = constant(1), constant(_SIZE), constant(_FRAME_SHARE), constant(_LEAST_POWER)
_KEPT, _NEW = constant(_NOISE_SMOOTHING), constant(1 - _NOISE_SMOOTHING)
_SURVIVES, _CHANGES = constant(_FORGETTING_SQUARED), constant(1 - _FORGETTING_SQUARED)
_HALF, _QUARTER, _SCALE_OF_SPECTRA = (np.array(value, np.complex64) for value in (0.5, 0.25, _SIZE))

_transform = RealTransform(_SIZE)


class LinearEchoFilter:
    """Predictor of the echo of played frames of 10 ms (160 samples at 16 kHz)."""

    __slots__ = (
        "_covariance",
        "_far",
        "_far_power",
        "_gradient",
        "_history",
        "_newest",
        "_noise",
        "_padded",
        "_products",
        "_ratios",
        "_silent_frames",
        "_spectrum",
        "_squares",
        "_weights",
        "partitions",
        "path_power",
    )

    def __init__(self, tail_ms: int = TAIL_MS) -> None:
        partitions = self.partitions = max(1, tail_ms // 10)
        bins = FRAME + 1
        # Past far spectra and a frame's part of their power, newest first from row `_newest`. Rows before it are free,
        # so a new frame copies nothing.
        self._history = np.zeros((4 * partitions, bins), np.complex64)
        self._far_power = np.zeros((4 * partitions, bins), np.float32)
        self._newest = 3 * partitions
        self._weights = np.zeros((partitions, bins), np.complex64)
        self.path_power = np.zeros((partitions, bins), np.float32)
        """Power of the echo path, by the frames of its delay and the bins of its spectrum."""
        self._covariance = np.empty((partitions, bins), np.float32)
        self._noise = np.empty(bins, np.float32)
        self._far = np.zeros(_SIZE, np.float32)
        self._padded = np.zeros(_SIZE, np.float32)
        # Used by each step anew: fresh memory of this size costs as much as what is calculated in it.
        self._products = np.empty((partitions, bins), np.complex64)
        self._ratios = np.empty((partitions, bins), np.float32)
        self._gradient = np.empty((partitions, _SIZE), np.float32)
        self._spectrum = np.empty(bins, np.complex64)
        self._squares = PowerSpectra(bins)
        self._silent_frames = 0
        self.reset()

    def reset(self) -> None:
        """Forget the echo path, keep the played frames."""
        self._weights[:] = 0
        self.path_power[:] = 0
        self._covariance[:] = _START_COVARIANCE
        self._noise[:] = _START_NOISE

    def begin_with(self, response: Sequence[float], delay_ms: float) -> None:
        """Set the echo path to an impulse response (16 kHz) after `delay_ms`.

        What is longer than the filter is left out.
        """
        path = np.zeros(self.partitions * FRAME, np.float32)
        at = round(delay_ms * FRAME / FRAME_MS)
        count = max(0, min(len(response), len(path) - at))
        path[at : at + count] = response[:count]
        self._weights[:] = np.fft.rfft(path.reshape(-1, FRAME), _SIZE, axis=1)
        self.path_power[:] = self._weights.real**2 + self._weights.imag**2
        # Today's delay differs by some milliseconds, so all of it has to be learned anew, but it will be where it was.
        power = self.path_power.mean(axis=1, keepdims=True)
        power[1:] = np.maximum(power[1:], power[:-1])
        power[:-1] = np.maximum(power[:-1], power[1:])
        self._covariance[:] = power + _LEAST_COVARIANCE

    def newest_far_spectrum(self, first: int, end: int) -> Complex64:
        """Return bins of the spectrum of the newest two far frames under a Hann window.

        They are those from `first` to before `end`; neither of them is the first or last of all.
        """
        spectrum = self._history[self._newest]
        # A window on samples is a convolution of the spectrum.
        beside = spectrum[first - 1 : end - 1] + spectrum[first + 1 : end + 1]
        beside *= _QUARTER
        smooth: Complex64 = _HALF * spectrum[first:end]
        smooth -= beside
        return smooth

    @property
    def response(self) -> Float32:
        """Impulse response (16 kHz) that it has learned, of `TAIL_MS`."""
        return np.fft.irfft(self._weights, axis=1)[:, :FRAME].astype(np.float32).reshape(-1)

    @property
    def delay(self) -> int:
        """Delay of the echo in whole frames; 0 before anything is learned."""
        return int(self.path_power.sum(axis=1).argmax())

    def shift(self, later: int) -> None:
        """Move the echo path by `later` frames, or earlier below 0.

        What moves out is lost.
        """
        count = min(abs(later), self.partitions)
        moved = ((self._weights, 0), (self.path_power, 0), (self._covariance, _START_COVARIANCE))
        if later > 0:
            for values, fill in moved:
                values[count:] = values[: self.partitions - count].copy()
                values[:count] = fill
        elif later < 0:
            for values, fill in moved:
                values[: self.partitions - count] = values[count:].copy()
                values[self.partitions - count :] = fill

    def step(self, far: Int16, near: Int16) -> tuple[Float32, Float32]:
        """Learn from a frame; return (`near` less the predicted echo, predicted echo).

        Both are in int16 units.
        """
        self._silent_frames = 0 if np.count_nonzero(far) else self._silent_frames + 1
        if self._silent_frames > self.partitions + 1:
            # The far end has been silent for longer than the tail: there is no echo to predict or to learn from.
            return near.astype(np.float32), np.zeros(FRAME, np.float32)
        self._push(far)
        recent = slice(self._newest, self._newest + self.partitions)
        spectra = self._history[recent]
        np.multiply(spectra, self._weights, out=self._products)
        predicted = _transform.inverse(np.add.reduce(self._products), self._gradient[0])
        echo: Float32 = _SCALE * predicted[FRAME:]
        error = near.astype(np.float32) - echo
        self._padded[FRAME:] = error
        self._learn(spectra, self._far_power[recent], _transform.forward(self._padded, self._spectrum))
        return error, echo

    def _push(self, far: Int16) -> None:
        self._far[:FRAME] = self._far[FRAME:]
        self._far[FRAME:] = far
        if self._newest == 0:
            keep = self.partitions - 1
            for past in (self._history, self._far_power):
                past[-keep:] = past[:keep].copy()
            self._newest = len(self._history) - keep
        self._newest -= 1
        spectrum = _transform.forward(self._far, self._history[self._newest])
        power = self._squares.of(spectrum, self._far_power[self._newest])
        power *= _SHARE

    def _learn(self, spectra: Complex64, far_power: Float32, error: Complex64) -> None:
        covariance, products, ratios = self._covariance, self._products, self._ratios
        # The first row is free until it gets its ratios.
        newest = self._squares.of(error, ratios[0])
        newest *= _NEW
        self._noise *= _KEPT
        self._noise += newest
        np.multiply(far_power, covariance, out=ratios)
        expected = np.add.reduce(ratios)
        expected += self._noise
        expected += _LEAST
        # The gain of Kalman is this step times the conjugate spectra.
        step = np.divide(covariance, expected, out=ratios)
        np.conjugate(spectra, out=products)
        products *= step
        products *= _SCALE_OF_SPECTRA * error
        gradient = _transform.inverse(products, self._gradient)
        gradient[:, FRAME:] = 0
        self._weights += _transform.forward(gradient, products)
        step *= far_power
        covariance *= np.subtract(_ONE, step, out=step)
        covariance.clip(0, _MAX_COVARIANCE, out=covariance)
        covariance *= _SURVIVES
        power = np.square(self._weights.real, out=self.path_power)
        power += self._weights.imag**2
        covariance += np.multiply(power, _CHANGES, out=ratios)
