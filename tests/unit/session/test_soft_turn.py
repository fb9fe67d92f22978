"""Soft turns: due once when the model says nothing after the user's voice."""

from __future__ import annotations

import pytest

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.agent.soft_turn import SoftTurnDetector


def test_nothing_is_due_without_an_end_of_voice() -> None:
    detector = SoftTurnDetector(0.05)
    assert not detector.due(100.0)
    assert detector.deadline(100.0) is None


def test_it_is_due_once_after_the_time() -> None:
    detector = SoftTurnDetector()
    detector.voice_ended(10.0)
    assert detector.deadline(10.5) == pytest.approx(1.5)
    assert not detector.due(11.9)
    assert detector.deadline(12.5) == 0.0
    assert detector.due(12.0)
    assert not detector.due(13.0)
    assert detector.deadline(13.0) is None


@pytest.mark.parametrize("event", ["model_responded", "reset", "voice_started"])
def test_it_is_off_when_something_happens(event: str) -> None:
    detector = SoftTurnDetector(0.05)
    detector.voice_ended(0.0)
    getattr(detector, event)()
    assert not detector.due(1.0)


def test_another_end_of_voice_starts_the_wait_anew() -> None:
    detector = SoftTurnDetector(2.0)
    detector.voice_ended(0.0)
    detector.voice_ended(1.5)
    assert not detector.due(2.5)
    assert detector.due(3.5)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_time_that_cannot_be_is_refused(seconds: float) -> None:
    with pytest.raises(AgentError) as error:
        SoftTurnDetector(seconds)
    assert error.value.field == "timeout_s"
