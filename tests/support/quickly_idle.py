"""Let a headless conversation be over sooner, for servers that pause nowhere."""

from __future__ import annotations

import pytest


def be_quickly_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait half a second for an answer that does not come, not twenty."""
    monkeypatch.setattr("gemini_live_tui.cli.headless.IDLE_S", 0.05)
    for module in ("core", "status"):
        monkeypatch.setattr(f"gemini_live_runtime.session.core.{module}.OWED_PATIENCE_S", 0.5)
        monkeypatch.setattr(f"gemini_live_runtime.session.core.{module}.ANSWER_PATIENCE_S", 0.5)
