"""Decide what follows when a connection is made, renewed or lost.

What the user said last and what the model waits for outlive the connection. On the next one the server may have
forgotten them: a resumed session is as old as its handle, a fresh one knows nothing. So each is sent again, told as
context, or taken up by a prompt, by the mark that says what the server knows (`link.controller`, `settling`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError
from gemini_live_runtime.redactor import MAX_TEMPORARY_CHARS
from gemini_live_runtime.session.core.cancelled_speech import give_up
from gemini_live_runtime.session.core.effects import (
    Effect,
    EndOfAudio,
    LeaveConnection,
    Prompt,
    Send,
    SendKeptAudio,
    Tell,
)
from gemini_live_runtime.session.core.generation import Generation
from gemini_live_runtime.session.core.microphone import apply_microphone, mark_server_voice
from gemini_live_runtime.session.core.missing_answer import awaits_answer, stopped_since
from gemini_live_runtime.session.core.settling import settle_unanswered
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.tool_events import ToolEvents
from gemini_live_runtime.session.core.typed_text import send_text
from gemini_live_runtime.session.core.unanswered import BrokenAnswer, UnreadAnswer
from gemini_live_runtime.session.link.ends import LEFT, LinkEnd, close_code_of, end_of, keeps_handle
from gemini_live_runtime.session.link.kept_audio import SoundChunk
from gemini_live_runtime.session.link.outbox import WaitingAnswer
from gemini_live_runtime.session.link.watchdog import LatencyTrend
from gemini_live_runtime.session.ports.provider import RealtimeProviderAdapter
from gemini_live_runtime.wire.messages import SessionResumptionUpdate

LOST = "the connection was lost"

FAILURES = (LinkEnd.PASSING, LinkEnd.MESSAGE, LinkEnd.STALLED)
"""Ends by which a server fails at what it was asked: another connection would ask the same."""

BROKEN_OFF = "the answer broke off"
"""Reason of the context by which the model goes on with an answer."""

MAX_CONTINUED = 2
"""Times that the model is asked for the rest of an answer: it may be what the server fails at."""

NOT_CONTINUED = (LinkEnd.MESSAGE, LinkEnd.REFUSED, LinkEnd.FAULT)
"""Ends after which the same answer would fail again."""

REFUSED_MESSAGES = (1007, 1009)
"""Close codes after which what was under way would be refused again."""


class ConnectionEvents:
    """Connection's part of one session's core."""

    def __init__(self, state: CoreState, tools: ToolEvents) -> None:
        self._state = state
        self._tools = tools
        self._trend = LatencyTrend()

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
            "reconnecting" if state.link.connection else "",
        )
        state.emit(ev.ConnectionOpening(url=url, resuming=resuming))
        return state.flush(now)

    def on_connected(
        self,
        now: float,
        *,
        ms: float,
        server_session: str,
        resumed: bool = False,
        hold: bool = False,
        non_blocking: Collection[str] = (),
        adapter: RealtimeProviderAdapter | None = None,
    ) -> list[Effect]:
        """Take up a connection whose `setupComplete` arrived: `adapter`.

        `resumed`: the server resumed the session. With `hold`, typed texts wait until `release`: the model first hears
        what it has to know. `non_blocking` are the tools that its setup declares so.
        """
        state = self._state
        state.calls.non_blocking = non_blocking if state.capabilities.async_tools else ()
        self._trend = LatencyTrend()
        state.link.on_opened(now, adapter, server_session)
        state.facts.status = "ready"
        state.completion_owed = False
        if state.ledger.current_opened:
            # What the lost connection was sending ended with it.
            state.out.append(EndOfAudio(state.ledger.number))
            state.ledger.advance()
        state.facts.why = "" if state.input_open or state.mode == "text" else state.input_problem
        context: Literal["new", "resumed", "rebuilt"] = (
            "resumed" if resumed else "rebuilt" if state.turns.number else "new"
        )
        state.emit(ev.ConnectionReady(ms=ms, server_session=server_session, resumed=resumed, context=context))
        if not resumed:
            state.handle_turn = 0
        apply_microphone(state, now)
        return state.flush(now) if hold else self.release(now)

    def release(self, now: float) -> list[Effect]:
        """Open the gate, once for each connection.

        Sends in order what has waited, or was not answered.
        """
        state = self._state
        if not state.ended and state.link.open_gate():
            prompts = self._send_answers(now)
            self._tell_instructions()
            prompts |= settle_unanswered(state, now)
            texts = state.link.outbox.take_texts()
            is_asked = bool(state.unanswered or state.facts.owed or texts)
            prompts = self._goes_on(prompts or is_asked) or prompts or (state.prompted and not is_asked)
            if prompts and not texts:
                # A text that follows at once is answered with what was told; it would only cut the answer off.
                state.out.append(Prompt(LOST))
                state.owe(now)
            audio = state.link.outbox.audio
            for waiting in texts:
                # What was said before the text comes before it: behind it, it would cut the answer off.
                self._send_audio(audio.take_before(waiting.number))
                send_text(state, waiting.command_id, waiting.text, now)
            self._send_audio(audio.take())
            if (picture := state.link.outbox.take_picture()) is not None:
                state.out.append(Send(picture))
            if not any(isinstance(effect, SendKeptAudio) for effect in state.out):
                # Else it is told once the sound was sent, with what that has lost.
                state.emit_outbox()
        return state.flush(now)

    def _tell_instructions(self) -> None:
        """Tell the model the instructions of the speech that it is asked for again."""
        state, speech = self._state, self._state.speeches.current
        if speech is None or speech.status != "asked" or not speech.instructions or state.link.knows(speech.mark):
            return
        speech.mark = state.link.mark()
        state.out.append(Tell(speech.instructions, f"instructions of {speech.id}", "user"))

    def _goes_on(self, is_asked: bool) -> bool:
        """Tell the model where its answer broke off; False when the talk has gone on."""
        state, broken = self._state, self._state.broken
        if broken is None:
            return False
        has_said_more = is_asked or state.facts.voice or state.link.outbox.audio.holds_speech
        if has_said_more or state.turns.is_open or state.calls.in_foreground:
            state.broken = None
            return False
        state.continued += 1
        state.out.append(Tell(broken.note, BROKEN_OFF, "user"))
        state.emit(ev.SendSettled(kind="reply", outcome="continued"))
        return True

    def _break_off(self, end: LinkEnd, *, is_open: bool) -> Generation | None:
        """Note the answer that the end of a connection breaks off, and return it."""
        state, generation = self._state, self._state.ledger.get(self._state.ledger.number)
        waits_for_call = state.calls.awaits(state.turns.calls) or any(
            unread.answer.answer.scheduling != "SILENT" for unread in state.unread_answers
        )
        is_under_way = state.turns.is_open and state.turns.has_content and not (waits_for_call or state.ended)
        if not is_under_way or generation is None or not generation.opened or generation.complete:
            return None
        if state.ledger.current_is_cut:
            return None
        if is_open and end not in NOT_CONTINUED and state.continued < MAX_CONTINUED:
            said, _ = generation.split_at_arrival(read=state.is_read(generation))
            state.broken = BrokenAnswer(state.asked, said)
        return generation

    def _send_audio(self, chunks: list[SoundChunk]) -> None:
        if chunks:
            self._state.out.append(SendKeptAudio(tuple(chunks)))

    def _send_answers(self, now: float) -> bool:
        """Send the answers that were lost or have waited; True for a prompt."""
        state = self._state
        unread, state.unread_answers = state.unread_answers, []
        prompts = False
        for answer in unread:
            prompts |= self._take_up(answer, now)
        for waiting in state.link.outbox.take_answers():
            prompts |= self._deliver(waiting, now)
            if state.link.knows(waiting.mark):
                state.emit(ev.SendSettled(kind="answer", outcome="sent", ref=waiting.call_id))
        return prompts

    def _deliver(self, waiting: WaitingAnswer, now: float) -> bool:
        state = self._state
        prompts = self._tools.deliver(waiting)
        if waiting.answer.scheduling != "SILENT":
            state.owe(now)
            if not waiting.background:
                state.result_sent_at = now
        return prompts

    def _take_up(self, unread: UnreadAnswer, now: float) -> bool:
        """Send an answer again that the server does not know; True for a prompt."""
        state, waiting = self._state, unread.answer
        is_silent = waiting.answer.scheduling == "SILENT"
        if state.link.knows(waiting.mark) and not state.link.knows(unread.mark):
            prompts = self._deliver(waiting, now)
            state.emit(ev.SendSettled(kind="answer", outcome="resent", ref=waiting.call_id))
            return prompts
        # The server got it, or is told it with the conversation so far.
        # A mark that it knows stays: what is said of it on this connection is not in an older handle.
        mark = unread.mark if state.link.knows(unread.mark) else state.link.mark()
        state.unread_answers.append(replace(unread, mark=mark, gen=state.ledger.number))
        # What is still open of the user's makes the model speak, too.
        in_turn = state.turns.is_open and waiting.call_id in state.turns.calls
        return not (is_silent or in_turn or state.unanswered)

    @property
    def unsettled(self) -> bool:
        """True while a connection is made, or its model has yet to be briefed."""
        return self._state.facts.status in ("offline", "connecting") or self._state.link.state == "gated"

    def on_disconnected(self, now: float, error: GeminiLiveError, end: LinkEnd | None = None) -> list[Effect]:
        """Take the end of a connection, or of an attempt, by `error`.

        `end` is its class, where more is known than the error says. `link.retry` says then what follows.
        """
        state = self._state
        code, reason = close_code_of(error) or 1006, ""
        ended = error if isinstance(error, ConnectionClosedError) else error.__cause__
        if isinstance(ended, ConnectionClosedError):
            reason = ended.reason
        if end is None:
            end = end_of(error, was_ready=state.facts.status == "ready")
        schedule = state.link.schedule
        if end in FAILURES and state.facts.status == "ready" and state.facts.owed:
            schedule.failures += 1
        is_open = state.link.is_open
        keeps = end in LEFT or (end is not LinkEnd.HANDLE and keeps_handle(error))
        retry = state.link.on_ended(end, now, code=close_code_of(error), keeps_handle=keeps)
        retrying, is_dormant = retry.delay_s is not None, end is LinkEnd.DORMANT
        state.emit(
            ev.ConnectionClosed(
                close_code=code,
                reason=reason,
                sentence=error.message,
                remedy=error.remedy,
                requested=is_dormant,
                moved=end is LinkEnd.MOVED,
            )
        )
        if schedule.is_spent:
            text = f"The server has failed {schedule.failures} times in a row before it answered"
            remedy = "Say it in other words, and connect again"
            state.emit(ev.Notice(level="error", code="unrecoverable-errors", text=text, remedy=remedy))
        if retry.delay_s is not None:
            delay_s = round(retry.delay_s, 3)
            attempt = state.link.schedule.attempts
            fresh = retry.fresh or not state.link.handle
            state.emit(ev.LinkRestarting(reason=str(end), attempt=attempt, delay_s=delay_s, fresh=fresh))
        elif not is_dormant:
            state.emit(ev.LinkGivenUp(reason=str(end)))
        if is_dormant:
            state.facts.status = "dormant"  # `apply_microphone` says why
        elif retrying:
            state.facts.status, state.facts.why = "connecting", "reconnecting"
        else:
            state.facts.status, state.facts.why = "error", error.message
        if state.server_voice:
            # The server that would mark its end is gone.
            mark_server_voice(state, now, False)
        if state.ledger.current_opened:
            # What has arrived is heard to its end, and there may be no other connection.
            state.out.append(EndOfAudio(state.ledger.number))
        give_up(state)
        state.facts.owed, state.unwanted_until = False, 0.0
        state.facts.answer_possible_since = state.result_sent_at = None
        state.streaming_audio = False
        state.speech.clear()
        apply_microphone(state, now)
        if not (retrying or is_dormant):
            state.link.outbox.audio.drop()
            state.tell_speeches(state.speeches.on_given_up("The connection was given up"))
        state.emit_outbox()
        if end is LinkEnd.MESSAGE and (close_code_of(error) in REFUSED_MESSAGES or not retrying):
            self._set_aside()
        if state.overtaken.count:
            # What has arrived may not have been the answer to the newest text.
            state.end_overtaken_speech()
            state.overtaken.clear()
        if state.turns.has_content or not (state.unanswered or state.turns.calls.intersection(state.calls.open_ids)):
            broken = self._break_off(end, is_open=is_open)
            _, unspoken = ("", "") if broken is None else broken.split_at_arrival(read=state.is_read(broken))
            state.close_turn(
                state.turns.cut_short(),
                reason="the connection ended",
                broke_off=broken is not None,
                unspoken=unspoken,
            )
        return state.flush(now)

    def _set_aside(self) -> None:
        """Give up what was under way when a message was refused: it may be that one."""
        state = self._state
        for item in state.unanswered:
            state.set_aside.add(item.command_id)
            state.give_up(item)
        for unread in state.unread_answers:
            state.emit(ev.SendSettled(kind="answer", outcome="unknown", ref=unread.answer.call_id))
        state.unanswered.clear()
        state.unread_answers.clear()
        state.prompted = False
        state.link.outbox.audio.on_heard()

    def on_asked(self, now: float) -> list[Effect]:
        """Note that an attempt begins because it was asked for."""
        state = self._state
        state.facts.status, state.facts.why = "connecting", "reconnecting"
        state.emit(ev.LinkRestarting(reason="asked", attempt=0, delay_s=0.0))
        return state.flush(now)

    def on_woken(self, now: float, by: str) -> list[Effect]:
        """Note that a dormant session's connection is made again; `by` says for what."""
        state = self._state
        state.facts.status, state.facts.why = "connecting", f"woken by {by}"
        state.emit(ev.LinkRestarting(reason="woken", attempt=0, delay_s=0.0, fresh=not state.link.handle))
        return state.flush(now)

    def on_hung_up(self, now: float) -> list[Effect]:
        """Count what the last connection did not send before it was closed."""
        self._state.link.outbox.audio.drop()
        self._state.emit_outbox()
        return self._state.flush(now)

    def watch(self, now: float) -> None:
        """Report a late answer, leave a silent server, and an old connection."""
        state = self._state
        wait_s, last_s = state.link.policy.late_answer_s, state.link.policy.no_answer_s
        if awaits_answer(state):
            due = state.watchdog.check(state.facts.owed_at, now)
            if due == "late":
                remedy = f"After {last_s:g} s it is asked again, on another connection"
                self._tell_late(f"The model has not answered for {wait_s:g} s", remedy)
            elif due == "stalled":
                self._leave_silent_server()
        elif (since := stopped_since(state)) is not None:
            due = state.watchdog.check(since, now)
            if due == "late":
                remedy = f"After {last_s:g} s the rest is asked for, on another connection"
                self._tell_late(f"The model's answer has stopped for {wait_s:g} s", remedy)
            elif due == "stalled":
                state.link.leave("stalled")
                state.out.append(LeaveConnection("stopped"))
        if state.link.rotate_at is not None and now >= state.link.rotate_at:
            self._leave_in_pause()

    def _tell_late(self, text: str, remedy: str) -> None:
        self._state.emit(ev.Notice(level="warning", code="answer-late", text=text, remedy=remedy))

    def _leave_in_pause(self) -> None:
        self._state.link.leave("old")
        self._state.out.append(LeaveConnection("old"))

    def _leave_silent_server(self) -> None:
        """Leave the connection; the next one is asked what this one kept silent about."""
        state = self._state
        kept = []
        for item in state.unanswered:
            if item.asked_again:
                # Twice is enough: it may be what the server stumbles over.
                state.give_up(item)
            else:
                item.asked_again = True
                kept.append(item)
        state.unanswered = kept
        state.link.leave("stalled")
        state.out.append(LeaveConnection("stalled"))

    def on_latency(self, now: float, latency_ms: float) -> list[Effect]:
        """Take the latency of an answer; leave a connection whose answers come late."""
        state = self._state
        slower = self._trend.add(latency_ms)
        if slower is not None and state.link.is_open and not state.link.leaving:
            first_s, now_s = (ms / 1000 for ms in slower)
            text = f"Answers begin later and later: after {first_s:.1f} s at first, {now_s:.1f} s now"
            remedy = "Another connection is made in the next pause" if state.link.handle else ""
            state.emit(ev.Notice(level="warning", code="slower", text=text, remedy=remedy))
            if state.link.handle:
                self._leave_in_pause()
        return state.flush(now)

    def update_handle(self, update: SessionResumptionUpdate) -> None:
        """Keep the handle that the server gives to resume this session with."""
        state, handle = self._state, update.new_handle or ""
        if len(handle) > MAX_TEMPORARY_CHARS:
            text = f"A resumption handle of {len(handle):,} characters is not kept: at most {MAX_TEMPORARY_CHARS:,} are"
            state.emit(ev.Notice(level="warning", code="protocol", text=text))
            handle = ""
        resumable = bool(update.resumable and handle)
        if resumable:
            state.link.on_handle(handle)
            state.handle_turn = state.turns.number - state.turns.is_open
            for item in state.unanswered:
                # No handle stands for what is yet to be answered: the two have crossed on the wire.
                if item.mark and state.link.knows(item.mark):
                    item.mark = state.link.mark()
        state.emit(
            ev.ConnectionResumable(
                resumable=resumable,
                last_consumed=update.last_consumed_client_message_index,
            )
        )
