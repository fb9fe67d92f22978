"""What was said, turn by turn: deltas accumulate, tools are noted, a cut answer keeps what was heard."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

from gemini_live_runtime.conversation.transcript_turn import (
    MAX_TEXT,
    CallStatus,
    OpenedBy,
    ToolCallSummary,
    TranscriptTurn,
    TranscriptWindow,
    turn_from_json,
    turn_to_json,
    unusable,
)

__all__ = [
    "CallStatus",
    "OpenedBy",
    "ToolCallSummary",
    "TranscriptBuffer",
    "TranscriptTurn",
    "TranscriptWindow",
]

MAX_TURNS = 50
"""Ended turns kept; the oldest goes first."""

MAX_CALLS = 100
"""Tool calls noted in one turn; further ones are counted in `left_out`."""


@dataclass(slots=True)
class _OpenTurn:
    """The turn that is going on; texts stay in pieces until somebody asks."""

    number: int
    by: OpenedBy
    started_at: float
    user: list[str] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    unheard: list[str] = field(default_factory=list)
    interrupted: bool = False
    calls: dict[str, ToolCallSummary] = field(default_factory=dict)
    chars: dict[str, int] = field(default_factory=dict)

    def add(self, side: Literal["user", "model", "unheard"], text: str) -> int:
        """Append to a side; how many characters did not fit."""
        used = self.chars.get(side, 0)
        kept = text[: MAX_TEXT - used]
        self.chars[side] = used + len(kept)
        if kept:
            getattr(self, side).append(kept)
        return len(text) - len(kept)

    def cut(self, heard: str, unheard: str) -> None:
        turn = _cut_turn(self.turn(), heard, unheard)
        self.model, self.unheard, self.interrupted = [turn.model], [turn.unheard], True
        self.chars |= {"model": len(turn.model), "unheard": len(turn.unheard)}

    @property
    def is_empty(self) -> bool:
        return not (self.calls or any(self.chars.values()))

    def turn(self) -> TranscriptTurn:
        return TranscriptTurn(
            number=self.number,
            by=self.by,
            started_at=self.started_at,
            user="".join(self.user),
            model="".join(self.model),
            unheard="".join(self.unheard),
            interrupted=self.interrupted,
            tool_calls=tuple(self.calls.values()),
        )


class TranscriptBuffer:
    """The last `max_turns` ended turns (at least 1) and the open one.

    Texts are deltas: they are appended as they are, never replaced. Content given for a turn that has ended goes to
    that turn; the methods answer False when it is no longer known. A side keeps its first `MAX_TEXT` characters.
    """

    def __init__(self, max_turns: int = MAX_TURNS) -> None:
        if max_turns < 1:
            raise ValueError(f"max_turns must be at least 1, not {max_turns}")
        self._ended: deque[TranscriptTurn] = deque(maxlen=max_turns)
        self._open: _OpenTurn | None = None
        self._blank: TranscriptTurn | None = None
        """The last turn that ended empty, until the next one ends: words may come later than their sound."""
        self._count = 0
        self._restored = 0
        """How many of the kept turns, from the oldest, come from an earlier process: their calls are over."""
        self.left_out = 0
        """Characters and calls that did not fit into their turn, or whose turn is no longer kept."""

    # What happens.

    def begin_turn(self, number: int, by: OpenedBy, now: float) -> None:
        """Open turn `number`; an open one ends."""
        self.end_turn()
        self._open = _OpenTurn(number, by, now)

    def add_input(self, text: str, *, turn: int | None = None) -> bool:
        """Append a delta of what the user says, or typed text; `turn` None is the newest turn."""
        return self._add("user", text, turn)

    def add_output(self, text: str, *, turn: int | None = None, cut: bool = False) -> bool:
        """Append a delta of what the model says (never of a `thought` channel).

        `cut`: it belongs to an answer that is over, so it will not be heard, unless all of it was: in a turn that was
        not interrupted these are words that came later than their sound.
        """
        return self._add("unheard" if cut else "model", text, turn)

    def add_tool_call(self, summary: ToolCallSummary, *, turn: int | None = None) -> bool:
        """Note a call, or its new outcome when its `call_id` is known, whichever turn that is in."""
        if self._open is not None and summary.call_id in self._open.calls:
            self._open.calls[summary.call_id] = summary
            return True
        for at in range(len(self._ended) - 1, self._restored - 1, -1):
            calls = self._ended[at].tool_calls
            if any(call.call_id == summary.call_id for call in calls):
                changed = tuple(summary if call.call_id == summary.call_id else call for call in calls)
                self._ended[at] = replace(self._ended[at], tool_calls=changed)
                return True
        if self._open is not None and turn in (None, self._open.number):
            if len(self._open.calls) < MAX_CALLS:
                self._open.calls[summary.call_id] = summary
            else:
                self.left_out += 1
            return True
        late = self._find(turn)
        if late is None:
            self.left_out += 1
            return False
        if len(late.tool_calls) < MAX_CALLS:
            self._store(late, replace(late, tool_calls=(*late.tool_calls, summary)))
        else:
            self.left_out += 1
        return True

    def interrupted(self, heard_text: str, unheard_text: str, turn: int | None = None) -> bool:
        """An answer of `turn` (None: the newest) was cut: of it `heard_text` was heard, `unheard_text` was not.

        Both together are the text of that answer so far; earlier answers of the same turn stay as they are.
        """
        if self._open is not None and turn in (None, self._open.number):
            self._open.cut(heard_text, unheard_text)
            return True
        late = self._find(turn)
        if late is None:
            return False
        self._store(late, _cut_turn(late, heard_text, unheard_text))
        return True

    def end_turn(self) -> TranscriptTurn | None:
        """End the open turn; None when there is none or nothing was said and done in it (then it is not kept)."""
        if self._open is None:
            return None
        turn, self._open = self._open.turn(), None
        if turn.is_empty:
            self._blank = turn
            return None
        self._blank = None
        self._keep(turn)
        return turn

    # What can be read.

    @property
    def has_pending(self) -> bool:
        """Whether a turn is open and has content."""
        return self._open is not None and not self._open.is_empty

    @property
    def turn_count(self) -> int:
        """Turns with content that have ended, those no longer kept included."""
        return self._count

    @property
    def retained_count(self) -> int:
        """Ended turns that are kept."""
        return len(self._ended)

    def ended_turn(self, number: int) -> TranscriptTurn | None:
        """Turn `number` of this process; None when it is open, was empty, or is no longer kept."""
        own = islice(reversed(self._ended), len(self._ended) - self._restored)
        return next((turn for turn in own if turn.number == number), None)

    def window(self, n: int) -> TranscriptWindow:
        """The last `n` ended turns, or as many as there are."""
        turns = tuple(self._ended)
        first = max(len(turns) - n, 0) if n > 0 else len(turns)
        before = (turn.model + turn.unheard for turn in reversed(turns[:first]))
        return TranscriptWindow(turns[first:], next((said for said in before if said.strip()), ""))

    def window_with_current(self, n: int) -> TranscriptWindow:
        """The last `n` ended turns and, when it has content, the open one: up to `n` + 1."""
        window = self.window(n)
        if self._open is not None and not self._open.is_empty:
            return replace(window, turns=(*window.turns, self._open.turn()))
        return window

    def to_json(self) -> dict[str, Any]:
        """The ended turns as JSON values; the open turn is left out."""
        return {"turn_count": self._count, "turns": [turn_to_json(turn) for turn in self._ended]}

    @classmethod
    def from_json(cls, data: Any, max_turns: int = MAX_TURNS) -> TranscriptBuffer:
        """What `to_json` made; keeps the last `max_turns`. Raises `JournalError` naming what is wrong."""
        if not isinstance(data, Mapping) or not isinstance(data.get("turns"), list):
            raise unusable("transcript", data)
        buffer = cls(max_turns)
        for at, item in enumerate(data["turns"]):
            buffer._ended.append(turn_from_json(item, f"transcript.turns[{at}]"))
        count = data.get("turn_count")
        if type(count) is not int or count < len(data["turns"]):
            raise unusable("transcript.turn_count", count)
        buffer._count, buffer._restored = count, len(buffer._ended)
        return buffer

    # Inside.

    def _add(self, side: Literal["user", "model", "unheard"], text: str, number: int | None) -> bool:
        if self._open is not None and number in (None, self._open.number):
            self.left_out += self._open.add(_side(side, self._open.interrupted), text)
            return True
        late = self._find(number)
        if late is None:
            self.left_out += len(text)
            return False
        side = _side(side, late.interrupted)
        if text:
            before: str = getattr(late, side)
            kept = text[: max(0, MAX_TEXT - len(before))]
            self.left_out += len(text) - len(kept)
            changes: dict[str, Any] = {side: before + kept}
            self._store(late, replace(late, **changes))
        return True

    def _find(self, number: int | None) -> TranscriptTurn | None:
        if self._blank is not None and number in (None, self._blank.number):
            return self._blank
        if number is None:
            return self._ended[-1] if self._ended else None
        # Numbers begin anew in each process: what is said now does not belong to an old turn of the same number.
        return self.ended_turn(number)

    def _store(self, old: TranscriptTurn, new: TranscriptTurn) -> None:
        if old is self._blank:
            if new.is_empty:
                self._blank = new
            else:
                self._blank = None
                self._keep(new)
            return
        for at in range(len(self._ended) - 1, -1, -1):
            if self._ended[at] is old:
                self._ended[at] = new

    def _keep(self, turn: TranscriptTurn) -> None:
        self._count += 1
        if self._restored and len(self._ended) == self._ended.maxlen:
            self._restored -= 1
        self._ended.append(turn)


def _side(side: Literal["user", "model", "unheard"], interrupted: bool) -> Literal["user", "model", "unheard"]:
    return "model" if side == "unheard" and not interrupted else side


def _cut_turn(turn: TranscriptTurn, heard: str, unheard: str) -> TranscriptTurn:
    answer = heard + unheard
    at = turn.model.rfind(answer)
    # A turn may hold several answers, and the one that was cut need not be the last: what follows it was not heard.
    earlier, later = ("", "") if at < 0 else (turn.model[:at], turn.model[at + len(answer) :])
    return replace(
        turn, model=(earlier + heard)[:MAX_TEXT], unheard=(turn.unheard + unheard + later)[:MAX_TEXT], interrupted=True
    )
