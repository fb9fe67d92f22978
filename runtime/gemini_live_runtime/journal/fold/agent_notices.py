"""Fold an agent's decisions, faults and edits into notices of the transcript."""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.agent_fold import goes_on
from gemini_live_runtime.journal.fold.blocks import open_block
from gemini_live_runtime.journal.fold.fold_parts import Handlers, clean_name, tick
from gemini_live_runtime.journal.fold.link_blocks import HANDED_OFF
from gemini_live_runtime.journal.fold.marks import marked_at
from gemini_live_runtime.journal.fold.view import Dirty, SessionView, WaitingSpeech
from gemini_live_runtime.text import sanitise_line

HANDLERS = Handlers()
"""Handlers that add a notice, one line each."""

_MAX_CHARS = 1000
"""Characters of a notice."""

MAX_PROBLEMS = 100
"""Parts that the view keeps as degraded."""

_AGO_S = 1.0
"""Age in seconds from which the notice of a mark names its time."""

_NOTICED = Dirty.TRANSCRIPT | Dirty.NOTICES


def _block(view: SessionView, event: ev.Event, status: str, text: str, detail: str = "") -> Dirty:
    detail = sanitise_line(detail, _MAX_CHARS) if detail else ""
    open_block(view, event, "notice", text=sanitise_line(text, _MAX_CHARS), status=status, detail=detail, done=True)
    return _NOTICED


@HANDLERS.on(ev.PhaseEntered)
def _phase_entered(view: SessionView, event: ev.Event, p: ev.PhaseEntered) -> Dirty:
    view.phase = sanitise_line(p.phase, 80)
    if goes_on(view.agent_view, p):
        return Dirty.HEADER
    way = f"{p.previous} → {p.phase}" if p.previous else p.phase
    because = f": {p.because}" if p.because else ""
    end = " (the last phase)" if p.terminal else ""
    by = {"operator": " (by the operator)", "programmatic": " (by the program)", "restored": " (restored)"}
    return _block(view, event, "phase", f"{way}{because}{by.get(p.trigger, '')}{end}") | Dirty.HEADER


@HANDLERS.on(ev.PhaseBlocked)
def _phase_blocked(view: SessionView, event: ev.Event, p: ev.PhaseBlocked) -> Dirty:
    preparing = f", preparing {', '.join(p.preparing)}" if p.preparing else ""
    return _block(view, event, "phase", f"{p.target} waits for {', '.join(p.missing)}{preparing}")


@HANDLERS.on(ev.WatcherFired)
def _watcher_fired(view: SessionView, event: ev.Event, p: ev.WatcherFired) -> Dirty:
    if p.muted:
        return Dirty.NONE
    return _block(view, event, "watch", f"{p.watcher}: {p.key} is {_short(p.new)}, was {_short(p.old)}")


@HANDLERS.on(ev.PatternFired)
def _pattern_fired(view: SessionView, event: ev.Event, p: ev.PatternFired) -> Dirty:
    return _block(view, event, "watch", f"{p.pattern}: {p.text}")


@HANDLERS.on(ev.RepairActed)
def _repair_acted(view: SessionView, event: ev.Event, p: ev.RepairActed) -> Dirty:
    verb = "is reminded to ask for" if p.action == "nudge" else "did not find out"
    return _block(view, event, "watch", f"repair: the model {verb} {', '.join(p.unfulfilled)}")


@HANDLERS.on(ev.CodeFailed)
def _code_failed(view: SessionView, event: ev.Event, p: ev.CodeFailed) -> Dirty:
    return _block(view, event, "warning", f"The agent's code failed in {p.where}{_at(p.defined_at)}: {p.error}")


@HANDLERS.on(ev.PartHealth)
def _part_health(view: SessionView, event: ev.Event, p: ev.PartHealth) -> Dirty:
    kind = sanitise_line(f"{p.part} {p.name}", _MAX_CHARS)
    if p.well:
        view.health.pop(kind, None)
        return _block(view, event, "info", f"The {kind} works again") | Dirty.METERS
    if len(view.health) < MAX_PROBLEMS:
        view.health[kind] = (sanitise_line(p.text, _MAX_CHARS), "")
    return _block(view, event, "warning", p.text, p.remedy) | Dirty.METERS


@HANDLERS.on(ev.ExtractionFailed)
def _extraction_failed(view: SessionView, event: ev.Event, p: ev.ExtractionFailed) -> Dirty:
    return _block(view, event, "warning", f"The extractor {p.extractor} failed{_at(p.raised_at)}: {p.reason}")


@HANDLERS.on(ev.AgentFinished)
def _agent_finished(view: SessionView, event: ev.Event, p: ev.AgentFinished) -> Dirty:
    how = "has finished" if p.ok else "failed"
    return _block(view, event, "info", f"The background agent {p.name} {how}: {p.text}")


@HANDLERS.on(ev.SnapshotRestored)
def _snapshot_restored(view: SessionView, event: ev.Event, p: ev.SnapshotRestored) -> Dirty:
    return _block(view, event, "info", f"Restored the session saved at {p.saved_at}, {p.turns} turns")


