"""Pump and files agree with a simple model of notifications."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness_support import Wall, opened
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.support.quick_disk import QuickDisk

from gemini_live_runtime.harness.delivery import OpenNotifications, record_step
from gemini_live_runtime.harness.notifications import NewNotification, NotificationStatus
from gemini_live_runtime.harness.pump import (
    ANSWER_S,
    BACKLOG,
    MAX_DIGEST,
    Deliver,
    Expire,
    GiveUp,
    PassiveNotificationPump,
    PumpStep,
)
from gemini_live_runtime.harness.record_files import RecordFiles

ATTEMPTS = 3
RETRY_S = (2.0, 8.0)
FINAL = ("acknowledged", "expired", "failed")


@dataclass
class Known:
    """Notification of the model."""

    status: str
    source: str
    key: str | None
    created: int
    expires: int | None
    due: int | None = None
    attempts: int = 0
    passed: int = 0
    """Deliveries of others since it began to wait."""

    @property
    def since(self) -> int:
        return self.created if self.due is None else self.due


class Notifications(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.temporary = tempfile.TemporaryDirectory()
        self.wall = Wall()
        self.harness = opened(Path(self.temporary.name) / "root", self.wall)
        self.known: dict[str, Known] = {}
        self.damaged: set[str] = set()
        self.restart()

    def teardown(self) -> None:
        self.harness.close()
        self.temporary.cleanup()

    @property
    def now(self) -> float:
        return self.wall.now - 1_700_000_000

    @property
    def held(self) -> bool:
        return self.now < self.held_until

    @property
    def wall_ms(self) -> int:
        return round(self.wall.now * 1000)

    def read(self) -> None:
        self.pump.on_records(self.reading.read().records)

    def write(self, step: PumpStep | None) -> None:
        """Write a step to the files, and read them, as a session does."""
        if step is not None:
            record_step(step, self.harness.notifications)
        self.read()

    def is_queued(self, name: str) -> bool:
        return self.known[name].status == "queued" and name not in self.damaged

    # -- other programs ----------------------------------------------------------------------------------------------

    @rule(
        source=st.sampled_from(["oven", "backup", "door"]),
        key=st.sampled_from([None, None, "k1", "k2"]),
        lasts_s=st.sampled_from([None, None, 3, 20]),
        due_s=st.sampled_from([None, None, None, 0, 5, 40]),
    )
    def queue(self, source: str, key: str | None, lasts_s: int | None, due_s: int | None) -> None:
        expires = None if lasts_s is None else self.wall_ms + lasts_s * 1000
        due = None if due_s is None else self.wall_ms + due_s * 1000
        new = NewNotification(title=source, source=source, dedupe_key=key, expires_at_ms=expires, due_at_ms=due)
        one = self.harness.notifications.queue(new)
        same = next((n for n, k in self.known.items() if key and k.key == key and self.is_queued(n)), None)
        if same is None:
            assert one.id not in self.known
            self.known[one.id] = Known("queued", source, key, one.created_at_ms, expires, due)
        else:
            assert one.id == same
            self.known[same].source, self.known[same].expires, self.known[same].due = source, expires, due
            self.known[same].passed = 0
        self.read()

    @rule(count=st.sampled_from([2, 4, 7]), source=st.sampled_from(["oven", "backup"]))
    def queue_many(self, count: int, source: str) -> None:
        for _ in range(count):
            one = self.harness.notifications.queue(NewNotification(title=source, source=source))
            self.known[one.id] = Known("queued", source, None, one.created_at_ms, None)
        self.read()

    @precondition(lambda self: any(known.status not in FINAL for known in self.known.values()))
    @rule(data=st.data())
    def dismiss(self, data: st.DataObject) -> None:
        open_ones = [name for name, known in self.known.items() if known.status not in FINAL]
        name = data.draw(st.sampled_from(open_ones))
        if name not in self.damaged:
            self.harness.notifications.acknowledge(name)
            self.known[name].status = "acknowledged"
            self.read()

    @precondition(lambda self: any(known.status == "queued" for known in self.known.values()))
    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([name for name, known in self.known.items() if known.status == "queued"]))
        self.harness.paths.notification(name).write_text('{"id": ')
        self.damaged.add(name)
        self.read()

    # -- the delivering engine ---------------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.5, 2.0, 8.0, 30.0]))
    def wait(self, seconds: float) -> None:
        self.wall.now += seconds

    @rule(in_the_way=st.sampled_from(["", "", "the user is speaking"]))
    def step(self, in_the_way: str) -> None:
        step = self.pump.next_step(self.now, self.wall_ms, in_the_way)
        match step:
            case None:
                if not in_the_way and not self.pump.in_flight and not self.held:
                    assert not self.due()
            case Deliver(ones):
                assert not in_the_way
                assert not self.held
                self.check_number(len(ones), ones[0].id)
                for one in ones:
                    self.check_choice(one.id)
                    known = self.known[one.id]
                    known.status, known.attempts, known.passed = "delivered", known.attempts + 1, 0
            case Expire(one):
                known = self.known[one.id]
                assert known.expires is not None
                assert known.expires <= self.wall_ms
                assert known.status == "queued"
                known.status = "expired"
            case GiveUp(one):
                assert self.known[one.id].attempts >= ATTEMPTS
                self.known[one.id].status = "failed"
        self.write(step)

    def due(self) -> list[str]:
        return [
            name
            for name, known in self.known.items()
            if self.is_queued(name) and self.retry_at.get(name, 0.0) <= self.now and (known.due or 0) <= self.wall_ms
        ]

    def check_number(self, chosen: int, first: str) -> None:
        """Check that a backlog is announced together, but for last attempts."""
        may_share = [name for name in self.due() if self.known[name].attempts < ATTEMPTS - 1]
        is_digest = first in may_share and len(may_share) >= BACKLOG
        assert chosen == (min(len(may_share), MAX_DIGEST) if is_digest else 1)

    def check_choice(self, chosen: str) -> None:
        """Check that the oldest of its source was chosen, and no source starves."""
        assert chosen in self.due()
        mine = self.known[chosen]
        same = [name for name in self.due() if self.known[name].source == mine.source]
        assert chosen == min(same, key=lambda name: (self.known[name].since, name))
        heads = {}
        for name in sorted(self.due(), key=lambda name: (self.known[name].since, name)):
            heads.setdefault(self.known[name].source, name)
        for source, name in heads.items():
            if source != mine.source:
                self.known[name].passed += 1
                assert self.known[name].passed <= 6

    @rule()
    def hear_it(self) -> None:
        carried = self.pump.in_flight
        for step in self.pump.on_heard():
            self.write(step)
        for one in carried:
            self.known[one.id].status = "acknowledged"

    @rule(by_user=st.booleans())
    def lose_it(self, by_user: bool) -> None:
        carried = self.pump.in_flight
        steps = self.pump.on_not_heard(self.now, "lost", by_user=by_user)
        if by_user:
            self.held_until = self.now + ANSWER_S
        for one, step in zip(carried, steps, strict=True):
            known = self.known[one.id]
            if known.status == "delivered":
                newer = any(
                    known.key and self.known[name].key == known.key for name in self.known if self.is_queued(name)
                )
                known.status = "failed" if known.attempts >= ATTEMPTS else "expired" if newer else "queued"
                self.retry_at[one.id] = self.now + RETRY_S[min(known.attempts, len(RETRY_S)) - 1]
            self.write(step)

    @rule()
    def answer_the_user(self) -> None:
        self.pump.on_answered()
        self.held_until = 0.0

    @rule()
    def restart(self) -> None:
        """Begin again with the files, as the next engine does."""
        self.pump = PassiveNotificationPump(max_attempts=ATTEMPTS, retry_s=RETRY_S)
        self.reading = OpenNotifications(self.harness.paths, RecordFiles(QuickDisk()))
        self.held_until = 0.0
        self.retry_at: dict[str, float] = {}
        for one in self.harness.notifications.recover():
            self.known[one.id].status = one.status.value
        for known in self.known.values():
            known.passed = 0
        self.read()

    # -- what always holds -------------------------------------------------------------------------------------------

    @invariant()
    def the_files_agree(self) -> None:
        kept = {one.id: one for one in self.harness.notifications.find().records}
        assert set(kept) == set(self.known) - self.damaged
        for name, one in kept.items():
            assert (one.status.value, one.attempts) == (self.known[name].status, self.known[name].attempts)
            assert one.attempts <= ATTEMPTS

    @invariant()
    def only_those_in_flight_are_delivered(self) -> None:
        delivered = {one.id for one in self.harness.notifications.find(NotificationStatus.DELIVERED).records}
        assert delivered <= {one.id for one in self.pump.in_flight}


Notifications.TestCase.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
TestNotifications = Notifications.TestCase
