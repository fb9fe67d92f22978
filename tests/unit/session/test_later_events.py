"""Snapshots that are brought up to the last recorded event."""

from __future__ import annotations

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.events.handoff import HandoffSource
from gemini_live_runtime.session.persistence.later_events import waiting_handoff, with_later_events
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot


def after(*payloads: ev.Payload, agent: str = "reception") -> SessionSnapshot:
    """Return a snapshot in the phase "greet" with what followed it."""
    phases = {"current": "greet", "entered": True, "history": [], "seconds_in_phase": 0.0}
    snapshot = SessionSnapshot(
        session_id="s", saved_at="2026-01-01T00:00:00.000Z", state={}, agent=agent, phases=phases, handle="h"
    )
    events = [ev.Event(number, float(number), 1, 1, payload) for number, payload in enumerate(payloads, 1)]
    return with_later_events(snapshot, events, 10.0)


def entered(phase: str) -> ev.PhaseEntered:
    """Return the event of a phase that begins."""
    return ev.PhaseEntered(phase=phase, trigger="initial")


def handed_off(previous: str, agent: str, by: HandoffSource = "tool") -> ev.AgentHandedOff:
    """Return the event of a hand-off."""
    return ev.AgentHandedOff(previous=previous, agent=agent, by=by)


def asked(agent: str, by: HandoffSource = "tool", problem: str = "") -> ev.HandoffRequested:
    """Return the event of a hand-off that is asked for, or refused."""
    return ev.HandoffRequested(agent=agent, by=by, problem=problem)


def phase_of(snapshot: SessionSnapshot) -> str:
    """Return the snapshot's phase."""
    return "" if snapshot.phases is None else str(snapshot.phases["current"])


def test_the_agent_that_took_over_after_the_snapshot_goes_on_in_its_phase() -> None:
    found = after(handed_off("reception", "specialist"), entered("repair"))
    assert (found.agent, phase_of(found)) == ("specialist", "repair")
    assert phase_of(after(handed_off("reception", "specialist"))) == ""


@pytest.mark.parametrize(
    "change",
    [
        ev.AgentHandedOff(previous="reception", agent="specialist", by="program", chat="fresh"),
        ev.ChatReplaced(messages=({"role": "user", "text": "My line is dead."},)),
    ],
)
def test_a_model_that_begins_anew_takes_up_no_server_session(change: ev.Payload) -> None:
    found = after(change, handed_off("specialist", "boss"))
    assert (found.agent, found.handle) == ("boss", "")
    assert after(handed_off("reception", "boss")).handle == "h"


@pytest.mark.parametrize(
    ("payloads", "waits"),
    [
        ((asked("a"),), "a"),
        ((asked("a"), asked("b", problem="no")), "a"),
        ((asked("a"), asked("a", problem="given up"), asked("b")), "b"),
        ((asked("a"), asked("a", problem="given up")), ""),
        ((asked("a"), handed_off("reception", "a")), ""),
        ((handed_off("reception", "a"), asked("b", by="task")), ""),
    ],
)
def test_the_hand_off_that_waits_is_the_newest_that_was_neither_made_nor_refused(
    payloads: tuple[ev.Payload, ...], waits: str
) -> None:
    found = waiting_handoff([ev.Event(number, 0.0, 1, 1, payload) for number, payload in enumerate(payloads, 1)])
    assert waits == ("" if found is None else found.agent)


def test_the_agent_that_waits_for_a_task_goes_on_in_its_own_phase() -> None:
    found = after(handed_off("reception", "payment", "task"), entered("card"))
    assert (found.agent, phase_of(found)) == ("reception", "greet")


def test_a_phase_that_is_entered_once_the_task_is_done_counts() -> None:
    began, ended = handed_off("reception", "payment", "task"), handed_off("payment", "reception", "task")
    for agent in ("reception", ""):
        found = after(began, entered("card"), ended, entered("bye"), agent=agent)
        assert (found.agent, phase_of(found)) == ("reception", "bye")
