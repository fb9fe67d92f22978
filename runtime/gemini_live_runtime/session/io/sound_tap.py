"""What the mind does with each piece of the model's sound: count it, and call who listens.

Nothing is called so often, and no other call costs so little to serve: a look at the clock, or one more function in
between, would double it. So all of it is one function, the counts are its own variables, and listeners are timed now
and then.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from gemini_live_runtime.session.agent.callback_runner import Watched, refuse_coroutine
from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry

GAPS = (36, 48, 30, 49)
"""Pieces between two whose listeners are timed, in turns: at 25 a second, within two seconds. With those that are timed
they make 167, a prime: what a listener does once in so many pieces is met sooner or later."""


def sound_tap(
    telemetry: SessionTelemetry, listeners: tuple[Watched, ...], now: Callable[[], float]
) -> Callable[[bytes], None]:
    """The function to call with each piece of the model's sound on its way to the speaker; it never raises.

    While a listener is slow, it is timed every time. `telemetry` learns how to read the counts.
    """
    size = untimed = due = elsewhere = 0
    # Pieces are counted by what is left of a gap, which spares a count of their own: `due` is how many will have come
    # when it is over, `elsewhere` how many of them `telemetry` has counted itself.
    gaps = itertools.cycle(GAPS)
    function: Callable[[bytes], object] = _all(listeners)
    failed: Callable[[BaseException], None] = _nothing
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
        except (Exception, SystemExit) as error:
            failed(error)

    telemetry.add_counter(lambda: (due - untimed - elsewhere, size))
    return take


def _nothing(error: BaseException) -> None:
    return None


def _all(listeners: tuple[Watched, ...]) -> Callable[[bytes], None]:
    """Calls none or several, each guarded from the others."""

    def call(pcm: bytes) -> None:
        for listener in listeners:
            try:
                result: object = listener.function(pcm)
                if result is not None:
                    refuse_coroutine(result)
            except (Exception, SystemExit) as error:
                listener.failed(error)

    return call
