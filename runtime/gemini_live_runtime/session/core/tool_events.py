"""Decide what follows when the model calls a tool and when a call ends."""

from __future__ import annotations

import json
from copy import deepcopy

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.effects import CancelTool, Effect, Prompt, RunTool, Send, Tell
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.unanswered import UnreadAnswer
from gemini_live_runtime.session.link.outbox import WaitingAnswer
from gemini_live_runtime.tools.background import ToolAnswer
from gemini_live_runtime.tools.dispatch import Outcome
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.messages import FunctionCall

UNKNOWN_CALL = "the server does not know the call"
"""Reason of a result that goes out as context."""


class ToolEvents:
    """Calls' part of one session's core. Each call id gets at most one answer."""

    def __init__(self, state: CoreState) -> None:
        self._state = state

    def start(self, call: FunctionCall) -> None:
        """Run a call, unless its id is known already."""
        state = self._state
        name = call.name or ""
        call_id = state.calls.begin(call.id, name, state.link.mark())
        if call_id is None:
            self._answer_again(call.id, name)
            return
        state.facts.calls_open = state.calls.in_foreground
        # A call of an answer that was cut is still run, but it belongs to a turn that is over.
        if not state.ledger.current_is_cut:
            if not state.turns.is_open:
                state.open_turn("model")
            state.turns.calls.add(call_id)
            state.tell_speeches(state.speeches.on_call(state.turns.number, state.turns.source))
            state.completion_owed = state.prompted = False
            state.facts.owed = False
            state.facts.answer_possible_since = None
        state.emit(ev.ToolCalled(call_id=call_id, name=name, args=dict(call.args)))
        refusal = ""
        if not state.ledger.current_is_cut:
            state.tool_steps.on_call()
            refusal = state.tool_steps.refusal(state.rules.max_tool_steps)
        # A copy: the tool may change what it gets.
        state.out.append(RunTool(call_id, name, deepcopy(dict(call.args)), refusal))

    def _answer_again(self, call_id: str | None, name: str) -> None:
        """Answer a call that the server repeats, if an engine that has died ran it."""
        result = self._state.calls.take_earlier(call_id)
        if result is not None:
            self.send_answer(call_id or "", name, ToolAnswer(result), self._state.link.mark())
            self._state.emit(ev.SendSettled(kind="answer", outcome="resent", ref=call_id or ""))

    def cancel(self, call_id: str) -> None:
        """Cancel a call whose answer the server no longer wants."""
        state = self._state
        if state.calls.cancel(call_id):
            if call_id in state.turns.calls:
                state.turns.call_cancelled = True
            state.out.append(CancelTool(call_id))

    def acknowledge(self, now: float, call_id: str, name: str, answer: ToolAnswer) -> list[Effect]:
        """Tell the model that a background call runs, so that it waits no longer."""
        state = self._state
        known = state.link.knows(state.calls.mark_of(call_id))
        deliver = state.calls.to_background(call_id) and state.facts.status == "ready" and known
        state.facts.calls_open = state.calls.in_foreground
        state.tool_steps.on_answer()
        if deliver:
            self.send_answer(call_id, name, answer, state.calls.mark_of(call_id))
        state.emit(ev.ToolAcknowledged(call_id=call_id, name=name, delivered=deliver))
        return state.flush(now)

    def suspend(self, now: float, call_id: str, suspended: bool) -> list[Effect]:
        """Note that a call waits for another agent, which talks, or goes on."""
        state = self._state
        state.calls.suspend(call_id, suspended)
        state.facts.calls_open = state.calls.in_foreground
        return state.flush(now)

    def finish(self, now: float, outcome: Outcome, answer: ToolAnswer) -> list[Effect]:
        """Send a call's final answer, unless the server has cancelled the call."""
        state = self._state
        state.tool_steps.on_answer()
        background = state.calls.is_background(outcome.call_id)
        mark = state.calls.mark_of(outcome.call_id)
        cancelled = not state.calls.finish(outcome.call_id)
        status = outcome.status
        if status == "cancelled" and not cancelled and not state.ended:
            # The tool gave up by itself; the model still waits for an answer.
            status = "error"
        state.facts.calls_open = state.calls.in_foreground
        deliver = not cancelled and state.facts.status == "ready"
        waiting = WaitingAnswer(outcome.call_id, outcome.name, answer, mark, background)
        if not (cancelled or deliver or state.ended):
            state.link.outbox.add_answer(waiting)
            state.emit_outbox()
            text = f"The answer of {outcome.name} goes out with the next connection"
            state.emit(ev.Log(source="engine", level="info", text=text))
        if deliver:
            if self.deliver(waiting):
                state.out.append(Prompt(f"the result of {outcome.name}"))
            is_told = answer.scheduling != "SILENT"
            # Without an open turn, the model completed it with its calls and tells the result in another.
            waits = state.turns.is_open or (is_told and not state.ledger.current_is_cut)
            if (waits and not state.facts.speaking and not background) or (background and is_told):
                state.owe(now)
            elif waits and not state.turns.is_open and not background:
                # What is still being played was said before the result.
                state.facts.answer_possible_since = now
            if is_told and not background:
                state.result_sent_at = now
                state.speeches.on_call_answered()
        if state.turns.is_open and not state.turns.has_content and not state.calls.in_foreground:
            # Nothing else would end the turn if the model kept silent from here on.
            state.owe(now)
        state.emit(
            ev.ToolFinished(
                call_id=outcome.call_id,
                name=outcome.name,
                status="cancelled" if cancelled else status,
                result=answer.response if status == "error" and not outcome.result else outcome.result,
                ms=round(outcome.ms, 3),
                delivered=deliver,
                task=outcome.task,
            )
        )
        # What the result says already is shown with it.
        if outcome.cause and outcome.cause != outcome.result.get("error") and not cancelled:
            state.emit(ev.Log(source="engine", level="warning", text=f"tool {outcome.name}: {outcome.cause}"))
            if outcome.trace:
                state.emit(ev.Log(source="engine", level="debug", text=outcome.trace))
        return state.flush(now)

    def abandon(self, now: float) -> list[Effect]:
        """End the calls that are still open, because the session is over."""
        state = self._state
        for call_id, name in state.calls.take_open():
            state.emit(
                ev.ToolFinished(call_id=call_id, name=name, status="cancelled", result={}, ms=None, delivered=False)
            )
        state.facts.calls_open = 0
        return state.flush(now)

    def deliver(self, answer: WaitingAnswer) -> bool:
        """Send a final answer; True when a prompt is needed.

        It is kept until the model says something after it: the connection may end before the model has read it.
        """
        state = self._state
        # A model that did not wait for the answer may be speaking of something else.
        may_speak = answer.background or answer.answer.scheduling is not None
        gen = state.ledger.number + (may_speak and state.ledger.current_opened)
        prompts = self.send_answer(answer.call_id, answer.name, answer.answer, answer.mark)
        state.unread_answers.append(UnreadAnswer(answer, state.link.mark(), gen))
        return prompts

    def send_answer(self, call_id: str, name: str, answer: ToolAnswer, mark: int) -> bool:
        """Send the answer of a call with this mark; True when a prompt is needed.

        It goes as plain context when the server's present session does not know the call.
        """
        state = self._state
        if not state.link.knows(mark):
            # A server refuses the answer of a call that it has not made; the model can still be told.
            text = f"[Result of {name}] {json.dumps(answer.response, ensure_ascii=False)}"
            in_turn = call_id in state.turns.calls
            awaited = state.turns.is_open and (not in_turn or state.turns.has_content or state.calls.in_foreground > 0)
            state.out.append(Tell(text, UNKNOWN_CALL))
            state.emit(ev.SendSettled(kind="answer", outcome="told", ref=call_id))
            return answer.scheduling != "SILENT" and not awaited
        response = compose.function_response(
            call_id, name, answer.response, scheduling=answer.scheduling, will_continue=answer.will_continue
        )
        state.emit(ev.SendIntended(kind="answer", ref=call_id))
        state.out.append(Send(compose.tool_responses(response)))
        return False
