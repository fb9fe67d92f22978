"""Fold the link's events: a lost connection is one line for the reader.

The notice of an end says what follows, and later what the server knows and what became of what was under way: its
detail is a row of sentences (`SessionView.link_parts`), each of which events may replace. The notice of a server's
announcement tells of the move, too.
"""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.blocks import add_notice, change, last_notices
from gemini_live_runtime.journal.fold.view import Block, Dirty, SessionView
from gemini_live_runtime.text import sanitise, sanitise_line

CONNECT = "connect"
"""Id of the console's action that makes a connection."""

RESEND = "resend"
"""Id of the console's action that sends the last message again."""

MAX_LOST = 32
"""Blocks of the user that may be sent again; the oldest are forgotten."""

NOTICE_CHARS = 2000
"""Characters of a notice that are shown."""

LOST, MADE, GOING = "link:lost", "link:made", "go-away"
"""Groups of the notice of a link: lost, made again, about to be left."""

SETTLED = "settled:"
"""Beginning of the names of sentences about what became of the user's input."""

LEAST_SOUND_S = 0.05
"""Least seconds of sound that a line tells of."""

LOST_SOUND = "outbox:audio"
"""Name of the sentence about sound that was not sent."""

HANDED_OFF = "agent"
"""Status of the notice that another agent took over."""

LATE = "answer-late:"
"""Beginning of the group of notices that an answer is late."""

_AGAIN = {
    "resumed": "Connected again. The server resumed the conversation.",
    "rebuilt": "Connected again, to a new server session. It was told the conversation so far.",
    "new": "Connected again.",
}

_SETTLED = {
    ("text", "resent"): "Your message had no answer when the connection was lost, and was sent again.",
    ("text", "prompted"): "Your message had no answer when the connection was lost. The model was asked to answer.",
    ("text", "told"): "The model was told your message, and what has been done for it so far.",
    ("text", "unknown"): "Your message may not have arrived, and was not sent again.",
    ("speech", "resent"): "Your words had no answer when the connection was lost, and were sent again as text.",
    (
        "speech",
        "prompted",
    ): "Your words had no answer when the connection was lost. The model was asked to answer.",
    ("speech", "told"): "The model was told your words, and what has been done for them so far.",
    ("speech", "unknown"): "Your words may not have arrived, and were not sent again.",
    ("answer", "unknown"): "A tool's result may not have arrived, and was not sent again.",
    ("speech", "lost"): "What you said when the engine stopped may not have been heard. Say it again.",
    ("reply", "continued"): "The model was asked to go on with its answer.",
    ("answer", "told"): "A tool's result was given as text, because the server no longer knows the call.",
}


def begin(view: SessionView, block: Block) -> None:
    """Let a notice that was just added tell what follows from it for the link."""
    view.link_notice, view.link_parts = block.id, {"state": ""}
    view.sound_told = view.sound_not_sent
    change(view, len(view.blocks) - 1, group=LOST)


def closed(view: SessionView, event: ev.Event, p: ev.ConnectionClosed) -> Dirty:
    """Begin the notice of an end, or count it in that of the loss which goes on."""
    is_loss = view.connected_ms is not None or not view.events_by_type.get(ev.ConnectionReady.type)
    view.connected_ms, view.go_away_at, view.resumable = None, None, False
    if p.requested or p.moved:
        return Dirty.HEADER
    text = sanitise_line(p.sentence or f"The connection closed ({p.close_code}) {p.reason}", NOTICE_CHARS)
    detail = sanitise_line(p.remedy, NOTICE_CHARS)
    index = _notice(view, LOST)
    if index is None and (late := _newest(view, LATE)):
        # The connection was left because the answer did not come.
        view.link_notice, view.link_parts = late, {}
        view.sound_told = view.sound_not_sent
        index = late - 1 - view.blocks_forgotten
    if index is None and (_is_last(view, MADE) or "late" in view.link_parts):
        index = _notice(view, MADE, GOING)
        # What an earlier loss led to stays told.
        ends = {name: text for name, text in view.link_parts.items() if name.startswith((SETTLED, LOST_SOUND))}
        view.link_parts = {"state": "", **ends}
    if index is None:
        view.sound_told = view.sound_not_sent
        add_notice(view, event, f"closed:{p.close_code}", text=text, status="error", detail=detail)
    else:
        block = view.blocks[index]
        view.link_parts["state"] = detail
        if block.group == LOST:
            # The first end is what happened; those of attempts since matter only while no other follows.
            text, view.link_parts["state"] = block.text, detail if text == block.text else sentences(text, detail)
        view.block_chars += len(text) - len(block.text)
        count = block.count + (is_loss and block.group in (LOST, MADE))
        _change(view, index, text=text, status="error", group=LOST, count=count)
    return Dirty.HEADER | Dirty.NOTICES | Dirty.TRANSCRIPT


