"""Recognise that an answer of the model is missing, or has stopped in its middle."""

from __future__ import annotations

from gemini_live_runtime.session.core.state import CoreState


def has_result_to_tell(state: CoreState) -> bool:
    """Return True while a result for which the model did not wait makes it speak next."""
    number = state.ledger.number
    return any(
        unread.answer.background and unread.answer.answer.scheduling != "SILENT" and unread.gen >= number
        for unread in state.unread_answers
    )


def awaits_answer(state: CoreState) -> bool:
    """Return True while nothing but an answer can follow: silence is then a fault."""
    facts, turns = state.facts, state.turns
    return (
        facts.owed
        and state.link.is_open
        and state.link.leaving != "stalled"
        and not (facts.voice or facts.speaking or state.playing or state.is_held or state.calls.in_foreground)
        # What marks the user's turns says that this one goes on.
        and not (state.manual_activity and state.streaming_audio)
        # After a call whose result is not to be told, silence may be the answer.
        and not (turns.calls and state.result_sent_at is None)
        and any(not (item.is_late or item.asked_again) for item in state.unanswered)
    )


def stopped_since(state: CoreState) -> float | None:
    """Return the time (s) since which an answer in its middle has stopped; or None.

    What has arrived is heard to its end first. After a call's result silence may be the answer.
    """
    facts, generation = state.facts, state.ledger.get(state.ledger.number)
    if generation is None or not generation.opened or generation.complete or state.ledger.current_is_cut:
        return None
    is_expected = state.turns.is_open and state.turns.has_content and state.result_sent_at is None and not facts.owed
    if not is_expected or not state.link.is_open or state.link.leaving == "stalled":
        return None
    if facts.voice or facts.paused or state.is_held or len(state.calls):
        return None
    if state.manual_activity and state.streaming_audio:
        # The user's turn goes on.
        return None
    return generation.lasts_until
