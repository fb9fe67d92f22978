"""Hold the clock of the concierge's hotel.

A table for a time that has passed today is one for tomorrow.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from unittest import mock

import pytest

MORNING = datetime(2026, 11, 20, 9, 5, tzinfo=UTC)


@contextmanager
def at_the_hotel(moment: datetime = MORNING) -> Iterator[None]:
    """Hold the hotel's clock at `moment`, by default before any table of the day."""
    # The package's own attribute of that name is the function.
    concierge = importlib.import_module("gemini_live_runtime.agents.concierge")
    with mock.patch.object(concierge, "time_at_the_hotel", return_value=moment):
        yield


@pytest.fixture(autouse=True)
def morning_at_the_hotel() -> Iterator[None]:
    """Have the concierge book all tables for today."""
    with at_the_hotel():
        yield
