"""Decide what follows when a connection is made, renewed or lost."""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError
from gemini_live_runtime.session.core.effects import Effect, EndOfAudio
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.tool_events import ToolEvents
from gemini_live_runtime.wire.messages import SessionResumptionUpdate


class ConnectionEvents:
    """Connection's part of one session's core."""

    def __init__(self, state: CoreState, tools: ToolEvents) -> None:
        self._state = state
        self._tools = tools

    def on_preparing(self, now: float) -> list[Effect]:
        """Note that a connection is being prepared: an embedded server, a token."""
        state = self._state
        state.facts.status, state.facts.why = "connecting", ""
        return state.flush(now)

    def on_connecting(self, now: float, url: str, *, resuming: bool = False) -> list[Effect]:
        """Note that an attempt to connect begins."""
        state = self._state
        state.facts.status, state.facts.why = (
            "connecting",
            "reconnecting" if state.was_connected else "",
        )
        state.emit(ev.ConnectionOpening(url=url, resuming=resuming))
        return state.flush(now)

    def on_connected(
        self, now: float, *, ms: float, server_session: str, resumed: bool = False, hold: bool = False
    ) -> list[Effect]:
        """Take up a connection whose `setupComplete` arrived.

        `resumed`: the server knows the conversation so far.

        With `hold`, typed texts wait until `release`: the model first hears what it has to know.
        """
        state = self._state
        state.facts.status = "ready"
        state.was_connected = True
        state.completion_owed = False
        if state.ledger.current_opened:
            # What the lost connection was sending ended with it.
            state.out.append(EndOfAudio(state.ledger.number))
            state.ledger.advance()
        state.facts.why = "" if state.input_open or state.mode == "text" else state.input_problem
        state.emit(ev.ConnectionReady(ms=ms, server_session=server_session, resumed=resumed))
        state.apply_microphone(now)
        if not resumed:
            state.stranded = {call_id for call_id in state.calls.open_ids if state.calls.is_background(call_id)}
            state.stranded |= {call_id for call_id, _, _ in state.unsent_answers}
        state.holding_texts = hold
        return state.flush(now) if hold else self.release(now)

    def release(self, now: float) -> list[Effect]:
        """Send what has waited for the connection: answers of tools, then typed texts."""
        state = self._state
        state.holding_texts = False
        if state.facts.status == "ready":
            answers, state.unsent_answers = state.unsent_answers, []
            for call_id, name, answer in answers:
                self._tools.send_answer(call_id, name, answer)
                if answer.scheduling != "SILENT":
                    state.owe(now)
            queued, state.queued_texts = state.queued_texts, []
            for command_id, text in queued:
                state.send_text(command_id, text, now)
        return state.flush(now)

    @property
    def unsettled(self) -> bool:
        """True while a connection is made, or its model has yet to be briefed."""
        return self._state.facts.status in ("offline", "connecting") or self._state.holding_texts

    def on_disconnected(self, now: float, error: GeminiLiveError, *, retrying: bool = False) -> list[Effect]:
        """Take a connection's end, by `error`; `retrying`: another will be made."""
        state = self._state
        code, reason = 1006, ""
        ended = error if isinstance(error, ConnectionClosedError) else error.__cause__
        if isinstance(ended, ConnectionClosedError):
            code, reason = ended.close_code, ended.reason
        state.emit(ev.ConnectionClosed(close_code=code, reason=reason, sentence=error.message, remedy=error.remedy))
        state.facts.status, state.facts.why = ("connecting", "reconnecting") if retrying else ("error", error.message)
        state.facts.owed = False
        state.facts.answer_possible_since = state.result_sent_at = None
        state.streaming_audio = False
        state.speech.clear()
        state.apply_microphone(now)
        if not retrying:
            state.refuse_queued("Not sent, the connection ended")
            state.unsent_answers.clear()
        for call_id in state.calls.open_ids:
            # The model does not wait for a background call: it may be answered on the next connection.
            if not (retrying and state.calls.is_background(call_id)):
                self._tools.cancel(call_id)
        state.close_turn(state.turns.cut_short(), reason="the connection ended")
        return state.flush(now)

    def update_handle(self, update: SessionResumptionUpdate) -> None:
        """Keep the handle that the server gives to resume this session with."""
        if update.resumable and update.new_handle:
            self._state.resumption_handle = update.new_handle
        self._state.emit(
            ev.ConnectionResumable(
                resumable=bool(update.resumable and update.new_handle),
                last_consumed=update.last_consumed_client_message_index,
            )
        )
