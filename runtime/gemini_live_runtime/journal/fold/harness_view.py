"""Plain data of the work that outlives the moment, as displays show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

from gemini_live_runtime.records import mutable_record, record

C = TypeVar("C")

MAX_TASKS = 200
MAX_NOTIFICATIONS = 200
"""Tasks and notifications that the view keeps, the newest; the files have all."""

MAX_MEMORIES = 200
"""Changes of memory that the view keeps, the newest; the files have all memories."""


@record
class TaskCard:
    """Task of this session since `t`.

    `end` is the session time of its end, None while it runs. `fraction` done is 0 to 1, None where it is unknown.
    `text` is the newest sentence on its progress, or its end.
    """

    tool: str
    t: float
    turn: int
    seq: int
    status: str = "running"
    fraction: float | None = None
    text: str = ""
    end: float | None = None
    is_recorded: bool = True
    """False while the disk refuses the end."""


@record
class MemoryCard:
    """Memory that this session put or deleted at `t`; `by` is the author."""

    t: float
    turn: int
    seq: int
    action: str = "put"
    by: str = "model"
    value: str = ""


@record
class NotificationCard:
    """Notification that the session knows since `t`.

    `reason` says why it waits, or was never heard. `retry_at` is the session time of its next attempt, None where it
    waits for something else. `end` is the session time of its end, None while it is open.
    """

    title: str
    t: float
    turn: int
    seq: int
    status: str = "queued"
    body: str = ""
    kind: str = ""
    source: str = ""
    attempts: int = 0
    reason: str = ""
    end: float | None = None
    retry_at: float | None = None


@record
class ConsentCard:
    """Call that waits for consent since `t`.

    `id` is that for `consent.give`. `text` is the call with its whole arguments, unless `is_cut`. `voice` is "asking"
    while the model asks the `question` aloud, "listening" while a spoken answer counts, "off" when only keys answer,
    for the `voice_reason`, and "" for a tool that is never asked about aloud.
    """

    id: str
    tool: str
    text: str
    reason: str
    expires_s: float
    t: float
    turn: int
    seq: int
    is_cut: bool = False
    voice: str = ""
    voice_reason: str = ""
    question: str = ""


@mutable_record
class HarnessView:
    """Tasks and notifications by id, and changed memories by scope/key.

    Each kind is in the order of its first events. `consent` is the call that waits for the operator's consent.
    """

    tasks: dict[str, TaskCard] = field(default_factory=dict)
    memories: dict[str, MemoryCard] = field(default_factory=dict)
    notifications: dict[str, NotificationCard] = field(default_factory=dict)
    consent: ConsentCard | None = None

    @property
    def running(self) -> list[TaskCard]:
        """Tasks that run, oldest first."""
        return [task for task in self.tasks.values() if task.end is None]

    @property
    def open_notifications(self) -> list[NotificationCard]:
        """Notifications that wait or are announced, oldest first."""
        return [one for one in self.notifications.values() if one.end is None]

    def copy(self) -> HarnessView:
        """Return an equal view that later events do not change."""
        return HarnessView(dict(self.tasks), dict(self.memories), dict(self.notifications), self.consent)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object from which `from_json` restores an equal view."""
        cards: dict[str, Mapping[str, Any]] = {
            "tasks": self.tasks,
            "memories": self.memories,
            "notifications": self.notifications,
            "consent": {} if self.consent is None else {"": self.consent},
        }
        return {name: _to_json(of_kind) for name, of_kind in cards.items()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> HarnessView:
        """Restore a view: unknown fields are ignored, missing ones get their defaults."""
        return cls(
            _from_json(TaskCard, value.get("tasks", {})),
            _from_json(MemoryCard, value.get("memories", {})),
            _from_json(NotificationCard, value.get("notifications", {})),
            _from_json(ConsentCard, value.get("consent", {})).get(""),
        )


def _to_json(cards: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {ident: {one.name: getattr(card, one.name) for one in fields(card)} for ident, card in cards.items()}


def _from_json(kind: type[C], cards: Mapping[str, Mapping[str, Any]]) -> dict[str, C]:
    names = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    return {ident: kind(**{name: card[name] for name in names if name in card}) for ident, card in cards.items()}
