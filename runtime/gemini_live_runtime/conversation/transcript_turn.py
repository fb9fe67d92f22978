"""Define turns, tool calls and windows of a transcript, and save turns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, field, fields
from typing import Any, Literal, TypeAlias

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.text import clip

MAX_SUMMARY = 200
"""Characters of a tool's arguments or result in a summary, the ellipsis included."""

MAX_TEXT = 100_000
"""Characters kept of one side of a turn."""

OpenedBy: TypeAlias = Literal["voice", "typed", "model"]
CallStatus: TypeAlias = Literal["running", "ok", "error", "timeout", "cancelled", "refused"]

_BY = ("voice", "typed", "model")
_STATUSES = ("running", "ok", "error", "timeout", "cancelled", "refused")


@frozen_record
class ToolCallSummary:
    """Summary of a tool call.

    `args` and `result` are JSON texts of at most `MAX_SUMMARY` characters; `result` is "" while it runs. `after` is
    the number of characters that the model had said in the turn before the call.
    """

    call_id: str
    name: str
    args: str
    result: str
    status: CallStatus
    after: int = field(default=0, compare=False)

    @classmethod
    def of(cls, call_id: str, name: str, args: Any, result: Any, status: CallStatus) -> ToolCallSummary:
        """Summarise a call with any values; those that are not JSON appear as `str`."""
        return cls(call_id, name, _cut_json(args), "" if status == "running" else _cut_json(result), status)


@frozen_record(kw_only=True)
class TranscriptTurn:
    """A turn of the conversation, by its `number` in the session.

    `started_at` is in seconds of the caller's clock. `model` is the part of the answer that was heard, `unheard` the
    part that was cut off. Thoughts are in neither. `said_at` is the sequence number of the state when the user began to
    say or type the first words of `user`; -1 when that is not known, or was in an earlier process.
    """

    number: int
    by: OpenedBy
    started_at: float
    user: str = ""
    model: str = ""
    unheard: str = ""
    interrupted: bool = False
    tool_calls: tuple[ToolCallSummary, ...] = ()
    said_at: int = field(default=-1, repr=False, compare=False)

    @property
    def is_empty(self) -> bool:
        """True when it has no text and no tool call."""
        return not (self.user or self.model or self.unheard or self.tool_calls)

    @property
    def text(self) -> str:
        """Lines `User: ..`, `[Tool: name(args) → result]` and `Assistant: ..`.

        Blank sides are left out.
        """
        lines = [f"User: {_one_line(self.user)}"] if self.user.strip() else []
        for call in self.tool_calls:
            # Without an answer it may have done anything: its empty result would say that it did nothing.
            result = call.status if call.status == "cancelled" else call.result or call.status
            lines.append(f"[Tool: {call.name}({call.args}) → {result}]")
        if self.model.strip():
            lines.append(f"Assistant: {_one_line(self.model)}")
        return "\n".join(lines)


@frozen_record
class TranscriptWindow:
    """Consecutive turns, oldest first.

    `asked` is the model's text before them, heard or cut off: a "yes" in the first turn answers it.
    """

    turns: tuple[TranscriptTurn, ...] = ()
    asked: str = ""

    def __len__(self) -> int:
        return len(self.turns)

    @property
    def is_empty(self) -> bool:
        """True when it has no turn."""
        return not self.turns

    @property
    def text(self) -> str:
        """Text of all turns, separated by empty lines.

        A line break inside a text becomes a space.
        """
        return "\n\n".join(text for turn in self.turns if (text := turn.text))

    def without_first(self, count: int) -> TranscriptWindow:
        """Return the window without its first `count` turns."""
        before = (turn.model + turn.unheard for turn in reversed(self.turns[:count]))
        return TranscriptWindow(self.turns[count:], next((text for text in before if text.strip()), self.asked))

    @property
    def last_user(self) -> str:
        """Newest text of the user that is not blank, or ""."""
        return next((turn.user for turn in reversed(self.turns) if turn.user.strip()), "")

    @property
    def last_model(self) -> str:
        """Newest heard text of the model that is not blank, or ""."""
        return next((turn.model for turn in reversed(self.turns) if turn.model.strip()), "")


def _one_line(text: str) -> str:
    # A speaker must not be able to forge a line of the transcript.
    return " ".join(text.splitlines()).strip()


def _cut_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return clip(text, MAX_SUMMARY)


def turn_to_json(turn: TranscriptTurn) -> dict[str, Any]:
    """Return a turn as JSON values, without `said_at`, which is of this process only."""
    saved = asdict(turn) | {"tool_calls": [asdict(call) for call in turn.tool_calls]}
    del saved["said_at"]
    return saved


def turn_from_json(item: Any, place: str) -> TranscriptTurn:
    """Read the result of `turn_to_json`.

    A call that was running becomes `cancelled`, since its process has ended. Raises `JournalError` naming the field
    below `place` that cannot be used.
    """
    if not isinstance(item, Mapping) or not isinstance(item.get("tool_calls"), list):
        raise saved_transcript_error(place, item)
    calls = []
    for at, call in enumerate(item["tool_calls"]):
        where = f"{place}.tool_calls[{at}]"
        if not isinstance(call, Mapping):
            raise saved_transcript_error(where, call)
        values = {f.name: call.get(f.name) for f in fields(ToolCallSummary) if f.name != "after"}
        for name, value in values.items():
            if not isinstance(value, str) or (name == "status" and value not in _STATUSES):
                raise saved_transcript_error(f"{where}.{name}", value)
        if values["status"] == "running":
            values["status"] = "cancelled"
        after = call.get("after", 0)
        if type(after) is not int or after < 0:
            raise saved_transcript_error(f"{where}.after", after)
        calls.append(ToolCallSummary(**values, after=after))  # type: ignore[arg-type]
    kinds: dict[str, tuple[type, ...]] = {
        "number": (int,), "by": (str,), "started_at": (int, float), "user": (str,), "model": (str,), "unheard": (str,),
        "interrupted": (bool,),
    }  # fmt: skip
    for name, kind in kinds.items():
        value = item.get(name)
        if type(value) not in kind or (name == "by" and value not in _BY):
            raise saved_transcript_error(f"{place}.{name}", value)
    return TranscriptTurn(**{name: item[name] for name in kinds}, tool_calls=tuple(calls))


def saved_transcript_error(field: str, value: object) -> JournalError:
    """Return the error for a saved transcript with a wrong `value` at `field`."""
    return JournalError(
        f"The saved transcript cannot be used: {field} is {value!r:.80}",
        remedy="Start without the saved session, or restore its file from a copy",
        field=field,
        value=value,
    )
