"""What an agent's author has said, as data. `Live` builds it, `plan` checks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime.conversation.needs import RepairConfig
from gemini_live_runtime.conversation.steering import ContextDelivery, SteeringMode
from gemini_live_runtime.session.definition.callbacks import EventCallbacks

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.extraction import TurnExtractor
    from gemini_live_runtime.conversation.phases import InstructionModifier, Phase
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.persistence.stores import SessionPersistence
    from gemini_live_runtime.session.rules.reactor import ReactorRule
    from gemini_live_runtime.state.computed import ComputedVar
    from gemini_live_runtime.state.keys import StateKey
    from gemini_live_runtime.state.temporal import TemporalPattern
    from gemini_live_runtime.state.watchers import Watcher

DEFAULT_MODEL = "gemini-3.8-live"

DEFAULT_PRESET: Literal["responsive"] = "responsive"
"""How patient our own voice activity detector is unless the author says otherwise."""

TurnTaking = Literal["server", "client", "push-to-talk"]
"""Who decides when the user speaks: the server, our own voice activity detector, or the microphone switch."""

InstructionRoute = Literal["auto", "context_update", "system_content", "user_note", "reconnect"]
"""How a new instruction travels; `auto` is by the model's capabilities."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How events of one class reach a subscriber that is slow: at most `limit` wait, then the oldest are dropped."""

    limit: int = 1024


@dataclass(frozen=True, slots=True)
class DeliveryConfig:
    """Delivery by class of event: words as they stream, what decides, and figures."""

    transcript: Delivery = Delivery(1024)
    control: Delivery = Delivery(8192)
    telemetry: Delivery = Delivery(64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Everything an author may say about an agent. Nothing here is checked yet."""

    name: str
    description: str = ""
    instruction: str = ""
    model: str = DEFAULT_MODEL
    local_model: str = ""
    """Model name on the embedded server; "" is `local-<name>`. The dialogue of that name holds what it says."""
    voice: str = ""
    greeting: str = ""
    """What the model is asked to do first, so that it speaks first; "" lets the user begin."""
    phrases: tuple[str, ...] = ()
    tools: tuple[Any, ...] = ()
    state_keys: tuple[StateKey[Any], ...] = ()
    initial_state: Mapping[str, Any] = field(default_factory=dict)
    phases: tuple[Phase, ...] = ()
    initial_phase: str = ""
    phase_defaults: tuple[InstructionModifier, ...] = ()
    computed: tuple[ComputedVar, ...] = ()
    watchers: tuple[Watcher, ...] = ()
    patterns: tuple[TemporalPattern, ...] = ()
    extractors: tuple[TurnExtractor, ...] = ()
    text_model: TextModel | None = None
    rules: tuple[ReactorRule, ...] = ()
    callbacks: EventCallbacks = field(default_factory=EventCallbacks)
    steering: SteeringMode = SteeringMode.INSTRUCTION_UPDATE
    context_delivery: ContextDelivery = ContextDelivery.IMMEDIATE
    instruction_route: InstructionRoute = "auto"
    tool_advisory: bool = True
    repair: RepairConfig | None = None
    turn_taking: TurnTaking = "server"
    turn_preset: Literal["immediate", "responsive", "conversational"] | None = None
    """How patient our own detector is; None is `DEFAULT_PRESET`."""
    soft_turn_s: float | None = None
    persistence: SessionPersistence | None = None
    persistence_id: str = ""
    telemetry_s: float | None = None
    background_agents: int = 4
    delivery: DeliveryConfig = DeliveryConfig()
    built_at: str = ""


Handler = Callable[..., Any]
