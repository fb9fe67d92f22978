"""Run the coroutine tests of this folder in virtual time."""

from tests.support.virtual_time import pytest_pycollect_makeitem

__all__ = ["pytest_pycollect_makeitem"]
