"""Count this process's open descriptors, to show that none is left behind."""

from __future__ import annotations

import gc
import os

COUNTED = os.path.isdir("/proc/self/fd")


def open_descriptors() -> int:
    """Return how many descriptors are open, 0 where the system does not say."""
    return len(os.listdir("/proc/self/fd")) if COUNTED else 0


def descriptors_before() -> int:
    """Return how many descriptors are open without what earlier tests left.

    Their garbage is collected at any time, and would make the later count smaller.
    """
    gc.collect()
    return open_descriptors()
