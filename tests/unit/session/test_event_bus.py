"""State is published before an event, and a handler that fails stops nothing."""

from __future__ import annotations

import pytest
from tests.unit.session.session_support import Sink

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.generation import GenerationLedger
from gemini_live_runtime.session.core.turns import TurnLedger
from gemini_live_runtime.session.ports.event_bus import EventBus

NOTICE = ev.Notice(level="info", code="x", text="x")
CHANGE = ev.StateChanged(key="app:n", old=None, new=1, mutation=1, origin="program")


@pytest.fixture
def sink() -> Sink:
    return Sink()


@pytest.fixture
def bus(sink: Sink) -> EventBus:
    return EventBus(sink, TurnLedger(), GenerationLedger())


def test_changes_of_state_are_published_before_the_event(bus: EventBus, sink: Sink) -> None:
    waiting = [CHANGE]

    def publish_state() -> None:
        while waiting:
            bus.emit(waiting.pop())

    bus.publish_state = publish_state
    bus.emit(NOTICE)
    assert [event.type for event in sink.events] == ["state.changed", "notice"]


def test_handlers_get_the_types_that_they_subscribed_to_in_order(bus: EventBus) -> None:
    seen: list[str] = []
    bus.subscribe(lambda event: seen.append(f"all {event.type}"))
    bus.subscribe(lambda event: seen.append("notice"), ev.Notice)
    bus.subscribe(lambda event: seen.append(f"but changes {event.type}"), ignore=("state.changed",))
    bus.emit(CHANGE)
    bus.emit(NOTICE)
    assert seen == ["all state.changed", "all notice", "notice", "but changes notice"]


def test_a_failing_handler_is_reported_once_and_the_others_run(bus: EventBus) -> None:
    seen: list[str] = []

    def fail(event: ev.Event) -> None:
        raise ValueError("broken")

    def report(what: str, error: Exception) -> None:
        seen.append(f"{what}: {error}")
        bus.emit(NOTICE)  # fails in the same handler again

    bus.on_fault = report
    bus.subscribe(fail)
    bus.subscribe(lambda event: seen.append(event.type))
    bus.emit(CHANGE)
    assert seen == ["state.changed: broken", "notice", "state.changed"]


def test_a_closed_bus_publishes_refusals_only(bus: EventBus, sink: Sink) -> None:
    bus.close()
    bus.emit(NOTICE)
    bus.emit(ev.CommandRefused(command_id="c", command="text.send", reason="The session is over"))
    assert [event.type for event in sink.events] == ["command.refused"]
