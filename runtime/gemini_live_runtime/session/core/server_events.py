"""Decide what follows from the server's messages.

Frames carry no number, so generations are counted here: a new one begins at `turnComplete` or `interrupted` only. What
arrives of a generation that was cut belongs to a turn that is over, and is neither played nor counted as an answer.
"""

from __future__ import annotations

from math import isfinite
from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.connection_events import ConnectionEvents
from gemini_live_runtime.session.core.effects import Effect, EndOfAudio, Play, Prompt
from gemini_live_runtime.session.core.generation import Generation
from gemini_live_runtime.session.core.interruptions import Interruptions
from gemini_live_runtime.session.core.microphone import emit_not_understood, mark_server_voice
from gemini_live_runtime.session.core.missing_answer import has_result_to_tell
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.status import RESULT_CROSSING_S
from gemini_live_runtime.session.core.tool_events import ToolEvents
from gemini_live_runtime.wire.codec import pcm_rate
from gemini_live_runtime.wire.messages import AudioFrame, Blob, ServerContent, ServerMessage, VoiceActivityType


class ServerEvents:
    """Server's part of one session's core."""

    def __init__(
        self, state: CoreState, connection: ConnectionEvents, tools: ToolEvents, interruptions: Interruptions
    ) -> None:
        self._state = state
        self._connection = connection
        self._tools = tools
        self._interruptions = interruptions

    def on_audio(self, now: float, frame: AudioFrame) -> list[Effect]:
        """Take a message with nothing but model audio: the hot path."""
        self._model_audio(frame.data, frame.rate, now)
        self._cut_cancelled(now)
        return self._state.flush(now)

    def on_message(self, now: float, message: ServerMessage) -> list[Effect]:
        """Take any other message: everything in it counts, content before flags."""
        state = self._state
        for problem in message.problems:
            state.emit(
                ev.Notice(level="warning", code="protocol", text=f"Part of a message was not understood: {problem}")
            )
        if message.server_content is not None:
            self._content(message.server_content, now)
            self._cut_cancelled(now)
        if message.tool_call is not None:
            for call in message.tool_call.function_calls:
                self._tools.start(call)
        if message.tool_call_cancellation is not None:
            for call_id in message.tool_call_cancellation.ids:
                self._tools.cancel(call_id)
        if message.voice_activity is not None:
            self._server_voice(message.voice_activity.type, now)
        if message.session_resumption_update is not None:
            self._connection.update_handle(message.session_resumption_update)
        if message.go_away is not None:
            time_left_s = _seconds(message.go_away.time_left)
            if time_left_s is not None:
                state.link.leave("old")
            state.emit(ev.ConnectionGoAway(time_left_s=time_left_s))
        if message.usage_metadata is not None:
            state.emit(state.usage.add(message.usage_metadata, state.price))
            state.check_limits(now)
        return state.flush(now)

    def _content(self, content: ServerContent, now: float) -> None:
        state = self._state
        if content.input_transcription is not None and content.input_transcription.text:
            self._on_user_text(content.input_transcription.text, now)
        if content.model_turn is not None:
            # Thinking, or running code, is no silence.
            state.watchdog.on_sign(now)
            for part in content.model_turn.parts:
                if part.inline_data is not None:
                    self._media(part.inline_data, now)
                if part.text:
                    self._on_model_text(part.text, "thought" if part.thought else "text", now)
                if part.function_call is not None:
                    self._tools.start(part.function_call)
        if content.output_transcription is not None and content.output_transcription.text:
            self._on_model_text(content.output_transcription.text, "speech", now)
        if content.generation_complete:
            self._generation_complete()
        if content.interrupted:
            self._server_interrupted(now)
        if content.turn_complete:
            self._turn_complete(content, now)

    def _media(self, blob: Blob, now: float) -> None:
        mime_type = blob.mime_type or ""
        rate = pcm_rate(mime_type)
        if rate is not None:
            self._model_audio(blob.data, rate, now)
        else:
            text = f"The model sent what cannot be played: {len(blob.data)} bytes of {mime_type or 'unnamed media'}"
            self._state.emit(ev.Notice(level="warning", code="media", text=text))

    def _on_user_text(self, text: str, now: float) -> None:
        state = self._state
        if text.strip():
            state.presence.on_sign(now)
            self._interruptions.on_words(now, text)
        if not text.strip() and not state.turns.is_open:
            return
        if not state.turns.is_open:
            state.open_turn("voice")
        if not text.strip():
            state.owe(now)
        elif not state.note_words(text, now):
            return
        state.facts.answer_possible_since = None
        state.emit(ev.TranscriptDelta(side="user", text=text))

    def _model_audio(self, pcm: bytes, rate: int, now: float) -> None:
        state = self._state
        generation = self._model_content(now)
        generation.received += len(pcm) // 2 * 24_000 // rate
        if not state.ledger.current_is_cut:
            if not generation.drained:
                # After its end nothing more of it is played: waiting for that would never end.
                state.playing.add(generation.number)
                state.facts.speaking = True
            state.out.append(Play(generation.number, pcm, rate))

    def _on_model_text(self, text: str, channel: Literal["speech", "text", "thought"], now: float) -> None:
        state = self._state
        sample: int | None = None
        samples = 0
        if channel == "thought":
            # Thinking aloud is not speaking, and the answer is still owed.
            if not state.turns.is_open and not state.ledger.current_is_cut:
                state.open_turn("model")
            generation = state.ledger.current(state.turns.number)
        else:
            generation = self._model_content(now)
            if channel == "speech" and not state.ledger.current_is_cut and not generation.drained:
                sample, samples = generation.place(text, state.speaking_rate.samples_per_char)
            generation.add_text(text)
            generation.spoken = generation.spoken or channel == "speech"
            # Words may come later than their sound.
            if not state.ledger.current_is_cut and (not generation.complete or state.playing):
                state.facts.speaking = True
        delta = ev.TranscriptDelta(side="model", text=text, channel=channel, sample=sample, samples=samples)
        state.emit(delta, turn=generation.turn)

    def _model_content(self, now: float) -> Generation:
        """Return the generation of content that arrives now.

        Opens a turn when the model speaks unasked.
        """
        state = self._state
        if not state.ledger.current_is_cut:
            if state.barge_in is not None and not state.ledger.current_opened:
                self._interruptions.on_generation(now)
            if not state.turns.is_open:
                state.open_turn("model")
            if state.facts.answer_possible_since is not None and state.turns.number > state.speech.turn:
                emit_not_understood(state, "answered")
            if not state.turns.has_content:
                state.on_answer_begun()
            state.facts.owed = False
            state.facts.answer_possible_since = state.result_sent_at = None
            state.facts.interrupted_at = None
            state.completion_owed = state.prompted = False
            if state.unread_answers:
                number = state.ledger.number
                state.unread_answers = [unread for unread in state.unread_answers if unread.gen > number]
        generation = state.ledger.current(state.turns.number)
        generation.arrived_at = now
        if not generation.opened:
            # It may have been known before it began to speak, from a thought in a turn that is over.
            generation.opened, generation.turn, generation.began_at = True, state.turns.number, now
            self._begin_speech(generation, now)
        elif not state.ledger.current_is_cut:
            state.tell_speeches(state.speeches.on_content())
        return generation

    def _begin_speech(self, generation: Generation, now: float) -> None:
        """Note the speech that a generation belongs to."""
        state = self._state
        if state.ledger.current_is_cut:
            return
        state.tell_speeches(state.speeches.on_generation(generation.number, generation.turn, state.turns.source))
        if now < state.unwanted_until and state.speeches.current is not None:
            state.speeches.current.cancelled_at, state.unwanted_until = now, 0.0

    def _cut_cancelled(self, now: float) -> None:
        """Cut a speech that was interrupted before it began."""
        state = self._state
        speech = state.speeches.current
        if speech is not None and speech.is_cancelled and speech.status == "speaking":
            state.cut("operator", now, "key")
            state.close_turn("interrupted")

    def _generation_complete(self) -> None:
        state = self._state
        generation = state.ledger.current(state.turns.number)
        generation.complete = True
        state.out.append(EndOfAudio(generation.number))
        if not state.ledger.current_is_cut:
            generation.end_sound()
            if generation.spoken:
                state.speaking_rate.measure(generation.chars, generation.received)
            state.emit(ev.GenerationCompleted(samples=generation.received))
        if not state.playing:
            state.facts.speaking = False

    def _server_interrupted(self, now: float) -> None:
        state = self._state
        already_cut = state.ledger.current_is_cut
        had_content = state.ledger.current_opened
        was_overtaken = not already_cut and state.overtaken.on_interrupted()
        if not already_cut:
            state.cut("server", now, "server" if state.barge_in is None else "duration")
        state.completion_owed = had_content or state.turns.is_open
        has_called = state.turns.is_open and bool(state.turns.calls)
        if not (had_content or has_called or was_overtaken) and state.unanswered:
            state.overtaken.broken_off = state.unanswered[-1]
        if had_content or has_called:
            if was_overtaken:
                # It was the answer to something earlier; the one to the newest text is still to come.
                state.end_overtaken_speech()
                state.turns.calls.clear()
                state.owe(now)
            elif state.turns.is_open and (state.turns.has_content or has_called):
                state.close_turn(state.turns.cut_short())
        if had_content:
            state.ledger.advance()
        self._expect_result(now)

    def _expect_result(self, now: float) -> None:
        """Expect the model to tell a result that arrived during the answer that is over."""
        state = self._state
        if not (state.turns.is_open or state.facts.voice) and has_result_to_tell(state):
            state.facts.answer_possible_since = now

    def _turn_complete(self, content: ServerContent, now: float) -> None:
        state = self._state
        if not state.ledger.current_opened and (state.completion_owed or not state.turns.is_open):
            # The completion of an answer that is already over, or of a turn without one.
            state.unwanted_until = 0.0
            if not state.completion_owed:
                if state.broken is not None and state.link.is_open:
                    # Nothing was missing of the answer that the model was asked to go on with.
                    state.broken = None
                    state.prompted = state.facts.owed = False
                emit_not_understood(state, "nothing")
            state.completion_owed = False
            return
        state.completion_owed = False
        state.completed_at = now
        state.out.append(EndOfAudio(state.ledger.number))
        was_cut = state.ledger.current_is_cut
        overtaken = state.overtaken.count > 0
        if not was_cut:
            state.overtaken.clear()
            state.link.outbox.audio.on_answer_complete()
        state.ledger.advance()
        if not state.playing:
            state.facts.speaking = False
        status = content.interaction_status
        interaction_over = status is None or str(status) == "IDLE"
        if interaction_over and not was_cut:
            reason = str(content.turn_complete_reason or "")
            if not (reason or overtaken) and self._ask_again(now):
                return
            state.close_turn("complete" if state.turns.has_content else "empty", reason=reason)
            if state.result_sent_at is not None and now - state.result_sent_at < RESULT_CROSSING_S:
                # The server may have sent this before it got the result: then it tells the result in another turn.
                state.facts.answer_possible_since, state.result_sent_at = now, None
                state.speech.clear()
        self._expect_result(now)

    def _ask_again(self, now: float) -> bool:
        """Prompt the model, once, when it ended its turn without a word; return True then."""
        state = self._state
        asked = [item for item in state.unanswered if not item.is_late]
        if (
            state.turns.has_content
            or state.turns.calls
            or state.calls.in_foreground
            or state.facts.voice
            or state.is_held
            or not (asked and state.link.is_open and state.link.leaving != "stalled")
            or not all(state.link.knows(item.mark) for item in asked)
        ):
            return False
        if all(item.asked_again or item.is_prompted for item in asked):
            if not state.give_up_prompted():
                text = "The model ended its turn again without saying anything"
                state.emit(ev.Notice(level="warning", code="empty-turn", text=text, remedy="Say it in other words"))
            return False
        for item in asked:
            item.asked_again = True
        text = "The model ended its turn without saying anything, and was asked again"
        state.emit(ev.Notice(level="warning", code="empty-turn", text=text))
        state.out.append(Prompt("the turn was empty"))
        return True

    def _server_voice(self, kind: VoiceActivityType | str | None, now: float) -> None:
        if str(kind) in ("ACTIVITY_START", "ACTIVITY_END"):
            speaking = str(kind) == "ACTIVITY_START"
            mark_server_voice(self._state, now, speaking)

    def on_prompt_sent(self, now: float) -> list[Effect]:
        """Note that the model was asked to speak."""
        self._state.owe(now)
        self._state.prompted = True
        if self._state.speeches.current is not None and self._state.speeches.current.status == "asked":
            self._state.tool_steps.begin_again()
        return self._state.flush(now)

    def end_agent(self, now: float) -> list[Effect]:
        """Let another agent speak from now on, on the next connection.

        Nothing more is heard of what the model was generating, and nothing of the user's goes to it. What it was asked
        for and what it was saying is over: the other agent's words belong to speeches of their own.
        """
        state = self._state
        state.link.close_gate()
        state.prompted = False
        state.tell_speeches(state.speeches.on_agent_left())
        if state.ledger.current_opened and not state.ledger.current_is_cut:
            state.ledger.advance()
        return state.flush(now)

    def soft_turn(self, now: float, reason: str) -> list[Effect]:
        """End the open turn if the model said nothing in it: its silence is the answer."""
        state = self._state
        if (
            state.link.is_open
            and state.turns.is_open
            and not state.turns.has_content
            and not state.calls.in_foreground
            and all(item.mark for item in state.unanswered)
        ):
            state.facts.owed = False
            state.facts.answer_possible_since = None
            state.close_turn("empty", reason=reason)
        return state.flush(now)

    @property
    def is_answering(self) -> bool:
        """True when the model has been asked, or its turn has begun and has not ended."""
        state = self._state
        return state.facts.owed or (state.turns.is_open and state.turns.has_content)


def _seconds(duration: str | None) -> float | None:
    """Return the seconds of a proto3 JSON duration such as `"49.9s"`, or None."""
    try:
        seconds = float((duration or "").removesuffix("s"))
    except ValueError:
        return None
    return seconds if isfinite(seconds) else None
