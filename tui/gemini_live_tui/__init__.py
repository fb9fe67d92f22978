"""The console of gemini-live-tui."""

__version__ = "0.1.0"
