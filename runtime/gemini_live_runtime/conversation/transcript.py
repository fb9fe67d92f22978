"""Collect the transcript turn by turn.

Texts arrive as deltas and may come later than their sound, even after their turn has ended; so every method accepts the
turn's number. An answer that was cut keeps the part that was heard and, apart from it, the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import Any, Literal

from gemini_live_runtime.conversation.chat import AgentHandoff, ChatContext, ChatItem, items_of
from gemini_live_runtime.conversation.transcript_turn import (
    MAX_TEXT,
    CallStatus,
    OpenedBy,
    ToolCallSummary,
    TranscriptTurn,
    TranscriptWindow,
    saved_transcript_error,
    turn_from_json,
    turn_to_json,
)
from gemini_live_runtime.records import mutable_record

__all__ = [
    "CallStatus",
    "OpenedBy",
    "ToolCallSummary",
    "TranscriptBuffer",
    "TranscriptTurn",
    "TranscriptWindow",
]

MAX_TURNS = 50
"""Ended turns that are kept; the oldest is dropped."""

MAX_CALLS = 100
"""Tool calls kept in one turn; further ones are counted in `left_out`."""


@mutable_record
class _OpenTurn:
    """The open turn; texts stay in pieces until they are read."""

    number: int
    by: OpenedBy
    started_at: float
    user: list[str] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    unheard: list[str] = field(default_factory=list)
    interrupted: bool = False
    said_at: int = -1
    calls: dict[str, ToolCallSummary] = field(default_factory=dict)
    chars: dict[str, int] = field(default_factory=dict)

    def add(self, side: Literal["user", "model", "unheard"], text: str) -> int:
        """Append to a side and return the number of characters that did not fit."""
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
            said_at=self.said_at,
        )


class TranscriptBuffer:
    """The last `max_turns` ended turns (at least 1) and the open one.

    Texts are deltas: they are appended as they are, never replaced. Content for a turn that has ended goes to that
    turn; the methods return False when it is no longer known. A side keeps its first `MAX_TEXT` characters.
    """

    def __init__(self, max_turns: int = MAX_TURNS) -> None:
        if max_turns < 1:
            raise ValueError(f"max_turns must be at least 1, not {max_turns}")
        self._ended: deque[TranscriptTurn] = deque(maxlen=max_turns)
        self._open: _OpenTurn | None = None
        self._blank: TranscriptTurn | None = None
        """Last turn that ended empty, until the next one ends: its text may come later than its sound."""
        self._count = 0
        self._restored = 0
        """Number of kept turns, from the oldest, of an earlier process, whose calls have ended."""
        self._handoffs: deque[tuple[int, AgentHandoff]] = deque(maxlen=max_turns)
        """Hand-offs, each with the number of ended turns before it."""
        self.left_out = 0
        """Number of characters and calls that did not fit, or whose turn is no longer kept."""

    # Writing.

    def begin_turn(self, number: int, by: OpenedBy, now: float) -> None:
        """Open turn `number`; end an open one."""
        self.end_turn()
        self._open = _OpenTurn(number, by, now)

    def add_input(self, text: str, *, turn: int | None = None, said_at: int = -1) -> bool:
        """Append a delta of the user's speech, or typed text; None is the newest turn.

        `said_at` is the sequence number of the state when the user began to say or type it.
        """
        return self._add("user", text, turn, said_at)

    def add_output(self, text: str, *, turn: int | None = None, cut: bool = False) -> bool:
        """Append a delta of the model's speech, never of a `thought` channel.

        `cut`: it belongs to an answer that has ended, so it will not be heard. In a turn that was not interrupted the
        whole answer was heard, and its text came later than its sound.
        """
        return self._add("unheard" if cut else "model", text, turn)

    def add_tool_call(self, summary: ToolCallSummary, *, turn: int | None = None) -> bool:
        """Add a call, or update it by its `call_id`, in any turn."""
        if self._open is not None and summary.call_id in self._open.calls:
            after = self._open.calls[summary.call_id].after
            self._open.calls[summary.call_id] = replace(summary, after=after)
            return True
        for at in range(len(self._ended) - 1, self._restored - 1, -1):
            calls = self._ended[at].tool_calls
            if any(call.call_id == summary.call_id for call in calls):
                changed = tuple(
                    replace(summary, after=call.after) if call.call_id == summary.call_id else call for call in calls
                )
                self._ended[at] = replace(self._ended[at], tool_calls=changed)
                return True
        if self._open is not None and turn in (None, self._open.number):
            if len(self._open.calls) < MAX_CALLS:
                self._open.calls[summary.call_id] = replace(summary, after=self._open.chars.get("model", 0))
            else:
                self.left_out += 1
            return True
        late = self._find(turn)
        if late is None:
            self.left_out += 1
            return False
        if len(late.tool_calls) < MAX_CALLS:
            summary = replace(summary, after=len(late.model))
            self._store(late, replace(late, tool_calls=(*late.tool_calls, summary)))
        else:
            self.left_out += 1
        return True

    def interrupted(self, heard_text: str, unheard_text: str, turn: int | None = None) -> bool:
        """Split the text of an answer that was cut into the heard part and the rest.

        Both together are the text of that answer so far; earlier answers of the same turn stay as they are. `turn`
        None is the newest turn.
        """
        if self._open is not None and turn in (None, self._open.number):
            self._open.cut(heard_text, unheard_text)
            return True
        late = self._find(turn)
        if late is None:
            return False
        self._store(late, _cut_turn(late, heard_text, unheard_text))
        return True

    def break_off(self, unspoken: str = "") -> None:
        """Mark the answer of the open turn as cut after what has arrived.

        `unspoken` is the end of its text whose sound has not.
        """
        if self._open is not None:
            if unspoken and "".join(self._open.model).endswith(unspoken):
                self._open.cut("", unspoken)
            self._open.interrupted = True

    def discard_input(self) -> None:
        """Forget what the user has said in the open turn."""
        if self._open is not None:
            self._open.user.clear()
            self._open.chars.pop("user", None)

    def add_handoff(self, previous: str, agent: str) -> None:
        """Note that another agent takes over, after what was said so far."""
        self._handoffs.append((self.count_so_far, AgentHandoff(previous, agent)))

    def replace(self, turns: Sequence[TranscriptTurn]) -> None:
        """Keep `turns` in place of all that have ended, and no hand-off."""
        self._ended.clear()
        self._handoffs.clear()
        self._blank = None
        self._ended.extend(turns)
        self._count += len(self._ended)
        self._restored = len(self._ended)

    def end_turn(self) -> TranscriptTurn | None:
        """End the open turn and return it, or None if it is empty, which is not kept."""
        if self._open is None:
            return None
        turn, self._open = self._open.turn(), None
        if turn.is_empty:
            self._blank = turn
            return None
        self._blank = None
        self._keep(turn)
        return turn

    # Reading.

    @property
    def has_pending(self) -> bool:
        """True when a turn is open and has content."""
        return self._open is not None and not self._open.is_empty

    @property
    def turn_count(self) -> int:
        """Number of ended turns with content, dropped ones included."""
        return self._count

    @property
    def retained_count(self) -> int:
        """Number of ended turns that are kept."""
        return len(self._ended)

    def ended_turn(self, number: int) -> TranscriptTurn | None:
        """Return turn `number` of this process, or None if open, empty or dropped."""
        for turn in islice(reversed(self._ended), len(self._ended) - self._restored):
            if turn.number == number:
                return turn
        return None

    def turn(self, number: int) -> TranscriptTurn | None:
        """Return turn `number` of this process, the open one too; None if dropped."""
        if self._open is not None and self._open.number == number:
            return self._open.turn()
        if self._blank is not None and self._blank.number == number:
            return self._blank
        return self.ended_turn(number)

    def chat(self, after: int = 0) -> ChatContext:
        """Return the turns, the open one too, and the hand-offs as messages.

        Without the first `after` turns of the conversation.
        """
        first_place = self._count - len(self._ended) + 1
        turns = [(place, turn) for place, turn in enumerate(self._ended, first_place) if place > after]
        if self._open is not None:
            turns.append((self._count + 1, self._open.turn()))
        first = turns[0][0] - 1 if turns else self._count
        handoffs = deque((place, item) for place, item in self._handoffs if place >= first)
        items: list[ChatItem] = []
        for place, turn in turns:
            while handoffs and handoffs[0][0] < place:
                items.append(handoffs.popleft()[1])
            items += items_of(turn)
        return ChatContext((*items, *(item for _, item in handoffs)))

    def window(self, n: int) -> TranscriptWindow:
        """Return the last `n` ended turns, or fewer."""
        turns = tuple(self._ended)
        first = max(len(turns) - n, 0) if n > 0 else len(turns)
        before = (turn.model + turn.unheard for turn in reversed(turns[:first]))
        return TranscriptWindow(turns[first:], next((text for text in before if text.strip()), ""))

    def since(self, number: int) -> TranscriptWindow:
        """Return the ended turns of this process after turn `number`."""
        own = tuple(islice(self._ended, self._restored, None))
        return TranscriptWindow(tuple(turn for turn in own if turn.number > number))

    def after(self, count: int) -> TranscriptWindow:
        """Return the ended turns without the first `count` of the conversation."""
        dropped = self._count - len(self._ended)
        return TranscriptWindow(tuple(islice(self._ended, max(0, count - dropped), None)))

    @property
    def count_so_far(self) -> int:
        """Number of turns with content, the open one too."""
        return self._count + self.has_pending

    @property
    def last_number(self) -> int:
        """Number of the newest ended turn, 0 without one."""
        return self._ended[-1].number if self._ended else 0

    @property
    def newest_turn(self) -> TranscriptTurn | None:
        """The open turn if it has content, else the newest ended one; None before both."""
        if self._open is not None and not self._open.is_empty:
            return self._open.turn()
        return self._ended[-1] if self._ended else None

    @property
    def current_text(self) -> str:
        """Text of the open turn, "" without one."""
        return "" if self._open is None else self._open.turn().text

    def window_with_current(self, n: int) -> TranscriptWindow:
        """Return the last `n` ended turns and the open one, if it has content."""
        window = self.window(n)
        if self._open is not None and not self._open.is_empty:
            return replace(window, turns=(*window.turns, self._open.turn()))
        return window

    def to_json(self) -> dict[str, Any]:
        """Return the ended turns and the hand-offs as JSON values, without the open turn."""
        return {
            "turn_count": self._count,
            "turns": [turn_to_json(turn) for turn in self._ended],
            "handoffs": [[place, item.previous, item.agent] for place, item in self._handoffs],
        }

    @classmethod
    def from_json(cls, data: Any, max_turns: int = MAX_TURNS, *, same_session: bool = False) -> TranscriptBuffer:
        """Read the result of `to_json`; raise `JournalError` naming a wrong field.

        `same_session`: its turns and calls are those of the session that goes on.
        """
        if not isinstance(data, Mapping) or not isinstance(data.get("turns"), list):
            raise saved_transcript_error("transcript", data)
        buffer = cls(max_turns)
        for at, item in enumerate(data["turns"]):
            buffer._ended.append(turn_from_json(item, f"transcript.turns[{at}]"))
        count = data.get("turn_count")
        if type(count) is not int or count < len(data["turns"]):
            raise saved_transcript_error("transcript.turn_count", count)
        buffer._count, buffer._restored = count, 0 if same_session else len(buffer._ended)
        # Without them in what an older version has written.
        for at, item in enumerate(data.get("handoffs", ())):
            match item:
                case [int(place), str(previous), str(agent)]:
                    buffer._handoffs.append((place, AgentHandoff(previous, agent)))
                case _:
                    raise saved_transcript_error(f"transcript.handoffs[{at}]", item)
        return buffer

    # Internals.

    def _add(self, side: Literal["user", "model", "unheard"], text: str, number: int | None, said_at: int = -1) -> bool:
        if self._open is not None and number in (None, self._open.number):
            if said_at >= 0 and text.strip():
                self._open.said_at = _earliest(self._open.said_at, said_at)
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
            if said_at >= 0 and text.strip():
                changes["said_at"] = _earliest(late.said_at, said_at)
            self._store(late, replace(late, **changes))
        return True

    def _find(self, number: int | None) -> TranscriptTurn | None:
        if self._blank is not None and number in (None, self._blank.number):
            return self._blank
        if number is None:
            return self._ended[-1] if self._ended else None
        # Numbers begin anew in each process: text of this one must not go to an old turn of the same number.
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
        # The oldest turn is about to be dropped, and restored ones are the oldest.
        if self._restored and len(self._ended) == self._ended.maxlen:
            self._restored -= 1
        self._ended.append(turn)


def _side(side: Literal["user", "model", "unheard"], interrupted: bool) -> Literal["user", "model", "unheard"]:
    return "model" if side == "unheard" and not interrupted else side


def _earliest(known: int, said_at: int) -> int:
    return said_at if known < 0 else min(known, said_at)


def _cut_turn(turn: TranscriptTurn, heard: str, unheard: str) -> TranscriptTurn:
    answer = heard + unheard
    at = turn.model.rfind(answer)
    if at < 0 and 0 <= (at := (turn.model + turn.unheard).rfind(answer)) <= len(turn.model):
        # It had broken off, so that its end counts as unheard already.
        later = turn.unheard[at + len(answer) - len(turn.model) :]
        return replace(turn, model=turn.model[:at] + heard, unheard=(unheard + later)[:MAX_TEXT], interrupted=True)
    # A turn may hold several answers, and a later one than the cut one: that was not heard either.
    earlier, later = ("", "") if at < 0 else (turn.model[:at], turn.model[at + len(answer) :])
    return replace(
        turn, model=(earlier + heard)[:MAX_TEXT], unheard=(turn.unheard + unheard + later)[:MAX_TEXT], interrupted=True
    )
