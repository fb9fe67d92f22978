"""Enforce the operator's limits of cost and minutes: warn at 80 %, then hang up."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.events import LimitReached
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.records import mutable_record

WARN_AT = 0.8
"""Fraction of a limit at which the warning is due."""

Kind = Literal["cost", "minutes"]


@mutable_record
class Limits:
    """Limits of a session: `max_cost` in US dollars, `max_minutes`; None is no limit."""

    max_cost: float | None = None
    max_minutes: float | None = None
    _said: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Raise `UsageError` for a limit that is not above 0."""
        for name, value in (("max_cost", self.max_cost), ("max_minutes", self.max_minutes)):
            if value is not None and not (is_finite(value) and value > 0):
                raise UsageError(
                    f"{name} must be above 0 and finite, not {value!r:.60}",
                    remedy="Leave it out for no limit",
                    field=name,
                    value=value,
                )

    def check(self, *, cost: float | None, minutes: float) -> list[LimitReached]:
        """Return the events that are due, each once.

        The session must end after one of stage `hang-up`.
        """
        due: list[LimitReached] = []
        readings: tuple[tuple[Kind, float | None, float | None], ...] = (
            ("cost", cost, self.max_cost),
            ("minutes", minutes, self.max_minutes),
        )
        for kind, used, limit in readings:
            if used is None or limit is None:
                continue
            stage: Literal["warning", "hang-up"] | None = (
                "hang-up" if used >= limit else "warning" if used >= limit * WARN_AT else None
            )
            if stage is not None and (kind, stage) not in self._said:
                self._said.add((kind, stage))
                due.append(LimitReached(kind=kind, stage=stage, used=used, limit=limit))
        return due

    def next_check(self, minutes: float) -> float | None:
        """Return the seconds until the next event by time, or None without one."""
        if self.max_minutes is None:
            return None
        marks = [self.max_minutes * WARN_AT, self.max_minutes]
        ahead = [mark - minutes for mark in marks if mark > minutes]
        return min(ahead) * 60 if ahead else None
