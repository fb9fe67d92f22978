"""Run sessions in virtual time, and synthesise each of their sentences once."""

from tests.agents.voice import keep_spoken
from tests.support.virtual_time import pytest_pycollect_makeitem

__all__ = ["keep_spoken", "pytest_pycollect_makeitem"]
