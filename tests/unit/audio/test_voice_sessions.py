"""Test who counts as heard in the voice sessions of `make sound`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.audio.conversation import Conversation
from tests.audio.sessions import heard_in, wait_for_answer

HEARING = ("session.state", {"word": "hearing"})
CUT = ("turn.completed", {"outcome": "interrupted"})
EMPTY = ("turn.completed", {"outcome": "empty"})
UNDERSTOOD = ("tool.called", {"name": "get_time"})
METERS = ("meters", {})


class Told:
    """A conversation whose events are known: a person asks at its beginning."""

    def __init__(self, *events: tuple[float, tuple[str, dict[str, str]]]) -> None:
        self.events: list[dict[str, Any]] = [{"t": 0.0, "type": "playback.heard", "data": {}}]
        self._coming = iter([{"t": t, "type": kind, "data": data} for t, (kind, data) in events])

    def until(self, wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        for event in self._coming:
            self.events.append(event)
            if wanted(event):
                return event
        raise AssertionError("it waits for more")


def waited(*events: tuple[float, tuple[str, dict[str, str]]]) -> float | None:
    return wait_for_answer(cast("Conversation", Told(*events)), 1)


def test_a_person_whom_a_slow_recogniser_understands_late_was_heard() -> None:
    found = waited((0.5, HEARING), (1.0, CUT), (20.0, METERS), (40.0, UNDERSTOOD))
    assert found == 40.0
    assert heard_in(found) == "the person was heard within 40.0 s, late"


@pytest.mark.parametrize(
    "events",
    [
        [(5.0, METERS), (15.5, METERS)],
        [(0.5, HEARING), (1.0, CUT), (4.0, EMPTY), (15.5, METERS)],
        [(0.5, HEARING), (1.0, CUT), (60.0, METERS), (121.0, METERS)],
    ],
    ids=["not noticed", "answered with nothing", "never answered"],
)
def test_a_person_without_an_answer_was_not_heard(events: list[tuple[float, tuple[str, dict[str, str]]]]) -> None:
    assert waited(*events) is None
    assert heard_in(None) == "the person was not heard"
