"""Plain data of the work that outlives the moment, as displays show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from gemini_live_runtime.records import record

MAX_TASKS = 200
"""Tasks that the view keeps, the newest; the files have all."""


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


@dataclass(slots=True)
class HarnessView:
    """Tasks of a session by id, in the order of their start."""

    tasks: dict[str, TaskCard] = field(default_factory=dict)

    @property
    def running(self) -> list[TaskCard]:
        """Tasks that run, oldest first."""
        return [task for task in self.tasks.values() if task.end is None]

    def copy(self) -> HarnessView:
        """Return an equal view that later events do not change."""
        return HarnessView(dict(self.tasks))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object from which `from_json` restores an equal view."""
        return {"tasks": {ident: {name: getattr(card, name) for name in _FIELDS} for ident, card in self.tasks.items()}}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> HarnessView:
        """Restore a view: unknown fields are ignored, missing ones get their defaults."""
        cards = value.get("tasks", {})
        return cls(
            {ident: TaskCard(**{name: card[name] for name in _FIELDS if name in card}) for ident, card in cards.items()}
        )


_FIELDS = tuple(f.name for f in fields(TaskCard))
