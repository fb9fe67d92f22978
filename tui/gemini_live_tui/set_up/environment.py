"""Take keys out of the console's environment."""

from __future__ import annotations

from gemini_live_runtime.wire.credentials import hold_secrets

__all__ = ["hold_secrets"]
