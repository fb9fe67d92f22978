"""The fold of an agent's mind into a `MindView`: state, phases, guards, watchers, tools, turns, timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import Any, TypeVar

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.marks import marked_at
from gemini_live_runtime.journal.mind_view import (
    MAX_KEYS,
    MAX_MARKS,
    MAX_NUMBERS,
    MAX_PATH,
    MAX_REMOVED,
    MAX_SPANS,
    MAX_TICKS,
    MAX_TOOLS,
    MAX_TURNS,
    Breakpoint,
    Held,
    KeyCell,
    Mark,
    MindView,
    Need,
    PatternCard,
    Removal,
    Span,
    Stay,
    Tick,
    ToolRun,
    TurnCard,
    WatcherCard,
    Way,
    pack,
    plain_key,
)
from gemini_live_runtime.journal.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise_line

MAX_TEXT = 200
"""Characters of a value as it is shown on one line."""

MAX_NAME = 80
MAX_TARGET = 500
"""Characters of a breakpoint's target, as many as it may have."""

_KINDS = {str: "text", int: "number", float: "number", bool: "bool", type(None): "null", list: "list", dict: "object"}

EXACT = 2**53
"""Whole numbers below this are floats, too."""

T = TypeVar("T")

_STATE = Dirty.STATE | Dirty.TIMELINE
_WATCHERS = Dirty.WATCHERS | Dirty.TIMELINE
_TURN = Dirty.LATENCY | Dirty.TIMELINE


def shown(packed: str, limit: int = MAX_TEXT) -> str:
    """A packed value on one line, fit to show."""
    if "\\" not in packed:
        return packed if len(packed) <= limit else f"{packed[: limit - 1]}…"
    import json

    return sanitise_line(json.dumps(json.loads(packed), ensure_ascii=False), limit)


@lru_cache(maxsize=4096)
def _short_name(text: str) -> str:
    return sanitise_line(text, MAX_NAME)


def _name(text: str) -> str:
    # The same few names come with every event; a long one is not worth the memory.
    return _short_name(text) if len(text) <= MAX_NAME else sanitise_line(text, MAX_NAME)


@lru_cache(maxsize=16)
def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    # The same for every turn, and kept once.
    return tuple(_name(name) for name in names)


def _bounded(items: dict[Any, T], limit: int) -> None:
    while len(items) > limit:
        del items[next(iter(items))]


