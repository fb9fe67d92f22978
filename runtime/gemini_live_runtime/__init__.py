"""The session runtime of gemini-live-tui. Names are imported on first use, so importing a part costs only that part."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gemini_live_runtime.clock import run_virtual as run_virtual
    from gemini_live_runtime.conversation.context import ContextBuilder as ContextBuilder
    from gemini_live_runtime.conversation.extraction import AFTER_TOOL_CALL as AFTER_TOOL_CALL
    from gemini_live_runtime.conversation.extraction import EVERY_TURN as EVERY_TURN
    from gemini_live_runtime.conversation.extraction import ON_GENERATION_COMPLETE as ON_GENERATION_COMPLETE
    from gemini_live_runtime.conversation.extraction import ON_PHASE_CHANGE as ON_PHASE_CHANGE
    from gemini_live_runtime.conversation.extraction import ExtractionTrigger as ExtractionTrigger
    from gemini_live_runtime.conversation.extraction import FunctionExtractor as FunctionExtractor
    from gemini_live_runtime.conversation.extraction import TurnExtractor as TurnExtractor
    from gemini_live_runtime.conversation.extraction import after_tool_call as after_tool_call
    from gemini_live_runtime.conversation.extraction import interval as interval
    from gemini_live_runtime.conversation.extraction import on_phase_change as on_phase_change
    from gemini_live_runtime.conversation.instructions import InstructionModifier as InstructionModifier
    from gemini_live_runtime.conversation.instructions import PhaseInstruction as PhaseInstruction
    from gemini_live_runtime.conversation.llm_extractor import LlmExtractor as LlmExtractor
    from gemini_live_runtime.conversation.needs import Need as Need
    from gemini_live_runtime.conversation.needs import NeedsFulfillment as NeedsFulfillment
    from gemini_live_runtime.conversation.needs import RepairAction as RepairAction
    from gemini_live_runtime.conversation.needs import RepairConfig as RepairConfig
    from gemini_live_runtime.conversation.phase_machine import PhaseMachine as PhaseMachine
    from gemini_live_runtime.conversation.phases import Phase as Phase
    from gemini_live_runtime.conversation.phases import PhasePreparation as PhasePreparation
    from gemini_live_runtime.conversation.phases import Transition as Transition
    from gemini_live_runtime.conversation.promotion import FieldPromotion as FieldPromotion
    from gemini_live_runtime.conversation.promotion import MergePolicy as MergePolicy
    from gemini_live_runtime.conversation.steering import ContextDelivery as ContextDelivery
    from gemini_live_runtime.conversation.steering import SteeringMode as SteeringMode
    from gemini_live_runtime.conversation.text_model import ScriptedTextModel as ScriptedTextModel
    from gemini_live_runtime.conversation.text_model import TextModel as TextModel
    from gemini_live_runtime.conversation.text_model import TextRequest as TextRequest
    from gemini_live_runtime.conversation.transcript import ToolCallSummary as ToolCallSummary
    from gemini_live_runtime.conversation.transcript import TranscriptBuffer as TranscriptBuffer
    from gemini_live_runtime.conversation.transcript import TranscriptTurn as TranscriptTurn
    from gemini_live_runtime.conversation.transcript import TranscriptWindow as TranscriptWindow
    from gemini_live_runtime.conversation.transitions import PhaseTransition as PhaseTransition
    from gemini_live_runtime.conversation.transitions import TransitionEvaluation as TransitionEvaluation
    from gemini_live_runtime.conversation.transitions import TransitionResult as TransitionResult
    from gemini_live_runtime.conversation.transitions import TransitionTrigger as TransitionTrigger
    from gemini_live_runtime.session.agent.background_agents import (
        BackgroundAgentDispatcher as BackgroundAgentDispatcher,
    )
    from gemini_live_runtime.session.agent.background_agents import TextAgent as TextAgent
    from gemini_live_runtime.session.agent.session_keys import SessionSignals as SessionSignals
    from gemini_live_runtime.session.agent.session_keys import SessionType as SessionType
    from gemini_live_runtime.session.agent.soft_turn import SoftTurnDetector as SoftTurnDetector
    from gemini_live_runtime.session.agent.subscription import LiveEvent as LiveEvent
    from gemini_live_runtime.session.definition.agent import Agent as Agent
    from gemini_live_runtime.session.definition.builder import Live as Live
    from gemini_live_runtime.session.definition.callbacks import CallbackMode as CallbackMode
    from gemini_live_runtime.session.definition.callbacks import EventCallbacks as EventCallbacks
    from gemini_live_runtime.session.definition.definition import Delivery as Delivery
    from gemini_live_runtime.session.definition.definition import DeliveryConfig as DeliveryConfig
    from gemini_live_runtime.session.definition.plan import SessionPlan as SessionPlan
    from gemini_live_runtime.session.io.handle import LiveHandle as LiveHandle
    from gemini_live_runtime.session.io.vad import InputVad as InputVad
    from gemini_live_runtime.session.io.vad import InputVadSnapshot as InputVadSnapshot
    from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry as SessionTelemetry
    from gemini_live_runtime.session.outbound.context_queue import DeferredWriter as DeferredWriter
    from gemini_live_runtime.session.outbound.context_queue import PendingContext as PendingContext
    from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot as SessionSnapshot
    from gemini_live_runtime.session.persistence.stores import FsPersistence as FsPersistence
    from gemini_live_runtime.session.persistence.stores import MemoryPersistence as MemoryPersistence
    from gemini_live_runtime.session.persistence.stores import SessionPersistence as SessionPersistence
    from gemini_live_runtime.session.ports.messages import ContextNote as ContextNote
    from gemini_live_runtime.session.rules.effects import EffectMode as EffectMode
    from gemini_live_runtime.session.rules.effects import EffectPolicy as EffectPolicy
    from gemini_live_runtime.session.rules.effects import EmitEvent as EmitEvent
    from gemini_live_runtime.session.rules.effects import LiveEffect as LiveEffect
    from gemini_live_runtime.session.rules.effects import PromptModel as PromptModel
    from gemini_live_runtime.session.rules.effects import Reaction as Reaction
    from gemini_live_runtime.session.rules.effects import SendContext as SendContext
    from gemini_live_runtime.session.rules.effects import TransitionPhase as TransitionPhase
    from gemini_live_runtime.session.rules.effects import UpdateInstruction as UpdateInstruction
    from gemini_live_runtime.session.rules.executor import LiveEffectExecutor as LiveEffectExecutor
    from gemini_live_runtime.session.rules.reactor import LiveReactor as LiveReactor
    from gemini_live_runtime.session.rules.reactor import ReactorEvent as ReactorEvent
    from gemini_live_runtime.session.rules.reactor import ReactorRule as ReactorRule
    from gemini_live_runtime.session.rules.reactor import VoiceRuntimeState as VoiceRuntimeState
    from gemini_live_runtime.state.computed import ComputedRegistry as ComputedRegistry
    from gemini_live_runtime.state.computed import ComputedVar as ComputedVar
    from gemini_live_runtime.state.keys import StateKey as StateKey
    from gemini_live_runtime.state.store import Origin as Origin
    from gemini_live_runtime.state.store import State as State
    from gemini_live_runtime.state.temporal import ConsecutiveFailureDetector as ConsecutiveFailureDetector
    from gemini_live_runtime.state.temporal import PatternDetector as PatternDetector
    from gemini_live_runtime.state.temporal import RateDetector as RateDetector
    from gemini_live_runtime.state.temporal import SustainedDetector as SustainedDetector
    from gemini_live_runtime.state.temporal import TemporalEvent as TemporalEvent
    from gemini_live_runtime.state.temporal import TemporalPattern as TemporalPattern
    from gemini_live_runtime.state.temporal import TemporalRegistry as TemporalRegistry
    from gemini_live_runtime.state.temporal import TurnCountDetector as TurnCountDetector
    from gemini_live_runtime.state.terms import called_ok as called_ok
    from gemini_live_runtime.state.terms import key as key
    from gemini_live_runtime.state.watchers import Change as Change
    from gemini_live_runtime.state.watchers import Watcher as Watcher
    from gemini_live_runtime.state.watchers import WatcherRegistry as WatcherRegistry
    from gemini_live_runtime.state.watchers import WatchPredicate as WatchPredicate
    from gemini_live_runtime.tools.background import BackgroundToolTracker as BackgroundToolTracker
    from gemini_live_runtime.tools.background import DefaultResultFormatter as DefaultResultFormatter
    from gemini_live_runtime.tools.background import ResultFormatter as ResultFormatter
    from gemini_live_runtime.tools.background import ToolExecutionMode as ToolExecutionMode
    from gemini_live_runtime.tools.declaration import Tool as Tool
    from gemini_live_runtime.tools.declaration import ToolContext as ToolContext
    from gemini_live_runtime.tools.declaration import tool as tool
    from gemini_live_runtime.tools.results import Outcome as Outcome
    from gemini_live_runtime.tools.results import ToolCall as ToolCall

_HOMES: dict[str, tuple[str, ...]] = {
    "clock": ("run_virtual",),
    "conversation.context": ("ContextBuilder",),
    "conversation.extraction": (
        "AFTER_TOOL_CALL",
        "EVERY_TURN",
        "ExtractionTrigger",
        "FunctionExtractor",
        "ON_GENERATION_COMPLETE",
        "ON_PHASE_CHANGE",
        "TurnExtractor",
        "after_tool_call",
        "interval",
        "on_phase_change",
    ),
    "conversation.instructions": (
        "InstructionModifier",
        "PhaseInstruction",
    ),
    "conversation.llm_extractor": ("LlmExtractor",),
    "conversation.needs": (
        "Need",
        "NeedsFulfillment",
        "RepairAction",
        "RepairConfig",
    ),
    "conversation.phase_machine": ("PhaseMachine",),
    "conversation.phases": (
        "Phase",
        "PhasePreparation",
        "Transition",
    ),
    "conversation.promotion": (
        "FieldPromotion",
        "MergePolicy",
    ),
    "conversation.steering": (
        "ContextDelivery",
        "SteeringMode",
    ),
    "conversation.text_model": (
        "ScriptedTextModel",
        "TextModel",
        "TextRequest",
    ),
    "conversation.transcript": (
        "ToolCallSummary",
        "TranscriptBuffer",
        "TranscriptTurn",
        "TranscriptWindow",
    ),
    "conversation.transitions": (
        "PhaseTransition",
        "TransitionEvaluation",
        "TransitionResult",
        "TransitionTrigger",
    ),
    "session.definition.agent": ("Agent",),
    "session.agent.background_agents": (
        "BackgroundAgentDispatcher",
        "TextAgent",
    ),
    "session.definition.callbacks": (
        "CallbackMode",
        "EventCallbacks",
    ),
    "session.definition.definition": (
        "Delivery",
        "DeliveryConfig",
    ),
    "session.rules.executor": ("LiveEffectExecutor",),
    "session.io.handle": ("LiveHandle",),
    "session.io.vad": (
        "InputVad",
        "InputVadSnapshot",
    ),
    "session.definition.builder": ("Live",),
    "session.rules.effects": (
        "EffectMode",
        "EffectPolicy",
        "EmitEvent",
        "LiveEffect",
        "PromptModel",
        "Reaction",
        "SendContext",
        "TransitionPhase",
        "UpdateInstruction",
    ),
    "session.outbound.context_queue": (
        "DeferredWriter",
        "PendingContext",
    ),
    "session.persistence.stores": (
        "FsPersistence",
        "MemoryPersistence",
        "SessionPersistence",
    ),
    "session.definition.plan": ("SessionPlan",),
    "session.rules.reactor": (
        "LiveReactor",
        "ReactorEvent",
        "ReactorRule",
        "VoiceRuntimeState",
    ),
    "session.agent.session_keys": (
        "SessionSignals",
        "SessionType",
    ),
    "session.persistence.snapshot": ("SessionSnapshot",),
    "session.agent.soft_turn": ("SoftTurnDetector",),
    "session.agent.subscription": ("LiveEvent",),
    "session.metrics.telemetry": ("SessionTelemetry",),
    "session.ports.messages": ("ContextNote",),
    "state.computed": (
        "ComputedRegistry",
        "ComputedVar",
    ),
    "state.terms": (
        "called_ok",
        "key",
    ),
    "state.keys": ("StateKey",),
    "state.store": (
        "Origin",
        "State",
    ),
    "state.temporal": (
        "ConsecutiveFailureDetector",
        "PatternDetector",
        "RateDetector",
        "SustainedDetector",
        "TemporalEvent",
        "TemporalPattern",
        "TemporalRegistry",
        "TurnCountDetector",
    ),
    "state.watchers": (
        "Change",
        "WatchPredicate",
        "Watcher",
        "WatcherRegistry",
    ),
    "tools.background": (
        "BackgroundToolTracker",
        "DefaultResultFormatter",
        "ResultFormatter",
        "ToolExecutionMode",
    ),
    "tools.declaration": (
        "Tool",
        "ToolContext",
        "tool",
    ),
    "tools.results": (
        "Outcome",
        "ToolCall",
    ),
}
"""What an agent's author needs, by the module that owns it."""

