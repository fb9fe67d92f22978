"""Fold events of the session that the transcript shows as notices, and its log."""

from __future__ import annotations

import re

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import Interrupt
from gemini_live_runtime.journal.fold import disk_blocks, link_blocks
from gemini_live_runtime.journal.fold.blocks import add_notice, open_block
from gemini_live_runtime.journal.fold.fold_parts import NOTICE_CHARS, Handlers
from gemini_live_runtime.journal.fold.view import MAX_LOG_LINES, Dirty, LogLine, SessionView
from gemini_live_runtime.text import sanitise_line

HANDLERS = Handlers()
"""Handlers of settings, notices, limits, refusals and log lines."""

TURN_DETECTORS = {"server": "the server", "client": "our own detector", "manual": "the microphone switch"}
"""Detectors of turns, as notices name them."""

_NAME = 200
"""Characters of the name of a kind of notices."""

_NUMBER = re.compile(r"[0-9]+")

_RECORD_AFTER: dict[str, ev.Record] = {
    "audio-recording-stopped": "text",
    "journal-removed": "off",
    "journal-stopped": "off",
}
"""Recording mode after a notice of the journal, by the notice's code."""

_FAILS_AFTER = {"journal-failed": True, "journal-recovered": False, "journal-stopped": False}
"""Value of `recording_fails` after a notice of the journal, by the notice's code."""

_JOURNAL_CODES = _RECORD_AFTER.keys() | _FAILS_AFTER.keys()


@HANDLERS.on(ev.TurnsChanged)
def _turns(view: SessionView, event: ev.Event, p: ev.TurnsChanged) -> Dirty:
    # The first event tells what the session begins with, which nobody has changed.
    is_new, view.turn_detection = view.turn_detection not in ("", p.detection), p.detection
    if not (p.asked or is_new):
        return Dirty.HEADER
    by = TURN_DETECTORS[p.next or p.detection]
    when = ", from the next connection on" if p.next else ""
    delay = f", which wait for {p.min_delay_s:g} s of silence" if (p.next or p.detection) == "client" else ""
    text = f"Turns are found by {by}{delay}{when}"
    add_notice(view, event, "", text=text, status="info", detail=sanitise_line(p.reason, NOTICE_CHARS))
    return Dirty.NOTICES | Dirty.TRANSCRIPT | Dirty.HEADER


@HANDLERS.on(ev.VoiceChanged)
def _chosen_voice(view: SessionView, event: ev.Event, p: ev.VoiceChanged) -> Dirty:
    view.chosen_voice = sanitise_line(p.voice, 80)
    which = f"The voice becomes {view.chosen_voice}" if p.voice else "The voice becomes the agent's own"
    add_notice(view, event, "", text=f"{which}, from the next connection on", status="info")
    return Dirty.NOTICES | Dirty.TRANSCRIPT


@HANDLERS.on(ev.TurnCleared)
def _cleared(view: SessionView, event: ev.Event, p: ev.TurnCleared) -> Dirty:
    who = "The agent has dropped what you said" if p.by == "agent" else "What you said was cleared"
    add_notice(
        view,
        event,
        "",
        text=f"{who}: the model does not know it",
        status="info",
        detail=sanitise_line(p.reason, NOTICE_CHARS),
    )
    return Dirty.NOTICES | Dirty.TRANSCRIPT


@HANDLERS.on(ev.Notice)
def _notice(view: SessionView, event: ev.Event, p: ev.Notice) -> Dirty:
    # The header shows the recording mode, which must stay true when the disk fails.
    if view.record != "off":
        view.record = _RECORD_AFTER.get(p.code, view.record)
        view.recording_fails = _FAILS_AFTER.get(p.code, view.recording_fails)
    text = sanitise_line(p.text, NOTICE_CHARS)
    # Notices with one beginning and one code are of one kind: after the colon is what differs.
    group = sanitise_line(f"{p.code}:{_NUMBER.sub('', text.partition(':')[0])}", _NAME)
    remedy = sanitise_line(p.remedy, NOTICE_CHARS)
    if p.code == "slower":
        link_blocks.will_leave(view, event, f"{text}.", remedy)
    elif disk_blocks.tell(view, event, p.code, text):
        pass
    elif p.code != "answer-late" or not link_blocks.answer_late(view, text, remedy):
        add_notice(view, event, group, text=text, status=p.level, detail=remedy)
        disk_blocks.begin(view, p.code, text, group)
    return Dirty.NOTICES | Dirty.TRANSCRIPT | (Dirty.HEADER if p.code in _JOURNAL_CODES else Dirty.NONE)


@HANDLERS.on(ev.LimitReached)
def _limit(view: SessionView, event: ev.Event, p: ev.LimitReached) -> Dirty:
    verb = "is reached: hanging up" if p.stage == "hang-up" else "is near"
    amount = f"${p.used:.2f} of ${p.limit:.2f}" if p.kind == "cost" else f"{p.used:.1f} of {p.limit:.1f} min"
    text = f"The {p.kind} limit {verb} ({amount})."
    open_block(view, event, "notice", text=text, status="warning", done=True)
    return Dirty.NOTICES | Dirty.TRANSCRIPT


@HANDLERS.on(ev.CommandRefused)
def _refused(view: SessionView, event: ev.Event, p: ev.CommandRefused) -> Dirty:
    text = sanitise_line(p.reason, NOTICE_CHARS)
    last = view.blocks[-1] if view.blocks else None
    again = last is not None and (last.kind, last.text, last.status) == ("notice", text, "warning")
    # An answer that ended before it could be interrupted is no news, nor is the same refusal twice in a row.
    if p.command == Interrupt.command or again:
        return Dirty.NONE
    open_block(view, event, "notice", text=text, status="warning", done=True)
    return Dirty.NOTICES | Dirty.TRANSCRIPT


@HANDLERS.on(ev.RecordingTrimmed)
def _trimmed(view: SessionView, event: ev.Event, p: ev.RecordingTrimmed) -> Dirty:
    if view.session_id in p.session_ids and view.record == "audio":
        view.record = "text"
    open_block(view, event, "notice", text=sanitise_line(p.reason, NOTICE_CHARS), status="info", done=True)
    return Dirty.NOTICES | Dirty.TRANSCRIPT | Dirty.HEADER


@HANDLERS.on(ev.Log)
def _log(view: SessionView, event: ev.Event, p: ev.Log) -> Dirty:
    view.log.append(LogLine(event.t, event.seq, p.source, p.level, sanitise_line(p.text, 500)))
    del view.log[:-MAX_LOG_LINES]
    if p.level == "debug" or (p.source == "logging" and p.level == "info"):
        return Dirty.LOG
    add_notice(view, event, "", text=sanitise_line(p.text, 500), status="log")
    return Dirty.LOG | Dirty.TRANSCRIPT
