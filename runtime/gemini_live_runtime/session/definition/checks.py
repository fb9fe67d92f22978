"""Validate the settings of an agent's definition before anything is opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, get_args

from gemini_live_runtime.conversation.chat import CHATS
from gemini_live_runtime.conversation.instructions import InstructionModifier
from gemini_live_runtime.conversation.phase_check import Fault
from gemini_live_runtime.conversation.phases import Phase
from gemini_live_runtime.conversation.steering import ContextDelivery, SteeringMode
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.paths import is_safe_name
from gemini_live_runtime.session.core.turn_options import MAX_DELAY_S
from gemini_live_runtime.session.core.turn_rules import InterruptionsBy
from gemini_live_runtime.session.definition.definition import (
    Definition,
    Delivery,
    DeliveryConfig,
    InstructionRoute,
    TurnTaking,
)
from gemini_live_runtime.session.definition.server_detection import ServerDetection
from gemini_live_runtime.session.definition.turn_choice import decide
from gemini_live_runtime.session.endpointing.policy import PRESETS
from gemini_live_runtime.session.rules.reactor import ReactorRule
from gemini_live_runtime.state.computed import ComputedVar
from gemini_live_runtime.state.functions import check_action
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.temporal import TemporalPattern
from gemini_live_runtime.state.watchers import Watcher
from gemini_live_runtime.tools.results import is_agent

_TEXTS = ("description", "instruction", "model", "local_model", "voice", "greeting", "initial_phase", "persistence_id")

_PARTS: tuple[tuple[str, type, str], ...] = (
    ("phases", Phase, ".phase(...) takes phases"),
    ("phase_defaults", InstructionModifier, ".in_every_phase(...) takes instruction modifiers"),
    ("watchers", Watcher, ".watch(...) takes watchers"),
    ("computed", ComputedVar, ".computed(...) takes computed values"),
    ("patterns", TemporalPattern, ".pattern(...) takes temporal patterns"),
    ("rules", ReactorRule, ".rule(...) takes reactor rules"),
    ("state_keys", StateKey, ".state(...) takes state keys; values go into values={...}"),
)

_CHOICES: tuple[tuple[str, tuple[Any, ...], str], ...] = (
    ("turn_taking", get_args(TurnTaking), "turn_taking"),
    ("turn_preset", tuple(PRESETS), "turn_taking's preset"),
    ("instruction_route", get_args(InstructionRoute), "instruction_route"),
    ("steering", tuple(SteeringMode), "steering's mode"),
    ("chat", CHATS, ".chat(choice)"),
    ("context_delivery", tuple(ContextDelivery), "steering's delivery"),
)


def check_settings(definition: Definition) -> list[Fault]:
    """Return a fault for every invalid setting, located where the agent was built."""
    place = definition.built_at
    return [Fault(text, place, remedy) for text, remedy in _problems(definition)]


def without_invalid_parts(definition: Definition) -> Definition:
    """Return `definition` without parts of the wrong type, to check the others too."""
    kept: dict[str, Any] = {
        name: tuple(item for item in getattr(definition, name) if isinstance(item, kind)) for name, kind, _ in _PARTS
    }
    return replace(definition, **kept)


def _problems(definition: Definition) -> Iterator[tuple[str, str]]:
    for name in _TEXTS:
        value: Any = getattr(definition, name)
        if not isinstance(value, str):
            yield f"{name} is {_shown(value)}, not a string", "Use a string"
    if isinstance(definition.model, str) and not definition.model.strip():
        yield "model is empty", "Name a model, or leave .model(...) out"
    phrases: tuple[Any, ...] = definition.phrases
    for item in phrases:
        if not isinstance(item, str):
            yield f"The phrase {_shown(item)} is not a string", "Use strings"
    for scope in definition.memory_scopes:
        if not isinstance(scope, str) or not is_safe_name(scope):
            yield (
                f".memory(...) cannot use the scope {_shown(scope)}",
                "Use letters, digits, dots, dashes and underscores, at most 80",
            )
    yield from definition.workspace.problems()
    for name, kind, remedy in _PARTS:
        for item in getattr(definition, name):
            if not isinstance(item, kind):
                yield f"{_shown(item)} is not a {kind.__name__}", remedy
    for name, choices, label in _CHOICES:
        value = getattr(definition, name)
        if (name == "turn_preset" and value is None) or (name == "chat" and isinstance(value, tuple)):
            continue
        # Compare types too: a StrEnum member equals its string, but the code that uses it compares by identity.
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            known = ", ".join(choice if type(choice) is str else repr(choice)[1:].split(":")[0] for choice in choices)
            yield f"{label} cannot be {_shown(value)}", f"Use one of {known}"
    for value, label in (
        (definition.telemetry_s, ".telemetry(every_s)"),
        (definition.soft_turn_s, ".soft_turns(after_s)"),
    ):
        if value is not None and not (is_finite(value) and value > 0):
            yield f"{label} cannot be {_shown(value)}", "Use a number of seconds above 0"
    yield from ((text, remedy) for _, text, remedy in definition.turn_rules.problems())
    yield from _interruptions(definition)
    if definition.greeting_allow_interruptions not in (True, False, None):
        shown = _shown(definition.greeting_allow_interruptions)
        yield f"The greeting's allow_interruptions cannot be {shown}", "Use True, False or None"
    if not _is_count(definition.background_agents):
        yield f".background_agents(at_most) cannot be {_shown(definition.background_agents)}", "Use at least 1"
    yield from _delivery(definition.delivery)
    yield from _endpointing(definition)
    yield from _server_detection(definition.server_detection)
    yield from _missing_methods(definition)
    for name in ("on_enter", "on_exit", "on_user_turn_completed"):
        hook = getattr(definition, name)
        if hook is None:
            continue
        if not callable(hook):
            yield f".{name}(hook) cannot be {_shown(hook)}", "Use a function"
            continue
        try:
            check_action(f".{name}(hook)", hook, "(turn, session)" if name == "on_user_turn_completed" else "(session)")
        except AgentError as error:
            yield error.message, error.remedy
    yield from _hand_offs(definition)


def _hand_offs(definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with hand-offs, without calling functions that make agents."""
    named: dict[str, Any] = {}
    for target in definition.hands_over_to:
        if not is_agent(target):
            if not callable(target):
                yield f"hands_over_to cannot hold {_shown(target)}", "Give agents, or functions that return them"
            continue
        # A class that names its own object has not made it whole yet.
        name = definition.name if target is definition.owner else target.name
        if name == definition.name:
            yield f"Agent {name} cannot hand over to itself", "Give hands_over_to other agents, with names of their own"
        elif named.setdefault(name, target) is not target:
            yield f"hands_over_to has two agents with the name {_shown(name)}", "Give each a name of its own"


