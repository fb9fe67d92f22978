"""Fixtures of the sound's tests."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.audio_support import babble
from tests.unit.audio.echo_support import RATE

from gemini_live_runtime.audio.processing import worker


@pytest.fixture
def no_silence_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take no device for dead: on a busy machine its callbacks may be seconds apart."""
    monkeypatch.setattr(worker, "SILENT_AFTER_S", 1000.0)
    monkeypatch.setattr(worker, "FIRST_CALLBACK_S", 1000.0)


@pytest.fixture(scope="module")
def far() -> np.ndarray:
    """Return ten seconds of something like speech, at 16 kHz."""
    return babble(RATE, 10.0, seed=3, level=0.1)
