"""Measure how soon a notification goes out, and the cost of an idle harness.

    .venv/bin/python tests/bench/bench_notifications.py [ROUNDS]

- The gate: from the event with which the last hindrance ends to the prompt on the wire, while 1,000 others wait.
- The poll: a look at an unchanged folder of 10,000 notifications, beside a bare `stat` of the folder.
- The folder: reading 10,000 notifications again after one has changed, beside reading them all.

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.session.talking import agent, talk  # noqa: E402
from tests.support.quick_disk import QuickDisk  # noqa: E402

from gemini_live_runtime.clock import run_virtual  # noqa: E402
from gemini_live_runtime.harness.delivery import Delivery  # noqa: E402
from gemini_live_runtime.harness.notifications import NewNotification  # noqa: E402
from gemini_live_runtime.harness.store import Harness  # noqa: E402
from gemini_live_runtime.harness.worker import HarnessWorker  # noqa: E402
from gemini_live_runtime.session.agent.harness.silence import LULL_S  # noqa: E402

ROUNDS = 30
WAITING = 1_000
MANY = 10_000
WIRE_AT_MOST_MS = 10.0
POLL_AT_MOST = 5.0
"""Times a bare `stat`."""


def fill(root: Path, count: int) -> None:
    """Queue notifications of ten sources."""
    with Harness.open(root, disk=QuickDisk()) as harness:
        for number in range(count):
            harness.notifications.queue(NewNotification(title=f"number {number}", source=f"source {number % 10}"))


async def gate(root: Path, rounds: int) -> list[float]:
    """Return the milliseconds from the gate's opening to the prompt, for each round."""
    took = []
    async with talk(agent(), harness=HarnessWorker(root)) as t:
        delivery = t.stage.orchestrator.notifications
        writer: Any = type(t.stage.agent.writer)
        prompt, advance = writer.prompt_model, delivery.advance
        sent = 0.0

        def timed_advance() -> None:
            before, began = sent, time.perf_counter()
            advance()
            if sent > before:
                took.append((sent - began) * 1000)

        def timed_prompt(self: Any, reason: str = "") -> None:
            nonlocal sent
            prompt(self, reason)
            sent = time.perf_counter()

        writer.prompt_model = timed_prompt
        delivery.advance = timed_advance  # type: ignore[method-assign]
        try:
            for _ in range(rounds):
                await t.passes(LULL_S + 5.0)
                await t.says("There.")
                await t.ends()
        finally:
            writer.prompt_model = prompt
    return took


def poll(root: Path, rounds: int) -> tuple[float, float]:
    """Return the median µs of a look at an unchanged folder, and of a bare `stat`."""
    with Harness.open(root, disk=QuickDisk()) as harness:
        delivery = Delivery(harness, "bench")
        folder = harness.paths.notifications
        delivery.look()
        time.sleep(2.1)  # A folder that has just changed is read once more.
        delivery.look()
        looks, stats = [], []
        for _ in range(rounds * 100):
            began = time.perf_counter()
            assert not delivery.needs_look
            looks.append(time.perf_counter() - began)
            began = time.perf_counter()
            folder.stat()
            stats.append(time.perf_counter() - began)
        delivery.close()
    return statistics.median(looks) * 1e6, statistics.median(stats) * 1e6


def reading(root: Path, rounds: int) -> tuple[float, float]:
    """Return the median ms of reading a folder again, and the ms of reading it first."""
    with Harness.open(root, disk=QuickDisk()) as harness:
        delivery = Delivery(harness, "bench")
        began = time.perf_counter()
        listing = delivery.look()
        first = time.perf_counter() - began
        assert listing is not None
        again = []
        for one in listing.records[: max(3, rounds // 5)]:
            harness.notifications.acknowledge(one.id)
            began = time.perf_counter()
            delivery.look()
            again.append(time.perf_counter() - began)
        delivery.close()
    return statistics.median(again) * 1000, first * 1000


def main(rounds: int) -> int:
    """Print the figures; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small"), Path(folder, "large")
        fill(small, WAITING)
        took = run_virtual(gate(small, rounds))
        median, worst = statistics.median(took), max(took)
        print(f"gate open -> wire   median {median:6.2f} ms, worst {worst:6.2f} ms   target <= {WIRE_AT_MOST_MS:g} ms")
        fill(large, MANY)
        look_us, stat_us = poll(large, rounds)
        print(
            f"poll                {look_us:6.2f} µs = {look_us / stat_us:4.2f} of a stat   target <= {POLL_AT_MOST:g}"
        )
        again_ms, first_ms = reading(large, rounds)
        print(f"{MANY:,} read again  {again_ms:6.1f} ms = {again_ms / first_ms:4.2f} of the first reading")
    return 0 if worst <= WIRE_AT_MOST_MS and look_us <= POLL_AT_MOST * stat_us else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
