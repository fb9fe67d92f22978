"""Fold the notices of a disk that refuses: one line tells of all that follows."""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.blocks import change, last_notices
from gemini_live_runtime.journal.fold.view import SessionView

SENTENCES = {
    "journal-failed": "The session file cannot be written, so events are kept in memory and written again later.",
    "audio-recording-stopped": "Sound is no longer recorded.",
    "snapshot": "The session's state cannot be saved.",
    "not-on-disk": "What you send goes out before the disk has it.",
    "harness": "",
}
"""Sentence of a notice in the line of an earlier one, by its code; "" is what its own text says before the reason."""

FIRST = ("journal-failed", "audio-recording-stopped", "snapshot")
"""Codes of notices that begin such a line; so does one of a task's record."""

MAX_DETAIL = 1_000
"""Characters of a line's detail from which on nothing is added: many tasks may end on a full disk."""

WITHIN_S = 60.0
"""Seconds in which another notice belongs to the line, where the recording does not fail."""


def begin(view: SessionView, code: str, text: str, group: str) -> None:
    """Let the notice that was just added tell what else the disk refuses."""
    is_record = code == "harness" and " cannot be written: " in text
    if is_record or (code in FIRST and _reason(text)):
        view.disk_notice = next((block.id for _, block in last_notices(view) if block.group == group), 0)
    elif code == "journal-recovered":
        view.disk_notice = 0


def tell(view: SessionView, event: ev.Event, code: str, text: str) -> bool:
    """Add a notice to the line of an earlier one; False without one that fits."""
    index = view.disk_notice - 1 - view.blocks_forgotten
    if code not in SENTENCES or not view.disk_notice or index < 0:
        return False
    block = view.blocks[index]
    is_of_the_same = code == "not-on-disk" or _reason(block.text) in text
    if not (is_of_the_same and (view.recording_fails or event.t - block.t <= WITHIN_S)):
        return False
    sentence = SENTENCES[code] or f"{text.partition(': ')[0]}."
    is_told = block.group.startswith(f"{code}:") if SENTENCES[code] else block.text.startswith(sentence[:-1])
    if sentence not in block.detail and not is_told and len(block.detail) < MAX_DETAIL:
        detail = f"{block.detail.rstrip('.')}. {sentence}" if block.detail else sentence
        view.block_chars += len(detail) - len(block.detail)
        change(view, index, detail=detail, status="error")
    return True


def _reason(text: str) -> str:
    """Return the system's reason in a notice's text, or ""."""
    return text.rpartition(": ")[2].partition(".")[0] if ": " in text else ""
