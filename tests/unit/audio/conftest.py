"""Fixtures of the sound's tests."""

from __future__ import annotations

import pytest

from gemini_live_runtime.audio.processing import worker


@pytest.fixture
def no_silence_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take no device for dead: on a busy machine its callbacks may be seconds apart."""
    monkeypatch.setattr(worker, "SILENT_AFTER_S", 1000.0)
    monkeypatch.setattr(worker, "FIRST_CALLBACK_S", 1000.0)
