"""Share what the parts of a running agent read: state, events, wire, queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.chat import messages_to_json, turns_of
from gemini_live_runtime.conversation.transcript import TranscriptBuffer
from gemini_live_runtime.session.agent.answers_in_a_row import AnswersInARow
from gemini_live_runtime.session.agent.input_times import InputTimes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gemini_live_runtime.clock import Clock
    from gemini_live_runtime.conversation.chat import ChatMessage
    from gemini_live_runtime.conversation.needs import NeedsFulfillment
    from gemini_live_runtime.conversation.transcript import TranscriptWindow
    from gemini_live_runtime.session.agent.guard_monitor import GuardMonitor
    from gemini_live_runtime.session.agent.host import SessionHost
    from gemini_live_runtime.session.agent.phase_runner import PhaseRunner
    from gemini_live_runtime.session.agent.task_queue import TaskQueue
    from gemini_live_runtime.session.definition.plan import SessionPlan
    from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry
    from gemini_live_runtime.session.outbound.context_queue import DeferredWriter, PendingContext
    from gemini_live_runtime.session.outbound.wire_writer import WireWriter
    from gemini_live_runtime.session.ports.event_bus import EventBus
    from gemini_live_runtime.session.rules.reactor import ReactorEvent
    from gemini_live_runtime.state.store import State


def _nothing_reacts(event: ReactorEvent) -> None:
    return None


@dataclass(slots=True, kw_only=True)
class AgentContext:
    """Common ground of one agent's parts. Use it on the session's event loop."""

    plan: SessionPlan
    """The agent as it runs now: hot reload and the operator replace it."""
    state: State
    clock: Clock
    bus: EventBus
    host: SessionHost
    writer: WireWriter
    """Writes to the connection there is."""
    user_writer: DeferredWriter
    """Writes the user's input; queued context goes out ahead of it."""
    context_queue: PendingContext
    """Notes for the model that wait, and whether the model is to be asked to speak."""
    queue: TaskQueue
    """Runs decision steps one at a time."""
    telemetry: SessionTelemetry
    transcript: TranscriptBuffer = field(default_factory=TranscriptBuffer)
    needs: NeedsFulfillment | None = None
    phases: PhaseRunner | None = None
    """Runs the phases of the agent that speaks now; None for one without."""
    guards: GuardMonitor | None = None
    """Reads the guards of its current phase; None without phases."""
    turn_count: int = 0
    """Turns whose end has been worked through."""
    told_from: int = 0
    """Turns at the beginning of the transcript of which a fresh server session learns nothing."""
    ever_connected: bool = False
    closed: bool = False
    """True once the session has begun to end."""
    react: Callable[[ReactorEvent], None] = _nothing_reacts
    """Lets the reactor's rules answer an event."""
    emit: Callable[[ev.Payload], None] = field(init=False)
    """Publishes an event of the current turn."""
    input_times: InputTimes = field(init=False)
    answers: AnswersInARow = field(init=False)

    def __post_init__(self) -> None:
        self.emit = self.bus.emit
        self.input_times = InputTimes(self.state, self.clock.now)
        self.answers = AnswersInARow(self.clock.now, self.bus)

    def so_far(self, turns: int, *, resumed: bool) -> str:
        """Return the last `turns` turns that a server does not know, "" for none.

        One that has `resumed` the session knows all turns up to its handle.
        """
        current = self.host.is_turn_untold
        if resumed:
            window, title = self.transcript.since(self.host.known_turn), "[Latest part of the conversation]"
        else:
            window, title = self.transcript.window(turns), "[Conversation so far]"
            if self.told_from:
                window = self.transcript.after(self.told_from)
        texts = [window.text, self.transcript.current_text if current else ""]
        text = "\n\n".join(text for text in texts if text)
        return f"{title}\n{text}" if text else ""

    def replace_chat(self, messages: Sequence[ChatMessage]) -> None:
        """Let `messages` be all that was said."""
        self.transcript.replace(turns_of(messages, self.clock.now()))
        self.told_from = 0
        self.emit(ev.ChatReplaced(messages=messages_to_json(messages)))

    def window(self, turns: int) -> TranscriptWindow:
        """Return the newest `turns` turns, the current one too."""
        return self.transcript.window_with_current(turns)

    def current_words(self) -> tuple[str, str]:
        """Return what user and model have said in the newest turn so far."""
        turn = self.transcript.newest_turn
        return ("", "") if turn is None else (turn.user, turn.model)
