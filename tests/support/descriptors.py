"""Count this process's open descriptors, to show that none is left behind."""

from __future__ import annotations

import gc
import os

_FOLDERS = ("/proc/self/fd", "/dev/fd")
"""Folders in which a system lists them: Linux, and other systems with POSIX."""


def open_descriptors() -> int:
    """Return how many descriptors are open, 0 where the system does not say."""
    folder = next(filter(os.path.isdir, _FOLDERS), None)
    return len(os.listdir(folder)) if folder is not None else 0


def descriptors_before() -> int:
    """Return how many descriptors are open without what earlier tests left.

    Their garbage is collected at any time, and would make the later count smaller.
    """
    gc.collect()
    return open_descriptors()
