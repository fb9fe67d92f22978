"""Count each piece of the model's audio and call the `on_audio` listeners.

No other code of the agent runs as often, and reading the clock or one more function call would double its cost. So all
of it is one function, its counters are local variables, and listeners are timed only at every thirtieth to fiftieth
call. A listener that was slow is timed at every call until it is fast again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from gemini_live_runtime.author_code import USER_ERRORS
from gemini_live_runtime.session.agent.listeners.callback_runner import InlineListener, refuse_coroutine
from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry

GAPS = (36, 48, 30, 49)
"""Numbers of untimed pieces between two timed ones, used in turn: less than two seconds at 25 pieces a second.

With the timed ones they add up to 167, a prime: a listener that is slow only at every n-th piece is timed there sooner
or later."""


def sound_tap(
    telemetry: SessionTelemetry, listeners: tuple[InlineListener, ...], now: Callable[[], float]
) -> Callable[[bytes], None]:
    """Return the function to call with each piece of the model's audio.

    It never raises. `telemetry` gets a function that reads the counters.
    """
    size = untimed = due = elsewhere = 0
    # The rest of the gap also counts the pieces, which saves a counter: `due` is the number of pieces at the end of the
    # gap, `elsewhere` the number of those that `telemetry` has counted itself.
    gaps = itertools.cycle(GAPS)
    function: Callable[[bytes], object] = _call_all(listeners)
    failed: Callable[[BaseException], None] = _ignore
    if len(listeners) == 1:
        function, _, failed = listeners[0]

    def take(pcm: bytes) -> None:
        nonlocal size, untimed, due, elsewhere
        if telemetry.sounding:
            size += len(pcm)
        else:
            telemetry.model_audio(now(), len(pcm))
            elsewhere += 1
        if not untimed:
            untimed = next(gaps)
            due += 1 + untimed
            for listener in listeners:
                if listener.timed(pcm):
                    due -= untimed
                    untimed = 0
            return
        untimed -= 1
        try:
            result = function(pcm)
            if result is not None:
                refuse_coroutine(result)
        except USER_ERRORS as error:
            failed(error)

    telemetry.add_counter(lambda: (due - untimed - elsewhere, size))
    return take


def _ignore(error: BaseException) -> None:
    return None


def _call_all(listeners: tuple[InlineListener, ...]) -> Callable[[bytes], None]:
    """Return a function that calls any number of listeners, isolated from each other."""

    def call(pcm: bytes) -> None:
        for listener in listeners:
            try:
                result: object = listener.function(pcm)
                if result is not None:
                    refuse_coroutine(result)
            except USER_ERRORS as error:
                listener.failed(error)

    return call
