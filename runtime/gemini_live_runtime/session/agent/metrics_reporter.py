"""Publish figures: turns, totals at intervals, what subscribers lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.listeners.subscription import Subscribers, Subscription

SETTLING = (ev.PlaybackStarted, ev.TurnInterrupted, ev.AudioOpened, ev.AudioLost)
"""Events after which the latency of a completed turn may be known."""


class MetricsReporter:
    """Reporter of one session's figures."""

    def __init__(self, agent: AgentContext, subscribers: Subscribers) -> None:
        self._agent = agent
        self._subscribers = subscribers
        self._last_turn = 0
        self._waiting: int | None = None
        """Number of the turn whose sound waits to be played."""

    def report_turn(self, number: int) -> None:
        """Publish the figures of a turn whose end has been worked through, once.

        When its sound waits to be played, they are published after that, or before those of the next turn.
        """
        self.report_waiting()
        if number > self._last_turn:
            self._last_turn = self._waiting = number
            self.on_settled()
        self.report_losses()

    def on_settled(self, event: ev.Event | None = None) -> None:
        """Publish the figures of the turn that waits, unless its sound may be played."""
        if self._waiting is not None and not self._agent.telemetry.awaits_playback(self._waiting):
            self.report_waiting()

    def report_waiting(self) -> None:
        """Publish the figures of the turn that waits, as they are."""
        number, self._waiting = self._waiting, None
        metrics = None if number is None else self._agent.telemetry.turn_metrics(number)
        if metrics is None:
            return
        stages = metrics.waterfall.stages()
        first_byte = metrics.waterfall.first_byte_ms
        spoken_until = metrics.waterfall.end_of_speech_s
        self._agent.emit(
            ev.TurnMeasured(
                of_turn=metrics.turn,
                latency_ms=stages["total"],
                first_byte_ms=None if first_byte is None else round(first_byte, 1),
                source=metrics.latency_source or "",
                stages=stages,
                prompt_tokens=sum(metrics.prompt.values()),
                response_tokens=sum(metrics.response.values()),
                duration_ms=round(metrics.duration_ms, 1),
                end_of_speech_s=None if spoken_until is None else round(spoken_until, 3),
                prompt=dict(metrics.prompt),
                response=dict(metrics.response),
            )
        )

    def report_totals(self) -> None:
        """Publish the session's figures so far."""
        self._agent.emit(ev.TelemetryReported(figures=self.figures()))
        self.report_losses()

    def report_losses(self) -> None:
        """Publish what subscribers lost since that was published last."""
        for subscription in self._subscribers:
            self.report_loss(subscription)

    def report_loss(self, subscription: Subscription) -> None:
        """Publish what one subscriber lost since that was published last."""
        for kind, count in subscription.newly_dropped().items():
            self._agent.emit(ev.DeliveryDropped(subscriber=subscription.name, delivery=kind, count=count))

    def figures(self) -> dict[str, Any]:
        """Return the session's figures so far, as JSON."""
        agent = self._agent
        figures = agent.telemetry.snapshot(agent.clock.now())
        figures["control_lane_depth"] = agent.queue.depth
        figures["context_dropped"] = agent.context_queue.dropped
        figures["transcript_left_out"] = agent.transcript.left_out
        figures["dropped"] = {item.name: dict(item.dropped) for item in self._subscribers if item.dropped}
        return figures
