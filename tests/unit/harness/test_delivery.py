"""Programs of a root take turns to deliver, and read only what has changed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

from harness_support import opened
from tests.support.quick_disk import QuickDisk

from gemini_live_runtime.harness.delivery import (
    Delivery,
    DeliveryLock,
    OpenNotifications,
    delivering_engine,
    record_step,
)
from gemini_live_runtime.harness.notifications import HarnessNotification, NewNotification, NotificationStatus
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.pump import Acknowledge, Deliver, Requeue
from gemini_live_runtime.harness.record_files import RecordFiles

OVEN = NewNotification(title="the oven is ready")


class CountedReads(QuickDisk):
    """Disk that counts the files it has read."""

    reads = 0

    def read(self, path: Path, limit: int) -> bytes:
        self.reads += 1
        return super().read(path, limit)


def lock(root: Path, name: str) -> DeliveryLock:
    return DeliveryLock(HarnessPaths(root), RecordFiles(QuickDisk()), name)


def names(open_ones: OpenNotifications) -> list[str]:
    return [one.id for one in open_ones.read().records]


def test_one_program_delivers_and_the_next_takes_over_when_it_ends(tmp_path: Path) -> None:
    first, second = lock(tmp_path, "engine-1"), lock(tmp_path, "engine-2")
    assert first.take()
    assert first.take()
    assert not second.take()
    assert delivering_engine(HarnessPaths(tmp_path)) == "engine-1"
    first.release()
    assert delivering_engine(HarnessPaths(tmp_path)) == ""
    assert second.take()
    assert delivering_engine(HarnessPaths(tmp_path)) == "engine-2"


def test_the_lock_of_a_program_that_was_killed_is_free(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from gemini_live_runtime.harness.delivery import DeliveryLock\n"
        "from gemini_live_runtime.harness.paths import HarnessPaths\n"
        "from gemini_live_runtime.harness.record_files import RecordFiles\n"
        "assert DeliveryLock(HarnessPaths(Path(sys.argv[1])), RecordFiles(), 'dead').take(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 9
    assert lock(tmp_path, "engine-1").take()


def test_a_program_whose_lock_was_deleted_lets_the_one_deliver_that_has_the_new_one(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        first, second = Delivery(harness, "engine-1"), Delivery(harness, "engine-2")
        assert first.look() is not None
        harness.paths.delivery_lock.unlink()
        assert second.look() is not None
        assert first.look() is None
        second.close()
        assert first.look() is not None


def test_the_lock_is_private_and_no_path_can_be_read_from_it(tmp_path: Path) -> None:
    held = lock(tmp_path, "../../etc")
    assert held.take()
    assert stat.S_IMODE((tmp_path / "delivery.lock").stat().st_mode) == 0o600
    assert delivering_engine(HarnessPaths(tmp_path)) == ""


def test_open_ones_are_read_oldest_first_and_those_that_are_told_no_more_left_out(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        queued = [harness.notifications.queue(OVEN).id for _ in range(3)]
        harness.notifications.deliver(queued[0])
        harness.notifications.acknowledge(queued[1])
        assert names(OpenNotifications(harness.paths, RecordFiles(QuickDisk()))) == [queued[0], queued[2]]


def test_only_files_that_have_changed_are_read_again(tmp_path: Path) -> None:
    disk = CountedReads()
    with opened(tmp_path) as harness:
        queued = [harness.notifications.queue(OVEN).id for _ in range(5)]
        harness.notifications.acknowledge(queued[4])
        open_ones = OpenNotifications(harness.paths, RecordFiles(disk))
        open_ones.read()
        assert disk.reads == 5
        harness.notifications.acknowledge(queued[0])
        assert names(open_ones) == queued[1:4]
        assert disk.reads == 6


def test_a_new_file_is_noticed_and_a_quiet_folder_is_not_read(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        open_ones = OpenNotifications(harness.paths, RecordFiles(QuickDisk()))
        assert open_ones.has_changed()
        os.utime(harness.paths.notifications, (1_600_000_000, 1_600_000_000))
        open_ones.read()
        assert not open_ones.has_changed()
        harness.notifications.queue(OVEN)
        assert open_ones.has_changed()


def test_a_folder_that_changed_just_now_is_read_once_more(tmp_path: Path) -> None:
    # A second change within the clock's step of the file system leaves the folder's time as it is.
    with opened(tmp_path) as harness:
        open_ones = OpenNotifications(harness.paths, RecordFiles(QuickDisk()))
        harness.notifications.queue(OVEN)
        open_ones.read()
        assert open_ones.has_changed()


def test_a_damaged_file_and_one_with_the_id_of_another_hide_no_other(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        good = harness.notifications.queue(OVEN)
        (harness.paths.notifications / "damaged.json").write_text("{")
        stolen = harness.paths.notification(good.id).read_bytes()
        (harness.paths.notifications / "other.json").write_bytes(stolen)
        listing = OpenNotifications(harness.paths, RecordFiles(QuickDisk())).read()
        assert [one.id for one in listing.records] == [good.id]
        assert sorted(Path(problem.path).name for problem in listing.problems) == ["damaged.json", "other.json"]


def test_a_step_on_a_notification_that_another_program_dismissed_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        one = harness.notifications.queue(OVEN)
        assert _status(record_step(Deliver((one,)), harness.notifications)) is NotificationStatus.DELIVERED
        harness.notifications.acknowledge(one.id)
        assert record_step(Requeue(one.id, "the link was lost"), harness.notifications) == [None]
        assert _status(record_step(Acknowledge(one.id), harness.notifications)) is NotificationStatus.ACKNOWLEDGED


def test_one_of_a_digest_that_is_gone_does_not_hold_up_the_others(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        one, other = (harness.notifications.queue(OVEN) for _ in range(2))
        harness.notifications.delete(one.id)
        gone, left = record_step(Deliver((one, other)), harness.notifications)
        assert gone is None
        assert left is not None
        assert (left.id, left.status) == (other.id, NotificationStatus.DELIVERED)


def test_a_step_on_a_file_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        one = harness.notifications.queue(OVEN)
        harness.paths.notification(one.id).unlink()
        assert record_step(Deliver((one,)), harness.notifications) == [None]


def _status(written: list[HarnessNotification | None]) -> NotificationStatus | None:
    (one,) = written
    return None if one is None else one.status
