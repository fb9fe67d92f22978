"""Snapshot of a session from which it can be restored later."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import field, fields
from datetime import UTC, datetime
from typing import Any

from gemini_live_runtime.conversation.phases import PRESENTED
from gemini_live_runtime.errors import JournalError, NewerFormatError, StateError
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.state.mutations import Origin
from gemini_live_runtime.state.scopes import PERSISTENT_SCOPES, check_key
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import CALLED_OK
from gemini_live_runtime.state.values import to_json

VERSION = 1

MAX_TURNS = 2**53
"""Largest count of turns, which every reader of JSON holds exactly."""

PERSISTENT_PREFIXES = (PRESENTED, CALLED_OK)
"""Prefixes of session keys that are saved: a restored phase continues, so what it presented and did still counts."""


@frozen_record(kw_only=True)
class SessionSnapshot:
    """Snapshot of a session between two turns.

    `saved_at` is ISO 8601 in UTC; `turn_count` counts ended turns. `state` holds persistent scopes only. `phases`,
    `needs`, `transcript` and `steering` are the `to_json` of their owners. `handle` is the server's resumption handle:
    a secret that is never shown and redacted wherever it turns up. Raises `JournalError` naming the invalid field.
    """

    session_id: str
    saved_at: str
    agent: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    phases: Mapping[str, Any] | None = None
    needs: Mapping[str, Any] | None = None
    transcript: Mapping[str, Any] | None = None
    steering: Mapping[str, Any] | None = None
    turn_count: int = 0
    handle: str = field(default="", repr=False)
    handle_turn: int = 0
    """Newest turn that the handle stands for, in a session that goes on in another engine."""
    told_from: int = 0
    """Turns at the beginning of the transcript of which a fresh server session learns nothing."""
    seq: int = 0
    """Number of the newest event of the session's journal when it was taken."""
    version: int = VERSION

    def __post_init__(self) -> None:
        for name, wrong in (
            ("session_id", not isinstance(self.session_id, str) or not self.session_id),
            ("saved_at", not _is_utc(self.saved_at)),
            ("agent", not isinstance(self.agent, str)),
            ("turn_count", type(self.turn_count) is not int or not 0 <= self.turn_count <= MAX_TURNS),
            ("handle", not isinstance(self.handle, str)),
            ("handle_turn", type(self.handle_turn) is not int or not 0 <= self.handle_turn <= MAX_TURNS),
            ("told_from", type(self.told_from) is not int or not 0 <= self.told_from <= MAX_TURNS),
            ("seq", type(self.seq) is not int or not 0 <= self.seq <= MAX_TURNS),
            ("version", self.version != VERSION),
        ):
            if wrong:
                raise _unusable(name)
        if not isinstance(self.state, Mapping):
            raise _unusable("state")
        for key in self.state:
            if not is_persistent(key):
                raise _unusable("state", f"it holds {key!r:.60}, which is not saved between sessions")
        for name in ("state", "phases", "needs", "transcript", "steering"):
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
                raise _unusable(name)
            try:
                # Copies: the session goes on changing the values while the snapshot is written.
                object.__setattr__(self, name, {key: to_json(str(key), item) for key, item in value.items()})
            except StateError as error:
                raise _unusable(name, str(error)) from None
        redactor.add_temporary(self.handle)

    @classmethod
    def take(cls, state: State, *, session_id: str, wall: float, **others: Any) -> SessionSnapshot:
        """Return a snapshot of `state` and the fields `others`.

        `wall` is the time in seconds since the Unix epoch.
        """
        saved_at = datetime.fromtimestamp(wall, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return cls(session_id=session_id, saved_at=saved_at, state=persistent(state), **others)

    def to_json(self) -> dict[str, Any]:
        """Return the snapshot as a JSON object, including the secret handle."""
        return {f.name: deepcopy(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> SessionSnapshot:
        """Read the JSON object of `to_json`.

        Raises `NewerFormatError`, or `JournalError` naming the field; errors never contain its value.
        """
        if not isinstance(data, Mapping) or type(data.get("version")) is not int or data["version"] < 1:
            raise _unusable("version")
        if data["version"] > VERSION:
            raise NewerFormatError(
                f"The saved session has version {data['version']}, this program reads up to {VERSION}",
                remedy="Update gemini-live-tui",
                field="version",
                value=data["version"],
            )
        names = {f.name for f in fields(cls)}
        unknown = [name for name in data if name not in names]
        if unknown:
            raise _unusable(str(unknown[0])[:60], "unknown field")
        if not {"session_id", "saved_at"} <= set(data):
            raise _unusable("session_id" if "session_id" not in data else "saved_at", "it is missing")
        return cls(**data)

    def restore_state(self, state: State) -> list[str]:
        """Write the saved values into `state` in one transaction.

        Returns a sentence for each value that no longer fits its key.
        """
        problems = []
        with state.transaction() as transaction, state.writing_as(Origin("restored", self.session_id)):
            for key, value in self.state.items():
                try:
                    transaction.set(key, value)
                except StateError as error:
                    problems.append(str(error))
        return problems


def is_persistent(key: object) -> bool:
    """Return True when a state key is saved between sessions."""
    try:
        name = check_key(key)
    except StateError:
        return False
    if name.startswith(PERSISTENT_PREFIXES):
        return True
    scope, colon, _ = name.partition(":")
    return (scope if colon else "") in PERSISTENT_SCOPES


def persistent(state: State) -> dict[str, Any]:
    """Return copies of the values that are saved."""
    return {key: value for key, value in state.snapshot().items() if is_persistent(key)}


def _is_utc(text: object) -> bool:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return False
    return moment is not None and moment.tzinfo is not None and not moment.utcoffset()


def _unusable(name: str, why: str = "") -> JournalError:
    return JournalError(
        f"The saved session cannot be used: {name} is invalid{f' ({why})' if why else ''}",
        remedy="Start without it, or restore its file from a copy",
        field=name,
    )
