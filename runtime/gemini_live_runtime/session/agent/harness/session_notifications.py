"""Serve the model's tools that queue notifications: timers, and texts for later.

A timer is a notification with a time, in the records of the profile: it needs no process, and the engine that delivers
announces it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.due_times import due_time
from gemini_live_runtime.harness.ids import new_id
from gemini_live_runtime.harness.notifications import HarnessNotification, NewNotification, NotificationStatus
from gemini_live_runtime.harness.time_words import in_words, local_time
from gemini_live_runtime.redactor import redactor

if TYPE_CHECKING:
    from gemini_live_runtime.harness.store import Harness
    from gemini_live_runtime.harness.worker import HarnessWorker
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.harness.notification_delivery import NotificationDelivery

TIMER = "timer"
"""Source of the notifications that are timers."""

MAX_TIMERS = 100
"""Timers of a profile that may wait at once."""

_MAX_MS = 10**15

MODEL = "model"
"""Source of the texts that models have queued."""

MAX_QUEUED = 20
"""Texts that may wait at once of what models have queued."""

MAX_AGE_S = 30 * 86_400
"""Seconds after which such a text is no longer told."""

CANCELLED = "the model cancelled it"


class SessionNotifications:
    """Notifications that one session's model queues.

    The disk's work runs in the thread of `harness`.
    """

    def __init__(self, agent: AgentContext, harness: HarnessWorker, delivery: NotificationDelivery) -> None:
        self._agent = agent
        self._harness = harness
        self._delivery = delivery

    async def set_timer(self, text: str, *, seconds: float | None = None, at: str = "") -> dict[str, Any]:
        """Queue a text for a time; raise `HarnessError` for one that cannot be."""
        due = due_time(self._agent.clock.wall(), seconds=seconds, at=at)
        agent = self._agent.plan.name
        new = NewNotification(title=redactor.text(text), source=TIMER, due_at_ms=round(due * 1000), agent=agent)

        def queue(harness: Harness) -> HarnessNotification:
            if len(_timers(harness)) >= MAX_TIMERS:
                raise HarnessError(
                    f"{MAX_TIMERS} timers wait already",
                    remedy="Cancel one with cancel_timer",
                    field="timers",
                    value=MAX_TIMERS,
                )
            return harness.notifications.queue(new)

        timer = await self._harness.call(queue)
        self._delivery.look()
        return {**self._told(timer), **self._note()}

    def _note(self) -> dict[str, str]:
        return {} if self._harness.root else {"note": "It is forgotten when this session ends."}

    async def queue(self, title: str, body: str = "") -> dict[str, Any]:
        """Queue a text for when the user is back, or for another session.

        A second one of the same words is none. Raises `HarnessError` for an empty title, and at `MAX_QUEUED`.
        """
        wall_ms = round(self._agent.clock.wall() * 1000)
        title, body = redactor.text(title.strip()), redactor.text(body.strip())
        name = new_id("notification", wall_ms)
        key = hashlib.sha256(f"{title}\0{body}".casefold().encode("utf-8", "replace")).hexdigest()[:16]
        new = NewNotification(
            title=title,
            body=body,
            source=MODEL,
            dedupe_key=f"{MODEL}-{key}",
            expires_at_ms=wall_ms + MAX_AGE_S * 1000,
        )

        def queue(harness: Harness) -> HarnessNotification:
            waiting = _waiting(harness, MODEL)
            if len(waiting) >= MAX_QUEUED and new.dedupe_key not in [one.dedupe_key for one in waiting]:
                raise HarnessError(
                    f"{MAX_QUEUED} notifications of yours wait already",
                    remedy="The user has to hear them first",
                    field="notifications",
                    value=MAX_QUEUED,
                )
            return harness.notifications.queue(new, notification_id=name)

        self._delivery.withhold(name)
        self._delivery.on_withheld(await self._harness.call(queue))
        return {"queued": title, "told": "when the user is back, or in another conversation", **self._note()}

    async def timers(self) -> dict[str, Any]:
        """Return the timers that wait, the next one first."""
        return {"timers": [self._told(one) for one in await self._harness.call(_timers)]}

    async def cancel_timer(self, timer_id: str) -> dict[str, Any]:
        """Take a timer back that waits; raise `HarnessError` for another id."""

        def cancel(harness: Harness) -> HarnessNotification:
            if timer_id not in [one.id for one in _timers(harness)]:
                raise HarnessError(
                    f"No timer {timer_id[:60]!r} waits", remedy="See: list_timers", field="timer", value=timer_id[:60]
                )
            return harness.notifications.expire(timer_id, CANCELLED)

        self._delivery.on_cancelled(await self._harness.call(cancel))
        return {"cancelled": timer_id}

    def _told(self, timer: HarnessNotification) -> dict[str, Any]:
        # A file may have any number.
        left_ms = min(timer.since_ms - round(self._agent.clock.wall() * 1000), _MAX_MS)
        return {
            "timer": timer.id,
            "text": timer.title,
            "at": local_time(timer.since_ms),
            "left": in_words(left_ms / 1000) if left_ms > 0 else "it is over",
        }


def _timers(harness: Harness) -> list[HarnessNotification]:
    """Return the timers that wait, the next one first."""
    return sorted(_waiting(harness, TIMER), key=lambda one: one.since_ms)


def _waiting(harness: Harness, source: str) -> list[HarnessNotification]:
    return [one for one in harness.notifications.find(NotificationStatus.QUEUED).records if one.source == source]
