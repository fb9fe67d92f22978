"""Limits that an operator sets on a session: money and minutes. They warn at 80 %, then hang up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.events import LimitReached

WARN_AT = 0.8

Kind = Literal["cost", "minutes"]


@dataclass(slots=True)
class Limits:
    """`max_cost` in US dollars, `max_minutes` in minutes; None is no limit."""

    max_cost: float | None = None
    max_minutes: float | None = None
    _said: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Refuse limits that are not above zero with `UsageError`."""
        for name, value in (("max_cost", self.max_cost), ("max_minutes", self.max_minutes)):
            if value is not None and not value > 0:
                raise UsageError(
                    f"{name} must be above 0, not {value}", remedy="Leave it out for no limit", field=name, value=value
                )

    def check(self, *, cost: float | None, minutes: float) -> list[LimitReached]:
        """Events that are due, each once; one with stage `hang-up` means the session must end."""
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
        """Seconds until time alone makes something due; None when it never will."""
        if self.max_minutes is None:
            return None
        marks = [self.max_minutes * WARN_AT, self.max_minutes]
        ahead = [mark - minutes for mark in marks if mark > minutes]
        return min(ahead) * 60 if ahead else None
