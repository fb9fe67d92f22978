"""The fold of what happens in turns into a `AgentView`: tools, latencies, and the timeline of who sounds when."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.agent_view import (
    MAX_SPANS,
    MAX_TOOLS,
    MAX_TURNS,
    Span,
    ToolRun,
    TurnCard,
    pack,
    plain_key,
)
from gemini_live_runtime.journal.fold_parts import Handler, bound, clean_name, clean_names, tick
from gemini_live_runtime.journal.view import Dirty, SessionView

_TURN = Dirty.LATENCY | Dirty.TIMELINE

# -- tools -----------------------------------------------------------------------------------------------------------


def tool_called(view: SessionView, event: ev.Event, p: ev.ToolCalled) -> Dirty:
    """A call begins."""
    tools = view.agent_view.tools
    tools[plain_key(p.call_id)] = ToolRun(clean_name(p.name), pack(p.args), event.t, event.turn, event.seq)
    bound(tools, MAX_TOOLS)
    return Dirty.TOOLS | Dirty.TIMELINE


def tool_acknowledged(view: SessionView, event: ev.Event, p: ev.ToolAcknowledged) -> Dirty:
    """A call goes on in the background."""
    tools, ident = view.agent_view.tools, plain_key(p.call_id)
    if ident in tools:
        tools[ident] = replace(tools[ident], acknowledged=True)
    return Dirty.TOOLS


def tool_finished(view: SessionView, event: ev.Event, p: ev.ToolFinished) -> Dirty:
    """A call has its answer."""
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


# -- turns and sound -------------------------------------------------------------------------------------------------


def turn_started(view: SessionView, event: ev.Event, p: ev.TurnStarted) -> Dirty:
    """A turn begins."""
    turns = view.agent_view.turns
    turns[event.turn] = TurnCard(event.turn, event.t, event.seq, p.by)
    bound(turns, MAX_TURNS)
    return _TURN


def turn_completed(view: SessionView, event: ev.Event, p: ev.TurnCompleted) -> Dirty:
    """A turn is over."""
    turns = view.agent_view.turns
    card = turns.get(event.turn)
    if card is not None:
        latency = card.latency_ms if p.latency_ms is None else p.latency_ms
        turns[event.turn] = replace(card, end=event.t, end_seq=event.seq, outcome=p.outcome, latency_ms=latency)
    return _TURN


def turn_measured(view: SessionView, event: ev.Event, p: ev.TurnMeasured) -> Dirty:
    """Where the turn's time went."""
    turns = view.agent_view.turns
    card = turns.get(p.of_turn)
    if card is not None:
        turns[p.of_turn] = replace(
            card,
            latency_ms=p.latency_ms if p.latency_ms is not None else card.latency_ms,
            source=clean_name(p.source),
            stage_names=clean_names(tuple(p.stages)),
            stage_ms=tuple(p.stages.values()),
            prompt_tokens=p.prompt_tokens,
            response_tokens=p.response_tokens,
        )
    return Dirty.LATENCY | Dirty.TRANSCRIPT


def voice_marked(view: SessionView, event: ev.Event, p: ev.VoiceMarked) -> Dirty:
    """The user's voice on the timeline."""
    if p.source != "local":
        return Dirty.NONE
    if p.speaking:
        return _begin(view, event, "user")
    return _end(view, event, "user")


def playback_started(view: SessionView, event: ev.Event, p: ev.PlaybackStarted) -> Dirty:
    """The model's voice on the timeline."""
    return _begin(view, event, "model")


def playback_drained(view: SessionView, event: ev.Event, p: ev.PlaybackDrained) -> Dirty:
    """The model has finished."""
    return _end(view, event, "model")


def turn_interrupted(view: SessionView, event: ev.Event, p: ev.TurnInterrupted) -> Dirty:
    """The model was cut."""
    return _end(view, event, "model", cut=True)


def text_sent(view: SessionView, event: ev.Event, p: ev.TextSent) -> Dirty:
    """The user typed."""
    tick(view.agent_view, event, "typed", p.text)
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
    for at in range(len(spans) - 1, max(-1, len(spans) - 8), -1):
        if spans[at].lane == lane:
            if spans[at].end is None:
                spans[at] = replace(spans[at], end=event.t, cut=cut)
            break
    return Dirty.TIMELINE


HANDLERS: dict[type[ev.Payload], Handler] = {
    ev.ToolCalled: tool_called,
    ev.ToolAcknowledged: tool_acknowledged,
    ev.ToolFinished: tool_finished,
    ev.TurnStarted: turn_started,
    ev.TurnCompleted: turn_completed,
    ev.TurnMeasured: turn_measured,
    ev.VoiceMarked: voice_marked,
    ev.PlaybackStarted: playback_started,
    ev.PlaybackDrained: playback_drained,
    ev.TurnInterrupted: turn_interrupted,
    ev.TextSent: text_sent,
}
"""What each event does to a view's turns and tools."""
