"""The console of gemini-live-tui."""

from gemini_live_runtime import __version__ as __version__
