"""Apply edits by hand: several keys at once, undone and redone.

An edit may name the value that its author saw. When another writer changed it since, the whole edit is refused, so no
write is lost unseen. Undoing is an edit as well: it expects the values that the original edit wrote.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from gemini_live_runtime.errors import StateError
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.records import record
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.values import MISSING, copy_value, format_value

MAX_EDITS = 5000
"""Keys that one edit may touch."""

MAX_KEY = 500
"""Characters of the longest key that an edit takes."""

MAX_STEPS = 100
"""Edits that can be undone; the oldest is dropped."""

_FIELDS = ("key", "value", "remove", "expect", "expect_absent")


@record
class Edit:
    """A key and its new value, `MISSING` to remove it.

    `expected` holds the value that the key must have, `MISSING` for none; None accepts any.
    """

    key: str
    value: Any
    expected: tuple[Any] | None = None


@record
class AppliedEdit:
    """A change that an edit made; `MISSING` means no value."""

    key: str
    old: Any
    new: Any

    def to_json(self) -> dict[str, Any]:
        """Return `key`, `old`, `new`, `added` and `removed`."""
        added, removed = self.old is MISSING, self.new is MISSING
        return {
            "key": self.key,
            "old": None if added else copy_value(self.old),
            "new": None if removed else copy_value(self.new),
            "added": added,
            "removed": removed,
        }


def read_edits(commands: Iterable[Mapping[str, Any]]) -> tuple[Edit, ...]:
    """Read the edits of a command; raise `StateError` naming a wrong one."""
    items: tuple[Any, ...] = tuple(commands) if isinstance(commands, Iterable) else (commands,)
    for item in items:
        if not isinstance(item, Mapping):
            text = f"An edit is an object, not {item!r:.60}"
            raise StateError(text, remedy='Write {"key": ..., "value": ...}', field="edits", value=item)
    if not items:
        raise StateError("The edit is empty", remedy="Name a key and its value", field="edits")
    if len(items) > MAX_EDITS:
        raise StateError(f"An edit touches at most {MAX_EDITS} keys, not {len(items)}", field="edits", value=len(items))
    edits = tuple(_read(item) for item in items)
    keys: set[str] = set()
    for edit in edits:
        if edit.key in keys:
            raise StateError(f"{edit.key} is edited twice", remedy="Name each key once", field="key", value=edit.key)
        keys.add(edit.key)
    return edits


def _read(item: Mapping[str, Any]) -> Edit:
    unknown = [name for name in item if name not in _FIELDS]
    if unknown:
        raise StateError(
            f"Unknown field {str(unknown[0])[:60]!r} in an edit",
            remedy=f"Use {', '.join(_FIELDS)}",
            field="edits",
            value=unknown,
        )
    key = check_key(item.get("key"))
    if len(key) > MAX_KEY:
        text = f"The key {key[:60]}… has {len(key):,} characters, an edit takes at most {MAX_KEY}"
        raise StateError(text, remedy="Use a shorter key", field="key", value=len(key))
    remove, absent = item.get("remove", False), item.get("expect_absent", False)
    for name, flag in (("remove", remove), ("expect_absent", absent)):
        if not isinstance(flag, bool):
            raise StateError(f"{key}: {name} is true or false, not {format_value(flag)}", field=name, value=flag)
    if remove == ("value" in item):
        both = "both a value and" if remove else "neither a value nor"
        raise StateError(f"The edit of {key} has {both} remove", remedy="Give one of them", field="value")
    if absent and "expect" in item:
        raise StateError(f"The edit of {key} expects a value and none", remedy="Give one of them", field="expect")
    expected = (MISSING,) if absent else (item["expect"],) if "expect" in item else None
    return Edit(key, MISSING if remove else item["value"], expected)


def apply_edits(state: State, edits: Iterable[Edit], origin: Origin) -> tuple[AppliedEdit, ...]:
    """Apply all edits or none, as `origin`, and return the changes.

    Raises `StateError` for the first that cannot be applied. Declared types are enforced.
    """
    edits = tuple(edits)
    # Locked from the first check to the commit, so that no other thread changes a value that was checked.
    with state.locked(), writing_as(origin):
        transaction = state.transaction()
        for edit in edits:
            _check(state, edit)
            if edit.value is not MISSING:
                transaction.set(edit.key, edit.value)
            elif transaction.remove(edit.key) is MISSING:
                raise StateError(f"There is no {edit.key} to remove", field="key", value=edit.key)
        applied = tuple(AppliedEdit(item.key, item.old, item.new) for item in transaction.written)
        transaction.commit()
    return applied


def _check(state: State, edit: Edit) -> None:
    key = edit.key
    if state.is_live(key):
        raise StateError(f"{key} is measured live and cannot be written", field="key", value=key)
    if edit.expected is None:
        return
    (expected,) = edit.expected
    now = state.own(key)
    if same_value(expected, now):
        return
    by = state.written_by(key)
    was = "absent" if expected is MISSING else format_value(expected)
    actual = "is absent" if now is MISSING else f"is {format_value(now)}"
    raise StateError(
        f"{key} {actual} now{f' (by {by})' if by and now is not MISSING else ''}, not {was} as expected",
        remedy="Read it again before you edit it",
        field="expect",
        value=key,
    )


@record
class EditOutcome:
    """Changes made, as `AppliedEdit.to_json` returns them, and steps of the history.

    `undo` and `redo` are the numbers of edits that can be undone and redone now.
    """

    values: tuple[dict[str, Any], ...]
    undo: int
    redo: int


class EditHistory:
    """Undo and redo stacks of one state's edits."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._done: deque[tuple[AppliedEdit, ...]] = deque(maxlen=MAX_STEPS)
        self._undone: deque[tuple[AppliedEdit, ...]] = deque(maxlen=MAX_STEPS)

    def apply(self, edits: Iterable[Edit], origin: Origin) -> EditOutcome:
        """Apply edits as `apply_edits` does; undone edits can no longer be redone."""
        applied = apply_edits(self._state, edits, origin)
        if applied:
            self._done.append(applied)
            self._undone.clear()
        return self._outcome(applied)

    def undo(self, origin: Origin, *, force: bool = False) -> EditOutcome:
        """Undo the last edit.

        Raises `StateError` without an edit to undo, and, unless `force`, when a key was changed since.
        """
        if not self._done:
            raise StateError("There is no edit to undo", field="undo")
        backwards = [AppliedEdit(change.key, change.new, change.old) for change in reversed(self._done[-1])]
        applied = self._reapply(backwards, origin, force=force)
        self._undone.append(self._done.pop())
        return self._outcome(applied)

    def redo(self, origin: Origin, *, force: bool = False) -> EditOutcome:
        """Apply the edit again that was undone last; raise as `undo` does."""
        if not self._undone:
            raise StateError("There is no edit to redo", field="redo")
        applied = self._reapply(self._undone[-1], origin, force=force)
        self._done.append(self._undone.pop())
        return self._outcome(applied)

    def _outcome(self, applied: tuple[AppliedEdit, ...]) -> EditOutcome:
        return EditOutcome(tuple(change.to_json() for change in applied), len(self._done), len(self._undone))

    def _reapply(self, changes: Iterable[AppliedEdit], origin: Origin, *, force: bool) -> tuple[AppliedEdit, ...]:
        edits = []
        for change in changes:
            if force and change.new is MISSING and self._state.own(change.key) is MISSING:
                continue  # `apply_edits` refuses to remove a key that another writer removed already.
            edits.append(Edit(change.key, change.new, None if force else (change.old,)))
        try:
            return apply_edits(self._state, edits, origin)
        except StateError as error:
            if error.field == "expect":
                error.remedy = "Force it to overwrite later changes"
            raise
