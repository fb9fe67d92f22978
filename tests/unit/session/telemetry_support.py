"""Provide the telemetry of a session, and a turn that was spoken."""

from __future__ import annotations

from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry, TurnMetrics
from gemini_live_runtime.session.metrics.waterfall import Waterfall

T0 = 100.0
"""Start of the sessions in these tests, in clock seconds."""


def spoken_turn(
    telemetry: SessionTelemetry, number: int, at: float, latency: float = 0.3, source: str = "server_vad"
) -> None:
    """Report a second of speech until `at`, an answer of three chunks, and its end.

    The turn is completed 2 s later.
    """
    telemetry.voice_started(at - 1, source)  # type: ignore[arg-type]
    telemetry.voice_ended(at, source)  # type: ignore[arg-type]
    telemetry.turn_started(at + 0.1, number, "voice")
    for chunk in range(3):
        telemetry.model_audio(at + latency + chunk * 0.01, 1000)
    telemetry.turn_completed(at + 2)


def metrics(telemetry: SessionTelemetry) -> TurnMetrics:
    last = telemetry.turn_metrics()
    assert last is not None
    return last


def waterfall(telemetry: SessionTelemetry) -> Waterfall:
    return metrics(telemetry).waterfall


def answered(telemetry: SessionTelemetry, number: int = 1) -> None:
    """Report a typed text at `T0 + 1`, its answer 0.2 s later, and the turn's end."""
    telemetry.turn_started(T0 + 1, number, "typed")
    telemetry.text_sent(T0 + 1)
    telemetry.model_audio(T0 + 1.2, 10)
    telemetry.turn_completed(T0 + 1.3)
