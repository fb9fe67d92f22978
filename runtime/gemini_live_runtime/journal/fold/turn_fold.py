"""Fold tool calls, turns, latencies and the timeline of both voices."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.agent_view import MAX_SPANS, MAX_TOOLS, MAX_TURNS, Span, ToolRun, TurnCard
from gemini_live_runtime.journal.fold.fold_parts import Handlers, bound, clean_name, clean_names, tick
from gemini_live_runtime.journal.fold.packing import pack, plain_key
from gemini_live_runtime.journal.fold.view import Dirty, SessionView

HANDLERS = Handlers()
"""Handlers of turns, tools and the timeline of both voices."""

_TURN = Dirty.LATENCY | Dirty.TIMELINE
_MEASURED = Dirty.LATENCY | Dirty.TRANSCRIPT

# -- tools -----------------------------------------------------------------------------------------------------------


@HANDLERS.on(ev.ToolCalled)
def _tool_called(view: SessionView, event: ev.Event, p: ev.ToolCalled) -> Dirty:
    tools = view.agent_view.tools
    tools[plain_key(p.call_id)] = ToolRun(clean_name(p.name), pack(p.args), event.t, event.turn, event.seq)
    bound(tools, MAX_TOOLS)
    return Dirty.TOOLS | Dirty.TIMELINE


@HANDLERS.on(ev.ToolAcknowledged)
def _tool_acknowledged(view: SessionView, event: ev.Event, p: ev.ToolAcknowledged) -> Dirty:
    tools, ident = view.agent_view.tools, plain_key(p.call_id)
    if ident in tools:
        tools[ident] = replace(tools[ident], acknowledged=True)
    return Dirty.TOOLS


@HANDLERS.on(ev.ToolFinished)
def _tool_finished(view: SessionView, event: ev.Event, p: ev.ToolFinished) -> Dirty:
    agent, ident = view.agent_view, plain_key(p.call_id)
    run = agent.tools.get(ident)
    if run is not None:
        agent.tools[ident] = replace(
            run,
            status=p.status,
            result=pack(p.result),
            ms=p.ms,
            end=event.t,
            end_seq=event.seq,
            delivered=p.delivered,
        )
    if p.status == "refused":
        tick(agent, event, "refused", p.name)
    return Dirty.TOOLS | Dirty.TIMELINE


@HANDLERS.on(ev.SendSettled)
def _answer_settled(view: SessionView, event: ev.Event, p: ev.SendSettled) -> Dirty:
    """Note that the model got an answer which had waited for a connection."""
    tools, ident = view.agent_view.tools, plain_key(p.ref)
    if p.kind != "answer" or p.outcome in ("unknown", "failed") or ident not in tools:
        return Dirty.NONE
    tools[ident] = replace(tools[ident], delivered=True)
    return Dirty.TOOLS


# -- turns and sound -------------------------------------------------------------------------------------------------


@HANDLERS.on(ev.TurnStarted)
def _turn_started(view: SessionView, event: ev.Event, p: ev.TurnStarted) -> Dirty:
    turns = view.agent_view.turns
    turns[event.turn] = TurnCard(event.turn, event.t, event.seq, p.by)
    bound(turns, MAX_TURNS)
    return _TURN


@HANDLERS.on(ev.TurnCompleted)
def _turn_completed(view: SessionView, event: ev.Event, p: ev.TurnCompleted) -> Dirty:
    turns = view.agent_view.turns
    card = turns.get(event.turn)
    if card is not None:
        latency = card.latency_ms if p.latency_ms is None else p.latency_ms
        turns[event.turn] = replace(card, end=event.t, end_seq=event.seq, outcome=p.outcome, latency_ms=latency)
    return _TURN


@HANDLERS.on(ev.TurnMeasured)
def _turn_measured(view: SessionView, event: ev.Event, p: ev.TurnMeasured) -> Dirty:
    turns = view.agent_view.turns
    card = turns.get(p.of_turn)
    if card is not None:
        turns[p.of_turn] = replace(
            card,
            latency_ms=p.latency_ms if p.latency_ms is not None else card.latency_ms,
            first_byte_ms=p.first_byte_ms,
            source=clean_name(p.source),
            stage_names=clean_names(tuple(p.stages)),
            stage_ms=tuple(p.stages.values()),
            prompt_tokens=p.prompt_tokens,
            response_tokens=p.response_tokens,
        )
    return _MEASURED


@HANDLERS.on(ev.VoiceMarked)
def _voice_marked(view: SessionView, event: ev.Event, p: ev.VoiceMarked) -> Dirty:
    if p.source != "local":
        return Dirty.NONE
    if p.speaking:
        return _begin(view, event, "user")
    return _end(view, event, "user")


@HANDLERS.on(ev.PlaybackStarted)
def _playback_started(view: SessionView, event: ev.Event, p: ev.PlaybackStarted) -> Dirty:
    return _begin(view, event, "model")


@HANDLERS.on(ev.PlaybackDrained)
def _playback_drained(view: SessionView, event: ev.Event, p: ev.PlaybackDrained) -> Dirty:
    return _end(view, event, "model")


@HANDLERS.on(ev.TurnInterrupted)
def _turn_interrupted(view: SessionView, event: ev.Event, p: ev.TurnInterrupted) -> Dirty:
    return _end(view, event, "model", cut=True)


@HANDLERS.on(ev.TextSent)
def _text_sent(view: SessionView, event: ev.Event, p: ev.TextSent) -> Dirty:
    tick(view.agent_view, event, "typed", p.text)
    return Dirty.TIMELINE


@HANDLERS.on(ev.UserStateChanged)
def _user_state(view: SessionView, event: ev.Event, p: ev.UserStateChanged) -> Dirty:
    if p.new != "away":
        return Dirty.NONE
    tick(view.agent_view, event, "away", "user away")
    return Dirty.TIMELINE


def _begin(view: SessionView, event: ev.Event, lane: str) -> Dirty:
    _end(view, event, lane)
    spans = view.agent_view.spans
    spans.append(Span(lane, event.t, event.turn))
    if len(spans) > MAX_SPANS:
        del spans[: MAX_SPANS // 10]
    return Dirty.TIMELINE


def _end(view: SessionView, event: ev.Event, lane: str, *, cut: bool = False) -> Dirty:
    spans = view.agent_view.spans
    # Both lanes share the list, and an open span is among the last: the search is bounded to keep the fold fast.
    for at in range(len(spans) - 1, max(-1, len(spans) - 8), -1):
        if spans[at].lane == lane:
            if spans[at].end is None:
                spans[at] = replace(spans[at], end=event.t, cut=cut)
            break
    return Dirty.TIMELINE
