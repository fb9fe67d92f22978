"""Find when a paragraph of the transcript was spoken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_runtime.journal.fold.view import Block, SessionView

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.agent_view import Span

PAUSE_S = 3.0
"""Longest pause in seconds within an utterance of the user."""

EARLY_S, LATE_S = 0.4, 0.3
"""Seconds that are played before and after a voice: detectors notice it late, and events come late."""


def sound_span(view: SessionView, block: Block) -> tuple[float, float] | None:
    """Return begin and end of an utterance's sound in session time (s).

    Return None for a paragraph that was not spoken.
    """
    if block.typed or block.kind not in ("user", "model"):
        return None
    spans = _of_user(view, block) if block.kind == "user" else _of_model(view, block)
    if not spans:
        return None
    end = spans[-1].end
    return max(0.0, spans[0].t - EARLY_S), (view.t if end is None else end + LATE_S)


def _of_user(view: SessionView, block: Block) -> list[Span]:
    """Return the voices before the words came, without those before a long pause."""
    before = max((one.t for one in view.blocks if one.kind == "user" and one.id < block.id), default=-1.0)
    found: list[Span] = []
    for span in reversed(view.agent_view.spans):
        if span.lane != "user" or span.t > block.t + LATE_S:
            continue
        if span.t <= before or (found and (span.end is None or found[0].t - span.end > PAUSE_S)):
            break
        found.insert(0, span)
    return found if found and (found[-1].end is None or block.t - (found[-1].end or 0.0) < 2 * PAUSE_S) else []


def _of_model(view: SessionView, block: Block) -> list[Span]:
    """Return the voices of the turn from this paragraph on to the next."""
    later = (one.t for one in view.blocks if one.kind == "model" and one.turn == block.turn and one.id > block.id)
    until = next(later, float("inf"))
    spans = [span for span in view.agent_view.spans if span.lane == "model" and span.turn == block.turn]
    return [span for span in spans if span.t < until and (span.end is None or span.end > block.t)]
