"""Run a console as a process: garbage collection, signals, the error at its end."""

from __future__ import annotations

import atexit
import gc
from functools import cache
from typing import TYPE_CHECKING

from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.console.outcome import failure_of
from gemini_live_tui.settings import ConsoleOutcome

if TYPE_CHECKING:
    from gemini_live_tui.session_data.link import LinkSource
    from gemini_live_tui.settings import ConsoleSettings

FULL_COLLECTION_AFTER = 100
"""Smaller garbage collections before a full one, in place of Python's 10.

A full one takes 30 to 50 ms in a session of some ten thousand events, in which no key is answered; a flood of messages
led to one every few seconds and found nothing.
"""


def run_console(link_source: LinkSource | None, *, settings: ConsoleSettings) -> ConsoleOutcome:
    """Run a console to its end and restore the terminal.

    Raises `GeminiLiveError`, with the way back to the session, when the console breaks down.

    Starting is quicker with garbage collection off, so a caller may have turned it off before importing this module; it
    is on again, with what start-up made left out of it for good, after the first paint.
    """
    gc.disable()
    thresholds = gc.get_threshold()
    _free_nothing_at_exit()
    app = ConsoleApp(link_source, settings=settings)
    app.begun = app.leaving.leave_on_signals
    app.settled = _collect_again
    try:
        outcome = app.run()
        if app.failure is not None:
            raise failure_of(app.failure, app.store, settings) from app.failure
        return outcome or ConsoleOutcome(app.return_code or 1, "The console failed.")
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()


def _collect_again() -> None:
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, FULL_COLLECTION_AFTER)
    gc.enable()


@cache
def _free_nothing_at_exit() -> None:
    # Python's last collection looks at all that a long session left: the system frees it at once.
    atexit.register(gc.freeze)
