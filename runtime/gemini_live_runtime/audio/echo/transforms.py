"""Transform real samples to spectra and back, in float32 and given memory.

numpy's functions examine their arguments for longer than a transform of some hundred samples takes. They call ufuncs of
numpy 2, which are used here where numpy has them; `tests/unit/audio/test_transforms.py` compares both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gemini_live_runtime.audio.samples import Complex64, Float32


def _ufuncs() -> tuple[Any, Any]:
    """Return numpy's ufuncs of both transforms, or None for each without them."""
    # They are no public names, so a numpy whose ufuncs are others is noticed before the first frame.
    try:
        from numpy.fft import _pocketfft_umath as umath  # type: ignore[attr-defined]

        samples = np.array([3.0, 1.0, 2.0, -5.0], np.float32)
        spectrum, back = np.empty(3, np.complex64), np.empty(4, np.float32)
        umath.rfft_n_even(samples, np.float32(0.25), out=spectrum)
        umath.irfft(spectrum, np.float32(0.25), out=back)
        right = np.allclose(spectrum, np.fft.rfft(samples) / 4) and np.allclose(back, samples / 4)
        return (umath.rfft_n_even, umath.irfft) if right else (None, None)
    except (ImportError, AttributeError, TypeError, ValueError):
        return None, None


_rfft, _irfft = _ufuncs()
_FLOAT32 = np.dtype(np.float32)


class RealTransform:
    """Transform of `size` real samples, an even number, along the last axis.

    Spectra have `size // 2 + 1` bins and are divided by `size`: numpy 1 calculates those in float32, plain ones in
    float64.
    """

    __slots__ = ("_scale",)

    def __init__(self, size: int) -> None:
        self._scale = np.reciprocal(size, dtype=np.float32)

    def forward(self, samples: Float32, out: Complex64) -> Complex64:
        """Write the spectrum of `samples` to `out`."""
        if _rfft is None:
            out[...] = np.fft.rfft(samples, norm="forward")
        else:
            _rfft(samples, self._scale, out=out)
        return out

    def inverse(self, spectrum: Complex64, out: Float32) -> Float32:
        """Write the samples of `spectrum`, divided by `size` again, to `out`."""
        if _irfft is None:
            out[...] = np.fft.irfft(spectrum)
        else:
            _irfft(spectrum, self._scale, out=out)
        return out


class PowerSpectra:
    """Calculator of the powers of spectra of one shape.

    Squared as floats that lie together, they take half as long as their real and imaginary parts.
    """

    __slots__ = ("_imaginary", "_real", "_squares")

    def __init__(self, *shape: int) -> None:
        self._squares: Float32 = np.empty((*shape[:-1], 2 * shape[-1]), np.float32)
        self._real, self._imaginary = self._squares[..., ::2], self._squares[..., 1::2]

    def of(self, spectra: Complex64, out: Float32) -> Float32:
        """Write the powers of `spectra`, whose last axis is contiguous, to `out`."""
        np.square(spectra.view(_FLOAT32), self._squares)
        np.add(self._real, self._imaginary, out)
        return out
