"""The simulation says at the end of a test run what it has covered."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    from tests.simulation.judging import covered

    if covered.cache_info().currsize:
        terminalreporter.section("simulated sessions")
        for line in covered().report():
            terminalreporter.write_line(line)
