"""Track background calls by id: each ends once, by result, timeout or cancel."""

import asyncio
from typing import Any

from gemini_live_runtime import BackgroundToolTracker
from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.tools.results import Outcome, ToolCall, outcome


async def main() -> None:
    """Run three searches: one in time, one too slow, one cancelled."""
    tracker = BackgroundToolTracker(clock=LoopClock())

    def search(call_id: str, seconds: float) -> None:
        async def work(running: Any) -> Outcome:
            await asyncio.sleep(seconds)
            return outcome(running.call, "ok", {"found": 3})

        tracker.spawn(
            ToolCall(call_id, "search"), work, timeout_s=5, on_ended=lambda ended: print(ended.call_id, ended.status)
        )

    for call_id, seconds in (("c1", 1), ("c2", 60), ("c3", 60)):
        search(call_id, seconds)
    print(tracker.active_ids)
    await asyncio.sleep(2)
    print("cancelled", tracker.cancel(["c3"]))
    await asyncio.sleep(6)
    print(tracker.active_count)


run_virtual(main())

# Prints:
# ['c1', 'c2', 'c3']
# c1 ok
# cancelled ['c3']
# c3 cancelled
# c2 timeout
# 0