def _tick(mind: MindView, event: ev.Event, lane: str, text: str) -> None:
    mind.ticks.append(Tick(lane, event.t, event.seq, sanitise_line(text, MAX_TEXT)))
    if len(mind.ticks) > MAX_TICKS:
        del mind.ticks[: MAX_TICKS // 10]


# -- the agent -------------------------------------------------------------------------------------------------------


def described(view: SessionView, event: ev.Event, p: ev.AgentDescribed) -> Dirty:
    """The agent's parts; what they have done so far is kept by name."""
    mind = view.mind
    shape = {name: getattr(p, name) for name in ("phases", "computed", "keys", "tools", "extractors")}
    mind.shape, mind.shape_seq = (
        pack({**shape, "agent": p.agent, "instruction": p.instruction, "initial_phase": p.initial_phase}),
        event.seq,
    )
    known_watchers, known_patterns = mind.watchers, mind.patterns
    mind.watchers, mind.patterns = {}, {}
    for item in p.watchers:
        card = WatcherCard(
            _name(str(item.get("name", ""))),
            sanitise_line(str(item.get("when", "")), MAX_TEXT),
            tuple(_name(str(key)) for key in item.get("keys", ())),
            bool(item.get("blocking")),
            sanitise_line(str(item.get("defined_at", "")), MAX_TEXT),
        )
        before = known_watchers.get(card.name)
        if before is not None:
            card = replace(before, when=card.when, keys=card.keys, blocking=card.blocking, defined_at=card.defined_at)
        mind.watchers[card.name] = card
    for item in p.patterns:
        name = _name(str(item.get("name", "")))
        when = sanitise_line(str(item.get("when", "")), MAX_TEXT)
        place = sanitise_line(str(item.get("defined_at", "")), MAX_TEXT)
        mind.patterns[name] = replace(known_patterns.get(name, PatternCard(name)), when=when, defined_at=place)
    return Dirty.PHASE | Dirty.WATCHERS | Dirty.STATE | Dirty.TOOLS


# -- state -----------------------------------------------------------------------------------------------------------


def state_changed(view: SessionView, event: ev.Event, p: ev.StateChanged) -> Dirty:
    """One key's new cell."""
    mind = view.mind
    mind.changes += 1
    second = int(event.t)
    density = mind.state_density
    density[second] = density.get(second, 0) + 1
    if len(density) > MAX_SPANS:
        _bounded(density, MAX_SPANS)
    name = plain_key(p.key)
    keys = mind.keys
    before = keys.get(name)
    if p.removed:
        keys.pop(name, None)
        mind.removed.pop(name, None)
        by, reason = _name(p.by) if p.by else "", sanitise_line(p.reason, MAX_TEXT) if p.reason else ""
        mind.removed[name] = Removal(_name(p.origin), by, reason, event.t, event.turn, event.seq)
        _bounded(mind.removed, MAX_REMOVED)
        return _STATE
    if before is None:
        mind.removed.pop(name, None)
        if len(keys) >= MAX_KEYS:
            mind.keys_beyond += 1
            return _STATE
    value = p.new
    packed = pack(value)
    kind = _KINDS.get(type(value), "object")
    numbers = before.numbers if before is not None else ()
    if kind == "number":
        numbers = (*numbers[-MAX_NUMBERS + 1 :], value if abs(value) < EXACT else _as_float(value))
    keys[name] = KeyCell(
        packed,
        shown(packed),
        kind,
        "" if p.added else pack(p.old) if before is None else before.value,
        _name(p.origin),
        _name(p.by) if p.by else "",
        sanitise_line(p.reason, MAX_TEXT) if p.reason else "",
        event.t,
        event.turn,
        event.seq,
        1 if before is None else before.changes + 1,
        numbers,
    )
    return _STATE


def _as_float(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


# -- phases ----------------------------------------------------------------------------------------------------------


def phase_entered(view: SessionView, event: ev.Event, p: ev.PhaseEntered) -> Dirty:
    """The path goes on."""
    mind = view.mind
    name = _name(p.phase)
    if mind.path:
        mind.path[-1] = replace(mind.path[-1], seconds=round(event.t - mind.path[-1].t, 3))
    mind.path.append(
        Stay(name, event.t, event.turn, event.seq, p.trigger, sanitise_line(p.because, MAX_TEXT) if p.because else "")
    )
    del mind.path[:-MAX_PATH]
    mind.visits[name] = mind.visits.get(name, 0) + 1
    _bounded(mind.visits, MAX_PATH)
    mind.ways, mind.blocked, mind.terminal = (), "", p.terminal
    mind.needs = tuple(Need(_name(key), _name(key), met=False) for key in p.needs)
    mind.allowed = None if p.tools is None else tuple(_name(tool) for tool in p.tools)
    return Dirty.PHASE | Dirty.TIMELINE | Dirty.TOOLS


def phase_blocked(view: SessionView, event: ev.Event, p: ev.PhaseBlocked) -> Dirty:
    """What keeps a transition from being made."""
    view.mind.blocked = sanitise_line(f"{p.target} waits for {', '.join(p.missing)}", MAX_TEXT)
    return Dirty.PHASE


def guards_read(view: SessionView, event: ev.Event, p: ev.GuardsRead) -> Dirty:
    """How the ways out stand."""
    mind = view.mind
    mind.ways = tuple(
        Way(
            _name(str(item.get("to", ""))),
            _name(str(item.get("outcome", ""))),
            sanitise_line(str(item.get("because", "")), MAX_TEXT),
            _packed(item.get("guard")),
            _packed(item.get("target_guard")),
            tuple(_name(str(key)) for key in item.get("missing") or ()),
        )
        for item in p.ways
    )
    mind.needs = tuple(
        Need(
            _name(str(item.get("key", ""))),
            _name(str(item.get("label", ""))),
            bool(item.get("met")),
            _name(str(item.get("by", ""))),
        )
        for item in p.needs
    )
    if mind.blocked and all(way.outcome != "blocked" for way in mind.ways):
        mind.blocked = ""
    return Dirty.PHASE


def _packed(tree: object) -> str:
    return pack(tree) if isinstance(tree, Mapping) else ""


# -- watchers --------------------------------------------------------------------------------------------------------


def watcher_fired(view: SessionView, event: ev.Event, p: ev.WatcherFired) -> Dirty:
    """A firing, or one that was muted."""
    mind, name = view.mind, _name(p.watcher)
    card = mind.watchers.get(name) or WatcherCard(name)
    if p.muted:
        card = replace(card, suppressed=card.suppressed + 1)
    else:
        text = f"{_name(p.key)} {shown(pack(p.old), 40)} → {shown(pack(p.new), 40)}"
        card = card.after_firing(text, event.t, event.seq)
        _tick(mind, event, "watch", name)
    mind.watchers[name] = card
    return _WATCHERS


def watchers_missed(view: SessionView, event: ev.Event, p: ev.WatchersMissed) -> Dirty:
    """Why watchers did not fire, and how near they came."""
    mind = view.mind
    for miss in p.misses:
        name = _name(str(miss.get("watcher", "")))
        card = mind.watchers.get(name) or WatcherCard(name)
        share = miss.get("share")
        near = float(share) if isinstance(share, int | float) and not isinstance(share, bool) else None
        why = sanitise_line(str(miss.get("missing", "")), MAX_TEXT)
        mind.watchers[name] = card.after_missing(why, event.t, event.seq, near)
    return Dirty.WATCHERS


def watcher_switched(view: SessionView, event: ev.Event, p: ev.WatcherSwitched) -> Dirty:
    """Muted, or heard again."""
    name = _name(p.watcher)
    view.mind.watchers[name] = replace(view.mind.watchers.get(name) or WatcherCard(name), muted=p.muted)
    return Dirty.WATCHERS


def pattern_fired(view: SessionView, event: ev.Event, p: ev.PatternFired) -> Dirty:
    """A pattern was seen."""
    mind, name = view.mind, _name(p.pattern)
    card = mind.patterns.get(name) or PatternCard(name)
    text = sanitise_line(p.text, MAX_TEXT)
    mind.patterns[name] = replace(card, fired=card.fired + 1, last=text, last_t=event.t, last_seq=event.seq)
    _tick(mind, event, "watch", name)
    return _WATCHERS


def patterns_read(view: SessionView, event: ev.Event, p: ev.PatternsRead) -> Dirty:
    """How far patterns have come."""
    mind = view.mind
    for item in p.patterns:
        name = _name(str(item.get("name", "")))
        left = item.get("cooldown_left_s")
        mind.patterns[name] = replace(
            mind.patterns.get(name) or PatternCard(name),
            progress=sanitise_line(str(item.get("progress", "")), MAX_TEXT),
            cooldown_left_s=float(left) if isinstance(left, int | float) else 0.0,
        )
    return Dirty.WATCHERS


# -- tools -----------------------------------------------------------------------------------------------------------


def tool_called(view: SessionView, event: ev.Event, p: ev.ToolCalled) -> Dirty:
    """A call begins."""
    tools = view.mind.tools
    tools[plain_key(p.call_id)] = ToolRun(_name(p.name), pack(p.args), event.t, event.turn, event.seq)
    _bounded(tools, MAX_TOOLS)
    return Dirty.TOOLS | Dirty.TIMELINE


def tool_acknowledged(view: SessionView, event: ev.Event, p: ev.ToolAcknowledged) -> Dirty:
    """A call goes on in the background."""
    tools, ident = view.mind.tools, plain_key(p.call_id)
    if ident in tools:
        tools[ident] = replace(tools[ident], acknowledged=True)
    return Dirty.TOOLS


def tool_finished(view: SessionView, event: ev.Event, p: ev.ToolFinished) -> Dirty:
    """A call has its answer."""
    mind, ident = view.mind, plain_key(p.call_id)
    run = mind.tools.get(ident)
    if run is not None:
        mind.tools[ident] = replace(
            run,
            status=p.status,
            result=pack(p.result),
            ms=p.ms,
            end=event.t,
            end_seq=event.seq,
            delivered=p.delivered,
        )
    if p.status == "refused":
        _tick(mind, event, "refused", p.name)
    return Dirty.TOOLS | Dirty.TIMELINE


# -- turns and sound -------------------------------------------------------------------------------------------------


def turn_started(view: SessionView, event: ev.Event, p: ev.TurnStarted) -> Dirty:
    """A turn begins."""
    turns = view.mind.turns
    turns[event.turn] = TurnCard(event.turn, event.t, event.seq, p.by)
    _bounded(turns, MAX_TURNS)
    return _TURN


def turn_completed(view: SessionView, event: ev.Event, p: ev.TurnCompleted) -> Dirty:
    """A turn is over."""
    turns = view.mind.turns
    card = turns.get(event.turn)
    if card is not None:
        latency = card.latency_ms if p.latency_ms is None else p.latency_ms
        turns[event.turn] = replace(card, end=event.t, end_seq=event.seq, outcome=p.outcome, latency_ms=latency)
    return _TURN


def turn_measured(view: SessionView, event: ev.Event, p: ev.TurnMeasured) -> Dirty:
    """Where the turn's time went."""
    turns = view.mind.turns
    card = turns.get(p.of_turn)
    if card is not None:
        turns[p.of_turn] = replace(
            card,
            latency_ms=p.latency_ms if p.latency_ms is not None else card.latency_ms,
            source=_name(p.source),
            stage_names=_names(tuple(p.stages)),
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
    _tick(view.mind, event, "typed", p.text)
    return Dirty.TIMELINE


def _begin(view: SessionView, event: ev.Event, lane: str) -> Dirty:
    _end(view, event, lane)
    spans = view.mind.spans
    spans.append(Span(lane, event.t, event.turn))
    if len(spans) > MAX_SPANS:
        del spans[: MAX_SPANS // 10]
    return Dirty.TIMELINE


def _end(view: SessionView, event: ev.Event, lane: str, *, cut: bool = False) -> Dirty:
    spans = view.mind.spans
    for at in range(len(spans) - 1, max(-1, len(spans) - 8), -1):
        if spans[at].lane == lane:
            if spans[at].end is None:
                spans[at] = replace(spans[at], end=event.t, cut=cut)
            break
    return Dirty.TIMELINE


# -- what the operator does ------------------------------------------------------------------------------------------


def instruction_updated(view: SessionView, event: ev.Event, p: ev.InstructionUpdated) -> Dirty:
    """What the model was told to be."""
    view.mind.instruction = pack(p.text)
    return Dirty.PHASE


def edits_applied(view: SessionView, event: ev.Event, p: ev.EditsApplied) -> Dirty:
    """How many edits can be taken back and made again."""
    view.mind.undo, view.mind.redo = p.undo, p.redo
    return Dirty.STATE


def breakpoints_changed(view: SessionView, event: ev.Event, p: ev.BreakpointsChanged) -> Dirty:
    """All of them."""
    view.mind.breakpoints = tuple(
        Breakpoint(
            _name(str(item.get("id", ""))),
            _name(str(item.get("kind", ""))),
            sanitise_line(str(item.get("target", "")), MAX_TARGET),
            bool(item.get("enabled", True)),
            int(item["hits"]) if isinstance(item.get("hits"), int) else 0,
        )
        for item in p.breakpoints
    )
    return Dirty.HELD | Dirty.WATCHERS | Dirty.PHASE | Dirty.STATE


def held(view: SessionView, event: ev.Event, p: ev.AgentHeld) -> Dirty:
    """The agent stands still."""
    view.mind.held = Held(_name(p.by), sanitise_line(p.at, MAX_TEXT), event.t, event.seq, p.of, _packed(p.explanation))
    _tick(view.mind, event, "held", p.at)
    return Dirty.HELD | Dirty.HEADER | Dirty.TIMELINE


def holding(view: SessionView, event: ev.Event, p: ev.AgentHolding) -> Dirty:
    """What waits."""
    mind = view.mind
    if mind.held is not None:
        mind.held = replace(mind.held, answers=p.answers, steps=p.steps, next=sanitise_line(p.next, MAX_TEXT))
    return Dirty.HELD


def released(view: SessionView, event: ev.Event, p: ev.AgentReleased) -> Dirty:
    """The agent goes on."""
    view.mind.held = None
    return Dirty.HELD | Dirty.HEADER


def mark_set(view: SessionView, event: ev.Event, p: ev.MarkSet) -> Dirty:
    """A moment to come back to."""
    marks = view.mind.marks
    marks.append(Mark(marked_at(event, p), event.seq, p.of or event.seq, sanitise_line(p.text, MAX_TEXT)))
    del marks[:-MAX_MARKS]
    return Dirty.TIMELINE


def faulted(view: SessionView, event: ev.Event, p: ev.CodeFailed) -> Dirty:
    """A fault of the agent's code on the timeline."""
    _tick(view.mind, event, "fault", f"{p.where}: {p.error}")
    return Dirty.TIMELINE


def dropped(view: SessionView, event: ev.Event, p: ev.DeliveryDropped) -> Dirty:
    """A slow reader lost something."""
    view.mind.dropped += p.count
    return Dirty.METERS


HANDLERS: dict[type[ev.Payload], Callable[[SessionView, ev.Event, Any], Dirty]] = {
    ev.AgentDescribed: described,
    ev.StateChanged: state_changed,
    ev.PhaseEntered: phase_entered,
    ev.PhaseBlocked: phase_blocked,
    ev.GuardsRead: guards_read,
    ev.WatcherFired: watcher_fired,
    ev.WatchersMissed: watchers_missed,
    ev.WatcherSwitched: watcher_switched,
    ev.PatternFired: pattern_fired,
    ev.PatternsRead: patterns_read,
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
    ev.InstructionUpdated: instruction_updated,
    ev.EditsApplied: edits_applied,
    ev.BreakpointsChanged: breakpoints_changed,
    ev.AgentHeld: held,
    ev.AgentHolding: holding,
    ev.AgentReleased: released,
    ev.MarkSet: mark_set,
    ev.CodeFailed: faulted,
    ev.DeliveryDropped: dropped,
}
"""What each event does to a view's mind."""
