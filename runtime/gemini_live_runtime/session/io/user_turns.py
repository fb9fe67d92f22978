"""End the user's turns where the client does, as the agent decides.

Between the end of a turn and its mark for the server the agent's `on_user_turn_completed` runs. What is said meanwhile
belongs to the next turn, so it waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import is_awaitable
from gemini_live_runtime.commands import ClearTurn, CommitTurn
from gemini_live_runtime.errors import AgentError, StopResponse
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.handover.lifecycle import busy_hook
from gemini_live_runtime.session.agent.user_code import takes
from gemini_live_runtime.session.core.effects import Effect, Send
from gemini_live_runtime.session.definition.definition import DEFAULT_PRESET
from gemini_live_runtime.session.endpointing.activity import BYTES_PER_S, SLICE_SAMPLES, InputActivity
from gemini_live_runtime.session.endpointing.end_of_turn import SOUND_S, EndOfTurnPredictor, Prediction
from gemini_live_runtime.session.io.user_turn import UserTurn
from gemini_live_runtime.state.functions import function_name
from gemini_live_runtime.state.mutations import Origin
from gemini_live_runtime.wire import compose

if TYPE_CHECKING:
    from gemini_live_runtime.clock import Clock
    from gemini_live_runtime.session.core.core import SessionCore
    from gemini_live_runtime.session.endpointing.vad import InputVadSnapshot
    from gemini_live_runtime.session.link.mic_sound import MicSound
    from gemini_live_runtime.session.orchestrator import Orchestrator

MAX_SOUND_S = 60.0
"""Seconds of a turn's newest sound that are kept for the agent."""

NO_TURN = "No turn is open"


