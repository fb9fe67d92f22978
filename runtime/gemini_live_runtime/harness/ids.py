"""Create ids that sort by their time and cannot collide."""

from __future__ import annotations

import os
import threading

_STEPS = 1000
"""Ids of one process and millisecond; the next one counts as a millisecond later."""

_lock = threading.Lock()
_last = 0


def new_id(prefix: str, wall_ms: int) -> str:
    """Return `<prefix>_<time>_<random>`.

    `time` has 13 digits of Unix milliseconds and 3 of a counter: ids of one process sort in the order of their
    creation, also when its clock steps back. 48 random bits keep ids of several processes and machines apart.
    """
    global _last
    with _lock:
        _last = max(_last + 1, max(0, wall_ms) * _STEPS)
        moment = _last
    return f"{prefix}_{moment:016d}_{os.urandom(6).hex()}"
