"""Register a check for each action, to be run with each of its keys and by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.support.console_driver import Driver

Check = Callable[[Driver, str], Awaitable[None]]
"""Gets a console in voice mode, the pane of the action focused, and what to hand to `Driver.press`."""

CHECKS: dict[str, Check] = {}


def check(ident: str) -> Callable[[Check], Check]:
    """Register the check of an action.

    The check may press its key again; each run has a console of its own.
    """

    def register(function: Check) -> Check:
        assert ident not in CHECKS, ident
        CHECKS[ident] = function
        return function

    return register


async def filled(driver: Driver) -> int:
    """Fill the transcript; the row at its top afterwards."""
    for number in range(40):
        driver.link.exchange(f"Question {number}", f"Answer {number}")
    await driver.settle()
    return driver.app.console_screen.transcript.scroll_offset.y