class UserTurns:
    """User's turns of one session, as far as the client ends them."""

    def __init__(
        self,
        core: SessionCore,
        orchestrator: Orchestrator,
        clock: Clock,
        *,
        perform: Callable[[list[Effect]], None],
        take: Callable[[MicSound, float | None, bool], None],
    ) -> None:
        """`take` gets microphone audio that has waited for the end of a turn."""
        self._core = core
        self._orchestrator = orchestrator
        self._agent = orchestrator.agent
        self._clock = clock
        self._perform = perform
        self._take = take
        self._activity: InputActivity | None = None
        self._is_open = False
        self._sound = bytearray()
        self._words: list[str] = []
        self._handle = ""
        """Server's handle when the turn began."""
        self._held: list[tuple[MicSound, float | None, bool]] = []
        self._completing: asyncio.Task[None] | None = None
        model = self._agent.plan.definition.end_of_turn_model
        self._predictor: EndOfTurnPredictor | None = None
        if model is not None:
            self._predictor = EndOfTurnPredictor(model, now=clock.now, on_prediction=self._on_prediction)
        self._failures = 0
        """Failures of the end-of-turn model."""
        self.apply_options()
        self._agent.bus.subscribe(self._on_words, ev.TranscriptDelta)
        self._agent.bus.subscribe(lambda event: self.apply_options(), ev.RulesChanged)
        self._agent.bus.subscribe(self._on_connection_closed, ev.ConnectionClosed)
        self._agent.bus.subscribe(lambda event: self._give_back(), ev.SessionEnding)

    def apply_options(self) -> None:
        """Let our own detector find the user's turns, or stop, as the options have it."""
        options = self._core.state.turn_options
        if options.detection != "client":
            if self._activity is not None:
                # Nothing else would end what the user has begun to say over the model.
                self._perform(self._core.interruptions.on_voice_ended(self._clock.now()))
            self._activity = None
            return
        if self._activity is None:
            self._activity = InputActivity(
                self._agent.plan.definition.turn_preset or DEFAULT_PRESET,
                on_begin=self._begin,
                on_end=self._end,
                on_interruption=self._on_interruption,
                on_back_channel=self._on_back_channel,
                on_pause=self._on_pause,
            )
        self._activity.set_delay(options.min_delay_s)
        if (least_s := self._core.state.rules.min_interruption_s) is not None:
            self._activity.set_min_interruption(least_s)

    @property
    def is_completing(self) -> bool:
        """True while the agent decides about a turn that has ended."""
        return self._completing is not None

    def vad_state(self) -> InputVadSnapshot | None:
        """Return the state of our voice activity detector; None while it decides nothing."""
        return None if self._activity is None else self._activity.snapshot()

    # -- sound ---------------------------------------------------------------------------------------------------------

    def filter(
        self, sound: MicSound, captured_at: float | None, near_end: bool, *, model_speaking: bool
    ) -> Iterator[MicSound]:
        """Yield the audio to send for `sound`, as `InputActivity.filter` does."""
        if self._activity is None and self._completing is None:
            if self._core.state.manual_activity and not self._is_open:
                self._begin_noted()
            self._record(sound)
            yield sound
            return
        for part in sound.parts(SLICE_SAMPLES):
            if self._completing is not None or self._activity is None:
                rest = sound.part(part.first, sound.end)
                self._held.append((rest, captured_at, near_end))
                self._core.state.link.outbox.audio.hold(rest.first)
                return
            for piece in self._activity.filter(part, model_speaking=model_speaking, near_end=near_end):
                self._record(piece)
                yield piece

    def _record(self, pcm: bytes) -> None:
        if self._is_open and (self._hook is not None or self._predictor is not None):
            self._sound += pcm
            del self._sound[: max(0, len(self._sound) - int(MAX_SOUND_S * BYTES_PER_S))]

    def _begin_noted(self) -> None:
        self._is_open, self._handle = True, self._core.state.link.handle
        self._sound.clear()
        self._words.clear()

    def _begin(self) -> None:
        self._begin_noted()
        self._agent.input_times.on_activity(True, self._core.state.turns.number)
        self._orchestrator.observer.on_user_speech(True)

    def _on_interruption(self, speech_s: float) -> None:
        self._perform(self._core.interruptions.on_voice_over(self._clock.now(), speech_s))

    def _on_back_channel(self, speech_s: float, needed_s: float) -> None:
        self._perform(self._core.interruptions.on_too_short(self._clock.now(), speech_s, needed_s))

    def _on_words(self, event: ev.Event) -> None:
        said = event.payload
        if not (isinstance(said, ev.TranscriptDelta) and said.side == "user"):
            return
        # Where the server ends turns, nothing would take the words, nor forget them.
        if self._activity is not None or self._core.state.manual_activity:
            self._words.append(said.text)
        if self._activity is not None:
            self._activity.on_words()

    # -- pauses --------------------------------------------------------------------------------------------------------

    def _on_pause(self, pause: int) -> None:
        """Ask the end-of-turn model about a silence; the plain rule holds meanwhile."""
        if self._predictor is not None and self._completing is None:
            sound = bytes(self._sound[-int(SOUND_S * BYTES_PER_S) :])
            if not self._predictor.ask(pause, sound):
                self._agent.emit(ev.EndOfTurnPredicted(decision="late", error="it still works on an earlier pause"))

    def _on_prediction(self, prediction: Prediction) -> None:
        if self._agent.closed:
            return
        decision: Literal["ended", "continues", "late", "failed"] = "ended"
        longest_s = self._core.state.turn_options.max_delay_s
        if prediction.error:
            decision = "failed"
            self._failures += 1
            where, name = "end-of-turn model", type(self._agent.plan.definition.end_of_turn_model).__name__
            self._orchestrator.code.failed(where, name, None, redactor.text(prediction.error), times=self._failures)
        elif self._activity is None or not self._activity.is_in(prediction.pause):
            decision = "late"
        elif prediction.expects_more:
            decision = "continues"
            self._activity.expect_more(prediction.pause, longest_s)
        self._agent.emit(
            ev.EndOfTurnPredicted(
                decision=decision,
                probability=round(prediction.probability, 3),
                ms=round(prediction.seconds * 1000, 1),
                error=redactor.text(prediction.error),
            )
        )

    # -- the end of a turn ---------------------------------------------------------------------------------------------

    @property
    def _hook(self) -> Callable[..., Any] | None:
        return self._agent.plan.definition.on_user_turn_completed

    def finish(self) -> None:
        """End what our detector takes for a turn: the microphone was closed."""
        if self._activity is not None:
            self._activity.finish()

    def end_by_hand(self) -> None:
        """End the turn that the microphone switch has marked."""
        self._end()

    def _end(self) -> None:
        hook = self._hook
        if hook is None or not self._is_open or self._completing is not None or self._agent.closed:
            self._mark_end()
        else:
            self._completing = asyncio.create_task(self._complete(hook), name="complete the user's turn")

    def _mark_end(self) -> None:
        """Tell the server that the turn is over."""
        self._is_open = False
        if self._activity is None:
            self._agent.writer.post(Send(compose.activity_end()))
            return
        self._agent.input_times.on_activity(False, self._core.state.turns.number)
        self._orchestrator.observer.on_user_speech(False)
        self._agent.telemetry.committed(self._clock.now())
        self._perform(self._core.interruptions.on_voice_ended(self._clock.now()))

    async def _complete(self, hook: Callable[..., Any]) -> None:
        agent, name = self._agent, self._agent.plan.name
        takes_context = agent.writer.deferred is None
        turn = UserTurn("".join(self._words).strip(), bytes(self._sound), takes_context=takes_context)

        async def call() -> str | None:
            try:
                result = hook(*(turn, self._orchestrator.lifecycle.session)[: takes(hook, 2)])
                if is_awaitable(result):
                    await result
            except StopResponse as stop:
                return redactor.text(str(stop))
            return None

        call.__qualname__ = function_name(hook)
        origin = Origin("agent", name, "on the user's turn")
        token = busy_hook.set("on_user_turn_completed")
        try:
            reason = await self._orchestrator.code.run(f"on_user_turn_completed of {name}", call, origin=origin)
        finally:
            busy_hook.reset(token)
        if self._completing is not asyncio.current_task():
            # The connection has ended, or the operator was faster.
            return
        if reason is not None:
            self._clear("agent", reason)
        else:
            self._settle(turn.take_context())

    def _settle(self, context: list[str]) -> None:
        """Let the turn that has ended reach the model, and go on with what was said since."""
        self._completing = None
        if context:
            self._agent.user_writer.send_context(context, reason="on_user_turn_completed")
        self._mark_end()
        self._release()

    def settle_now(self) -> None:
        """End the turn without waiting for the agent: something follows that needs it."""
        if self._completing is not None:
            self._settle([])

    def _release(self) -> None:
        for sound, captured_at, near_end in self._take_held():
            self._take(sound, captured_at, near_end)

    def _give_back(self) -> None:
        """Let what has waited for the turn's end wait for the next connection."""
        self._core.state.link.outbox.take_back([sound for sound, _, _ in self._take_held()])

    def _take_held(self) -> list[tuple[MicSound, float | None, bool]]:
        held, self._held = self._held, []
        self._core.state.link.outbox.audio.release()
        return held

    def _on_connection_closed(self, event: ev.Event) -> None:
        if self._agent.writer.live:
            return
        if self._completing is not None:
            # The next connection gets the turn from its beginning, and its end then.
            self._completing = None
            self._mark_end_of_lost()
        self.finish()
        self._is_open = False
        self._give_back()

    def _mark_end_of_lost(self) -> None:
        if self._activity is not None:
            self._orchestrator.observer.on_user_speech(False)
            self._perform(self._core.interruptions.on_voice_ended(self._clock.now()))

    # -- commands ------------------------------------------------------------------------------------------------------

    def commit(self, order: CommitTurn, command_id: str) -> None:
        """End the user's turn; raise `AgentError` where it is not ours, or not open."""
        self._check_ours(order.command)
        if self._completing is not None:
            raise AgentError("The turn is ending already", remedy="Wait for the answer", field=order.command)
        if self._activity is not None:
            if not self._is_open:
                raise AgentError(NO_TURN, remedy="Say something first", field=order.command)
            self._activity.finish()
        elif not self._core.state.streaming_audio:
            raise AgentError(NO_TURN, remedy="Open the microphone and say something", field=order.command)
        else:
            self._perform(self._core.turn_detection.close_microphone(self._clock.now()))

    def clear(self, order: ClearTurn, command_id: str) -> None:
        """Drop what was said in the open turn; raise `AgentError` as `commit` does."""
        self._check_ours(order.command)
        state = self._core.state
        is_open = self._is_open or self._completing is not None or (state.streaming_audio and state.manual_activity)
        if not (is_open or (not state.link.is_open and state.link.outbox.audio.holds_speech)):
            raise AgentError(NO_TURN, remedy="There is nothing to clear", field=order.command)
        self._clear("operator")

    def _check_ours(self, command: str) -> None:
        if self._core.state.turn_options.detection == "server":
            raise AgentError(
                f"{command} is not possible: the server ends the turns",
                remedy="Set turn_detection to client or manual first",
                field=command,
            )

    def _clear(self, by: ev.ClearedBy, reason: str = "") -> None:
        self._completing = None
        is_known = self._is_open and self._core.state.link.handle != self._handle
        self._is_open = False
        if self._activity is not None:
            self._activity.forget()
            self._perform(self._core.interruptions.on_voice_ended(self._clock.now()))
        self._perform(self._core.turn_detection.clear(self._clock.now(), by=by, fresh=is_known, reason=reason))
        self._give_back()
