"""Sessions run in virtual time; `bench` is a connected core in voice mode."""

import pytest
from tests.support.virtual_time import pytest_pycollect_makeitem
from tests.unit.session.core_support import Bench

__all__ = ["pytest_pycollect_makeitem"]


@pytest.fixture
def bench() -> Bench:
    return Bench().connect()
