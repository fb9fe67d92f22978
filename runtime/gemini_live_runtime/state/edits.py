"""Edits by hand: several keys written or removed together, checked against what was seen, and taken back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gemini_live_runtime.errors import StateError
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.values import MISSING, copy_value, format_value

MAX_EDITS = 5000
"""Keys that one edit may touch."""

MAX_STEPS = 100
"""Edits that can be taken back; the oldest is forgotten."""

_FIELDS = ("key", "value", "remove", "expect", "expect_absent")


@dataclass(frozen=True, slots=True)
class Edit:
    """A key and its new value, `MISSING` to remove it. `seen` is what it must hold still, None when that is no matter.

    `seen` is a tuple of one: the value, or `MISSING` for a key that must not exist.
    """

    key: str
    value: Any
    seen: tuple[Any] | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A change that an edit has made; `MISSING` stands for no value."""

    key: str
    old: Any
    new: Any

    def to_json(self) -> dict[str, Any]:
        """`key`, `old`, `new`, `added`, `removed`."""
        added, removed = self.old is MISSING, self.new is MISSING
        return {
            "key": self.key,
            "old": None if added else copy_value(self.old),
            "new": None if removed else copy_value(self.new),
            "added": added,
            "removed": removed,
        }


def read_edits(given: Iterable[Mapping[str, Any]]) -> tuple[Edit, ...]:
    """Edits as a command carries them; raises `StateError` naming the one that cannot be read."""
    items = tuple(given)
    if not items:
        raise StateError("There is nothing to edit", remedy="Name a key and its value", field="edits")
    if len(items) > MAX_EDITS:
        raise StateError(f"An edit touches at most {MAX_EDITS} keys, not {len(items)}", field="edits", value=len(items))
    edits = tuple(_read(item) for item in items)
    seen: set[str] = set()
    for edit in edits:
        if edit.key in seen:
            raise StateError(f"{edit.key} is edited twice", remedy="Name each key once", field="key", value=edit.key)
        seen.add(edit.key)
    return edits


def _read(item: Mapping[str, Any]) -> Edit:
    unknown = [name for name in item if name not in _FIELDS]
    if unknown:
        raise StateError(
            f"An edit has no {str(unknown[0])[:60]!r}",
            remedy=f"It has {', '.join(_FIELDS)}",
            field="edits",
            value=unknown,
        )
    key = check_key(item.get("key"))
    remove, absent = item.get("remove", False), item.get("expect_absent", False)
    for name, flag in (("remove", remove), ("expect_absent", absent)):
        if not isinstance(flag, bool):
            raise StateError(f"{key}: {name} is true or false, not {format_value(flag)}", field=name, value=flag)
    if remove == ("value" in item):
        both = "both a value and" if remove else "neither a value nor"
        raise StateError(f"The edit of {key} has {both} remove", remedy="Give one of them", field="value")
    if absent and "expect" in item:
        raise StateError(f"The edit of {key} expects a value and none", remedy="Give one of them", field="expect")
    seen = (MISSING,) if absent else (item["expect"],) if "expect" in item else None
    return Edit(key, MISSING if remove else item["value"], seen)


def make_edits(state: State, edits: Iterable[Edit], origin: Origin) -> tuple[Made, ...]:
    """Make all or none, as `origin`; what has changed by it. Raises `StateError` for the first that cannot be made.

    Declared types are enforced. Nobody writes in between.
    """
    edits = tuple(edits)
    with state.locked(), writing_as(origin):
        transaction = state.transaction()
        for edit in edits:
            _check(state, edit)
            if edit.value is not MISSING:
                transaction.set(edit.key, edit.value)
            elif transaction.remove(edit.key) is MISSING:
                raise StateError(f"There is no {edit.key} to remove", field="key", value=edit.key)
        made = tuple(Made(item.key, item.old, item.new) for item in transaction.written)
        transaction.commit()
    return made


def _check(state: State, edit: Edit) -> None:
    key = edit.key
    if state.is_live(key):
        raise StateError(f"{key} is measured all the time and cannot be written", field="key", value=key)
    if edit.seen is None:
        return
    (seen,) = edit.seen
    now = state.own(key)
    if same_value(seen, now):
        return
    by = state.written_by(key)
    was = "absent" if seen is MISSING else format_value(seen)
    what = "is gone" if now is MISSING else f"is {format_value(now)}"
    raise StateError(
        f"{key} {what} now{f' (by {by})' if by and now is not MISSING else ''}, not {was} as it was seen",
        remedy="Look at it again before you edit it",
        field="expect",
        value=key,
    )


class EditHistory:
    """The edits of one state that can be taken back, and those that can be made again."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._done: deque[tuple[Made, ...]] = deque(maxlen=MAX_STEPS)
        self._undone: deque[tuple[Made, ...]] = deque(maxlen=MAX_STEPS)

    @property
    def undoable(self) -> int:
        """Edits that can be taken back."""
        return len(self._done)

    @property
    def redoable(self) -> int:
        """Edits that can be made again."""
        return len(self._undone)

    def make(self, edits: Iterable[Edit], origin: Origin) -> tuple[Made, ...]:
        """`make_edits`; from then on the edits that were taken back are forgotten."""
        made = make_edits(self._state, edits, origin)
        if made:
            self._done.append(made)
            self._undone.clear()
        return made

    def undo(self, origin: Origin, *, force: bool = False) -> tuple[Made, ...]:
        """Take back the last edit; what has changed by it.

        Raises `StateError` when there is none, and unless `force` when a key was changed since.
        """
        if not self._done:
            raise StateError("There is no edit to take back", field="undo")
        backwards = [Made(made.key, made.new, made.old) for made in reversed(self._done[-1])]
        made = self._again(backwards, origin, force=force)
        self._undone.append(self._done.pop())
        return made

    def redo(self, origin: Origin, *, force: bool = False) -> tuple[Made, ...]:
        """Make the edit again that was taken back last; raises as `undo` does."""
        if not self._undone:
            raise StateError("There is no edit to make again", field="redo")
        made = self._again(self._undone[-1], origin, force=force)
        self._done.append(self._undone.pop())
        return made

    def _again(self, wanted: Iterable[Made], origin: Origin, *, force: bool) -> tuple[Made, ...]:
        edits = []
        for made in wanted:
            if force and made.new is MISSING and self._state.own(made.key) is MISSING:
                continue
            edits.append(Edit(made.key, made.new, None if force else (made.old,)))
        try:
            return make_edits(self._state, edits, origin)
        except StateError as error:
            if error.field == "expect":
                error.remedy = "Force it to overwrite what was written since"
            raise