def sentences(text: str, detail: str) -> str:
    """Return a notice's text and its detail as sentences."""
    return f"{text}{'' if text.endswith(('.', '?', '!')) else '.'} {detail}".strip() if detail else text


def go_away(view: SessionView, event: ev.Event, p: ev.ConnectionGoAway) -> Dirty:
    """Say that the server will end the connection."""
    view.go_away_at = None if p.time_left_s is None else event.t + p.time_left_s
    left = "soon" if p.time_left_s is None else f"in {p.time_left_s:.0f} s"
    will_leave(view, event, f"The server will end this connection {left}.")
    return Dirty.HEADER | Dirty.TRANSCRIPT


def will_leave(view: SessionView, event: ev.Event, text: str, detail: str = "") -> None:
    """Say why another connection will be made, in the line that tells of it then."""
    add_notice(view, event, GOING, text=text, status="warning", detail=detail)
    view.link_notice, view.link_parts = _newest(view, GOING), {"state": detail}


def answer_late(view: SessionView, text: str, remedy: str) -> bool:
    """Say that an answer is late in the line of an announced end; False without one."""
    index = _notice(view, GOING)
    if index is None or not _is_last(view, GOING):
        return False
    view.link_parts["late"] = f"{text}. {remedy}."
    _change(view, index)
    return True


def connected_again(view: SessionView, event: ev.Event, p: ev.ConnectionReady) -> Dirty:
    """Say what the server knows of the conversation, when there is one."""
    text = _AGAIN.get(p.context, "")
    index = _notice(view, LOST, GOING)
    if index is not None and text:
        view.link_parts["state"] = text
        _change(view, index, status="info", group=MADE)
        return Dirty.TRANSCRIPT
    if not text or p.context == "new":
        return Dirty.NONE
    if view.blocks and view.blocks[-1].status == HANDED_OFF:
        # The connection was made for the agent that took over.
        return Dirty.NONE
    add_notice(view, event, "connected-again", text=text, status="info")
    return Dirty.TRANSCRIPT


def restarting(view: SessionView, event: ev.Event, p: ev.LinkRestarting) -> Dirty:
    """Turn the notice of the end into one that says what follows."""
    view.retry_at, view.link_failed = event.t + p.delay_s, False
    if p.reason != "moved" and (index := _lost(view)) is not None:
        view.link_parts["state"] = "Connecting again."
        _change(view, index, status="warning", action="")
    return Dirty.HEADER | Dirty.NOTICES | Dirty.TRANSCRIPT


def given_up(view: SessionView, event: ev.Event, p: ev.LinkGivenUp) -> Dirty:
    """Let the notice of the end offer to connect."""
    view.retry_at, view.link_failed = None, True
    if (index := _lost(view)) is not None:
        _change(view, index, status="error", action=CONNECT)
    return Dirty.HEADER | Dirty.NOTICES | Dirty.TRANSCRIPT | Dirty.CONTROLS


def outbox_changed(view: SessionView, event: ev.Event, p: ev.OutboxChanged) -> Dirty:
    """Say what was lost, and how many texts wait."""
    text = ""
    if p.kind == "audio":
        view.sound_not_sent = p.dropped
        if (lost := p.dropped - view.sound_told) >= LEAST_SOUND_S:
            text = f"{lost:.1f} s of the microphone's sound were not sent."
    elif p.kind == "text" and p.queued:
        messages = "1 message waits" if p.queued == 1 else f"{p.queued:.0f} messages wait"
        text = f"{messages} for a connection."
    if not text:
        return _take_back(view, f"outbox:{p.kind}") if p.kind == "text" else Dirty.NONE
    return _tell(view, event, f"outbox:{p.kind}", text, "warning" if p.kind == "audio" else "info")


