"""Test the device helper as a process on the sound loop."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.patience import PATIENCE_S

from gemini_live_runtime.audio.checks.device_helper import __file__ as helper_file

pytestmark = pytest.mark.pulse

RUNTIME = Path(helper_file).parents[2]
PERSON = Path(__file__).parents[1] / "data" / "audio" / "barge_in.wav"


class Process:
    """The helper; `until` reads its reports."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gemini_live_runtime.audio.checks.device_helper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "PYTHONPATH": str(RUNTIME)},
        )

    def order(self, **order: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def until(self, kind: str) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            report: dict[str, Any] = json.loads(line)
            if report["report"] in (kind, "problem"):
                return report
        raise AssertionError(f"the helper ended before it reported {kind}")

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


def test_levels_and_both_tests_on_real_streams_and_the_end_of_input_ends_it(own_loop: dict[str, str]) -> None:
    helper = Process(own_loop)
    helper.order(order="levels", serial=1)
    assert helper.until("opened")["input"]
    assert helper.until("level")["mic_db"] == pytest.approx(-60, abs=1)
    helper.order(order="microphone", serial=2)
    while helper.until("level")["serial"] != 2:
        pass
    subprocess.run(["paplay", str(PERSON)], env=own_loop, check=True)
    result = helper.until("result")
    assert (result["test"], result["mark"]) == ("microphone", "good"), result
    helper.order(order="echo", serial=3)
    result = helper.until("result")
    assert (result["test"], result["mark"]) == ("echo", "good"), result
    assert result["return_db"] == pytest.approx(0, abs=3)
    assert result["reduction_db"] > 10
    helper.order(order="levels", input="no such thing", serial=4)
    assert "no such thing" in helper.until("problem")["text"]
    helper.order(order="levels", serial=5)
    helper.until("opened")
    assert helper.end() == 0
