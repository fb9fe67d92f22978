"""Test the transforms of the echo canceller, with and without numpy's ufuncs."""

from __future__ import annotations

import types
from collections.abc import Callable

import numpy as np
import pytest

from gemini_live_runtime.audio.echo import transforms
from gemini_live_runtime.audio.echo.transforms import PowerSpectra, RealTransform


@pytest.fixture(params=["ufuncs", "functions"])
def transform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> RealTransform:
    if request.param == "functions":
        monkeypatch.setattr(transforms, "_rfft", None)
        monkeypatch.setattr(transforms, "_irfft", None)
    return RealTransform(320)


@pytest.mark.parametrize("shape", [(320,), (25, 320)])
def test_a_transform_gives_what_numpy_gives_and_returns_the_memory_it_got(
    transform: RealTransform, shape: tuple[int, ...]
) -> None:
    samples = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    spectrum = np.empty((*shape[:-1], 161), np.complex64)
    assert transform.forward(samples, spectrum) is spectrum
    np.testing.assert_allclose(spectrum, np.fft.rfft(samples) / 320, rtol=0, atol=1e-6)
    back = np.empty(shape, np.float32)
    assert transform.inverse(spectrum, back) is back
    np.testing.assert_allclose(back * 320, samples, rtol=0, atol=1e-5)


@pytest.mark.parametrize("shape", [(161,), (2, 161)])
def test_powers_are_those_of_the_parts_of_spectra_to_the_bit(shape: tuple[int, ...]) -> None:
    parts = np.random.default_rng(1).standard_normal((2, *shape)).astype(np.float32)
    spectra = (parts[0] + 1j * parts[1]).astype(np.complex64)
    powers = np.empty(shape, np.float32)
    assert PowerSpectra(*shape).of(spectra, powers) is powers
    np.testing.assert_array_equal(powers, spectra.real**2 + spectra.imag**2)


def _refuse(*arguments: object, **options: object) -> None:
    raise TypeError


def _do_nothing(*arguments: object, **options: object) -> None:
    pass


@pytest.mark.parametrize("changed", [_refuse, _do_nothing])
def test_a_numpy_whose_ufuncs_have_changed_is_used_by_its_public_functions(
    changed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    private = types.ModuleType("numpy.fft._pocketfft_umath")
    private.rfft_n_even = private.irfft = changed  # type: ignore[attr-defined]
    monkeypatch.setattr(np.fft, "_pocketfft_umath", private, raising=False)
    assert transforms._ufuncs() == (None, None)
