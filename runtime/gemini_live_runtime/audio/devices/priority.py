"""Raise the priority of the audio process as far as the system allows.

`python -P -m gemini_live_runtime.audio.devices.priority` prints what it would get.
"""

from __future__ import annotations

import contextlib
import os
from typing import Literal

Priority = Literal["real-time", "raised", "normal"]

REAL_TIME_PRIORITY = 5
"""Low among real-time threads: enough to run before every ordinary one."""
MAX_REAL_TIME_US = 5_000_000
"""Microseconds without a wait after which the system ends a real-time process: a fault must not stop the machine.

Starting PortAudio takes a slow machine a second or two."""
NICENESS = -11
"""Of an audio process without real-time rights; PulseAudio's own."""


def raise_priority() -> Priority:
    """Raise the priority of this thread and of threads that it starts later."""
    with contextlib.suppress(OSError, AttributeError, ImportError):
        import resource

        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(REAL_TIME_PRIORITY))
        try:
            resource.setrlimit(resource.RLIMIT_RTTIME, (MAX_REAL_TIME_US, MAX_REAL_TIME_US))
        except (OSError, ValueError, AttributeError):
            # Without the limit a thread that spins would hold the machine.
            os.sched_setscheduler(0, *before)
        else:
            return "real-time"
    with contextlib.suppress(OSError, AttributeError):
        return "raised" if os.nice(NICENESS) < 0 else "normal"
    return "normal"


def restore_priority() -> None:
    """Return to the priority of ordinary programs, in a child of the audio process."""
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.nice(max(0, -os.nice(0)))


if __name__ == "__main__":
    print(raise_priority())