@HANDLERS.on(ev.DeliveryDropped)
def _dropped(view: SessionView, event: ev.Event, p: ev.DeliveryDropped) -> Dirty:
    return _block(view, event, "warning", f"{p.subscriber} is too slow: {p.count} {p.delivery} events were dropped")


@HANDLERS.on(ev.PromotionDecided)
def _promotion_decided(view: SessionView, event: ev.Event, p: ev.PromotionDecided) -> Dirty:
    if p.accepted:
        return Dirty.NONE  # seen as a change of state
    value = _short(str(p.value).lower() if isinstance(p.value, bool) else p.value)
    return _block(view, event, "refused", f'{p.key} not set: "{p.extractor}" extracted {value}, {p.reason}')


@HANDLERS.on(ev.EditsApplied)
def _edits_applied(view: SessionView, event: ev.Event, p: ev.EditsApplied) -> Dirty:
    if not p.values:
        return _block(view, event, "edit", "nothing changed: the value is the same as before")
    verb = {"edit": "you set", "undo": "you undid", "redo": "you redid"}[p.how]
    parts = [
        f"{item.get('key', '')} " + ("removed" if item.get("removed") else f"= {_short(item.get('new'))}")
        for item in p.values[:3]
    ]
    more = f" and {len(p.values) - 3} more" if len(p.values) > 3 else ""
    return _block(view, event, "edit", f"{verb} {', '.join(parts)}{more}")


@HANDLERS.on(ev.WatcherSwitched)
def _watcher_switched(view: SessionView, event: ev.Event, p: ev.WatcherSwitched) -> Dirty:
    return _block(view, event, "edit", f"watcher {p.watcher} {'muted' if p.muted else 'unmuted'}")


@HANDLERS.on(ev.AgentHeld)
def _held(view: SessionView, event: ev.Event, p: ev.AgentHeld) -> Dirty:
    return _block(view, event, "held", f"at {p.at}")


@HANDLERS.on(ev.AgentReleased)
def _released(view: SessionView, event: ev.Event, p: ev.AgentReleased) -> Dirty:
    if p.how == "event":
        return Dirty.NONE  # a single step: the next hold says where
    how = " until the turn ends," if p.how == "turn" else ""
    return _block(view, event, "held", f"resumed{how} after {p.seconds:.1f} s")


@HANDLERS.on(ev.MarkSet)
def _mark_set(view: SessionView, event: ev.Event, p: ev.MarkSet) -> Dirty:
    t = marked_at(event, p)
    which = f" (at {int(t) // 60:02d}:{int(t) % 60:02d})" if event.t - t >= _AGO_S else ""
    return _block(view, event, "mark", f"{p.text or 'marked'}{which}")


@HANDLERS.on(ev.HandoffRequested)
def _handoff_requested(view: SessionView, event: ev.Event, p: ev.HandoffRequested) -> Dirty:
    agent = sanitise_line(p.agent, 80)
    if not p.problem:
        view.next_agent = agent
    elif view.next_agent == agent:
        view.next_agent = ""
    if p.problem:
        return _block(view, event, "warning", f"{p.agent} did not take over: {p.problem}") | Dirty.HEADER
    return Dirty.HEADER


_TOLD = {"fresh": ", which is not told what was said", "given": ", which is told chosen messages"}


@HANDLERS.on(ev.AgentHandedOff)
def _handed_off(view: SessionView, event: ev.Event, p: ev.AgentHandedOff) -> Dirty:
    view.agent, view.next_agent, view.phase = sanitise_line(p.agent, 80), "", ""
    by = {
        "tool": f": {p.reason} returned it",
        "operator": " (by the operator)",
        "task": " (for a task)",
        "restored": " (restored)",
    }
    anew = _TOLD.get(p.chat, "")
    text = f"{p.previous} → {p.agent}{anew}{by.get(p.by, ' (by the program)')}"
    tick(view.agent_view, event, "handoff", f"{p.previous} → {p.agent}")
    return _block(view, event, HANDED_OFF, text) | Dirty.HEADER | Dirty.TIMELINE | Dirty.PHASE


@HANDLERS.on(ev.SpeechChanged)
def _speech_changed(view: SessionView, event: ev.Event, p: ev.SpeechChanged) -> Dirty:
    ident = clean_name(p.id)
    if p.status == "queued":
        label = sanitise_line(p.reason, 80) or _SOURCES[p.source]
        view.speeches[ident] = WaitingSpeech(label, p.priority, event.t)
    elif view.speeches.pop(ident, None) is None:
        return Dirty.NONE
    return Dirty.HEADER


_SOURCES = {
    "prompt": "a prompt",
    "reply": "a reply",
    "notification": "a notification",
    "consent": "a question of consent",
    "user": "an answer",
    "model": "the model",
}
"""Words for what made a speech."""


@HANDLERS.on(ev.AgentReloaded)
def _reloaded(view: SessionView, event: ev.Event, p: ev.AgentReloaded) -> Dirty:
    if p.problem:
        return _block(view, event, "warning", f"{p.path} not reloaded, the agent is unchanged: {p.problem}")
    return _block(view, event, "edit", f"{p.path} reloaded: {', '.join(p.changed) or 'no changes'}")


def _at(place: str) -> str:
    return f" ({place})" if place else ""


def _short(value: object) -> str:
    text = "unset" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
