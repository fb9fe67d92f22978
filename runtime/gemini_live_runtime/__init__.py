"""The session runtime of gemini-live-tui. Names are imported on first use, so importing a part costs only that part."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent import Agent as Agent
    from gemini_live_runtime.tools.declaration import ToolContext as ToolContext
    from gemini_live_runtime.tools.declaration import tool as tool

_HOMES = {
    "Agent": "gemini_live_runtime.session.agent",
    "ToolContext": "gemini_live_runtime.tools.declaration",
    "tool": "gemini_live_runtime.tools.declaration",
}

__all__ = ["Agent", "ToolContext", "__version__", "tool"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
