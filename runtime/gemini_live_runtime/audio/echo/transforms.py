"""Transform real samples to spectra and back, in float32 and given memory.

numpy's functions examine their arguments for longer than a transform of some hundred samples takes. They call ufuncs of
numpy 2, which are used here where numpy has them; `tests/unit/audio/test_transforms.py` compares both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gemini_live_runtime.audio.samples import Complex64, Float32

try:
    from numpy.fft import _pocketfft_umath as _umath  # type: ignore[attr-defined]

    _rfft: Any = _umath.rfft_n_even
    _irfft: Any = _umath.irfft
except (ImportError, AttributeError):  # numpy 1
    _rfft = _irfft = None


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
