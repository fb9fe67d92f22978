"""Fold consent: the open question, and the answers."""

from __future__ import annotations

import json
from dataclasses import replace

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.blocks import open_block
from gemini_live_runtime.journal.fold.fold_parts import MAX_TEXT, Handlers, clean_name
from gemini_live_runtime.journal.fold.harness_view import ConsentCard
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise_line

HANDLERS = Handlers()
"""Handlers of consent."""

MAX_TOLD = 1000
"""Characters of the longest notice."""

MAX_CALL = 4000
"""Characters of a call that waits for consent; of a longer one the end is not shown, and that is said."""


@HANDLERS.on(ev.ConsentAsked)
def _consent_asked(view: SessionView, event: ev.Event, p: ev.ConsentAsked) -> Dirty:
    args = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False, default=str)}" for name, value in p.args.items())
    call = sanitise_line(f"{clean_name(p.tool)}({args})")
    is_cut = len(call) > MAX_CALL
    card = ConsentCard(
        id=clean_name(p.id),
        tool=clean_name(p.tool),
        text=f"{call[:MAX_CALL]} ({len(call) - MAX_CALL:,} more characters)" if is_cut else call,
        reason=sanitise_line(p.reason, MAX_TEXT),
        expires_s=p.expires_s,
        t=event.t,
        turn=event.turn,
        seq=event.seq,
        is_cut=is_cut,
        voice="asking" if p.voice else "off" if p.voice_reason else "",
        voice_reason=sanitise_line(p.voice_reason, MAX_TEXT),
        question=sanitise_line(p.question, MAX_TEXT),
    )
    view.harness.consent = card
    told = f"May {card.text} run? {card.reason}"
    open_block(view, event, "notice", text=told, status="warning", done=True)
    return Dirty.HARNESS | Dirty.HEADER | Dirty.CONTROLS | Dirty.TRANSCRIPT | Dirty.NOTICES


@HANDLERS.on(ev.ConsentVoice)
def _consent_voice(view: SessionView, event: ev.Event, p: ev.ConsentVoice) -> Dirty:
    card = view.harness.consent
    if card is None or card.id != clean_name(p.id):
        return Dirty.NONE
    reason = sanitise_line(p.reason, MAX_TEXT)
    view.harness.consent = replace(card, voice=p.state, voice_reason=reason)
    if p.state != "off":
        return Dirty.HARNESS | Dirty.CONTROLS
    told = sanitise_line(f"{card.tool} is answered by key only: {reason}", MAX_TOLD)
    open_block(view, event, "notice", text=told, status="info", done=True)
    return Dirty.HARNESS | Dirty.CONTROLS | Dirty.TRANSCRIPT | Dirty.NOTICES


@HANDLERS.on(ev.ConsentGiven)
def _consent_given(view: SessionView, event: ev.Event, p: ev.ConsentGiven) -> Dirty:
    card = view.harness.consent
    if card is not None and card.id == clean_name(p.id):
        view.harness.consent = None
    tool = clean_name(p.tool)
    said = f" (\u201c{p.said}\u201d)" if p.said else ""
    if p.yes:
        told = f"{tool} may run: {_AGREED.get(p.by, p.by)}{said}" + (", and that is remembered" if p.remembered else "")
    else:
        told = f"{tool} was not run: {_REFUSED.get(p.by, p.by)}{said}"
    open_block(view, event, "notice", text=sanitise_line(told, MAX_TOLD), status="info", done=True)
    return Dirty.HARNESS | Dirty.HEADER | Dirty.CONTROLS | Dirty.TRANSCRIPT | Dirty.NOTICES


_AGREED = {
    "operator": "the operator agreed",
    "voice": "the user said yes",
    "remembered": "consent is remembered",
    "program": "the program agreed",
}
_REFUSED = {
    "operator": "the operator refused",
    "voice": "the user said no",
    "program": "the program refused",
    "unattended": "nobody can agree here",
    "time": "nobody agreed in time",
    "cancelled": "the call was cancelled",
    "end": "the session ended",
}


@HANDLERS.on(ev.ConsentRevoked)
def _consent_revoked(view: SessionView, event: ev.Event, p: ev.ConsentRevoked) -> Dirty:
    told = f"Remembered consent was revoked: {', '.join(map(clean_name, p.tools))}"
    open_block(view, event, "notice", text=sanitise_line(told, MAX_TOLD), status="info", done=True)
    return Dirty.TRANSCRIPT | Dirty.NOTICES
