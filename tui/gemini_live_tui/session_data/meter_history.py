"""Keep the last minute of every meter by seconds, and the console's own cost."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field

from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.records import mutable_record

SECONDS = 60

NAMES = ("mic", "clean", "out", "erle", "buffer", "lag", "events", "frame", "cpu")
"""Names of the meters. A second keeps its highest value, of echo loss its last."""


@mutable_record
class OwnCost:
    """Console's share of a processor, and duration of its frames.

    `clock` returns seconds, `cpu` processor seconds used so far; while the clock does not advance nothing is measured.
    """

    clock: Callable[[], float]
    cpu: Callable[[], float] = time.process_time
    share: float | None = None
    """Share of one processor, 0 to 1, over the last second or more; None before that."""
    frame_ms: float | None = None
    """Longest frame of the last second or more, in milliseconds."""
    _since: tuple[float, float] | None = None
    _longest: float | None = None

    def frame(self, draw: Callable[[], float | None]) -> float | None:
        """Draw, and measure it."""
        begin = self.clock()
        try:
            return draw()
        finally:
            end = self.clock()
            if end > begin:
                self._longest = max(self._longest or 0.0, (end - begin) * 1000)
            self._reckon(end)

    def _reckon(self, now: float) -> None:
        used = self.cpu()
        if self._since is None:
            self._since = (now, used)
        elif now - self._since[0] >= 1.0:
            self.share = max(0.0, (used - self._since[1]) / (now - self._since[0]))
            self.frame_ms, self._longest = self._longest, None
            self._since = (now, used)


@mutable_record
class MeterHistory:
    """Minute of each meter, oldest value first; None for seconds without a value."""

    values: dict[str, deque[float | None]] = field(
        default_factory=lambda: {name: deque(maxlen=SECONDS) for name in NAMES}
    )
    _second: int | None = None

    def observe(self, view: SessionView, now: float, cost: OwnCost) -> None:
        """Record the meters' values at `now` seconds."""
        meters = view.meters
        fresh: dict[str, float | None] = {
            "mic": meters.mic_db,
            "clean": meters.clean_db,
            "out": meters.out_db,
            "erle": meters.erle_db,
            "buffer": meters.buffer_ms,
            "lag": meters.loop_lag_ms,
            "events": meters.events_per_s,
            "frame": cost.frame_ms,
            "cpu": None if cost.share is None else cost.share * 100,
        }
        second = int(now)
        same = second == self._second
        gap = 0 if self._second is None else min(SECONDS, second - self._second - 1)
        self._second = second
        for name, value in fresh.items():
            kept = self.values[name]
            if same and kept:
                last = kept[-1]
                if value is not None:
                    kept[-1] = value if last is None or name == "erle" else max(last, value)
                continue
            # Seconds without a frame are a gap.
            kept.extend([None] * gap)
            kept.append(value)


def spark(values: Sequence[float | None], width: int, levels: str, *, low: float, high: float) -> str:
    """Return the last `width` values as columns from `low` to `high`.

    None is a space.
    """
    shown = list(values)[-width:]
    top = len(levels) - 1
    span = max(1e-9, high - low)
    cells = (
        " " if value is None else levels[round((max(low, min(high, value)) - low) / span * top)] for value in shown
    )
    return "".join(cells).rjust(width)
