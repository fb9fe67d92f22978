"""Synthesise each sentence of the agents once, and short; hold the hotel's clock."""

from tests.agents.voice import fast_voice
from tests.support.hotel_clock import morning_at_the_hotel

__all__ = ["fast_voice", "morning_at_the_hotel"]
