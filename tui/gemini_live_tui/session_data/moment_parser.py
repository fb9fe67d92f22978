"""Parse moments: `12:34`, `turn 14`, `event 4812`, `mark 2`, `phase verify`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.session_data.cursor import require_reach

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.agent_view import Mark
    from gemini_live_runtime.journal.history.session_history import History

FORMS = "12:34, 90 s, turn 14, event 4812, mark 2, phase NAME, start or end"

_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,4}):(\d{1,2}(?:\.\d+)?)")
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)\s*s(?:ec(?:onds)?)?")
_NUMBERED = re.compile(r"(turn|event|mark|t|e|m)?\s*#?\s*(\d[\d,]*)")


class NoSuchMomentError(ValueError):
    """Text that names no moment of this session; `str` is a sentence."""


def find(text: str, history: History) -> int | None:
    """Return the event after which a moment is, None for the present.

    Raise `NoSuchMomentError`.
    """
    words = " ".join(text.split())
    lower = words.lower()
    view = history.live
    if lower in ("end", "live", "now"):
        return None
    if lower in ("start", "begin", "beginning"):
        return history.first_seq - 1
    if match := _CLOCK.fullmatch(lower):
        hours, minutes, seconds = match.groups()
        return _at_time(int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds), history)
    if match := _SECONDS.fullmatch(lower):
        return _at_time(float(match[1]), history)
    if match := _NUMBERED.fullmatch(lower):
        kind, number = match[1] or "event", int(match[2].replace(",", ""))
        return {"t": _turn, "e": _event, "m": _mark}[kind[0]](number, history)
    if lower.startswith("phase "):
        return _phase(words[6:], view)
    raise NoSuchMomentError(f"{words[:40]!r} is no moment. Write {FORMS}.")


def _at_time(t: float, history: History) -> int | None:
    if t >= history.live.t:
        return None
    require_reach(history, t)
    return max(history.seq_at_time(t), history.first_seq - 1)


def _turn(number: int, history: History) -> int:
    card = history.live.agent_view.turns.get(number)
    bounds = (card.seq, 0) if card is not None else history.turn_bounds(number)
    if bounds is None:
        raise NoSuchMomentError(f"There is no turn {number:,}; the last one is {history.live.turn:,}.")
    return bounds[0]


def _event(number: int, history: History) -> int:
    if not 0 <= number <= history.last_seq:
        raise NoSuchMomentError(f"There is no event {number:,}; the last one is {history.last_seq:,}.")
    return number


def by_moment(marks: Iterable[Mark]) -> list[Mark]:
    """Return marks in the order of their moments, which numbers them.

    They are kept in the order in which they were set.
    """
    return sorted(marks, key=lambda mark: (mark.of, mark.t, mark.seq))


def _mark(number: int, history: History) -> int:
    marks = by_moment(history.live.agent_view.marks)
    if not 1 <= number <= len(marks):
        count = f"{len(marks)} marks" if len(marks) != 1 else "one mark"
        raise NoSuchMomentError(f"There is no mark {number:,}; this session has {count if marks else 'none'}.")
    return marks[number - 1].of


def _phase(name: str, view: SessionView) -> int:
    stays = [stay for stay in view.agent_view.path if stay.phase.lower() == name.lower()]
    if not stays:
        been = ", ".join(dict.fromkeys(stay.phase for stay in view.agent_view.path)) or "none"
        raise NoSuchMomentError(f"The conversation was never in phase {name[:40]!r}; it was in {been}.")
    return stays[-1].seq
