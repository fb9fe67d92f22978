"""Settings that a model or a way of steering cannot follow are named."""

from __future__ import annotations

import pytest
from tests.session.talking import agent

from gemini_live_runtime import ContextDelivery, InstructionModifier, Phase, SteeringMode, tool
from gemini_live_runtime.session.definition.definition import TurnTaking


def ping() -> None:
    """Ping."""


def test_settings_that_a_model_cannot_follow_are_named() -> None:
    slow = tool(background=True)(ping)
    of = agent().tools(slow).repair().soft_turns().turn_taking("push-to-talk")
    told = "\n".join(of.ignored_settings("gemini-3.1-flash-live-preview"))
    assert "waits for every tool: ping" in told
    assert "repair has no effect" in told
    assert "soft_turns has no effect" in told


@pytest.mark.parametrize("by", ["server", "manual"])
def test_a_preset_without_a_detector_of_ours_is_named_when_it_was_asked_for(by: TurnTaking) -> None:
    assert agent().turn_taking(by).ignored_settings() == []
    (told,) = agent().turn_taking(by, preset="responsive").ignored_settings()
    assert told == f"turn_taking's preset has no effect: with {by} our detector does not decide"
    assert agent().turn_taking("client", preset="immediate").ignored_settings() == []


@pytest.mark.parametrize("mode", [SteeringMode.CONTEXT_INJECTION, SteeringMode.HYBRID])
def test_a_way_of_steering_with_nothing_to_steer_is_named(mode: SteeringMode) -> None:
    (told,) = agent().steering(mode).ignored_settings()
    assert told.startswith(f"{mode.name} steering has no effect")
    modifier = InstructionModifier.with_state("app:n")
    assert agent().steering(mode).in_every_phase(modifier).ignored_settings() == []
    assert agent().steering(mode).phase(Phase("a", "A.", modifiers=modifier, terminal=True)).ignored_settings() == []


def test_a_phase_without_modifiers_is_something_to_tell_only_where_phases_are_told_as_context() -> None:
    of = agent().phase(Phase("a", "A.", terminal=True))
    assert of.steering(SteeringMode.CONTEXT_INJECTION).ignored_settings() == []
    assert len(of.steering(SteeringMode.HYBRID).ignored_settings()) == 1


def test_what_a_model_without_context_makes_of_steering_is_named() -> None:
    of = agent().model("gemini-3.1-flash-live").phase(Phase("a", "A.", terminal=True))
    assert of.ignored_settings() == []
    told = of.steering(SteeringMode.HYBRID, ContextDelivery.DEFERRED).ignored_settings()
    assert len(told) == 2
    assert all(line.startswith("gemini-3.1-flash-live takes no context during a session: ") for line in told)
