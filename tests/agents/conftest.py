"""Synthesise each sentence of the agents once."""

from tests.agents.voice import keep_spoken

__all__ = ["keep_spoken"]
