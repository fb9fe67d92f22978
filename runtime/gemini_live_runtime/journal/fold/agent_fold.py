"""Fold an agent's parts, state, phases, guards, watchers and patterns."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.agent_view import (
    MAX_KEYS,
    MAX_NUMBERS,
    MAX_PATH,
    MAX_REMOVED,
    MAX_SPANS,
    AgentView,
    KeyCell,
    Need,
    PatternCard,
    PhaseVisit,
    Removal,
    TransitionStatus,
    WatcherCard,
)
from gemini_live_runtime.journal.fold.fold_parts import MAX_TEXT, Handlers, bound, clean_name, packed_tree, shown, tick
from gemini_live_runtime.journal.fold.packing import pack, plain_key
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise_line

HANDLERS = Handlers()
"""Handlers of state and decisions; `turn_fold` and `debugger_fold` have others."""

_KINDS = {str: "text", int: "number", float: "number", bool: "bool", type(None): "null", list: "list", dict: "object"}

EXACT = 2**53
"""Bound below which floats hold every whole number exactly."""

_STATE = Dirty.STATE | Dirty.TIMELINE
_WATCHERS = Dirty.WATCHERS | Dirty.TIMELINE

# -- the agent -------------------------------------------------------------------------------------------------------


@HANDLERS.on(ev.AgentDescribed)
def _described(view: SessionView, event: ev.Event, p: ev.AgentDescribed) -> Dirty:
    agent = view.agent_view
    shape = {name: getattr(p, name) for name in ("phases", "computed", "keys", "tools", "extractors")}
    if p.hands_over_to:
        shape["hands_over_to"] = p.hands_over_to
    agent.shape, agent.shape_seq = (
        pack({**shape, "agent": p.agent, "instruction": p.instruction, "initial_phase": p.initial_phase}),
        event.seq,
    )
    # A reload describes the agent anew: watchers and patterns of the same name keep their counts.
    known_watchers, known_patterns = agent.watchers, agent.patterns
    agent.watchers, agent.patterns = {}, {}
    for item in p.watchers:
        card = WatcherCard(
            clean_name(str(item.get("name", ""))),
            sanitise_line(str(item.get("when", "")), MAX_TEXT),
            tuple(clean_name(str(key)) for key in _listed(item.get("keys"))),
            bool(item.get("blocking")),
            sanitise_line(str(item.get("defined_at", "")), MAX_TEXT),
        )
        before = known_watchers.get(card.name)
        if before is not None:
            card = replace(before, when=card.when, keys=card.keys, blocking=card.blocking, defined_at=card.defined_at)
        agent.watchers[card.name] = card
    for item in p.patterns:
        name = clean_name(str(item.get("name", "")))
        when = sanitise_line(str(item.get("when", "")), MAX_TEXT)
        place = sanitise_line(str(item.get("defined_at", "")), MAX_TEXT)
        agent.patterns[name] = replace(known_patterns.get(name, PatternCard(name)), when=when, defined_at=place)
    return Dirty.PHASE | Dirty.WATCHERS | Dirty.STATE | Dirty.TOOLS


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


# -- state -----------------------------------------------------------------------------------------------------------


@HANDLERS.on(ev.StateChanged)
def _state_changed(view: SessionView, event: ev.Event, p: ev.StateChanged) -> Dirty:
    agent = view.agent_view
    agent.changes += 1
    second = int(event.t)
    density = agent.state_density
    density[second] = density.get(second, 0) + 1
    if len(density) > MAX_SPANS:
        bound(density, MAX_SPANS)
    name = plain_key(p.key)
    keys = agent.keys
    before = keys.get(name)
    if p.removed:
        keys.pop(name, None)
        agent.removed.pop(name, None)  # so that the key moves to the end: the order is that of removal
        by, reason = clean_name(p.by) if p.by else "", sanitise_line(p.reason, MAX_TEXT) if p.reason else ""
        agent.removed[name] = Removal(clean_name(p.origin), by, reason, event.t, event.turn, event.seq)
        bound(agent.removed, MAX_REMOVED)
        return _STATE
    if before is None:
        agent.removed.pop(name, None)
        if len(keys) >= MAX_KEYS:
            agent.keys_beyond += 1
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
        clean_name(p.origin),
        clean_name(p.by) if p.by else "",
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


@HANDLERS.on(ev.PhaseEntered)
def _phase_entered(view: SessionView, event: ev.Event, p: ev.PhaseEntered) -> Dirty:
    agent = view.agent_view
    name = clean_name(p.phase)
    if not goes_on(agent, p):
        leave_phase(agent, event.t)
        agent.path.append(
            PhaseVisit(
                name, event.t, event.turn, event.seq, p.trigger, sanitise_line(p.because, MAX_TEXT) if p.because else ""
            )
        )
        del agent.path[:-MAX_PATH]
        agent.visits[name] = agent.visits.get(name, 0) + 1
        bound(agent.visits, MAX_PATH)
    agent.ways, agent.blocked, agent.terminal = (), "", p.terminal
    agent.needs = tuple(Need(clean_name(key), clean_name(key), met=False) for key in p.needs)
    agent.allowed = None if p.tools is None else tuple(clean_name(tool) for tool in p.tools)
    return Dirty.PHASE | Dirty.TIMELINE | Dirty.TOOLS


def leave_phase(agent: AgentView, t: float) -> None:
    """Note that the current phase ends at `t`."""
    if agent.stay is not None:
        agent.path[-1] = replace(agent.stay, seconds=round(t - agent.stay.t, 3))


@HANDLERS.on(ev.AgentHandedOff)
def _handed_off(view: SessionView, event: ev.Event, p: ev.AgentHandedOff) -> Dirty:
    agent = view.agent_view
    leave_phase(agent, event.t)
    agent.ways, agent.needs, agent.allowed, agent.blocked, agent.terminal = (), (), None, "", False
    return Dirty.PHASE | Dirty.TIMELINE | Dirty.TOOLS


def goes_on(agent: AgentView, entered: ev.PhaseEntered) -> bool:
    """Return True when another engine goes on in the phase of its predecessor."""
    stay = agent.stay
    return stay is not None and entered.trigger == "restored" and stay.phase == clean_name(entered.phase)


@HANDLERS.on(ev.PhaseBlocked)
def _phase_blocked(view: SessionView, event: ev.Event, p: ev.PhaseBlocked) -> Dirty:
    view.agent_view.blocked = sanitise_line(f"{p.target} waits for {', '.join(p.missing)}", MAX_TEXT)
    return Dirty.PHASE


@HANDLERS.on(ev.GuardsRead)
def _guards_read(view: SessionView, event: ev.Event, p: ev.GuardsRead) -> Dirty:
    agent = view.agent_view
    agent.ways = tuple(
        TransitionStatus(
            clean_name(str(item.get("to", ""))),
            clean_name(str(item.get("outcome", ""))),
            sanitise_line(str(item.get("because", "")), MAX_TEXT),
            packed_tree(item.get("guard")),
            packed_tree(item.get("target_guard")),
            tuple(clean_name(str(key)) for key in item.get("missing") or ()),
        )
        for item in p.ways
    )
    agent.needs = tuple(
        Need(
            clean_name(str(item.get("key", ""))),
            clean_name(str(item.get("label", ""))),
            bool(item.get("met")),
            clean_name(str(item.get("by", ""))),
        )
        for item in p.needs
    )
    if agent.blocked and all(way.outcome != "blocked" for way in agent.ways):
        agent.blocked = ""
    return Dirty.PHASE


# -- watchers --------------------------------------------------------------------------------------------------------


@HANDLERS.on(ev.WatcherFired)
def _watcher_fired(view: SessionView, event: ev.Event, p: ev.WatcherFired) -> Dirty:
    agent, name = view.agent_view, clean_name(p.watcher)
    card = agent.watchers.get(name) or WatcherCard(name)
    if p.muted:
        card = replace(card, suppressed=card.suppressed + 1)
    else:
        text = f"{clean_name(p.key)} {shown(pack(p.old), 40)} → {shown(pack(p.new), 40)}"
        card = card.after_firing(text, event.t, event.seq)
        tick(agent, event, "watch", name)
    agent.watchers[name] = card
    return _WATCHERS


@HANDLERS.on(ev.WatchersMissed)
def _watchers_missed(view: SessionView, event: ev.Event, p: ev.WatchersMissed) -> Dirty:
    agent = view.agent_view
    for miss in p.misses:
        name = clean_name(str(miss.get("watcher", "")))
        card = agent.watchers.get(name) or WatcherCard(name)
        share = miss.get("share")
        near = float(share) if isinstance(share, int | float) and not isinstance(share, bool) else None
        why = sanitise_line(str(miss.get("missing", "")), MAX_TEXT)
        agent.watchers[name] = card.after_missing(why, event.t, event.seq, near)
    return Dirty.WATCHERS


@HANDLERS.on(ev.WatcherSwitched)
def _watcher_switched(view: SessionView, event: ev.Event, p: ev.WatcherSwitched) -> Dirty:
    name = clean_name(p.watcher)
    view.agent_view.watchers[name] = replace(view.agent_view.watchers.get(name) or WatcherCard(name), muted=p.muted)
    return Dirty.WATCHERS


@HANDLERS.on(ev.PatternFired)
def _pattern_fired(view: SessionView, event: ev.Event, p: ev.PatternFired) -> Dirty:
    agent, name = view.agent_view, clean_name(p.pattern)
    card = agent.patterns.get(name) or PatternCard(name)
    text = sanitise_line(p.text, MAX_TEXT)
    agent.patterns[name] = replace(card, fired=card.fired + 1, last=text, last_t=event.t, last_seq=event.seq)
    tick(agent, event, "watch", name)
    return _WATCHERS


@HANDLERS.on(ev.PatternsRead)
def _patterns_read(view: SessionView, event: ev.Event, p: ev.PatternsRead) -> Dirty:
    agent = view.agent_view
    for item in p.patterns:
        name = clean_name(str(item.get("name", "")))
        left = item.get("cooldown_left_s")
        agent.patterns[name] = replace(
            agent.patterns.get(name) or PatternCard(name),
            progress=sanitise_line(str(item.get("progress", "")), MAX_TEXT),
            cooldown_left_s=float(left) if isinstance(left, int | float) else 0.0,
        )
    return Dirty.WATCHERS
