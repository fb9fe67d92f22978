"""Calibrate real streams on the sound loop."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.support.patience import PATIENCE_S

pytestmark = pytest.mark.pulse


def program(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gemini_live_tui", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def test_the_loops_delay_and_level_are_measured_stored_and_shown_by_doctor(own_loop: dict[str, str]) -> None:
    ended = program(own_loop, "calibrate", "--no-voice", "--json")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    # The monitor hears exactly what is played.
    assert 0 <= found["delay_ms"] <= 400
    assert found["level_db"] == pytest.approx(0, abs=1.5)
    assert found["room_db"] == -60
    checks = {check["name"]: check for check in json.loads(program(own_loop, "doctor", "--json").stdout)["checks"]}
    assert checks["calibration"]["state"] == "ok"
    assert f"{found['delay_ms']:.0f} ms" in checks["calibration"]["found"]


def test_devices_that_do_not_exist_are_named_with_the_remedy(own_loop: dict[str, str]) -> None:
    ended = program(own_loop, "calibrate", "--input-device", "no such thing")
    assert ended.returncode != 0
    assert "no such thing" in ended.stderr
    assert "Traceback" not in ended.stderr
