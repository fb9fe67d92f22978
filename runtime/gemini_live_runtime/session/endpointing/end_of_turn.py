"""Ask a model whether the user has finished speaking, beside the talk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from math import nan
from typing import Any, Protocol

from gemini_live_runtime.author_code import error_text
from gemini_live_runtime.clock import hold_time
from gemini_live_runtime.records import record
from gemini_live_runtime.threads import call_in_thread

SOUND_S = 8.0
"""Seconds of a turn's newest sound that a model gets."""

THRESHOLD = 0.5
"""Probability from which on a turn counts as finished."""

HELD_S = 0.5
"""Real seconds for which virtual time waits for a model."""


class EndOfTurnModel(Protocol):
    """Model that tells a pause from the end of a turn."""

    def predict(self, pcm: bytes) -> float:
        """Return the probability, from 0 to 1, that the speaker has finished.

        `pcm` is the newest sound of the turn, up to 8 s, with the silence that has begun: s16le mono at 16 kHz. Called
        in a thread of its own, one call at a time.
        """
        ...


@record
class Prediction:
    """Answer of a model about a pause: its probability, or the fault that it had."""

    pause: int
    probability: float = 0.0
    seconds: float = 0.0
    error: str = ""

    @property
    def expects_more(self) -> bool:
        """True when the user is expected to go on."""
        return not self.error and self.probability < THRESHOLD


class EndOfTurnPredictor:
    """Caller of one model; a call that runs is never waited for."""

    def __init__(
        self, model: EndOfTurnModel, *, now: Callable[[], float], on_prediction: Callable[[Prediction], None]
    ) -> None:
        """`on_prediction` is called on the event loop, however late the answer is."""
        self._model = model
        self._now = now
        self._on_prediction = on_prediction
        self._call: asyncio.Future[Any] | None = None

    def ask(self, pause: int, pcm: bytes) -> bool:
        """Ask about a pause; return False while an earlier call still runs."""
        if self._call is not None:
            return False
        began, hold = self._now(), ExitStack()
        hold.enter_context(hold_time(HELD_S))
        self._call = call_in_thread(partial(_probability, self._model, pcm), "end of turn")
        self._call.add_done_callback(lambda call: self._on_done(call, pause, began, hold))
        return True

    def _on_done(self, call: asyncio.Future[Any], pause: int, began: float, hold: ExitStack) -> None:
        hold.close()
        self._call = None
        if call.cancelled():
            return
        seconds, fault = self._now() - began, call.exception()
        if fault is not None:
            prediction = Prediction(pause, seconds=seconds, error=error_text(fault))
        else:
            prediction = Prediction(pause, call.result(), seconds)
        self._on_prediction(prediction)


def _probability(model: EndOfTurnModel, pcm: bytes) -> float:
    """Return the model's prediction as a float.

    Numbers of other libraries, such as `numpy.float32`, count. Raises `ValueError` for what is no probability.
    """
    value: Any = model.predict(pcm)
    is_real = hasattr(type(value), "__float__") and not isinstance(value, bool)
    probability = float(value) if is_real else nan
    if not 0 <= probability <= 1:
        raise ValueError(f"predict returned {value!r:.60}, not a probability from 0 to 1")
    return probability
