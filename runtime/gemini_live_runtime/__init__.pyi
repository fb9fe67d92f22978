"""The public names of the package, each once: type checkers read them here, and so does `__init__.py`."""

from gemini_live_runtime.api import Agent as Agent
from gemini_live_runtime.api import AgentSession as AgentSession
from gemini_live_runtime.api import Live as Live
from gemini_live_runtime.clock import run_virtual as run_virtual
from gemini_live_runtime.conversation.chat import AgentHandoff as AgentHandoff
from gemini_live_runtime.conversation.chat import ChatContext as ChatContext
from gemini_live_runtime.conversation.chat import ChatMessage as ChatMessage
from gemini_live_runtime.conversation.chat import FunctionCall as FunctionCall
from gemini_live_runtime.conversation.chat import FunctionCallOutput as FunctionCallOutput
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
from gemini_live_runtime.errors import HarnessError as HarnessError
from gemini_live_runtime.errors import StopResponse as StopResponse
from gemini_live_runtime.harness.memory import MemoryAuthor as MemoryAuthor
from gemini_live_runtime.harness.memory import MemoryProvenance as MemoryProvenance
from gemini_live_runtime.harness.memory import MemoryRecord as MemoryRecord
from gemini_live_runtime.harness.memory import MemoryWrite as MemoryWrite
from gemini_live_runtime.harness.notification_prompt import (
    format_passive_notification_prompt as format_passive_notification_prompt,
)
from gemini_live_runtime.harness.notifications import HarnessNotification as HarnessNotification
from gemini_live_runtime.harness.notifications import NewNotification as NewNotification
from gemini_live_runtime.harness.notifications import NotificationKind as NotificationKind
from gemini_live_runtime.harness.notifications import NotificationStatus as NotificationStatus
from gemini_live_runtime.harness.paths import HarnessPaths as HarnessPaths
from gemini_live_runtime.harness.pump import PassiveNotificationPump as PassiveNotificationPump
from gemini_live_runtime.harness.store import Harness as Harness
from gemini_live_runtime.harness.tasks import HarnessTask as HarnessTask
from gemini_live_runtime.harness.tasks import NewRunningTask as NewRunningTask
from gemini_live_runtime.harness.tasks import TaskDetail as TaskDetail
from gemini_live_runtime.harness.tasks import TaskEvent as TaskEvent
from gemini_live_runtime.harness.tasks import TaskEventKind as TaskEventKind
from gemini_live_runtime.harness.tasks import TaskResult as TaskResult
from gemini_live_runtime.harness.tasks import TaskRuntimeInstance as TaskRuntimeInstance
from gemini_live_runtime.harness.tasks import TaskStatus as TaskStatus
from gemini_live_runtime.plain_types import Within as Within
from gemini_live_runtime.session.agent.background_agents import BackgroundAgentDispatcher as BackgroundAgentDispatcher
from gemini_live_runtime.session.agent.background_agents import TextAgent as TextAgent
from gemini_live_runtime.session.agent.harness.harness_tool_runtime import HarnessToolRuntime as HarnessToolRuntime
from gemini_live_runtime.session.agent.listeners.session_events import AgentStateChangedEvent as AgentStateChangedEvent
from gemini_live_runtime.session.agent.listeners.session_events import CloseEvent as CloseEvent
from gemini_live_runtime.session.agent.listeners.session_events import CloseReason as CloseReason
from gemini_live_runtime.session.agent.listeners.session_events import (
    ConversationItemAddedEvent as ConversationItemAddedEvent,
)
from gemini_live_runtime.session.agent.listeners.session_events import ErrorEvent as ErrorEvent
from gemini_live_runtime.session.agent.listeners.session_events import (
    FunctionToolsExecutedEvent as FunctionToolsExecutedEvent,
)
from gemini_live_runtime.session.agent.listeners.session_events import MetricsCollectedEvent as MetricsCollectedEvent
from gemini_live_runtime.session.agent.listeners.session_events import SpeechCreatedEvent as SpeechCreatedEvent
from gemini_live_runtime.session.agent.listeners.session_events import (
    UserInputTranscribedEvent as UserInputTranscribedEvent,
)
from gemini_live_runtime.session.agent.listeners.session_events import UserStateChangedEvent as UserStateChangedEvent
from gemini_live_runtime.session.agent.listeners.subscription import LiveEvent as LiveEvent
from gemini_live_runtime.session.agent.session_keys import SessionSignals as SessionSignals
from gemini_live_runtime.session.agent.session_keys import SessionType as SessionType
from gemini_live_runtime.session.agent.soft_turn import SoftTurnDetector as SoftTurnDetector
from gemini_live_runtime.session.agent.tools.mock_tools import mock_tools as mock_tools
from gemini_live_runtime.session.core.speech_queue import SpeechPriority as SpeechPriority
from gemini_live_runtime.session.definition.callbacks import CallbackMode as CallbackMode
from gemini_live_runtime.session.definition.callbacks import EventCallbacks as EventCallbacks
from gemini_live_runtime.session.definition.definition import Delivery as Delivery
from gemini_live_runtime.session.definition.definition import DeliveryConfig as DeliveryConfig
from gemini_live_runtime.session.definition.plan import SessionPlan as SessionPlan
from gemini_live_runtime.session.definition.server_detection import ServerDetection as ServerDetection
from gemini_live_runtime.session.endpointing.end_of_turn import EndOfTurnModel as EndOfTurnModel
from gemini_live_runtime.session.endpointing.smart_turn import SmartTurn as SmartTurn
from gemini_live_runtime.session.endpointing.vad import InputVad as InputVad
from gemini_live_runtime.session.endpointing.vad import InputVadSnapshot as InputVadSnapshot
from gemini_live_runtime.session.io.handle import LiveHandle as LiveHandle
from gemini_live_runtime.session.io.harness_bridge import ForwardOutcome as ForwardOutcome
from gemini_live_runtime.session.io.harness_bridge import HarnessRuntimeBridge as HarnessRuntimeBridge
from gemini_live_runtime.session.io.harness_bridge import HarnessToolCompletion as HarnessToolCompletion
from gemini_live_runtime.session.io.harness_bridge import (
    HarnessToolCompletionDisposition as HarnessToolCompletionDisposition,
)
from gemini_live_runtime.session.io.harness_controller import HarnessController as HarnessController
from gemini_live_runtime.session.io.inline_task import InlineTask as InlineTask
from gemini_live_runtime.session.io.run_context import RunContext as RunContext
from gemini_live_runtime.session.io.run_result import RunResult as RunResult
from gemini_live_runtime.session.io.speech_handle import SpeechHandle as SpeechHandle
from gemini_live_runtime.session.io.user_turn import UserTurn as UserTurn
from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry as SessionTelemetry
from gemini_live_runtime.session.outbound.context_queue import DeferredWriter as DeferredWriter
from gemini_live_runtime.session.outbound.context_queue import PendingContext as PendingContext
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot as SessionSnapshot
from gemini_live_runtime.session.persistence.stores import FsPersistence as FsPersistence
from gemini_live_runtime.session.persistence.stores import MemoryPersistence as MemoryPersistence
from gemini_live_runtime.session.persistence.stores import SessionPersistence as SessionPersistence
from gemini_live_runtime.session.ports.messages import ContextNote as ContextNote
from gemini_live_runtime.session.ports.provider import RealtimeProviderAdapter as RealtimeProviderAdapter
from gemini_live_runtime.session.ports.scripted_provider import ScriptedAdapter as ScriptedAdapter
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
from gemini_live_runtime.state.mutations import Origin as Origin
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
from gemini_live_runtime.tools.kinds import ToolKind as ToolKind
from gemini_live_runtime.tools.registry import HarnessToolRegistry as HarnessToolRegistry
from gemini_live_runtime.tools.registry import ToolDescriptor as ToolDescriptor
from gemini_live_runtime.tools.registry import ToolProvider as ToolProvider
from gemini_live_runtime.tools.results import Outcome as Outcome
from gemini_live_runtime.tools.results import ToolCall as ToolCall

__version__: str
