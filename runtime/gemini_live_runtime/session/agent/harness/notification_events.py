"""Tell of notifications by events: why each waits, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.redactor import redactor

if TYPE_CHECKING:
    from gemini_live_runtime.harness.notifications import HarnessNotification
    from gemini_live_runtime.harness.pump import PassiveNotificationPump
    from gemini_live_runtime.session.agent.context import AgentContext

MAX_SHOWN = 50
"""Waiting notifications that events tell of; further ones follow as these are announced."""

MAX_BODY = 500
"""Characters of a body in an event."""


class NotificationEvents:
    """Events of one session's notifications, each told once."""

    def __init__(self, agent: AgentContext) -> None:
        self._agent = agent
        self._told: dict[str, tuple[object, ...]] = {}
        """Newest event of each waiting notification, as a key."""

    def has_told(self, notification_id: str) -> bool:
        """Return True when the newest event says that a notification waits."""
        return notification_id in self._told

    def forget(self, open_ids: set[str]) -> None:
        """Tell that another program has closed what was waiting."""
        for name in self._told.keys() - open_ids:
            title = self._told.pop(name)[0]
            self._agent.emit(
                ev.NotificationChanged(
                    notification_id=name, status="acknowledged", title=str(title), reason="it was dismissed"
                )
            )

    def tell_waiting(self, pump: PassiveNotificationPump, now: float, in_the_way: str) -> None:
        """Tell why notifications wait, where that has changed."""
        for one in pump.waiting[:MAX_SHOWN]:
            reason = pump.why_waiting(one.id, now, in_the_way)
            # The seconds of a retry count down by themselves.
            retry_s = pump.retry_s(one.id, now)
            word = reason if retry_s is None else "retry"
            told = (redactor.text(one.title), one.body, one.attempts, word)
            if self._told.get(one.id) != told:
                self._told[one.id] = told
                self.tell(one, "queued", reason, retry_s=retry_s)

    def tell(
        self,
        one: HarnessNotification,
        status: ev.NotificationState,
        reason: str = "",
        *,
        speech: str = "",
        begun: int = 0,
        retry_s: float | None = None,
    ) -> None:
        """Tell a status; `begun` deliveries are not in the record yet."""
        if status != "queued":
            self._told.pop(one.id, None)
        self._agent.emit(
            ev.NotificationChanged(
                notification_id=one.id,
                status=status,
                title=redactor.text(one.title),
                body=redactor.text(one.body)[:MAX_BODY],
                kind=one.kind.value,
                source=redactor.text(one.source or ""),
                attempts=one.attempts + begun,
                reason=redactor.text(reason),
                retry_s=None if retry_s is None else round(retry_s, 3),
                speech=speech,
                task_id=one.task_id or "",
            )
        )
