"""Unchecked settings of an agent, as data. `Live` builds them, `plan` checks them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime.conversation.needs import RepairConfig
from gemini_live_runtime.conversation.steering import ContextDelivery, SteeringMode
from gemini_live_runtime.records import frozen_record, keyword_record
from gemini_live_runtime.session.core.turn_rules import TurnRules
from gemini_live_runtime.session.definition.callbacks import EventCallbacks
from gemini_live_runtime.session.definition.server_detection import ServerDetection
from gemini_live_runtime.session.definition.workspace import Workspace

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.chat import Chat
    from gemini_live_runtime.conversation.extraction import TurnExtractor
    from gemini_live_runtime.conversation.phases import InstructionModifier, Phase
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.endpointing.end_of_turn import EndOfTurnModel
    from gemini_live_runtime.session.persistence.stores import SessionPersistence
    from gemini_live_runtime.session.rules.reactor import ReactorRule
    from gemini_live_runtime.state.computed import ComputedVar
    from gemini_live_runtime.state.keys import StateKey
    from gemini_live_runtime.state.temporal import TemporalPattern
    from gemini_live_runtime.state.watchers import Watcher

Handler = Callable[..., Any]

DEFAULT_MODEL = "gemini-3.8-live"

DEFAULT_PRESET: Literal["responsive"] = "responsive"
"""Patience of our own voice activity detector unless the author sets it."""

MAX_ENDPOINTING_DELAY_S = 3.0
"""Seconds of silence that end a turn although the end-of-turn model expects more."""

TurnTaking = Literal["auto", "server", "client", "manual"]
"""Detector of the user's turns: the server, our own voice activity detector, or the microphone switch.

"auto" is decided when the plan is made."""

InstructionRoute = Literal["auto", "context_update", "system_content", "user_note", "reconnect"]
"""Route of a new instruction to the model; `auto` chooses by the model's capabilities."""


@frozen_record
class Delivery:
    """Limit of events that wait for a slow subscriber; then the oldest are dropped."""

    limit: int = 1024


@frozen_record
class DeliveryConfig:
    """Limits by class of event: streamed transcripts, control events and metrics."""

    transcript: Delivery = Delivery(1024)
    control: Delivery = Delivery(8192)
    telemetry: Delivery = Delivery(64)


@keyword_record
class Definition:
    """Every setting of an agent, unchecked."""

    name: str
    description: str = ""
    instruction: str = ""
    model: str = DEFAULT_MODEL
    local_model: str = ""
    """Model name on the embedded server; "" is `local-<name>`. The server's script of that name has the dialogue."""
    voice: str = ""
    greeting: str = ""
    """Prompt that makes the model speak first; "" lets the user begin."""
    greeting_allow_interruptions: bool | None = None
    """True when the user may interrupt the greeting; None is as any answer."""
    chat: Chat = "keep"
    """Conversation that the model knows when this agent takes over: all of it, nothing, or these messages."""
    phrases: tuple[str, ...] = ()
    tools: tuple[Any, ...] = ()
    memory_scopes: tuple[str, ...] = ()
    """Scopes of memory that the agent reads at the start, and its model by tools."""
    task_tools: bool = False
    """True when the model may follow and cancel tasks."""
    timer_tools: bool = False
    """True when the model may set, list and cancel timers."""
    notify_tool: bool = False
    """True when the model may leave the user a text for later."""
    workspace: Workspace = Workspace()
    """Folders that the model may read, and programs that it may have run."""
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
    turn_taking: TurnTaking = "auto"
    turn_preset: Literal["immediate", "responsive", "conversational"] | None = None
    """Patience of our own detector; None is `DEFAULT_PRESET`."""
    min_endpointing_delay_s: float | None = None
    """Silence in seconds that ends a turn; None is that of the preset."""
    max_endpointing_delay_s: float | None = None
    """Silence that ends a turn of which the model expects more; None is `MAX_ENDPOINTING_DELAY_S`."""
    end_of_turn_model: EndOfTurnModel | None = None
    server_detection: ServerDetection = ServerDetection()
    """Settings of the server's detector."""
    soft_turn_s: float | None = None
    turn_rules: TurnRules = TurnRules()
    persistence: SessionPersistence | None = None
    persistence_id: str = ""
    telemetry_s: float | None = None
    background_agents: int = 4
    delivery: DeliveryConfig = DeliveryConfig()
    built_at: str = ""
    on_enter: Handler | None = None
    """Hook that is called when the agent begins to speak: at first, and after each hand-off to it."""
    on_exit: Handler | None = None
    """Hook that is called when another agent takes over."""
    on_user_turn_completed: Handler | None = None
    """Hook that the session calls when the user's turn has ended, before the model answers."""
    hands_over_to: tuple[Any, ...] = ()
    """Agents, or functions that return one, which this one is known to hand over to."""
    owner: Any = None
    """Object of the class `Agent` that this was made from."""
