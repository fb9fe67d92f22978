"""Compare the state at two moments. Pure functions of views."""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime.journal.fold.agent_view import AgentView, KeyCell, Removal
from gemini_live_runtime.records import record
from gemini_live_tui.session_data.moment_parser import by_moment


@record
class Difference:
    """Key that differs: `old` and `new` are its cells, None where it did not exist.

    `times` is the number of writes in between, 0 where that is unknown. `removal` names who removed it, None where it
    exists or that is not remembered.
    """

    key: str
    how: Literal["added", "removed", "changed"]
    old: KeyCell | None
    new: KeyCell | None
    times: int = 0
    removal: Removal | None = None

    @property
    def writer(self) -> str:
        """Author of the difference, in a few words; "" when unknown."""
        made = self.new or self.removal
        return who(made) if made is not None else ""


def differences(before: AgentView, after: AgentView) -> list[Difference]:
    """Return the keys that differ, sorted; one rewritten with its old value does not."""
    found: list[Difference] = []
    for key in sorted(before.keys.keys() | after.keys.keys()):
        old, new = before.keys.get(key), after.keys.get(key)
        if old is None:
            assert new is not None
            found.append(Difference(key, "added", None, new, new.changes))
        elif new is None:
            found.append(Difference(key, "removed", old, None, removal=after.removed.get(key)))
        elif old.value != new.value:
            found.append(Difference(key, "changed", old, new, max(0, new.changes - old.changes)))
    return found


def who(cell: KeyCell | Removal) -> str:
    """Return the author of a value or removal, in a few words."""
    return f"{cell.origin} {cell.by}".strip()


@record
class Pair:
    """Two moments to compare, each the event after which it is; `title` names them."""

    first: int
    last: int
    title: str


def turn_pair(view_turns: AgentView, turn: int, last_seq: int) -> Pair | None:
    """Return a turn from its beginning to its end, or to `last_seq` while it goes on."""
    card = view_turns.turns.get(turn)
    if card is None:
        return None
    going = "" if card.end_seq else " so far"
    return Pair(card.seq - 1, card.end_seq or last_seq, f"turn {turn}{going}")


def mark_pair(agent: AgentView, number: int, last_seq: int) -> Pair | None:
    """Return the stretch from mark `number` (from 1) to the next, or to the present."""
    marks = by_moment(agent.marks)
    if not 1 <= number <= len(marks):
        return None
    mark = marks[number - 1]
    name = f"mark {number}" + (f" ({mark.text})" if mark.text else "")
    if number == len(marks):
        return Pair(mark.of, last_seq, f"{name} to the present")
    return Pair(mark.of, marks[number].of, f"{name} to mark {number + 1}")
