"""Explain why something happened or not: decision, values read, triggering change.

Events are explained with the view before them, which holds the values that were read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.journal.fold.agent_view import AgentView
from gemini_live_runtime.journal.fold.packing import plain_key, unpack
from gemini_live_runtime.records import record
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.painting.formatting import clock_text, seconds_text
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Line, Run
from gemini_live_tui.panes.explanations import Tree, all_reads, outline, value_text
from gemini_live_tui.panes.handoff_words import handed_over, not_handed_over
from gemini_live_tui.panes.speech_words import dropped

if TYPE_CHECKING:
    from gemini_live_runtime import events as ev
    from gemini_live_runtime.journal.fold.agent_view import KeyCell, TransitionStatus, WatcherCard
    from gemini_live_runtime.journal.fold.view import SessionView

EXPLAINED = frozenset(
    {
        "phase.entered",
        "phase.blocked",
        "watcher.fired",
        "pattern.fired",
        "repair.acted",
        "promotion.decided",
        "tool.finished",
        "speech.changed",
        "speech.not_understood",
        "turn.interrupted",
        "interruption.ignored",
        "agent.handed_off",
        "agent.handoff_requested",
    }
)
"""Types of events of which some can be explained."""

MODEL_RATE = 24_000
"""Samples of the model's sound in a second."""

SOFT_DB = -30.0
"""Peak (dBFS) below which speech is called soft."""

_DECIDED_BY = {
    "server": "The server's voice detector",
    "client": "Our own voice detector",
    "switch": "The microphone switch",
}
_CUT_BY: Mapping[str, str] = {
    "words": "You said as many words as the agent takes for an interruption.",
    "duration": "Your voice lasted long enough for our own voice detector to pass it on as speech.",
    "server": "The server's voice detector heard you speak.",
    "typed": "A text was typed, which always interrupts the answer.",
    "key": "A key, a command or code of the agent stopped it.",
}
_TRIGGERS = {
    "initial": "The conversation begins here.",
    "operator": "The operator took it here.",
    "programmatic": "The agent's own code took it here.",
    "restored": "An earlier session was taken up here.",
}


@record
class Reason:
    """Explanation of an event.

    `lead` says what happened, `trees` are the decisions, each with a heading, `missing` absent values. `seq` is the
    event, 0 for something that did not happen. `keys` are the cells that were read.
    """

    title: str
    lead: tuple[Sequence[Run], ...] = ()
    trees: tuple[tuple[str, Tree], ...] = ()
    missing: tuple[str, ...] = ()
    keys: Mapping[str, KeyCell] = field(default_factory=dict)
    seq: int = 0


def explained(event: ev.Event) -> bool:
    """Return True when an event can be explained."""
    from gemini_live_runtime import events as ev

    payload = event.payload
    if isinstance(payload, ev.PromotionDecided):
        return not payload.accepted
    if isinstance(payload, ev.ToolFinished):
        return payload.status == "refused"
    if isinstance(payload, ev.TurnInterrupted):
        return payload.rule in _CUT_BY
    if isinstance(payload, ev.HandoffRequested):
        return bool(payload.problem)
    if isinstance(payload, ev.SpeechChanged):
        return payload.status == "dropped"
    return event.type in EXPLAINED