def settled(view: SessionView, event: ev.Event, p: ev.SendSettled) -> Dirty:
    """Say how something ended that a lost connection had left open."""
    text = _SETTLED.get((p.kind, p.outcome), "")
    if not text:
        return Dirty.NONE
    status, action = "info", ""
    if p.outcome == "lost":
        status = "warning"
    if p.outcome == "unknown":
        status, action = "warning", RESEND if p.kind != "answer" and _add_lost(view, p) else ""
    return _tell(view, event, f"{SETTLED}{p.kind}:{p.outcome}", text, status, action)


def _add_lost(view: SessionView, p: ev.SendSettled) -> bool:
    """Note the user's block that was lost; False when it cannot be sent again."""
    text = sanitise(p.text).strip()
    for block in reversed(view.blocks):
        if block.kind != "user" or block.id in view.lost_blocks:
            continue
        said = block.text.strip()
        # Journals from before have no text; an utterance may take several blocks.
        if not p.text or said == text or (p.kind == "speech" and not block.typed and said in text):
            view.lost_blocks.append(block.id)
            del view.lost_blocks[:-MAX_LOST]
            return True
    return False


def sent_again(view: SessionView, text: str) -> None:
    """Take a text that the user sends out of those that were lost."""
    found = [block.id for block in view.lost() if block.text.strip() == text.strip()]
    if not found:
        return
    view.lost_blocks.remove(found[0])
    if not view.lost_blocks:
        for index, block in enumerate(view.blocks):
            if block.action == RESEND:
                change(view, index, action="")


def _tell(view: SessionView, event: ev.Event, part: str, text: str, status: str, action: str = "") -> Dirty:
    """Add a sentence to the notice of the link, or a notice behind what came since."""
    index = _notice(view, LOST)
    if index is None and _is_last(view, MADE):
        index = _notice(view, MADE)
    if index is None:
        add_notice(view, event, part, text=text, status=status, action=action)
    else:
        view.link_parts[part] = text
        fields = {"action": action} if action else {}
        if status == "warning":
            fields["status"] = status
        _change(view, index, **fields)
    return Dirty.TRANSCRIPT


def _take_back(view: SessionView, part: str) -> Dirty:
    """Take a sentence out of the notice of the link."""
    index = _notice(view, LOST, MADE)
    if index is None or view.link_parts.pop(part, None) is None:
        return Dirty.NONE
    _change(view, index)
    return Dirty.TRANSCRIPT


def _lost(view: SessionView) -> int | None:
    """Return the index of the notice of the loss, which is the newest end's."""
    index = _notice(view, LOST)
    if index is None and (ident := _newest(view, "closed:")):
        view.link_notice = ident
        index = ident - 1 - view.blocks_forgotten
        detail = view.blocks[index].detail
        view.link_parts = {"state": detail}
        _change(view, index, group=LOST)
    return index


def _notice(view: SessionView, *groups: str) -> int | None:
    """Return the index of the link's notice if it is there and of one of these groups."""
    index = view.link_notice - 1 - view.blocks_forgotten
    if not view.link_notice or index < 0 or view.blocks[index].group not in groups:
        return None
    return index


def _is_last(view: SessionView, group: str) -> bool:
    """Return True for a link's notice of this group with only notices behind it."""
    index = _notice(view, group)
    return index is not None and index in dict(last_notices(view))


def _newest(view: SessionView, group: str) -> int:
    """Return the id of the newest notice of a group among the last ones; 0 for none."""
    return next((block.id for _, block in last_notices(view) if block.group.startswith(group)), 0)


def _change(view: SessionView, index: int, **fields: object) -> None:
    """Change the link's notice, with its parts as detail."""
    block: Block = view.blocks[index]
    said = [part for part in view.link_parts.values() if part]
    detail = " ".join(part if part[-1] in ".?!" or len(said) == 1 else f"{part}." for part in said)
    view.block_chars += len(detail) - len(block.detail)
    change(view, index, detail=detail, **fields)
