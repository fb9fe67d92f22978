"""Measurements are made again while samples are lost."""

from __future__ import annotations

import pytest

from gemini_live_runtime.audio.checks.calibration_run import _until_steady
from gemini_live_runtime.audio.echo.echo_path import EchoPath
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import DeviceError

FOUND = EchoPath(measured_at=0.0, room_db=-60.0)


def measured(*fields: str) -> tuple[EchoPath, int]:
    """Return what is found and how often it is measured again after errors."""
    errors, again = [DeviceError("It did not work", field=field) for field in fields], 0

    async def measure() -> EchoPath:
        if errors:
            raise errors.pop(0)
        return FOUND

    def note() -> None:
        nonlocal again
        again += 1

    return run_virtual(_until_steady(measure, note)), again


@pytest.mark.parametrize("times", [0, 1, 4])
def test_a_delay_that_changed_is_measured_again(times: int) -> None:
    assert measured(*["delay"] * times) == (FOUND, times)


def test_a_delay_that_goes_on_changing_is_a_problem() -> None:
    with pytest.raises(DeviceError):
        measured(*["delay"] * 5)


def test_another_problem_is_told_at_once() -> None:
    with pytest.raises(DeviceError):
        measured("microphone")