def reason_of(event: ev.Event, before: SessionView) -> Reason | None:
    """Explain an event by the view just before it; None when it needs no explanation."""
    from gemini_live_runtime import events as ev

    payload, agent = event.payload, before.agent_view
    if not explained(event):
        return None
    if isinstance(payload, ev.PhaseEntered):
        reason = _entered(payload)
    elif isinstance(payload, ev.PhaseBlocked):
        reason = _blocked(payload, agent)
    elif isinstance(payload, ev.WatcherFired):
        reason = _fired(payload, agent)
    elif isinstance(payload, ev.PatternFired):
        reason = Reason(f"{_name(payload.pattern)} was seen", ((_said(payload.text),),))
    elif isinstance(payload, ev.RepairActed):
        reason = _repaired(payload)
    elif isinstance(payload, ev.PromotionDecided):
        reason = _kept(payload)
    elif isinstance(payload, ev.ToolFinished):
        reason = _refused(payload, agent)
    elif isinstance(payload, ev.SpeechNotUnderstood):
        reason = _not_understood(payload, before)
    elif isinstance(payload, ev.TurnInterrupted):
        reason = _cut(payload)
    elif isinstance(payload, ev.SpeechChanged):
        reason = Reason(*dropped(payload, before, event.t))
    elif isinstance(payload, ev.InterruptionIgnored):
        reason = _not_cut(payload)
    elif isinstance(payload, ev.AgentHandedOff):
        reason = Reason(*handed_over(payload, agent))
    elif isinstance(payload, ev.HandoffRequested):
        reason = Reason(*not_handed_over(payload, agent))
    else:
        return None
    keys = {**_cells(reason, agent), **_cells_of(reason.missing, agent)}
    return Reason(reason.title, reason.lead, reason.trees, reason.missing, keys, event.seq)


def reason_of_transition(way: TransitionStatus, agent: AgentView) -> Reason:
    """Explain why a transition is taken or blocked."""
    here = agent.path[-1].phase if agent.path else ""
    words = {
        "ready": "It is open: the conversation goes there when the turn ends.",
        "blocked": f"Its guard holds, but {way.to} requires what is not there yet.",
        "guard is false": "Its guard does not hold.",
        "target's guard is false": f"Its guard holds, the one of {way.to} itself does not.",
        "requirement missing": f"Its guard holds, but {way.to} requires what is not there yet.",
    }
    lead: list[Sequence[Run]] = [(_said(words.get(way.outcome, way.outcome)),)]
    if way.because:
        lead.append((("It is there because ", "quiet"), _said(way.because)))
    named = ((f"The guard from {here}", way.guard), (f"The guard of {way.to}", way.target_guard))
    trees = tuple((heading, tree) for heading, packed in named if isinstance(tree := unpack(packed), dict))
    reason = Reason(f"{here} to {way.to}", tuple(lead), trees, way.missing)
    keys = {**_cells(reason, agent), **_cells_of(way.missing, agent)}
    return Reason(reason.title, reason.lead, reason.trees, reason.missing, keys)


def _entered(p: ev.PhaseEntered) -> Reason:
    title = f"{_name(p.previous)} to {_name(p.phase)}" if p.previous else f"{_name(p.phase)}, the first phase"
    lead: list[Sequence[Run]] = []
    if p.trigger in _TRIGGERS:
        lead.append((_said(_TRIGGERS[p.trigger]),))
    if p.because:
        lead.append((("because ", "quiet"), _said(p.because)))
    if p.previous:
        lead.append(((f"It was in {_name(p.previous)} for {seconds_text(p.seconds)}.", "quiet"),))
    trees = (("What decided", p.explanation),) if isinstance(p.explanation, Mapping) else ()
    return Reason(title, tuple(lead), trees)


def _blocked(p: ev.PhaseBlocked, agent: AgentView) -> Reason:
    lead = [(_said(f"A guard let the conversation go to {_name(p.target)}, which requires what is not there yet."),)]
    if p.preparing:
        lead.append((_said(f"The agent is preparing {', '.join(_name(name) for name in p.preparing)}."),))
    way = next((way for way in agent.ways if way.to == _name(p.target)), None)
    tree = unpack(way.guard) if way is not None else None
    trees = (("The guard that let it", tree),) if isinstance(tree, dict) else ()
    return Reason(f"{_name(p.phase)} to {_name(p.target)} waits", tuple(lead), trees, p.missing)


def _fired(p: ev.WatcherFired, agent: AgentView) -> Reason:
    how = "was seen, but it is muted: nothing was run" if p.muted else "fired"
    lead: list[Sequence[Run]] = [_change(_name(p.key), value_text(p.old), value_text(p.new))]
    card = agent.watchers.get(_name(p.watcher))
    if p.blocking:
        lead.append((("The turn waited for what it does.", "quiet"),))
    if card is not None and card.defined_at:
        lead.append(((f"Defined in {card.defined_at}.", "quiet"),))
    return Reason(f"{_name(p.watcher)} {how}", tuple(lead), (("What it looks for", p.explanation),))


