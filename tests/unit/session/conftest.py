"""Sessions run in virtual time; `bench` is a connected core in voice mode."""

import pytest
from tests.support.virtual_time import pytest_pycollect_makeitem
from tests.unit.session.core_support import Bench
from tests.unit.session.telemetry_support import T0

from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry

__all__ = ["pytest_pycollect_makeitem"]


@pytest.fixture
def bench() -> Bench:
    return Bench().connect()


@pytest.fixture
def telemetry() -> SessionTelemetry:
    """Return the telemetry of a session without a speaker."""
    found = SessionTelemetry(T0)
    found.speaker_changed(False)
    return found
