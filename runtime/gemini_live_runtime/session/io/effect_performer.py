"""Perform what the core decides, in the order in which it decided.

A tool call and its cancellation may come in one message: calls that wait to be started are started before a
cancellation is passed on. The core's deadline is looked at after every performance, because each may move it.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError
from gemini_live_runtime.session.core.effects import (
    ApplyTurnOptions,
    CancelTool,
    Cut,
    Effect,
    Emit,
    End,
    EndActivity,
    EndOfAudio,
    InterruptModel,
    LeaveConnection,
    Microphone,
    Pause,
    Play,
    Prompt,
    RenewConnection,
    RunTool,
    Send,
    SendKeptAudio,
    Speaker,
    Tell,
    WakeConnection,
)
from gemini_live_runtime.session.io.deadline_timer import DeadlineTimer
from gemini_live_runtime.session.io.model_sound import ModelSound
from gemini_live_runtime.session.io.sound_tap import sound_tap

if TYPE_CHECKING:
    from gemini_live_runtime.audio.interface import AudioIO
    from gemini_live_runtime.clock import Clock
    from gemini_live_runtime.session.core.core import SessionCore
    from gemini_live_runtime.session.io.audio_input import AudioInput
    from gemini_live_runtime.session.io.changes import Changes
    from gemini_live_runtime.session.io.connections import ConnectionManager
    from gemini_live_runtime.session.orchestrator import Orchestrator
    from gemini_live_runtime.session.ports.event_bus import EventBus


class EffectPerformer:
    """Performer of the core's effects on sound, connection, tools and events."""

    def __init__(self, core: SessionCore, audio: AudioIO, bus: EventBus, clock: Clock, changes: Changes) -> None:
        self.end: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        """End of the session, once it is decided."""
        self.sound = ModelSound(self._play, audio.end_of_turn)
        self._core = core
        self._audio = audio
        self._bus = bus
        self._clock = clock
        self._changes = changes
        self._timer = DeadlineTimer(clock, core.deadline, self._tick)

    def attach(self, orchestrator: Orchestrator, connections: ConnectionManager, audio_input: AudioInput) -> None:
        """Set the parts that effects act on.

        They are made with `perform`, so after this object.
        """
        self._orchestrator = orchestrator
        self._connections = connections
        self._audio_input = audio_input
        self._writer = orchestrator.agent.writer
        self._tap = sound_tap(
            orchestrator.agent.telemetry, orchestrator.callbacks.inline_listeners("on_audio"), self._clock.now
        )

    def perform(self, effects: list[Effect]) -> None:
        """Perform effects in their order."""
        calls: list[RunTool] = []
        for effect in effects:
            match effect:
                case Emit(payload=ev.SessionState(word=word, reason=reason)) if (word, reason) != self._core.state.word:
                    # A handler of an earlier effect has changed the word, and published the newer one.
                    continue
                case Emit(payload=ev.TurnCompleted() as completed):
                    latency_ms = self._orchestrator.agent.telemetry.latency_so_far_ms
                    self._bus.publish(replace(completed, latency_ms=latency_ms), effect.turn, effect.gen)
                case Emit():
                    self._bus.publish(effect.payload, effect.turn, effect.gen)
                case Play():
                    self.sound.play(effect.gen, effect.pcm, effect.rate)
                case Send():
                    self._send(effect)
                case InterruptModel():
                    self._writer.interrupt()
                case Tell():
                    self._tell(effect)
                case Prompt():
                    self._prompt(effect.reason)
                case SendKeptAudio():
                    self._audio_input.send_kept(effect.chunks)
                case EndOfAudio():
                    self.sound.end_of_turn(effect.gen)
                case Cut():
                    # Barge-in: playback is cut here, and the core learns what was heard.
                    self.sound.cut(effect.cut_below)
                    self._audio.cut(effect.cut_below)
                    heard = self._audio.played_samples(effect.victim)
                    self.perform(self._core.audio.on_cut(self._clock.now(), effect, heard))
                case Pause():
                    self._audio.set_paused(effect.on)
                    if effect.gen:
                        at = self._audio.played_samples(effect.gen)
                        self.perform(self._core.interruptions.on_paused(self._clock.now(), effect, at))
                case Microphone():
                    self._audio.set_microphone(effect.on)
                    self._audio_input.on_microphone(effect.on)
                case Speaker():
                    self._audio.set_speaker(effect.on)
                case RunTool():
                    calls.append(effect)
                case CancelTool():
                    if calls:
                        self._orchestrator.on_calls(calls)
                        calls = []
                    self._orchestrator.cancel_call(effect.call_id)
                case LeaveConnection():
                    self._connections.departure.leave(effect.reason)
                case EndActivity():
                    self._audio_input.turns.end_by_hand()
                case WakeConnection():
                    self._connections.wake(effect.by)
                case RenewConnection():
                    self._connections.departure.renew()
                case ApplyTurnOptions():
                    self._audio_input.turns.apply_options()
                case End():
                    self._timer.stop()
                    if not self.end.done():
                        self.end.set_result(effect)
                case _:
                    assert_never(effect)
        if calls:
            self._orchestrator.on_calls(calls)
        self._changes.note()
        self._timer.schedule()

    def play_further(self, play: Play) -> None:
        """Play a piece of sound that has changed nothing else.

        So no deadline comes nearer: one that goes makes a tick with nothing to do.
        """
        self.sound.play(play.gen, play.pcm, play.rate)
        self._changes.note()

    def on_send_lost(self, send: Send) -> None:
        """Tell the core of a message that did not go out."""
        self.perform(self._core.on_not_sent(self._clock.now(), send))

    def stop(self) -> None:
        """Do nothing more by time; what is decided from outside is still performed."""
        self._timer.stop()

    def _send(self, send: Send) -> None:
        if send.text:
            agent = self._orchestrator.agent
            self._audio_input.turns.settle_now()
            self._orchestrator.steering.flush()
            if agent.context_queue.has_context:
                agent.user_writer.flush()
        self._writer.post(send)

    def _tell(self, tell: Tell) -> None:
        try:
            self._writer.send_context((tell.text,), tell.role, reason=tell.reason)
        except ConnectionClosedError:
            pass  # its reader reports the end
        except GeminiLiveError as error:
            text = f"Not sent: {error.message}"
            self._bus.emit(ev.Notice(level="error", code=error.code, text=text, remedy=error.remedy))

    def _prompt(self, reason: str) -> None:
        with contextlib.suppress(ConnectionClosedError):
            self._writer.prompt_model(reason)

    def _play(self, gen: int, pcm: bytes) -> None:
        self._audio.play(gen, pcm)
        self._tap(pcm)

    def _tick(self) -> bool:
        return self._orchestrator.faults.guard(
            "A timer failed", lambda: self.perform(self._core.tick(self._clock.now()))
        )
