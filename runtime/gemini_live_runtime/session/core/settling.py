"""Settle what the user has said and a lost connection has left without an answer.

A fresh server session gets it again. A resumed one may know it, so that sending it again could double it: the model is
asked, once, to answer what it then has for certain. Without an answer to that the user decides.
"""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.effects import Tell
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.typed_text import post_text
from gemini_live_runtime.session.core.unanswered import UnansweredInput, note_of

NOT_ANSWERED = "the connection was lost before the answer"
"""Reason of the context by which the model answers what may not have reached it."""


def settle_unanswered(state: CoreState, now: float) -> bool:
    """Settle it once the gate is open; return True when a prompt is needed."""
    if state.turns.is_open and state.turns.calls and not state.turns.has_content:
        return _take_up_calls(state)
    # The server of this connection has understood the others, before the gate was open.
    left = [item for item in state.unanswered if not state.link.is_of_present(item.mark)]
    # What could not be sent has reached no server.
    if state.link.is_resumed and any(item.mark for item in left):
        return _ask(state, left)
    for item in left:
        item.mark = state.link.mark()
        state.emit(ev.SendSettled(kind=item.kind, outcome="resent", ref=item.command_id))
        post_text(state, item.command_id, item.text)
        state.owe(now)
    return False


def _take_up_calls(state: CoreState) -> bool:
    """Let the model go on with calls that it has made for it; True for a prompt."""
    # What it does not know any more is part of what it is told (`AgentLifecycle.on_connected`); with a call still
    # running, its result is what it takes up; with a text to follow it is that.
    prompts = not (state.calls.awaits(state.turns.calls) or state.facts.owed or state.link.outbox.texts)
    outcome: Literal["prompted", "told"] = "prompted" if prompts else "told"
    for item in state.unanswered:
        state.emit(ev.SendSettled(kind=item.kind, outcome=outcome, ref=item.command_id))
        # From here on this connection knows it.
        item.mark = state.link.mark()
    return prompts


def _ask(state: CoreState, left: list[UnansweredInput]) -> bool:
    """Ask for answers, where that was not done before; True for a prompt.

    The rest is given up.
    """
    state.give_up_prompted()
    asked = [item for item in left if not item.is_prompted]
    if asked:
        state.out.append(Tell(note_of(asked), NOT_ANSWERED, "user"))
    for item in asked:
        item.mark, item.is_prompted = state.link.mark(), True
        state.emit(ev.SendSettled(kind=item.kind, outcome="prompted", ref=item.command_id))
    if not (state.unanswered or state.turns.has_content):
        state.close_turn(state.turns.cut_short(), reason="the connection ended")
    return bool(asked)
