"""Publish figures: turns, totals at intervals, what subscribers lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.subscription import Subscribers, Subscription


class MetricsReporter:
    """Reporter of one session's figures."""

    def __init__(self, agent: AgentContext, subscribers: Subscribers) -> None:
        self._agent = agent
        self._subscribers = subscribers
        self._last_turn = 0

    def report_turn(self, number: int) -> None:
        """Publish the figures of a turn whose end has been worked through, once."""
        metrics = self._agent.telemetry.turn_metrics()
        if metrics is not None and metrics.turn == number and number > self._last_turn:
            self._last_turn = number
            spoken_until = metrics.waterfall.end_of_speech_s
            self._agent.emit(
                ev.TurnMeasured(
                    of_turn=number,
                    latency_ms=None if metrics.latency_ms is None else round(metrics.latency_ms, 1),
                    source=metrics.latency_source or "",
                    stages=metrics.waterfall.stages(),
                    prompt_tokens=sum(metrics.prompt.values()),
                    response_tokens=sum(metrics.response.values()),
                    duration_ms=round(metrics.duration_ms, 1),
                    end_of_speech_s=None if spoken_until is None else round(spoken_until, 3),
                    prompt=dict(metrics.prompt),
                    response=dict(metrics.response),
                )
            )
        self.report_losses()

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
