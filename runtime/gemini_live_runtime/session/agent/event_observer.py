"""The fast lane: what has to be noted the moment it happens, and nothing that waits.

Words go into the transcript, times into the telemetry, the floor to the reactor, and listeners are called inline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.soft_turn import SoftTurnDetector
from gemini_live_runtime.session.agent.turn_pipeline import SOFT_TURN
from gemini_live_runtime.session.definition.definition import Definition
from gemini_live_runtime.session.outbound.context_queue import MAX_NOTES
from gemini_live_runtime.session.rules.reactor import (
    VOICE_EVENTS,
    Live,
    PlaybackDrained,
    PlaybackStarted,
    PromptArmed,
    SoftTurnComplete,
    TimerTick,
    UserSpeechEnded,
    UserSpeechStarted,
)
from gemini_live_runtime.state.temporal import TemporalEvent

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.subscription import Subscription
    from gemini_live_runtime.session.io.handle import LiveHandle
    from gemini_live_runtime.session.orchestrator import Orchestrator
    from gemini_live_runtime.session.ports.messages import ContextNote

LOCAL_HANG_OVER_S = 0.3
"""Seconds that the local voice mark waits before it says that the voice has ended (`audio.voice`)."""

TICK_S = 1.0
"""Seconds between the ticks that an agent's own reactor rules get."""

BURST_S = 1.0
"""Seconds in which notes that are dropped are counted together."""

READ_S = 1.0
"""Seconds between two readings of the patterns."""

_INSPECTION = frozenset(
    (
        "agent.described",
        "agent.held",
        "agent.holding",
        "agent.released",
        "breakpoints.changed",
        "edit.previewed",
        "guards.read",
        "mark.set",
        "patterns.read",
        "phase.previewed",
    )
)
"""Events of somebody's looking: an agent must not do anything else because it is looked at."""
_NOT_FOR_RULES = _INSPECTION | {
    "wire.message",
    "wire.audio",
    "meters",
    "playback.heard",
    "telemetry.reported",
    "log",
}
_HEARD = frozenset(
    (
        ev.TranscriptDelta,
        ev.TextSent,
        ev.TurnStarted,
        ev.TurnCompleted,
        ev.TurnInterrupted,
        ev.PlaybackStarted,
        ev.PlaybackDrained,
        ev.VoiceMarked,
        ev.SessionState,
        ev.UsageReported,
        ev.Notice,
    )
)
"""What `_note` has a case for; most events are none of these."""
_NOT_FOR_PATTERNS = _NOT_FOR_RULES | {"transcript.delta", "session.state"}