def _repaired(p: ev.RepairActed) -> Reason:
    what = "is nudged to ask again" if p.action == "nudge" else "has asked often enough: escalation begins"
    lead: list[Sequence[Run]] = [(_said(f"In {_name(p.phase)} some needs stay open; the model {what}."),)]
    if p.attempt:
        lead.append(((f"Attempt {p.attempt}.", "quiet"),))
    return Reason(f"Repair in {_name(p.phase)}", tuple(lead), (), p.unfulfilled)


def _kept(p: ev.PromotionDecided) -> Reason:
    key = _name(p.key)
    lead = (
        ((f"The extractor {_name(p.extractor)} found {_name(p.field)} = ", "said"), (value_text(p.value), "strong")),
        (("It did not become state: ", "said"), _said(p.reason)),
    )
    # Show the unchanged key with its value.
    read = {"text": f"{key} stays", "value": False, "reads": [{"key": p.key, "present": False}]}
    return Reason(f"{key} stays as it was", lead, (("", read),))


def _refused(p: ev.ToolFinished, agent: AgentView) -> Reason:
    run = agent.tools.get(plain_key(p.call_id))
    lead: list[Sequence[Run]] = [(_said("It was never run; the model was told why:"),)]
    lead.append(((f"  {value_text(p.result, 400)}", "strong"),))
    if run is not None:
        lead.append((("called with ", "quiet"), _said(value_text(unpack(run.args), 200))))
    if agent.allowed is not None and agent.path:
        allowed = ", ".join(agent.allowed) or "none"
        lead.append((("allowed in ", "quiet"), _said(f"{agent.path[-1].phase}: {allowed}")))
    return Reason(f"{_name(p.name)} was refused", tuple(lead))


def _not_understood(p: ev.SpeechNotUnderstood, before: SessionView) -> Reason:
    level = "" if p.peak_db is None else f", its peak was {p.peak_db:.0f} dBFS"
    said = {
        "answered": "When the model began to answer, the server had sent no words of it.",
        "nothing": "The server ended the turn without words and without an answer.",
    }
    lead: list[Sequence[Run]] = [
        (_said(f"A voice was heard for {p.seconds:.1f} s{level}."),),
        (_said(f"{_DECIDED_BY.get(p.decided_by, p.decided_by)} ended it and passed it on as speech."),),
        (_said(said.get(p.answer, p.answer)),),
    ]
    if p.peak_db is not None and p.peak_db < SOFT_DB:
        lead.append((("That is soft: speak closer to the microphone, or raise its level.", "warn"),))
    if before.backend == "local":
        hint = "The embedded server's recogniser knows English sentences near those of its dialogue only."
        lead.append(((hint, "quiet"),))
    return Reason("Speech was not understood", tuple(lead))


def _cut(p: ev.TurnInterrupted) -> Reason:
    heard_s, whole_s = (count / MODEL_RATE for count in (p.heard_samples, p.heard_samples + p.unheard_samples))
    lead: list[Sequence[Run]] = [(("rule  ", "quiet"), (p.rule, "strong")), (_said(_CUT_BY[p.rule]),)]
    if whole_s:
        lead.append(((f"{heard_s:.1f} s of {whole_s:.1f} s had been heard.", "quiet"),))
    return Reason("The answer was cut", tuple(lead))


def _not_cut(p: ev.InterruptionIgnored) -> Reason:
    voice = "A voice over the answer" if p.voice_s is None else f"A voice of {p.voice_s:.1f} s over the answer"
    words = f"{p.words} word" if p.words == 1 else f"{p.words} words"
    said = {
        "duration": f"{voice} was too short to interrupt it: that takes {p.needed:.1f} s.",
        "words": f"{voice} had {words}: it takes {p.needed:.0f} to interrupt.",
        "protected": "The answer may not be interrupted: the model got silence in place of the microphone's sound.",
        "false": f"{voice} had no words: the answer, paused meanwhile, went on from where it was.",
    }
    return Reason("The answer was not cut", ((("rule  ", "quiet"), (p.rule, "strong")), (_said(said[p.rule]),)))


