"""Settings of the server's voice activity detection, as an author gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from gemini_live_runtime.choices import as_choice
from gemini_live_runtime.records import keyword_record
from gemini_live_runtime.wire.messages import (
    ActivityHandling,
    AutomaticActivityDetection,
    EndSensitivity,
    RealtimeInputConfig,
    StartSensitivity,
    TurnCoverage,
)

Sensitivity = Literal["high", "low"]
Handling = Literal["interrupts", "no-interruption"]
Coverage = Literal["only-activity", "all-input", "audio-activity-and-all-video"]

MAX_DURATION_MS = 10_000
"""Longest padding and silence in ms that the embedded server takes."""

_START: Mapping[str, StartSensitivity] = {"high": StartSensitivity.HIGH, "low": StartSensitivity.LOW}
_END: Mapping[str, EndSensitivity] = {"high": EndSensitivity.HIGH, "low": EndSensitivity.LOW}
_HANDLING: Mapping[str, ActivityHandling] = {
    "interrupts": ActivityHandling.START_OF_ACTIVITY_INTERRUPTS,
    "no-interruption": ActivityHandling.NO_INTERRUPTION,
}
_COVERAGE: Mapping[str, TurnCoverage] = {
    "only-activity": TurnCoverage.ONLY_ACTIVITY,
    "all-input": TurnCoverage.ALL_INPUT,
    "audio-activity-and-all-video": TurnCoverage.AUDIO_ACTIVITY_AND_ALL_VIDEO,
}

_CHOICES: Mapping[str, Mapping[str, Any]] = {
    "start_sensitivity": _START,
    "end_sensitivity": _END,
    "activity_handling": _HANDLING,
    "turn_coverage": _COVERAGE,
}
_DURATIONS = ("prefix_padding_ms", "silence_duration_ms")
_OF_THE_DETECTOR = ("start_sensitivity", "end_sensitivity", *_DURATIONS)


@keyword_record
class ServerDetection:
    """Voice activity detection of the server; None leaves a setting to the server.

    The first four have an effect while the server detects turns, the other two always. `prefix_padding_ms` of speech
    begin a turn, and `silence_duration_ms` end it. With "no-interruption" the user's speech does not interrupt the
    model. `turn_coverage` is what belongs to the user's turn: the speech, all sound and pictures, or the speech and all
    pictures.
    """

    start_sensitivity: Sensitivity | None = None
    end_sensitivity: Sensitivity | None = None
    prefix_padding_ms: int | None = None
    silence_duration_ms: int | None = None
    activity_handling: Handling | None = None
    turn_coverage: Coverage | None = None

    def __post_init__(self) -> None:
        """Take texts in any case; the plan refuses other values."""
        for name, choices in _CHOICES.items():
            object.__setattr__(self, name, as_choice(getattr(self, name), choices))

    @property
    def of_detector(self) -> tuple[str, ...]:
        """Names of the settings that only the server's detector uses."""
        return tuple(name for name in _OF_THE_DETECTOR if getattr(self, name) is not None)

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield a sentence and its remedy for each setting that cannot be used."""
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and value in choices):
                yield f"{name} cannot be {value!r:.60}", f"Use one of {', '.join(choices)}"
        for name in _DURATIONS:
            value = getattr(self, name)
            if value is not None and not (type(value) is int and 0 <= value <= MAX_DURATION_MS):
                yield f"{name} cannot be {value!r:.60}", f"Use whole milliseconds from 0 to {MAX_DURATION_MS:,}"

    def realtime_input(self, *, automatic: bool, interruptible: bool = True) -> RealtimeInputConfig | None:
        """Return the part of the setup, or None where all is the server's default.

        Without `automatic` the client marks the turns; without `interruptible` it decides what interrupts the model.
        """
        detector = None
        if not automatic:
            detector = AutomaticActivityDetection(disabled=True)
        elif self.of_detector:
            detector = AutomaticActivityDetection(
                start_of_speech_sensitivity=_START.get(self.start_sensitivity or ""),
                end_of_speech_sensitivity=_END.get(self.end_sensitivity or ""),
                prefix_padding_ms=self.prefix_padding_ms,
                silence_duration_ms=self.silence_duration_ms,
            )
        handling = _HANDLING.get(self.activity_handling or "" if interruptible else "no-interruption")
        coverage = _COVERAGE.get(self.turn_coverage or "")
        if detector is None and handling is None and coverage is None:
            return None
        return RealtimeInputConfig(
            automatic_activity_detection=detector, activity_handling=handling, turn_coverage=coverage
        )
