"""Fold the link's events: what a lost connection means for the reader."""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.blocks import add_notice, change, last_notices
from gemini_live_runtime.journal.view import Dirty, SessionView

CONNECT = "connect"
"""Id of the console's action that makes a connection."""

RESEND = "resend"
"""Id of the console's action that sends the last message again."""

_AGAIN = {
    "resumed": "Connected again. The server resumed the conversation.",
    "rebuilt": "Connected again, to a new server session. It was told the conversation so far.",
}

_SETTLED = {
    ("text", "resent"): "Your message had no answer when the connection was lost, and was sent again.",
    ("text", "prompted"): "The model was asked to go on with your message.",
    ("text", "told"): "The model was told your message, and what has been done for it so far.",
    ("text", "unknown"): "Your message may not have arrived, and was not sent again.",
    ("speech", "resent"): "Your words had no answer when the connection was lost, and were sent again as text.",
    ("speech", "prompted"): "The model was asked to go on with what you said.",
    ("speech", "told"): "The model was told your words, and what has been done for them so far.",
    ("speech", "unknown"): "Your words may not have arrived, and were not sent again.",
    ("answer", "told"): "A tool's result was given as text, because the server no longer knows the call.",
}


def connected_again(view: SessionView, event: ev.Event, p: ev.ConnectionReady) -> Dirty:
    """Say what the server knows of the conversation, when there is one."""
    text = _AGAIN.get(p.context, "")
    if not text:
        return Dirty.NONE
    add_notice(view, event, "connected-again", text=text, status="info")
    return Dirty.TRANSCRIPT


def restarting(view: SessionView, event: ev.Event, p: ev.LinkRestarting) -> Dirty:
    """Turn the notice of the end into one that says what follows."""
    view.retry_at, view.link_failed = event.t + p.delay_s, False
    _amend_end(view, "info" if p.reason == "moved" else "warning", "" if p.reason == "moved" else "Connecting again")
    return Dirty.HEADER | Dirty.NOTICES | Dirty.TRANSCRIPT


def given_up(view: SessionView, event: ev.Event, p: ev.LinkGivenUp) -> Dirty:
    """Let the notice of the end offer to connect."""
    view.retry_at, view.link_failed = None, True
    _amend_end(view, "error", None)
    return Dirty.HEADER | Dirty.NOTICES | Dirty.TRANSCRIPT | Dirty.CONTROLS


def _amend_end(view: SessionView, status: str, detail: str | None) -> None:
    """Change the newest notice of an end.

    `detail` None keeps its remedy and offers to connect.
    """
    for index, block in last_notices(view):
        if block.group.startswith("closed:"):
            if detail is None:
                change(view, index, status=status, action=CONNECT)
            else:
                view.block_chars += len(detail) - len(block.detail)
                change(view, index, status=status, detail=detail, action="")
            return


def outbox_changed(view: SessionView, event: ev.Event, p: ev.OutboxChanged) -> Dirty:
    """Say what was lost, and how many texts wait."""
    text = ""
    if p.kind == "audio" and p.dropped:
        text = f"{p.dropped:.1f} s of the microphone's sound were not sent while there was no connection."
    elif p.kind == "text" and p.queued:
        messages = "1 message waits" if p.queued == 1 else f"{p.queued:.0f} messages wait"
        text = f"{messages} for a connection."
    if not text:
        return Dirty.NONE
    status = "warning" if p.kind == "audio" else "info"
    add_notice(view, event, f"outbox:{p.kind}", text=text, status=status)
    return Dirty.TRANSCRIPT


def settled(view: SessionView, event: ev.Event, p: ev.SendSettled) -> Dirty:
    """Say how something ended that a lost connection had left open."""
    text = _SETTLED.get((p.kind, p.outcome), "")
    if not text:
        return Dirty.NONE
    status, action = ("warning", RESEND) if p.outcome == "unknown" else ("info", "")
    add_notice(view, event, f"settled:{p.kind}:{p.outcome}", text=text, status=status, action=action)
    return Dirty.TRANSCRIPT