# -- lines -----------------------------------------------------------------------------------------------------------


def lines_of(reason: Reason, glyphs: Glyphs) -> Iterator[Line]:
    """Yield a reason as the lines of a screen."""
    for runs in reason.lead:
        yield 0, runs
    for heading, tree in reason.trees:
        if reads := list(all_reads(tree)):
            yield 0, ()
            if heading:
                yield 0, [(heading, "note")]
        elif heading:
            yield 0, ()
            yield 0, [(heading, "note")]
        if heading:
            yield from outline(tree, glyphs)
        elif reads:
            yield from _current_values(reads, reason.keys)
    if reason.missing:
        yield 0, ()
        yield 0, [("What was missing", "note")]
        for key in reason.missing:
            yield 0, [(f"{glyphs.open} open ", "warn"), (_name(key), "key"), *_known(reason.keys.get(plain_key(key)))]
    if turned := newest(reason.keys):
        yield 0, ()
        words = "What triggered it" if reason.seq else "Last change of what it reads"
        if any(not heading for heading, _ in reason.trees):
            words = "What is there instead"
        yield 0, [(words, "note")]
        yield from change_lines(*turned, glyphs)


def _current_values(reads: Sequence[Tree], keys: Mapping[str, KeyCell]) -> Iterator[Line]:
    for read in reads:
        key = str(read.get("key", ""))
        yield 0, [(_name(key), "key"), *_known(keys.get(plain_key(key)))]


def _known(cell: KeyCell | None) -> list[Run]:
    if cell is None:
        return [(" is not set", "said")]
    return [(" = ", "quiet"), (cell.text, "said"), (f"  by {_writer(cell)}", "quiet")]


def newest(keys: Mapping[str, KeyCell]) -> tuple[str, KeyCell] | None:
    """Return the cell that was written last."""
    return max(keys.items(), key=lambda item: item[1].seq, default=None)


def change_lines(key: str, cell: KeyCell, glyphs: Glyphs) -> Iterator[Line]:
    """Yield a change: old and new value, time and author."""
    was = value_text(unpack(cell.was)) if cell.was else "not set"
    yield 0, _change(key, was, cell.text, glyphs.arrow)
    by = _writer(cell)
    reason = f" ({cell.reason})" if cell.reason else ""
    when = f"at {clock_text(cell.t)} in turn {cell.turn}, by {by}{reason}, event {cell.seq}"
    yield 2, [(when, "quiet")]


def watcher_lines(card: WatcherCard, agent: AgentView, glyphs: Glyphs) -> Iterator[Line]:
    """Yield a watcher's condition and the present values of its keys."""
    yield 0, [("when    ", "quiet"), (card.when or card.name, "said")]
    what = "the turn waits for what it does" if card.blocking else "what it does goes on beside the turn"
    yield 0, [("then    ", "quiet"), (what, "said")]
    if card.defined_at:
        yield 0, [("in      ", "quiet"), (card.defined_at, "said")]
    yield 0, ()
    yield 0, [("What it reads", "note")]
    for key in card.keys or ():
        yield 0, [(key, "key"), *_known(agent.keys.get(plain_key(key)))]
    if not card.keys:
        yield 0, [("its keys are not known beforehand", "quiet")]


def _change(key: str, old: str, new: str, arrow: str = "→") -> Sequence[Run]:
    return [(key, "key"), (f"  {old}", "del"), (f" {arrow} ", "quiet"), (new, "add")]


def _writer(cell: KeyCell) -> str:
    return f"{cell.origin} {cell.by}".strip() or "unknown"


def _cells(reason: Reason, agent: AgentView) -> dict[str, KeyCell]:
    keys = [str(read.get("key", "")) for _, tree in reason.trees for read in all_reads(tree)]
    return _cells_of(keys, agent)


def _cells_of(keys: Sequence[str], agent: AgentView) -> dict[str, KeyCell]:
    return {name: agent.keys[name] for key in keys if (name := plain_key(key)) in agent.keys}


def _said(text: str) -> Run:
    return (sanitise_line(text, 1000), "said")


def _name(text: Any) -> str:
    return sanitise_line(str(text), 80)
