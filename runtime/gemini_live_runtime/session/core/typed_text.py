"""Send what the user types."""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.effects import Send
from gemini_live_runtime.session.core.microphone import end_audio_stream
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S
from gemini_live_runtime.session.core.unanswered import UnansweredInput
from gemini_live_runtime.wire import compose


def send_text(state: CoreState, command_id: str, text: str, now: float) -> None:
    """Send typed text as a turn of its own; it interrupts what the model says."""
    if state.manual_activity and not state.taking_audio:
        # An interruption has begun an activity for what is said next: the text would wait for its end.
        end_audio_stream(state)
    answering = state.ledger.get(state.ledger.number)
    begun = answering is not None and answering.opened
    # What an earlier text has cut is not the answer to the open turn.
    heard = begun and not state.ledger.current_is_cut and not state.playing
    finished = heard and answering is not None and answering.complete
    overtakes = _may_be_answering(state, now)
    if state.facts.speaking or state.playing or begun:
        state.cut("typed", now, "typed")
    if state.turns.is_open:
        is_superseded = not state.turns.has_content
        if finished:
            # The turn is shown as answered: so are the texts that may have crossed this answer.
            state.overtaken.texts.clear()
        state.close_turn("complete" if finished else state.turns.cut_short(), is_superseded=is_superseded)
    state.open_turn("typed")
    state.emit(ev.TextSent(text=text, command_id=command_id))
    state.unanswered.append(UnansweredInput("text", state.link.mark(), text, command_id))
    if overtakes:
        state.overtaken.add(state.unanswered[-1])
    post_text(state, command_id, text)
    state.owe(now)
    state.speech.clear()
    state.facts.interrupted_at = None
    state.facts.answer_possible_since = state.result_sent_at = None


def _may_be_answering(state: CoreState, now: float) -> bool:
    """Return True when an answer may be on its way of which nothing has arrived."""
    if state.turns.is_open:
        if state.turns.has_content:
            return False
        if not state.unanswered or state.unanswered[-1] is not state.overtaken.broken_off:
            return True
    elif state.facts.owed:
        return True
    spoken_until = now if state.facts.voice else state.speech.ended
    return spoken_until is not None and now - spoken_until < ANSWER_PATIENCE_S


def post_text(state: CoreState, command_id: str, text: str) -> None:
    """Send a text that the model answers."""
    realtime = state.capabilities.text_is_realtime
    message = compose.realtime_text(text) if realtime else compose.text_turn(text)
    state.out.append(Send(message, command_id, text))
