"""Run sessions in virtual time, and synthesise each of their sentences once."""

from tests.agents.voice import fast_voice
from tests.support.hotel_clock import morning_at_the_hotel
from tests.support.virtual_time import pytest_pycollect_makeitem

__all__ = ["fast_voice", "morning_at_the_hotel", "pytest_pycollect_makeitem"]
