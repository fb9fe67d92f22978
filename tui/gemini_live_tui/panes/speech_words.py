"""Explain in words why a speech of the model never began."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.painting.formatting import seconds_text
from gemini_live_tui.painting.runs import Run

if TYPE_CHECKING:
    from gemini_live_runtime import events as ev
    from gemini_live_runtime.journal.fold.view import SessionView

_NO_FAULT = "It never began: it was interrupted, or another answer or agent took its place."


def dropped(p: ev.SpeechChanged, before: SessionView, t: float) -> tuple[str, tuple[Sequence[Run], ...]]:
    """Return the title and the lines of a speech that was dropped at `t` seconds."""
    why = f"{sanitise_line(p.problem, 1000)}." if p.problem else _NO_FAULT
    lead: list[Sequence[Run]] = [[(why, "said")]]
    waiting = before.speeches.get(p.id)
    if waiting is not None:
        lead.append([(f"It waited for {seconds_text(t - waiting.since)}.", "said")])
    lead += [[("source  ", "quiet"), (p.source, "said")], [("speech  ", "quiet"), (sanitise_line(p.id, 80), "said")]]
    return f"{sanitise_line(p.reason, 80) or p.source} was dropped", tuple(lead)
