"""Keep notifications: queued, delivered, and acknowledged, expired or given up."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.choices import check_text, member_of
from gemini_live_runtime.harness.ids import new_id
from gemini_live_runtime.harness.listing import Listing, list_records
from gemini_live_runtime.harness.notifications import (
    HarnessNotification,
    NewNotification,
    NotificationKind,
    NotificationStatus,
)
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.record_files import RecordFiles, cleaned
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import clip, sanitise_line

MAX_TITLE = 200
MAX_BODY = 10_000
"""Characters of a title and a body; what is longer is cut, with a mark."""

MAX_OF_SOURCE = 1000
MAX_OPEN = 10_000
"""Notifications without a time that may wait: of one source, and in all."""

_CLEANED = 10 * MAX_BODY
"""Characters that are searched for secrets; half of one at their end is cut off with the rest."""


class NotificationStore:
    """Notifications of one root.

    Any number of processes may use it: changes are serialised by a lock.
    """

    def __init__(self, paths: HarnessPaths, files: RecordFiles, wall_ms: Callable[[], int]) -> None:
        self._paths = paths
        self._files = files
        self._wall_ms = wall_ms

    def queue(self, new: NewNotification, *, notification_id: str = "") -> HarnessNotification:
        """Queue a notification and return it.

        With a `notification_id` that exists, and with the dedupe key of one that waits, no second one is created; the
        latter gets the new text. Secrets are removed. Raises `HarnessError`, also for a title of which nothing can be
        seen.
        """
        title = clip(redactor.text(check_text(new.title, field="title").strip()[:_CLEANED]), MAX_TITLE)
        if not sanitise_line(title):
            raise HarnessError("A notification needs a text", remedy="Say what is to be told", field="title", value="")
        now = self._wall_ms()
        queued = HarnessNotification(
            id=notification_id or new_id("notification", now),
            kind=member_of(NotificationKind, new.kind, field="kind"),
            created_at_ms=now,
            updated_at_ms=now,
            status=NotificationStatus.QUEUED,
            title=title,
            body=clip(redactor.text(check_text(new.body, field="body")[:_CLEANED]), MAX_BODY),
            task_id=new.task_id,
            payload=cleaned(new.payload, "payload"),
            source=new.source and redactor.text(check_text(new.source, field="source")),
            dedupe_key=new.dedupe_key and redactor.text(check_text(new.dedupe_key, field="dedupe_key")),
            expires_at_ms=new.expires_at_ms,
            due_at_ms=new.due_at_ms,
            agent=new.agent and redactor.text(check_text(new.agent, field="agent")),
        )
        with self._locked():
            known = self._read(notification_id) if notification_id else None
            if known is not None:
                return known
            same = self._waiting_like(queued.dedupe_key)
            if same is not None:
                queued = replace(queued, id=same.id, created_at_ms=same.created_at_ms, attempts=same.attempts)
            self._files.write(self._file(queued.id), queued)
        return queued

    def _waiting_like(self, dedupe_key: str | None) -> HarnessNotification | None:
        if not dedupe_key:
            return None
        waiting = self.find(NotificationStatus.QUEUED).records
        return next((other for other in waiting if other.dedupe_key == dedupe_key), None)

    def get(self, notification_id: str) -> HarnessNotification:
        """Return a notification; raise `UnknownNotificationError` without it."""
        found = self._read(notification_id)
        if found is None:
            raise UnknownNotificationError(notification_id)
        return found

    def _read(self, notification_id: str) -> HarnessNotification | None:
        return self._files.read_with_id(HarnessNotification, self._file(notification_id), notification_id)

    def find(self, status: NotificationStatus | None = None) -> Listing[HarnessNotification]:
        """Return notifications, oldest first, and the files that cannot be used.

        Raises `HarnessError` for a status that no notification has.
        """
        wanted = None if status is None else member_of(NotificationStatus, status, field="status")
        with_suffix = (
            entry for entry in _entries(self._paths.notifications) if entry.endswith(".json") and entry[0] != "."
        )
        return list_records(
            self._files,
            HarnessNotification,
            [(name.removesuffix(".json"), self._paths.notifications / name) for name in sorted(with_suffix)],
            lambda one: wanted is None or one.status is wanted,
            key=lambda one: (one.created_at_ms, one.id),
        )

    def deliver(self, notification_id: str) -> HarnessNotification:
        """Note that the model has a notification.

        Raises `NotificationStatusConflictError` for one that is closed.
        """
        return self._move(notification_id, NotificationStatus.DELIVERED)

    def requeue(self, notification_id: str, reason: str = "") -> HarnessNotification:
        """Let a notification wait again, or expire where a newer one has its dedupe key.

        Raises `NotificationStatusConflictError` for one that is closed.
        """
        return self._move(notification_id, NotificationStatus.QUEUED, reason)

    def acknowledge(self, notification_id: str) -> HarnessNotification:
        """Note that the model has announced a notification, or the operator dismissed it."""
        return self._move(notification_id, NotificationStatus.ACKNOWLEDGED)

    def expire(self, notification_id: str, reason: str = "its time is over") -> HarnessNotification:
        """Close a notification whose time is over; raise as `requeue` does."""
        return self._move(notification_id, NotificationStatus.EXPIRED, reason)

    def give_up(self, notification_id: str, reason: str) -> HarnessNotification:
        """Close a notification that was not heard; raise as `requeue` does."""
        return self._move(notification_id, NotificationStatus.FAILED, reason)

    def _move(self, notification_id: str, status: NotificationStatus, reason: str = "") -> HarnessNotification:
        reason = redactor.text(reason)
        with self._locked():
            old = self.get(notification_id)
            if old.status is status:
                return old
            # What nobody has heard can still be dismissed.
            if old.status is NotificationStatus.ACKNOWLEDGED or (
                old.status.is_final and status is not NotificationStatus.ACKNOWLEDGED
            ):
                raise NotificationStatusConflictError(old, status)
            if status is NotificationStatus.QUEUED and self._waiting_like(old.dedupe_key) is not None:
                status, reason = NotificationStatus.EXPIRED, "a newer one has its dedupe key"
            now = max(self._wall_ms(), old.updated_at_ms)
            new = replace(old, status=status, updated_at_ms=now, reason=reason or old.reason)
            if status is NotificationStatus.QUEUED:
                new = replace(new, delivered_at_ms=None)
            elif status is NotificationStatus.DELIVERED:
                new = replace(new, delivered_at_ms=now, attempts=old.attempts + 1)
            elif status is NotificationStatus.ACKNOWLEDGED:
                new = replace(new, delivered_at_ms=old.delivered_at_ms or now, acknowledged_at_ms=now)
            self._files.write(self._file(notification_id), new)
            return new

    def delete(self, notification_id: str) -> HarnessNotification:
        """Delete a notification and return it.

        Nothing announces it any more. Raises `UnknownNotificationError` without it.
        """
        with self._locked():
            old = self.get(notification_id)
            self._files.delete(self._file(notification_id))
        return old

    def recover(self) -> list[HarnessNotification]:
        """Queue again what an engine that has ended had delivered, and return it.

        Only for the engine that delivers: it holds the delivery lock.
        """
        reason = "the engine that announced it has ended"
        return [self.requeue(one.id, reason) for one in self.find(NotificationStatus.DELIVERED).records]

    def retire(self, before_ms: int, keep: int) -> int:
        """Delete old closed notifications, and return their number.

        Old are those from before `before_ms`, and the oldest beyond `keep`. Of generic ones that wait, those from
        before `before_ms` expire, and so do the oldest beyond `MAX_OF_SOURCE` and `MAX_OPEN`.
        """
        self._expire_surplus(before_ms)
        with self._locked():
            done = [one for one in self.find().records if one.status.is_final]
            surplus = {one.id for one in done[: max(0, len(done) - keep)]}
            old = [one for one in done if one.updated_at_ms < before_ms or one.id in surplus]
            for one in old:
                self._files.delete(self._file(one.id))
        return len(old)

    def _expire_surplus(self, before_ms: int) -> None:
        waiting = [one for one in self.find(NotificationStatus.QUEUED).records if one.kind is NotificationKind.GENERIC]
        of_source = Counter[str]()
        kept = 0
        for one in sorted(waiting, key=lambda one: (one.since_ms, one.id), reverse=True):
            if one.since_ms < before_ms:
                self._expire_if_queued(one, "it has waited for too long")
            elif one.due_at_ms is None:
                of_source[one.source or ""] += 1
                if of_source[one.source or ""] > MAX_OF_SOURCE or kept >= MAX_OPEN:
                    self._expire_if_queued(one, "too many newer ones wait")
                else:
                    kept += 1

    def _expire_if_queued(self, one: HarnessNotification, reason: str) -> None:
        # Another program may have announced or closed it meanwhile.
        with contextlib.suppress(NotificationStatusConflictError, UnknownNotificationError):
            self.expire(one.id, reason)

    def _file(self, notification_id: str) -> Path:
        return self._paths.notification(notification_id)

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        return self._files.locked(self._paths.lock(self._paths.notifications))


class UnknownNotificationError(HarnessError):
    """Id of no notification."""

    def __init__(self, notification_id: str) -> None:
        super().__init__(
            f"There is no notification {notification_id}",
            remedy="See: gemini-live-tui notify --list",
            field="notification id",
            value=notification_id,
        )


class NotificationStatusConflictError(HarnessError):
    """Change of a closed notification."""

    def __init__(self, old: HarnessNotification, status: NotificationStatus) -> None:
        super().__init__(
            f"The notification {old.id} is {old.status} and cannot become {status}", field="status", value=str(status)
        )


def _entries(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
