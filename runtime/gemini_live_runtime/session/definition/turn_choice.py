"""Decide who finds the user's turns, and check the settings that depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.choices import as_choice
from gemini_live_runtime.conversation.phase_check import Fault
from gemini_live_runtime.session.core.turn_options import TurnDetection
from gemini_live_runtime.session.core.turn_rules import FALSE_INTERRUPTION_TIMEOUT_S

if TYPE_CHECKING:
    from gemini_live_runtime.session.definition.definition import Definition

TURN_TAKING = ("auto", "server", "client", "manual")

ASKED_FOR = "the agent asks for it"


def as_turn_taking(value: Any) -> Any:
    """Return the choice that a text or a member names; "push-to-talk" is "manual".

    Other values come back as they are.
    """
    choice = as_choice(value, (*TURN_TAKING, "push-to-talk"))
    return "manual" if choice == "push-to-talk" else choice


def decide(definition: Definition, asked: Any = "") -> tuple[TurnDetection, str]:
    """Return who finds the turns, and the reason.

    `asked` is a choice in place of the agent's own. "auto" takes the server's detector, unless the agent has what only
    ours can do.
    """
    choice = asked or definition.turn_taking
    if choice != "auto":
        return choice, "it was asked for" if asked else ASKED_FOR
    needs = ", ".join(needs_our_detector(definition))
    if definition.on_user_turn_completed is not None:
        needs = f"{needs}, on_user_turn_completed" if needs else "on_user_turn_completed"
    if needs and not definition.server_detection.of_detector:
        return "client", f"only our own detector works with {needs}"
    return "server", "the server's detector does all that the agent asks for"


def needs_our_detector(definition: Definition) -> Iterator[str]:
    """Yield the name of each setting that has no effect on the server's detector."""
    if definition.turn_preset is not None:
        yield "turn_taking's preset"
    if definition.min_endpointing_delay_s is not None:
        yield "endpointing's min_delay_s"
    if definition.max_endpointing_delay_s is not None:
        yield "endpointing's max_delay_s"
    if definition.end_of_turn_model is not None:
        yield "endpointing's model"
    if definition.turn_rules.are_ours:
        yield "interruptions by the client"
    if definition.turn_rules.min_interruption_s is not None:
        yield "min_interruption_duration"
    if definition.turn_rules.false_interruption_timeout_s != FALSE_INTERRUPTION_TIMEOUT_S:
        yield "false_interruption_timeout"


def faults(definition: Definition) -> Iterator[Fault]:
    """Yield a fault for a hook that the choice leaves without its moment."""
    if definition.on_user_turn_completed is None or decide(definition)[0] != "server":
        return
    text = f"Agent {definition.name}: on_user_turn_completed is never called, because the server ends the turns"
    yield Fault(text, definition.built_at, 'Use turn_taking("client") or turn_taking("manual")')


def ignored(definition: Definition) -> Iterator[str]:
    """Yield a sentence for each setting that has no effect on the detector in use."""
    detection, _ = decide(definition)
    if detection != "client":
        for name in needs_our_detector(definition):
            yield f"{name} has no effect: with {detection} our detector does not decide"
    if definition.max_endpointing_delay_s is not None and definition.end_of_turn_model is None:
        yield "endpointing's max_delay_s has no effect: there is no model that could expect more"
    if detection != "server":
        for name in definition.server_detection.of_detector:
            yield f"server_detection's {name} has no effect: with {detection} the server does not decide"
