"""Take up what an engine that died has left open."""

from __future__ import annotations

from collections.abc import Collection

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.completion.open_work import OpenWork
from gemini_live_runtime.journal.fold.spoken_blocks import heard_chars
from gemini_live_runtime.journal.recording.kept_journal import KeptJournal
from gemini_live_runtime.session.core.effects import Effect, RunTool
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S
from gemini_live_runtime.session.core.unanswered import BrokenAnswer, UnansweredInput
from gemini_live_runtime.session.link.outbox import WaitingAnswer
from gemini_live_runtime.tools.background import ToolAnswer

STOPPED = "the engine stopped"
"""Reason of the end of a turn whose answer was under way when the engine died."""

UNKNOWN_CALL = -1
"""Mark that no server knows: none gives a handle while a call runs."""

MAY_HAVE_ARRIVED = -1
"""Mark of what the dead engine has sent: no handle stands for what is yet to be answered."""

INTERRUPTED = {"error": "The program stopped while this ran. It is not known what it has done."}
"""Result of a call that was running when the engine died."""


def take_up(state: CoreState, kept: KeptJournal) -> None:
    """Continue the numbers, figures, switches and inputs of a session."""
    view, work = kept.view, kept.work
    turns = state.turns
    turns.number, turns.is_open, turns.opened_by = work.turn, work.is_turn_open, work.opened_by
    turns.has_content, turns.calls = work.has_content, set(work.turn_calls)
    state.ledger.number = work.gen + 1
    # A connection that does not come is then a lost one.
    state.link.connection = int(work.turn > 0)
    state.usage.prompt_tokens, state.usage.response_tokens = view.prompt_tokens, view.response_tokens
    state.usage.cost_usd = view.cost_usd
    state.mode, state.speaker_on = view.mode, view.speaker
    state.voice = state.voice if view.chosen_voice is None else view.chosen_voice
    if not state.manual_activity:
        state.microphone_on = view.microphone
    state.unanswered = [
        UnansweredInput(item.kind, MAY_HAVE_ARRIVED, item.text, item.command_id, is_prompted=item.is_prompted)
        for item in work.unanswered
    ]
    state.asked, state.broken = work.asked, _broken_answer(kept)
    for command_id, text in work.waiting.items():
        state.link.outbox.add_text(command_id, text)
    state.calls.remember(work.ended_calls)


def _broken_answer(kept: KeptJournal) -> BrokenAnswer | None:
    """Return the answer that the engine's death broke off; what was played is said."""
    view, work = kept.view, kept.work
    last = next((block for block in reversed(view.blocks) if block.kind in ("model", "user", "tool")), None)
    if work.is_ended or last is None or last.kind != "model":
        return None
    heard = heard_chars(last, view.playhead, view.t)
    is_unheard = not last.interrupted and heard is not None and heard < len(last.text)
    arrives = work.is_turn_open and work.has_content and not work.is_whole
    return BrokenAnswer(work.asked, last.text[:heard]) if is_unheard or arrives else None


def end_what_was_cut_off(state: CoreState, work: OpenWork, idempotent: Collection[str], now: float) -> list[Effect]:
    """End the calls and the turn that were under way when the engine died.

    Calls of `idempotent` tools run again; of others the model learns that the outcome is unknown. Results that waited
    for a connection wait for the next one.
    """
    for result in work.results.values():
        answer = WaitingAnswer(result.call_id, result.name, ToolAnswer(result.result), UNKNOWN_CALL)
        state.link.outbox.add_answer(answer)
    for call in work.calls.values():
        state.calls.begin(call.call_id, call.name, UNKNOWN_CALL)
        if call.name in idempotent:
            state.out.append(RunTool(call.call_id, call.name, dict(call.args)))
            continue
        state.calls.finish(call.call_id)
        state.emit(
            ev.ToolFinished(
                call_id=call.call_id, name=call.name, status="error", result=INTERRUPTED, ms=None, delivered=False
            )
        )
        answer = WaitingAnswer(call.call_id, call.name, ToolAnswer(INTERRUPTED), UNKNOWN_CALL)
        state.link.outbox.add_answer(answer)
        state.calls.remember({call.call_id: INTERRUPTED})
    state.facts.calls_open = state.calls.in_foreground
    broke_off = state.broken is not None
    state.link.outbox.audio.dropped_s += work.waiting_sound_s
    if work.was_speaking(ANSWER_PATIENCE_S):
        # Who spoke into an answer does not want the rest of it.
        state.broken = None
        state.emit(ev.SendSettled(kind="speech", outcome="lost"))
    if state.turns.has_content or not (state.unanswered or state.turns.calls):
        state.close_turn(state.turns.cut_short(), reason=STOPPED, broke_off=broke_off)
    state.emit_outbox()
    return state.flush(now)
