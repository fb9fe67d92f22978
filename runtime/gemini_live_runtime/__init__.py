"""The session runtime of gemini-live-tui. Names are imported on first use, so importing a part costs only that part."""

from __future__ import annotations
