"""Synthesise each sentence of the agents once, and short."""

from tests.agents.voice import fast_voice

__all__ = ["fast_voice"]