class EventObserver:
    """Hears every event of one session, at once."""

    def __init__(self, mind: Orchestrator, definition: Definition) -> None:
        self._mind = mind
        self._fast = mind.callbacks.fast
        self._soft = None if definition.soft_turn_s is None else SoftTurnDetector(definition.soft_turn_s)
        self._telemetry_s = definition.telemetry_s
        self._ticks = bool(definition.rules)
        """The agent has rules of its own: they get ticks, and every event."""
        self._patterns = bool(definition.patterns)
        """So do its patterns."""
        self._timer: asyncio.TimerHandle | None = None
        self._next_report: float | None = None
        self._next_tick: float | None = None
        self._wire_phase = ""
        self._local_marks = False
        self._said: list[str] = []
        self._measured = 0
        self._notes_lost = 0
        """Notes for the model that were dropped and not told of yet."""
        self._notes_due: float | None = None
        self._patterns_due: float | None = None
        self._patterns_read = -READ_S
        self._progress: tuple[dict[str, Any], ...] = ()
        self.speaker_ms: float | None = None
        """What the output device says it takes from a consumed sample to the sound."""
        self.handle: LiveHandle | None = None
        """What `on_connected` listeners are given; the session sets it."""

    def redefine(self, definition: Definition) -> None:
        """The agent's rules and patterns are others from now on."""
        self._ticks, self._patterns = bool(definition.rules), bool(definition.patterns)
        self._next_tick = self._mind.clock.now() + TICK_S if self._ticks else None
        self.patterns_seen()
        self.schedule()

    # -- events ------------------------------------------------------------------------------------------------------

    def hear(self, event: ev.Event) -> None:
        """Take note of an event."""
        mind, payload = self._mind, event.payload
        if type(payload) in _HEARD:
            self._note(event, payload)
        if (self._ticks or type(payload) in VOICE_EVENTS) and event.type not in _NOT_FOR_RULES:
            mind.react(Live(payload))
        if self._patterns and event.type not in _NOT_FOR_PATTERNS:
            data = event.to_json()["data"]
            mind.lane.put("pattern", lambda: mind.settler.observe(TemporalEvent("event", type=event.type, data=data)))

    def _note(self, event: ev.Event, payload: ev.Payload) -> None:
        mind = self._mind
        now = mind.clock.now()
        match payload:
            case ev.TranscriptDelta():
                self._words(event, payload, now)
            case ev.TextSent():
                mind.transcript.add_input(payload.text, turn=event.turn)
                mind.telemetry.text_sent(now)
                self._fast("on_input_transcript", payload.text, True)
            case ev.TurnStarted():
                mind.transcript.begin_turn(event.turn, payload.by, now)
                mind.telemetry.turn_started(now, event.turn, payload.by)
            case ev.TurnCompleted():
                self._turn_completed(payload, now)
            case ev.TurnInterrupted():
                mind.transcript.interrupted(payload.heard_text, payload.unheard_text, event.turn)
                mind.telemetry.interrupted(now, event.turn)
                self._prompt_may_go()
            case ev.PlaybackStarted():
                mind.telemetry.playback_started(now, turn=event.turn, device_latency_ms=self.speaker_ms)
                mind.react(PlaybackStarted())
            case ev.PlaybackDrained():
                mind.react(PlaybackDrained(mind.pending.has_prompt))
            case ev.VoiceMarked():
                self._voice(payload, now)
            case ev.SessionState():
                self._phase_of_wire()
            case ev.UsageReported():
                self._usage(payload)
            case ev.Notice(code="no-answer"):
                # The answer that a prompt waited for is not coming.
                self._prompt_may_go()

    def _words(self, event: ev.Event, delta: ev.TranscriptDelta, now: float) -> None:
        mind = self._mind
        if delta.side == "user":
            mind.transcript.add_input(delta.text, turn=event.turn)
            self._fast("on_input_transcript", delta.text, False)
            return
        if self._soft is not None:
            self._soft.model_responded()
        if delta.channel == "thought":
            self._fast("on_thought", delta.text)
            return
        cut = event.gen < mind.body.cut_below
        mind.transcript.add_output(delta.text, turn=event.turn, cut=cut)
        if cut:
            return
        mind.telemetry.first_model_frame(now)
        if delta.channel == "speech":
            self._fast("on_output_transcript", delta.text, False)
        else:
            self._said.append(delta.text)
            self._fast("on_text", delta.text)

    def _turn_completed(self, payload: ev.TurnCompleted, now: float) -> None:
        mind = self._mind
        mind.transcript.end_turn()
        mind.telemetry.turn_completed(now)
        if self._said:
            text, self._said = "".join(self._said), []
            self._fast("on_text_complete", text)
        if self._soft is not None:
            self._soft.reset()
        if payload.reason == SOFT_TURN:
            if self._soft is not None:
                mind.body.emit(ev.SoftTurnTaken(silence_s=self._soft.timeout_s))
            mind.react(SoftTurnComplete())
        if mind.pending.has_prompt:
            # A typed text that has ended this turn is sent right after it, and calls the prompt off.
            asyncio.get_running_loop().call_soon(self._prompt_may_go)

    def _prompt_may_go(self) -> None:
        """What a prompt waited for may be over."""
        mind = self._mind
        if mind.pending.has_prompt and not mind.closed:
            mind.react(PromptArmed())

    def _voice(self, mark: ev.VoiceMarked, now: float) -> None:
        mind = self._mind
        server = mark.source == "server"
        self._local_marks = self._local_marks or not server
        if mark.speaking:
            mind.telemetry.voice_started(now, "server_vad" if server else "local_voice")
        elif server:
            mind.telemetry.voice_ended(now, "server_vad")
        else:
            mind.telemetry.voice_ended(now, spoken_until=now - LOCAL_HANG_OVER_S)
        if server and self._local_marks:
            # Both hear the same voice; ours is the sooner, and it is told once.
            return
        self._fast("on_vad_start" if mark.speaking else "on_vad_end")
        if self._soft is not None:
            if mark.speaking:
                self._soft.voice_started()
            else:
                self._soft.voice_ended(now)
            self.schedule()
        if mind.activity_is_ours:
            # With our own detector deciding, its edges are told to the reactor where they are committed.
            return
        self.user_speech(mark.speaking)

    def user_speech(self, speaking: bool) -> None:
        """The user has the floor, or gives it back."""
        mind = self._mind
        mind.react(UserSpeechStarted() if speaking else UserSpeechEnded(mind.pending.has_prompt))

    def _phase_of_wire(self) -> None:
        phase = self._mind.signals.wire_phase
        if phase != self._wire_phase:
            self._wire_phase = phase
            self._fast("on_phase", phase)

    def _usage(self, usage: ev.UsageReported) -> None:
        totals = {
            "total": usage.total_tokens,
            "prompt": usage.prompt_tokens,
            "response": usage.response_tokens,
            "cached_content": usage.cached_tokens,
            "thoughts": usage.response.get("THOUGHT", 0),
        }
        self._mind.telemetry.usage(
            usage.prompt, usage.response, usage.cost_usd, totals=totals, prices_as_of=usage.prices_as_of
        )
        self._fast("on_usage", {"prompt": usage.prompt, "response": usage.response, **totals})

    # -- figures -----------------------------------------------------------------------------------------------------

    def turn_measured(self, number: int) -> None:
        """Report the turn that has just been dealt with, and what slow readers have lost since that was last told."""
        mind = self._mind
        metrics = mind.telemetry.turn_metrics()
        if metrics is not None and metrics.turn == number and number > self._measured:
            self._measured = number
            spoken_until = metrics.waterfall.end_of_speech_s
            mind.body.emit(
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
        self._deliveries()

    def _deliveries(self) -> None:
        for subscription in self._mind.subscribers:
            self.delivery(subscription)

    def delivery(self, subscription: Subscription) -> None:
        """Report what a reader has lost since that was last told."""
        for kind, count in subscription.newly_dropped().items():
            self._mind.body.emit(ev.DeliveryDropped(subscriber=subscription.name, delivery=kind, count=count))

    def notes_dropped(self, notes: Sequence[ContextNote]) -> None:
        """The model will not be told of these: more than can wait waited. Those of a burst are told together."""
        if not self._notes_lost:
            self._notes_due = self._mind.clock.now() + BURST_S
        self._notes_lost += len(notes)
        self.schedule()

    def _tell_notes(self) -> None:
        lost, self._notes_lost, self._notes_due = self._notes_lost, 0, None
        if lost:
            notes = "1 note for the model was" if lost == 1 else f"{lost} notes for the model were"
            text = f"{notes} dropped because more than {MAX_NOTES} waited"
            remedy = "Write state less often, or let context go out at once"
            self._mind.body.emit(ev.Notice(level="warning", code="steering", text=text, remedy=remedy))

    def tell_losses(self) -> None:
        """Report what was lost and not told yet: the session is about to end."""
        self._tell_notes()
        self._deliveries()

    def patterns_seen(self) -> None:
        """Patterns have been shown something: how far they have come may be another now."""
        if self._patterns_due is None and not self._mind.closed:
            self._patterns_due = max(self._patterns_read + READ_S, self._mind.clock.now())
            self.schedule()

    def _tell_patterns(self, now: float) -> None:
        mind = self._mind
        self._patterns_read, self._patterns_due = now, None
        progress = tuple(
            {"name": item.name, "progress": item.progress, "cooldown_left_s": round(item.cooldown_left_s, 1)}
            for item in mind.settler.temporal.status(mind.stops.gate.agent_time())
        )
        if progress != self._progress:
            self._progress = progress
            mind.body.emit(ev.PatternsRead(patterns=progress))
        if not mind.stops.gate.held and mind.settler.temporal.changes_with_time(mind.stops.gate.agent_time()):
            self._patterns_due = now + READ_S

    def figures(self) -> dict[str, Any]:
        """The session's figures now."""
        mind = self._mind
        figures = mind.telemetry.snapshot(mind.clock.now())
        figures["control_lane_depth"] = mind.lane.depth
        figures["context_dropped"] = mind.pending.dropped
        figures["transcript_left_out"] = mind.transcript.left_out
        figures["dropped"] = {item.name: dict(item.dropped) for item in mind.subscribers if item.dropped}
        return figures

    # -- time --------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Time begins to count."""
        now = self._mind.clock.now()
        if self._telemetry_s is not None:
            self._next_report = now + self._telemetry_s
        if self._ticks:
            self._next_tick = now + TICK_S
        self.schedule()

    def schedule(self) -> None:
        """Wake up at the next moment that something depends on."""
        mind = self._mind
        now = mind.clock.now()
        waits = [
            None if mind.stops.gate.held else mind.settler.deadline(),
            None if self._soft is None or mind.stops.gate.held else self._soft.deadline(now),
            None if self._next_report is None else self._next_report - now,
            None if self._next_tick is None else self._next_tick - now,
            None if self._notes_due is None else self._notes_due - now,
            None if self._patterns_due is None else self._patterns_due - now,
        ]
        ahead = [wait for wait in waits if wait is not None]
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if ahead and not mind.closed:
            self._timer = asyncio.get_running_loop().call_later(max(0.001, min(ahead)), self._tick)

    def _tick(self) -> None:
        mind = self._mind
        now = mind.clock.now()
        self._timer = None
        held = mind.stops.gate.held
        if self._soft is not None and not held and self._soft.due(now):
            mind.body.soft_turn()
        if self._next_report is not None and now >= self._next_report:
            self._next_report = now + (self._telemetry_s or 0.0)
            mind.body.emit(ev.TelemetryReported(figures=self.figures()))
            self._deliveries()
        if self._notes_due is not None and now >= self._notes_due:
            self._tell_notes()
        if self._patterns_due is not None and now >= self._patterns_due:
            self._tell_patterns(now)
        if self._next_tick is not None and now >= self._next_tick:
            self._next_tick = now + TICK_S
            mind.react(TimerTick(now))
        wait = None if held else mind.settler.deadline()
        if wait is not None and wait <= 0.002:
            mind.lane.put("time", mind.pipeline.time_passed)
        self.schedule()

    def close(self) -> None:
        """Time no longer matters."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
