"""Summarise a repeated measurement: count, extremes, mean, percentiles, histogram."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from typing import Any

from gemini_live_runtime.latency import percentile

SAMPLES = 256
"""Number of the latest values that percentiles cover; the other figures cover all."""

BOUNDS_MS = (50, 100, 150, 200, 300, 400, 500, 650, 800, 1000, 1300, 1600, 2000, 2500, 3000, 4000, 5000)
"""Inclusive upper bounds of the histogram's buckets in ms; an eighteenth bucket is open."""


class Distribution:
    """Distribution of durations in milliseconds."""

    __slots__ = ("_recent", "_sum", "buckets", "count", "last", "max", "min")

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=SAMPLES)
        self._sum = 0.0
        self.count = 0
        self.last: float | None = None
        self.min: float | None = None
        self.max: float | None = None
        self.buckets = [0] * (len(BOUNDS_MS) + 1)

    def add(self, ms: float) -> None:
        """Add one value."""
        self._recent.append(ms)
        self._sum += ms
        self.count += 1
        self.last = ms
        self.min = ms if self.min is None else min(self.min, ms)
        self.max = ms if self.max is None else max(self.max, ms)
        self.buckets[bisect_left(BOUNDS_MS, ms)] += 1

    @property
    def mean(self) -> float | None:
        """Mean of all values; None before the first."""
        return self._sum / self.count if self.count else None

    def percentiles(self, *percents: float) -> tuple[float | None, ...]:
        """Return percentiles (0 to 100) of the last 256 values.

        By nearest rank; None for each before the first value.
        """
        ordered = sorted(self._recent)
        return tuple(percentile(ordered, percent) for percent in percents)

    def to_json(self, *, histogram: bool = False) -> dict[str, Any]:
        """Return the figures as a JSON object.

        It has `count`, and in ms or None `last_ms`, `min_ms`, `max_ms`, `mean_ms`, `p50_ms`, `p90_ms`, `p95_ms` and
        `p99_ms`.
        `histogram` adds `histogram`: `[upper bound or None, count]` for each bucket.
        """
        p50, p90, p95, p99 = self.percentiles(50, 90, 95, 99)
        figures = {"last": self.last, "min": self.min, "max": self.max, "mean": self.mean}
        figures |= {"p50": p50, "p90": p90, "p95": p95, "p99": p99}
        out: dict[str, Any] = {"count": self.count}
        out |= {f"{name}_ms": None if ms is None else round(ms, 1) for name, ms in figures.items()}
        if histogram:
            out["histogram"] = [[bound, count] for bound, count in zip((*BOUNDS_MS, None), self.buckets, strict=True)]
        return out
