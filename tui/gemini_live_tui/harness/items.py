"""Make rows of records, and join them with what the session tells. Pure functions.

A session knows its own tasks and notifications before the disk does; the records have those of other programs, too. A
recording has only what its session told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from gemini_live_runtime.records import record
from gemini_live_runtime.text import sanitise, sanitise_line

if TYPE_CHECKING:
    from gemini_live_runtime.harness.notifications import HarnessNotification
    from gemini_live_runtime.harness.tasks import HarnessTask
    from gemini_live_runtime.journal.fold.harness_view import NotificationCard, TaskCard
    from gemini_live_runtime.journal.fold.view import SessionView

MAX_TEXT = 300
MAX_BODY = 10_000

_OPEN = ("queued", "delivered")


@record
class TaskItem:
    """Task as it is shown. Times are Unix seconds."""

    id: str
    tool: str
    status: str
    start: float
    end: float | None
    """None while it runs."""
    fraction: float | None = None
    text: str = ""
    """Newest sentence on its progress, its result in short, or the error."""
    is_here: bool = False
    """True when it runs in this session."""
    lives: bool = False
    """True while the program that runs it lives."""
    limit: float | None = None
    pid: int | None = None
    is_recorded: bool = True
    is_end_recorded: bool = True
    """False while the disk refuses its end."""

    @property
    def is_running(self) -> bool:
        """True while it has no end."""
        return self.end is None


@record
class NotificationItem:
    """Notification as it is shown. Times are Unix seconds."""

    id: str
    title: str
    status: str
    created: float
    changed: float
    body: str = ""
    kind: str = "generic"
    source: str = ""
    attempts: int = 0
    reason: str = ""
    """Reason why it waits or was closed, as a part of a sentence."""
    lost: str = ""
    """Reason why its newest delivery was not heard."""
    due: float | None = None
    expires: float | None = None
    retry: float | None = None
    """Time of its next attempt."""
    told: float | None = None
    """Time of its newest delivery."""
    deliverer: str = ""
    """Name of another engine that announces it; "" for this one, or none."""
    has_deliverer: bool = True
    """False while no program announces."""

    @property
    def is_open(self) -> bool:
        """True while it waits or is announced."""
        return self.status in _OPEN


def task_item(one: HarnessTask, *, lives: bool) -> TaskItem:
    """Return a record as it is shown; `lives` is True while its program does."""
    runs = not one.status.is_terminal
    text = one.progress if runs else one.summary or one.last_error
    return TaskItem(
        one.id,
        sanitise_line(one.name, 80),
        one.status.value,
        one.created_at_ms / 1000,
        None if runs else one.updated_at_ms / 1000,
        one.fraction,
        sanitise_line(text or "", MAX_TEXT),
        lives=lives,
        limit=_seconds(one.limit_at_ms),
        pid=None if one.runtime is None else one.runtime.pid,
    )


def notification_item(one: HarnessNotification, deliverer: str) -> NotificationItem:
    """Return a record as it is shown; `deliverer` is the engine that announces, or ""."""
    return NotificationItem(
        one.id,
        sanitise_line(one.title, MAX_TEXT),
        one.status.value,
        one.created_at_ms / 1000,
        one.updated_at_ms / 1000,
        sanitise(one.body)[:MAX_BODY],
        one.kind.value,
        sanitise_line(one.source or "", 40),
        one.attempts,
        sanitise_line(one.reason or "", MAX_TEXT),
        sanitise_line(one.reason or "", MAX_TEXT),
        due=_seconds(one.due_at_ms),
        expires=_seconds(one.expires_at_ms),
        told=_seconds(one.delivered_at_ms) if one.attempts else None,
        deliverer=sanitise_line(deliverer, 80),
        has_deliverer=bool(deliverer),
    )


def with_cards(items: Iterable[TaskItem], view: SessionView, *, live: bool) -> list[TaskItem]:
    """Return tasks, which are in their order, with what the session tells.

    `live` is True while the session goes on.
    """
    cards = view.harness.tasks
    found = list(items)
    if not cards:
        return found
    left = dict(cards)
    for number, item in enumerate(found):
        card = left.pop(item.id, None) if item.id in left else None
        # The session tells of progress and of the end before the disk has it.
        if card is not None and item.is_running:
            found[number] = newer(item, card, view, live=live)
    found += [newer(None, card, view, live=live, ident=ident) for ident, card in left.items()]
    return sorted(found, key=task_order)


def newer(item: TaskItem | None, card: TaskCard, view: SessionView, *, live: bool, ident: str = "") -> TaskItem:
    """Return a task as its session tells of it; None is one without a record."""
    end = None if card.end is None else view.wall + card.end
    runs_here = live and end is None
    if item is None:
        return TaskItem(
            ident,
            card.tool,
            card.status,
            view.wall + card.t,
            end,
            card.fraction,
            card.text,
            runs_here,
            live,
            is_recorded=False,
            is_end_recorded=card.is_recorded,
        )
    fraction = item.fraction if card.fraction is None else card.fraction
    return replace(
        item,
        status=card.status,
        end=end,
        fraction=fraction,
        text=card.text or item.text,
        is_here=runs_here,
        is_end_recorded=card.is_recorded,
    )


def task_order(item: TaskItem) -> tuple[bool, float]:
    """Return what sorts tasks: those that run, then the newest end first."""
    return item.end is not None, -item.start if item.end is None else -item.end


def with_reasons(
    items: Iterable[NotificationItem], cards: dict[str, NotificationCard], view: SessionView, session: str
) -> list[NotificationItem]:
    """Return notifications with the reasons that an announcing session tells.

    `session` is the name of its engine.
    """
    found = []
    for item in items:
        card = cards.get(item.id)
        if item.deliverer != session or not session:
            found.append(item)
            continue
        if card is not None and item.is_open and card.status == item.status:
            retry = None if card.retry_at is None else view.wall + card.retry_at
            item = replace(item, reason=card.reason, retry=retry)
        found.append(replace(item, deliverer=""))
    return found


def told_notifications(view: SessionView) -> list[NotificationItem]:
    """Return the notifications that the session has told of: open ones first."""
    items = [_told(ident, card, view) for ident, card in view.harness.notifications.items()]
    return sorted(items, key=lambda item: (not item.is_open, item.created if item.is_open else -item.changed))


def _told(ident: str, card: NotificationCard, view: SessionView) -> NotificationItem:
    changed = view.wall + (card.t if card.end is None else card.end)
    return NotificationItem(
        ident,
        card.title,
        card.status,
        view.wall + card.t,
        changed,
        card.body,
        card.kind,
        card.source,
        card.attempts,
        card.reason,
        retry=None if card.retry_at is None else view.wall + card.retry_at,
        told=changed if card.attempts and card.status == "acknowledged" else None,
    )


def _seconds(at_ms: int | None) -> float | None:
    return None if at_ms is None else at_ms / 1000
