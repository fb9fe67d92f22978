"""Call listeners of the link and of errors, in the order of the agent's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.problems import ProblemFinder

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackRunner
    from gemini_live_runtime.session.agent.turn_pipeline import TurnPipeline
    from gemini_live_runtime.session.debugger.pause_gate import PauseGate


class EventListeners:
    """Queue of callbacks for those events that are neither a turn's nor a phase's."""

    KINDS = (
        ev.TurnInterrupted,
        ev.GenerationCompleted,
        ev.ConnectionGoAway,
        ev.ConnectionClosed,
        *ProblemFinder.KINDS,
    )

    def __init__(self, agent: AgentContext, pipeline: TurnPipeline, callbacks: CallbackRunner, gate: PauseGate) -> None:
        self._queue = agent.queue
        self._pipeline = pipeline
        self._callbacks = callbacks
        self._gate = gate
        self._problems = ProblemFinder()

    def on_event(self, event: ev.Event) -> None:
        """Queue the callback of an event."""
        put, call = self._queue.put, self._pipeline.call_listeners
        match event.payload:
            case ev.TurnInterrupted():
                if self._gate.held:
                    put("interrupted", lambda: call("on_interrupted"))
                else:
                    # At once: a listener that stops a program's playback must not wait for steps that run.
                    self._callbacks.start("on_interrupted")
            case ev.GenerationCompleted():
                put("generation complete", self._pipeline.complete_generation)
            case ev.ConnectionGoAway(time_left_s=time_left_s):
                put("go away", lambda: call("on_go_away", time_left_s))
            case ev.ConnectionClosed(reason=reason, sentence=sentence):
                put("disconnected", lambda: call("on_disconnected", reason or sentence))
            case ev.Notice() | ev.OutboxChanged() | ev.PartHealth() | ev.SoundHealth():
                text = self._problems.text_of(event.payload)
                if text:
                    put("error", lambda: call("on_error", text))
