"""Compare and print the latency of turns.

The latency of a turn runs from the end of the user's speech, or the Enter key, to the answer's first sample at the
speaker. Its stages always add up to it. Live figures, views, consoles and exports round and compare with this module,
so that they agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil, floor, isfinite

STAGES = ("hang_over", "uplink", "server", "downlink", "buffer", "speaker")
"""Stages of a latency in the order in which they pass."""


def stage_words(name: str, source: str = "") -> str:
    """Return the words for a stage of a turn whose end `source` marked.

    Typed text has no hang-over: that stage is its wait for a connection.
    """
    return "waiting" if name == "hang_over" and source == "typed" else name.replace("_", "-")


def rounded_stages(stages: Mapping[str, float | None], digits: int = 0) -> dict[str, float]:
    """Return the measured stages in ms, rounded so that they add up.

    Their sum is the rounded sum: each is rounded down to `digits` after the point, and those that lose most are rounded
    up. An entry `total` is left out, as are values that are not finite.
    """
    unit: int = 10**digits
    scaled = {
        name: ms * unit
        for name, ms in stages.items()
        if name != "total" and ms is not None and isfinite(ms) and isfinite(ms * unit)
    }
    if not scaled:
        return {}
    found = {name: floor(value) for name, value in scaled.items()}
    # Sums of decimal fractions are not exact in binary: 0.1 + 0.2 must count as 0.3.
    whole = round(round(sum(scaled.values()), 3)) if isfinite(sum(scaled.values())) else 0
    missing = max(0, whole - sum(found.values()))
    for name in sorted(scaled, key=lambda one: found[one] - scaled[one])[:missing]:
        found[name] += 1
    return {name: value / unit for name, value in found.items()}


def percentile(values: Iterable[float], percent: float) -> float | None:
    """Return the smallest value that `percent` (0 to 100) of `values` do not exceed.

    By nearest rank: the `ceil(percent * n / 100)`-th smallest of n; None without values.
    """
    ordered = sorted(values)
    return ordered[max(1, ceil(percent * len(ordered) / 100)) - 1] if ordered else None
