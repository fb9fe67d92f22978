"""Several programs queue on one root while two engines deliver and one is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from gemini_live_runtime.harness.notifications import NotificationStatus
from gemini_live_runtime.harness.store import Harness

PRODUCERS = 3
EACH = 400 if os.environ.get("SOAK") else 30

_PRODUCE = """
import sys
from gemini_live_tui.cli import main
for number in range(int(sys.argv[3])):
    assert main(["notify", f"{sys.argv[2]} {number}", "--root", sys.argv[1], "--source", sys.argv[2], "--json"]) == 0
"""

_DELIVER = """
import sys, time
from gemini_live_runtime.harness.delivery import Delivery
from gemini_live_runtime.harness.pump import Deliver, PassiveNotificationPump
from gemini_live_runtime.harness.store import Harness

root, name, die_after = sys.argv[1], sys.argv[2], int(sys.argv[3])
harness, pump = Harness.open(root), PassiveNotificationPump(backlog=10_000)
delivery, announced = Delivery(harness, name), 0
while True:
    listing = delivery.look()
    if listing is None:
        time.sleep(0.01)
        continue
    pump.on_records(listing.records)
    while (step := pump.next_step(time.monotonic(), round(time.time() * 1000))) is not None:
        delivery.record(step)
        assert isinstance(step, Deliver)
        print(step.notifications[0].id, flush=True)
        announced += 1
        if announced == die_after:
            print("ready to die", flush=True)
            sys.stdin.read()
        for heard in pump.on_heard():
            delivery.record(heard)
"""


def program(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_each_is_announced_once_but_for_the_one_that_an_engine_died_with(tmp_path: Path) -> None:
    root = str(tmp_path / "root")
    Harness.open(root).close()
    first = program(_DELIVER, root, "engine-1", "10")
    producers = [program(_PRODUCE, root, f"source-{number}", str(EACH)) for number in range(PRODUCERS)]
    announced: list[str] = []
    assert first.stdout is not None
    for line in first.stdout:
        if line.startswith("ready"):
            break
        announced.append(line.strip())
    second = program(_DELIVER, root, "engine-2", "-1")
    first.send_signal(signal.SIGKILL)
    try:
        queued = [producer.communicate()[0] for producer in producers]
        assert [producer.returncode for producer in producers] == [0] * PRODUCERS
        assert sum(text.count("\n") for text in queued) == PRODUCERS * EACH
        assert second.stdout is not None
        for line in second.stdout:
            announced.append(line.strip())
            if len(set(announced)) == PRODUCERS * EACH:
                break
    finally:
        for engine in (first, second):
            engine.kill()
            engine.communicate()
    times = Counter(announced)
    twice = [name for name, count in times.items() if count > 1]
    assert twice == [announced[9]]
    with Harness.open(root) as harness:
        listing = harness.notifications.find()
    assert not listing.problems
    assert {one.id for one in listing.records} == set(times)
    waiting = [one.id for one in listing.records if one.status is not NotificationStatus.ACKNOWLEDGED]
    # The last one was announced when the test ended the engine.
    assert waiting in ([], [announced[-1]])
