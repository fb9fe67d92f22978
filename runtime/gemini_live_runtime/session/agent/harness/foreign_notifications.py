"""Tell of what another agent has set by a notice, not by this agent's voice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.harness.notifications import NotificationStatus
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.definition.known_agents import known_agents

if TYPE_CHECKING:
    from gemini_live_runtime.harness.notifications import HarnessNotification
    from gemini_live_runtime.session.agent.context import AgentContext

SHOWN = "a notice told of it in a session of another agent"
"""Reason of a record whose notification was shown so."""

_MAX_WAIT_S = 10.0**7
"""Seconds until the next look at the files, however far a time is."""


class ForeignNotifications:
    """Notifications of agents that do not speak in this session."""

    def __init__(self, agent: AgentContext) -> None:
        self._agent = agent
        self._waiting: dict[str, HarnessNotification] = {}
        self._told: set[str] = set()
        """Ids of told ones, which an older reading of the files may have as queued."""
        self._plan: object = None
        self._names: set[str] = set()

    def without(self, records: Iterable[HarnessNotification]) -> list[HarnessNotification]:
        """Return the records that this session's agents announce; keep the others."""
        self._note_agents()
        own, foreign = [], {}
        for one in records:
            if one.agent is None or one.agent in self._names:
                own.append(one)
            elif one.status is NotificationStatus.QUEUED:
                foreign[one.id] = one
        self._told &= foreign.keys()
        self._waiting = {name: one for name, one in foreign.items() if name not in self._told}
        return own

    def _note_agents(self) -> None:
        plan = self._agent.plan
        if plan is not self._plan:
            # Agents that have handed over set their timers in this session, too.
            self._plan = plan
            self._names |= known_agents(plan).keys()

    def tell_due(self, wall_ms: int) -> list[HarnessNotification]:
        """Tell of those whose time has come, and return them."""
        due = [one for one in self._waiting.values() if one.is_due(wall_ms)]
        for one in due:
            del self._waiting[one.id]
            self._told.add(one.id)
            what = f"The timer of {one.agent} is over" if one.source == "timer" else f"Notification of {one.agent}"
            self._agent.emit(ev.Notice(level="info", code="notification", text=redactor.text(f"{what}: {one.title}")))
        return due

    def wait_s(self, wall_ms: int) -> float | None:
        """Return the seconds until the next time comes; None without one."""
        # A file may have any number.
        waits = [min(max(0, one.since_ms - wall_ms) / 1000, _MAX_WAIT_S) for one in self._waiting.values()]
        return min(waits, default=None)
