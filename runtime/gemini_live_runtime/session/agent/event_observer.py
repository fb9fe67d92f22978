"""Take notes of events the moment they are published, and decide nothing.

Words go into the transcript, times into the telemetry, the floor to the reactor's rules, and fast callbacks are called.
Everything here runs inside the publishing of an event, so nothing here may wait; what decides is queued.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.host import SOFT_TURN
from gemini_live_runtime.session.agent.throttle import Throttle, paced_notice
from gemini_live_runtime.session.core.speech import LOCAL_HANG_OVER_S
from gemini_live_runtime.session.core.turn_detection import CLEARED
from gemini_live_runtime.session.rules.hidden_events import NOT_FOR_PATTERNS, NOT_FOR_RULES
from gemini_live_runtime.session.rules.reactor import (
    VOICE_EVENTS,
    Live,
    PlaybackDrained,
    PlaybackStarted,
    PromptArmed,
    SoftTurnComplete,
    StateChanged,
    UserSpeechEnded,
    UserSpeechStarted,
)
from gemini_live_runtime.state.temporal import TemporalEvent
from gemini_live_runtime.state.values import copy_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackRunner
    from gemini_live_runtime.session.agent.session_keys import SessionSignals
    from gemini_live_runtime.session.agent.settle_engine import SettleEngine
    from gemini_live_runtime.session.agent.timers import Timers
    from gemini_live_runtime.state.mutations import Mutation

MAX_CHANGES = 1000
"""Changes of state that wait for rules that are asked too often; then the oldest are dropped."""


class EventObserver:
    """Observer of one session's events."""

    def __init__(
        self,
        agent: AgentContext,
        callbacks: CallbackRunner,
        settle: SettleEngine,
        session_keys: SessionSignals,
        timers: Timers,
    ) -> None:
        self._agent = agent
        self._call = callbacks.fast
        self._settle = settle
        self._session_keys = session_keys
        self._timers = timers
        self._wire_phase = ""
        self._changes: deque[Mutation] = deque(maxlen=MAX_CHANGES)
        """Changes of state that rules were not asked about yet."""
        self._reactions = Throttle(self._react_to_changes, agent.clock, on_paced=self._on_paced)
        self._has_local_marks = False
        self._text: list[str] = []
        """Text of the answer so far, of models that answer in text."""
        self._playing = 0
        """Newest generation whose playback has begun."""
        self.speaker_ms: float | None = None
        """Milliseconds that the output device says it takes from a consumed sample to the sound."""
        subscribe = agent.bus.subscribe
        subscribe(self._on_words, ev.TranscriptDelta)
        subscribe(self._on_text_sent, ev.TextSent)
        subscribe(self._on_turn_started, ev.TurnStarted)
        subscribe(self._on_turn_completed, ev.TurnCompleted)
        subscribe(self._on_turn_interrupted, ev.TurnInterrupted)
        subscribe(self._on_agent, ev.SessionStarted, ev.AgentHandedOff)
        subscribe(self._on_playback, ev.PlaybackStarted, ev.PlaybackDrained)
        subscribe(self._on_devices, ev.AudioOpened, ev.AudioLost)
        subscribe(self._on_voice, ev.VoiceMarked)
        subscribe(self._on_usage, ev.UsageReported)
        subscribe(self._on_notice, ev.Notice)
        subscribe(self._on_released, ev.AgentReleased)
        subscribe(self._ask_rules, ignore=NOT_FOR_RULES)
        subscribe(self._show_patterns, ignore=NOT_FOR_PATTERNS)

    # -- rules and patterns ------------------------------------------------------------------------------------------

    def _ask_rules(self, event: ev.Event) -> None:
        payload = event.payload
        # Without rules of the agent's own, only the built-in ones are there, which answer to voice alone.
        if type(payload) in VOICE_EVENTS or self._agent.plan.definition.rules:
            self._agent.react(Live(payload))

    def on_state_changes(self, mutations: Sequence[Mutation]) -> None:
        """Let the agent's own rules answer changes of state."""
        if self._agent.plan.definition.rules:
            self._changes.extend(mutations)
            self._reactions.request()

    @property
    def awaits_reaction(self) -> bool:
        """True when rules will get the last of very many changes a little later."""
        return self._reactions.is_waiting

    def _react_to_changes(self) -> None:
        changes = [item._replace(old=copy_value(item.old), new=copy_value(item.new)) for item in self._changes]
        self._changes.clear()
        self._agent.react(StateChanged(tuple(changes)))

    def _on_paced(self) -> None:
        self._agent.emit(paced_notice("rules are asked about changes", self._changes[-1]))

    def close(self) -> None:
        """Ask rules no more about changes that wait."""
        self._reactions.close()

    def _show_patterns(self, event: ev.Event) -> None:
        if not self._settle.has_patterns:
            return
        seen = TemporalEvent("event", type=event.type, data=event.to_json()["data"])
        self._agent.queue.put("pattern", lambda: self._settle.observe(seen))

    # -- turns and words ---------------------------------------------------------------------------------------------

    def _on_words(self, event: ev.Event) -> None:
        agent, delta = self._agent, event.payload
        assert isinstance(delta, ev.TranscriptDelta)
        if delta.side == "user":
            said_at = agent.input_times.on_words() if delta.text.strip() else -1
            agent.transcript.add_input(delta.text, turn=event.turn, said_at=said_at)
            self._call("on_input_transcript", delta.text, False)
            return
        self._timers.on_model_responded()
        if delta.channel == "thought":
            self._call("on_thought", delta.text)
            return
        is_cut = event.gen < agent.host.cut_below
        agent.transcript.add_output(delta.text, turn=event.turn, cut=is_cut)
        if is_cut:
            return
        agent.telemetry.first_model_frame(agent.clock.now())
        if delta.channel == "speech":
            self._call("on_output_transcript", delta.text, False)
        else:
            self._text.append(delta.text)
            self._call("on_text", delta.text)

    def _on_text_sent(self, event: ev.Event) -> None:
        agent, sent = self._agent, event.payload
        assert isinstance(sent, ev.TextSent)
        said_at, typed_at = agent.input_times.on_text_sent(sent.command_id)
        agent.transcript.add_input(sent.text, turn=event.turn, said_at=said_at)
        agent.telemetry.text_sent(agent.clock.now(), typed_at=typed_at)
        self._call("on_input_transcript", sent.text, True)

    def _on_turn_started(self, event: ev.Event) -> None:
        agent, started = self._agent, event.payload
        assert isinstance(started, ev.TurnStarted)
        now = agent.clock.now()
        agent.transcript.begin_turn(event.turn, started.by, now)
        agent.telemetry.turn_started(now, event.turn, started.by)

    def _on_turn_completed(self, event: ev.Event) -> None:
        agent, completed = self._agent, event.payload
        assert isinstance(completed, ev.TurnCompleted)
        if completed.reason == CLEARED:
            agent.transcript.discard_input()
        if completed.broke_off:
            agent.transcript.break_off(completed.unspoken)
        agent.transcript.end_turn()
        agent.telemetry.turn_completed(agent.clock.now())
        if self._text:
            text, self._text = "".join(self._text), []
            self._call("on_text_complete", text)
        is_soft = completed.reason == SOFT_TURN
        self._timers.on_turn_completed(is_soft)
        if is_soft:
            agent.react(SoftTurnComplete())
        if agent.context_queue.has_prompt:
            # A typed text that ended this turn is sent right after it, and cancels the prompt.
            asyncio.get_running_loop().call_soon(self.release_prompt)

    def _on_turn_interrupted(self, event: ev.Event) -> None:
        agent, cut = self._agent, event.payload
        assert isinstance(cut, ev.TurnInterrupted)
        agent.transcript.interrupted(cut.heard_text, cut.unheard_text, event.turn)
        agent.telemetry.interrupted(agent.clock.now(), event.turn)
        if agent.context_queue.has_prompt:
            # The answer that has interrupted it may be in the same message.
            asyncio.get_running_loop().call_soon(self.release_prompt)

    def _on_agent(self, event: ev.Event) -> None:
        match event.payload:
            case ev.SessionStarted(agent=agent):
                self._agent.transcript.add_handoff("", agent)
            case ev.AgentHandedOff(previous=previous, agent=agent):
                self._agent.transcript.add_handoff(previous, agent)
                self._agent.host.take_rules_of(self._agent.plan.definition.turn_rules)

    def _on_notice(self, event: ev.Event) -> None:
        if isinstance(event.payload, ev.Notice) and event.payload.code == "no-answer":
            # The answer that a prompt waited for is not coming.
            self.release_prompt()

    def _on_released(self, event: ev.Event) -> None:
        if isinstance(event.payload, ev.AgentReleased):
            self._agent.telemetry.released(self._agent.clock.now(), event.payload.seconds)

    def release_prompt(self) -> None:
        """Ask the rules again about an armed prompt: what it waited for may be over."""
        if self._agent.context_queue.has_prompt and not self._agent.closed:
            self._agent.react(PromptArmed())

    # -- voice and playback ------------------------------------------------------------------------------------------

    def _on_playback(self, event: ev.Event) -> None:
        agent = self._agent
        if isinstance(event.payload, ev.PlaybackDrained):
            # The next answer may have begun to play before the end of this one is known.
            if event.payload.of >= self._playing:
                agent.react(PlaybackDrained(agent.context_queue.has_prompt))
            return
        self._playing = event.gen
        agent.telemetry.on_playback_started(agent.clock.now(), turn=event.turn, device_latency_ms=self.speaker_ms)
        agent.react(PlaybackStarted())

    def _on_devices(self, event: ev.Event) -> None:
        """Note that answers have a speaker, or none."""
        devices = event.payload
        if isinstance(devices, ev.AudioOpened):
            self._agent.telemetry.speaker_changed(bool(devices.output))
        elif isinstance(devices, ev.AudioLost) and devices.direction == "output":
            self._agent.telemetry.speaker_changed(False)

    def _on_voice(self, event: ev.Event) -> None:
        agent, mark = self._agent, event.payload
        assert isinstance(mark, ev.VoiceMarked)
        now = agent.clock.now()
        by_server = mark.source == "server"
        self._has_local_marks = self._has_local_marks or not by_server
        if mark.speaking:
            agent.telemetry.voice_started(now, "server_vad" if by_server else "local_voice")
        elif by_server:
            agent.telemetry.voice_ended(now, "server_vad")
        else:
            agent.telemetry.voice_ended(now, spoken_until=now - LOCAL_HANG_OVER_S)
        if by_server and self._has_local_marks:
            # Both mark the same voice; ours is the earlier mark, and one is enough.
            return
        self._call("on_vad_start" if mark.speaking else "on_vad_end")
        self._timers.on_voice(mark.speaking, now)
        if agent.host.turn_options.detection != "client":
            # With our own detector, speech is reported where its edges are committed.
            self.on_user_speech(mark.speaking)

    def on_user_speech(self, speaking: bool) -> None:
        """Report to the rules that the user takes the floor, or gives it back."""
        agent = self._agent
        agent.react(UserSpeechStarted() if speaking else UserSpeechEnded(agent.context_queue.has_prompt))

    # -- the connection ----------------------------------------------------------------------------------------------

    def on_session_state(self, event: ev.Event) -> None:
        """Call `on_phase` listeners when the wire's phase has changed.

        Subscribed after the handler that writes the phase.
        """
        phase = self._session_keys.wire_phase
        if phase != self._wire_phase:
            self._wire_phase = phase
            self._call("on_phase", phase)

    def _on_usage(self, event: ev.Event) -> None:
        usage = event.payload
        assert isinstance(usage, ev.UsageReported)
        totals = {
            "total": usage.total_tokens,
            "prompt": usage.prompt_tokens,
            "response": usage.response_tokens,
            "cached_content": usage.cached_tokens,
            "thoughts": usage.response.get("THOUGHT", 0),
        }
        self._agent.telemetry.usage(
            usage.prompt, usage.response, usage.cost_usd, totals=totals, prices_as_of=usage.prices_as_of
        )
        self._call("on_usage", {"prompt": usage.prompt, "response": usage.response, **totals})
