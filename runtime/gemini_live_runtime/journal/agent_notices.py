"""What an agent's mind does stands in the transcript: phases, watchers, repair, and what went wrong in its code."""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.blocks import open_block
from gemini_live_runtime.journal.marks import marked_at
from gemini_live_runtime.journal.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise_line

_LONGEST = 1000
"""Characters of a line."""

_AGO_S = 1.0
"""Seconds from which on a mark is one of the past."""

_NOTICED = Dirty.TRANSCRIPT | Dirty.NOTICES


def _block(view: SessionView, event: ev.Event, status: str, text: str, detail: str = "") -> Dirty:
    detail = sanitise_line(detail, _LONGEST) if detail else ""
    open_block(view, event, "notice", text=sanitise_line(text, _LONGEST), status=status, detail=detail, done=True)
    return _NOTICED


def phase_entered(view: SessionView, event: ev.Event, p: ev.PhaseEntered) -> Dirty:
    """`greet → book: the day is known (the last phase)`."""
    view.phase = sanitise_line(p.phase, 80)
    way = f"{p.previous} → {p.phase}" if p.previous else p.phase
    because = f": {p.because}" if p.because else ""
    end = " (the last phase)" if p.terminal else ""
    by = {"operator": " (by the operator)", "programmatic": " (by the program)", "restored": " (taken up again)"}
    return _block(view, event, "phase", f"{way}{because}{by.get(p.trigger, '')}{end}") | Dirty.HEADER


def phase_blocked(view: SessionView, event: ev.Event, p: ev.PhaseBlocked) -> Dirty:
    """What a phase still lacks."""
    preparing = f", preparing {', '.join(p.preparing)}" if p.preparing else ""
    return _block(view, event, "phase", f"{p.target} waits for {', '.join(p.missing)}{preparing}")


def watcher_fired(view: SessionView, event: ev.Event, p: ev.WatcherFired) -> Dirty:
    """The watcher and what it saw."""
    if p.muted:
        return Dirty.NONE
    return _block(view, event, "watch", f"{p.watcher}: {p.key} is {_short(p.new)}, was {_short(p.old)}")


def pattern_fired(view: SessionView, event: ev.Event, p: ev.PatternFired) -> Dirty:
    """The pattern and its numbers."""
    return _block(view, event, "watch", f"{p.pattern}: {p.text}")


def repair_acted(view: SessionView, event: ev.Event, p: ev.RepairActed) -> Dirty:
    """What is still needed."""
    verb = "is nudged to ask for" if p.action == "nudge" else "did not find out"
    return _block(view, event, "watch", f"repair: the model {verb} {', '.join(p.unfulfilled)}")


def code_failed(view: SessionView, event: ev.Event, p: ev.CodeFailed) -> Dirty:
    """A fault in the agent's own code."""
    return _block(view, event, "warning", f"The agent's code failed in {p.where}{_at(p.defined_at)}: {p.error}")


def extraction_failed(view: SessionView, event: ev.Event, p: ev.ExtractionFailed) -> Dirty:
    """An extractor gave nothing."""
    return _block(view, event, "warning", f"The extractor {p.extractor} failed{_at(p.raised_at)}: {p.reason}")


def agent_finished(view: SessionView, event: ev.Event, p: ev.AgentFinished) -> Dirty:
    """A background agent's words."""
    how = "has finished" if p.ok else "failed"
    return _block(view, event, "info", f"The background agent {p.name} {how}: {p.text}")


def snapshot_restored(view: SessionView, event: ev.Event, p: ev.SnapshotRestored) -> Dirty:
    """An earlier session goes on."""
    return _block(view, event, "info", f"The session saved {p.saved_at} goes on after {p.turns} turns")


def dropped(view: SessionView, event: ev.Event, p: ev.DeliveryDropped) -> Dirty:
    """A reader that is too slow."""
    return _block(view, event, "warning", f"{p.subscriber} is too slow: {p.count} {p.delivery} events were dropped")


def promotion_decided(view: SessionView, event: ev.Event, p: ev.PromotionDecided) -> Dirty:
    """A finding that did not become state; one that did is seen there."""
    if p.accepted:
        return Dirty.NONE
    return _block(view, event, "refused", f"{p.key} stays: {p.extractor} found {_short(p.value)}, {p.reason}")


def edits_applied(view: SessionView, event: ev.Event, p: ev.EditsApplied) -> Dirty:
    """What the operator wrote."""
    verb = {"edit": "you set", "undo": "you took back", "redo": "you set again"}[p.how]
    parts = [
        f"{item.get('key', '')} " + ("removed" if item.get("removed") else f"= {_short(item.get('new'))}")
        for item in p.values[:3]
    ]
    more = f" and {len(p.values) - 3} more" if len(p.values) > 3 else ""
    return _block(view, event, "edit", f"{verb} {', '.join(parts)}{more}")


def watcher_switched(view: SessionView, event: ev.Event, p: ev.WatcherSwitched) -> Dirty:
    """Muted or heard."""
    return _block(view, event, "edit", f"the watcher {p.watcher} is {'muted' if p.muted else 'heard again'}")


def held(view: SessionView, event: ev.Event, p: ev.AgentHeld) -> Dirty:
    """Where the agent stands still."""
    return _block(view, event, "held", f"at {p.at}")


def released(view: SessionView, event: ev.Event, p: ev.AgentReleased) -> Dirty:
    """The agent goes on; of single steps the places are enough."""
    if p.how == "event":
        return Dirty.NONE
    how = " until the turn ends" if p.how == "turn" else ""
    return _block(view, event, "held", f"goes on{how} after {p.seconds:.1f} s")


def mark_set(view: SessionView, event: ev.Event, p: ev.MarkSet) -> Dirty:
    """A moment to come back to; which one, where it is not this."""
    t = marked_at(event, p)
    which = f" (at {int(t) // 60:02d}:{int(t) % 60:02d})" if event.t - t >= _AGO_S else ""
    return _block(view, event, "mark", f"{p.text or 'marked'}{which}")


def reloaded(view: SessionView, event: ev.Event, p: ev.AgentReloaded) -> Dirty:
    """The agent's file was read again."""
    if p.problem:
        return _block(view, event, "warning", f"{p.path} cannot be used, the agent goes on as it was: {p.problem}")
    what = ", ".join(p.changed) or "nothing has changed"
    return _block(view, event, "edit", f"{p.path} was read again: {what}")


def _at(place: str) -> str:
    return f" ({place})" if place else ""


def _short(value: object) -> str:
    text = "unset" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


HANDLERS = {
    ev.PhaseEntered: phase_entered,
    ev.PhaseBlocked: phase_blocked,
    ev.WatcherFired: watcher_fired,
    ev.PatternFired: pattern_fired,
    ev.RepairActed: repair_acted,
    ev.CodeFailed: code_failed,
    ev.ExtractionFailed: extraction_failed,
    ev.AgentFinished: agent_finished,
    ev.SnapshotRestored: snapshot_restored,
    ev.DeliveryDropped: dropped,
    ev.PromotionDecided: promotion_decided,
    ev.EditsApplied: edits_applied,
    ev.WatcherSwitched: watcher_switched,
    ev.AgentHeld: held,
    ev.AgentReleased: released,
    ev.MarkSet: mark_set,
    ev.AgentReloaded: reloaded,
}
"""What each event does to a view."""