def _interruptions(definition: Definition) -> Iterator[tuple[str, str]]:
    rules = definition.turn_rules
    by, least_s, words = rules.interruptions_by, rules.min_interruption_s, rules.min_interruption_words
    if by not in get_args(InterruptionsBy):
        yield f"interruptions by {_shown(by)} cannot be", f"Use one of {', '.join(get_args(InterruptionsBy))}"
    detector: Any = definition.server_detection
    if not isinstance(detector, ServerDetection):
        return
    detection, _ = decide(definition)
    if detection != "client":
        taken = f"with {_shown(detection)} turn detection our detector does not decide"
        remedy = 'Add .turn_taking("client"), or leave it out'
        if by == "client":
            yield f"Interruptions cannot be decided by the client: {taken}", remedy
        if least_s is not None:
            yield f"min_interruption_duration cannot be {_shown(least_s)}: {taken}", remedy
    if by == "client" and definition.server_detection.activity_handling == "interrupts":
        yield (
            "Interruptions cannot be decided by the client and by activity_handling 'interrupts'",
            "Leave one of them out",
        )
    if words and by != "client":
        text = f"min_interruption_words cannot be {words}: the server stops the model before it has words"
        yield text, 'Let interruptions be decided by "client"'


def _delivery(config: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(config, DeliveryConfig):
        yield f".delivery(...) cannot be {_shown(config)}", "Use a DeliveryConfig"
        return
    for field in fields(config):
        delivery = getattr(config, field.name)
        if not (isinstance(delivery, Delivery) and _is_count(delivery.limit)):
            yield (
                f"The delivery of {field.name} events cannot be {_shown(delivery)}",
                "Use Delivery(1) or more",
            )


def _endpointing(definition: Definition) -> Iterator[tuple[str, str]]:
    delays = []
    for name in ("min_endpointing_delay", "max_endpointing_delay"):
        value = getattr(definition, f"{name}_s")
        if value is None:
            continue
        if is_finite(value) and 0 <= value <= MAX_DELAY_S:
            delays.append(value)
        else:
            yield f"{name} cannot be {_shown(value)}", f"Use seconds from 0 to {MAX_DELAY_S:g}"
    if len(delays) == 2 and delays[0] > delays[1]:
        yield f"min_endpointing_delay {delays[0]:g} is above max_endpointing_delay {delays[1]:g}", "Swap them"


def _server_detection(settings: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(settings, ServerDetection):
        yield f"server_detection cannot be {_shown(settings)}", "Use a ServerDetection"
        return
    for text, remedy in settings.problems():
        yield f"server_detection's {text}", remedy


def _missing_methods(definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield a problem for each object that lacks a method of its protocol."""
    parts: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
        ("persistence", definition.persistence, ("save", "load", "delete")),
        ("text model", definition.text_model, ("generate",)),
        ("end-of-turn model", definition.end_of_turn_model, ("predict",)),
    )
    for role, value, methods in parts:
        if isinstance(value, type):
            yield f"{_shown(value)} is a class and cannot be used as {role}", f"Make one: {value.__name__}(...)"
            continue
        missing = [name for name in methods if not callable(getattr(value, name, None))] if value is not None else []
        if missing:
            yield f"{_shown(value)} cannot be used as {role}: it has no {', '.join(missing)}", "Add what is missing"


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 1


def _shown(value: Any) -> str:
    return f"{value!r:.60}"