_HOME_OF = {name: f"gemini_live_runtime.{home}" for home, names in _HOMES.items() for name in names}

__all__ = [
    "AFTER_TOOL_CALL",
    "EVERY_TURN",
    "ON_GENERATION_COMPLETE",
    "ON_PHASE_CHANGE",
    "Agent",
    "BackgroundAgentDispatcher",
    "BackgroundToolTracker",
    "CallbackMode",
    "Change",
    "ComputedRegistry",
    "ComputedVar",
    "ConsecutiveFailureDetector",
    "ContextBuilder",
    "ContextDelivery",
    "ContextNote",
    "DefaultResultFormatter",
    "DeferredWriter",
    "Delivery",
    "DeliveryConfig",
    "EffectMode",
    "EffectPolicy",
    "EmitEvent",
    "EventCallbacks",
    "ExtractionTrigger",
    "FieldPromotion",
    "FsPersistence",
    "FunctionExtractor",
    "InputVad",
    "InputVadSnapshot",
    "InstructionModifier",
    "Live",
    "LiveEffect",
    "LiveEffectExecutor",
    "LiveEvent",
    "LiveHandle",
    "LiveReactor",
    "LlmExtractor",
    "MemoryPersistence",
    "MergePolicy",
    "Need",
    "NeedsFulfillment",
    "Origin",
    "Outcome",
    "PatternDetector",
    "PendingContext",
    "Phase",
    "PhaseInstruction",
    "PhaseMachine",
    "PhasePreparation",
    "PhaseTransition",
    "PromptModel",
    "RateDetector",
    "Reaction",
    "ReactorEvent",
    "ReactorRule",
    "RepairAction",
    "RepairConfig",
    "ResultFormatter",
    "ScriptedTextModel",
    "SendContext",
    "SessionPersistence",
    "SessionPlan",
    "SessionSignals",
    "SessionSnapshot",
    "SessionTelemetry",
    "SessionType",
    "SoftTurnDetector",
    "State",
    "StateKey",
    "SteeringMode",
    "SustainedDetector",
    "TemporalEvent",
    "TemporalPattern",
    "TemporalRegistry",
    "TextAgent",
    "TextModel",
    "TextRequest",
    "Tool",
    "ToolCall",
    "ToolCallSummary",
    "ToolContext",
    "ToolExecutionMode",
    "TranscriptBuffer",
    "TranscriptTurn",
    "TranscriptWindow",
    "Transition",
    "TransitionEvaluation",
    "TransitionPhase",
    "TransitionResult",
    "TransitionTrigger",
    "TurnCountDetector",
    "TurnExtractor",
    "UpdateInstruction",
    "VoiceRuntimeState",
    "WatchPredicate",
    "Watcher",
    "WatcherRegistry",
    "__version__",
    "after_tool_call",
    "called_ok",
    "interval",
    "key",
    "on_phase_change",
    "run_virtual",
    "tool",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
