"""Format times, money, durations and meter bars. Pure functions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import isfinite

from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import joined

FLOOR_DB = -60.0
"""Left end of a meter bar, dBFS; the right end is 0."""

MID_DB = -12.0
HIGH_DB = -3.0
"""Level, dBFS, from which a bar is amber, then red."""


def clock_text(seconds: float) -> str:
    """Return `mm:ss`, or `h:mm:ss` from one hour on; negative times count as zero."""
    total = max(0, int(seconds))
    hours, rest = divmod(total, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes:02}:{secs:02}"


def date_clock_text(at: float, now: float) -> str:
    """Return a moment of Unix seconds as `14:05`, with another date than of `now`."""
    moment, today = time.localtime(at), time.localtime(now)
    return time.strftime("%H:%M" if moment[:3] == today[:3] else "%Y-%m-%d %H:%M", moment)


def duration_text(ms: float) -> str:
    """Return `612 ms` below one second, else `1.4 s`."""
    return f"{ms:.0f} ms" if ms < 999.5 else f"{ms / 1000:.1f} s"


def seconds_text(seconds: float) -> str:
    """Return a completed duration: `4.1 s`, `16 s`, `2 min 05 s`, `1 h 02 min`."""
    seconds = max(0.0, seconds)
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    minutes, rest = divmod(total, 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def whole_seconds_text(seconds: float) -> str:
    """Return a running duration in whole seconds: it is read again every second."""
    return seconds_text(max(10, int(seconds))) if seconds >= 10 else f"{max(0, int(seconds))} s"


def age_text(seconds: float) -> str:
    """Return an age: `now`, `4 s ago`, `2 min ago`, `1 h ago`."""
    total = int(seconds)
    if total < 1:
        return "now"
    if total < 60:
        return f"{total} s ago"
    return f"{total // 60} min ago" if total < 3600 else f"{total // 3600} h ago"


def until_next_second(seconds: float) -> float:
    """Return the seconds until a clock that shows this time changes."""
    return 1.0 - seconds % 1.0 + 0.005


def until_older(seconds: float) -> float:
    """Return the seconds until `age_text` and `whole_seconds_text` of this age change."""
    step = 1.0 if seconds < 3600 else 60.0
    return step - seconds % step + 0.005


def ordinal(number: int) -> str:
    """Return `1st`, `2nd`, `11th`."""
    tail = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{tail}"


def spark(numbers: Sequence[float], width: int, glyphs: Glyphs) -> str:
    """Return the last `width` numbers as bars from their minimum to their maximum.

    "" for fewer than two numbers.
    """
    last = [number for number in numbers[-width:] if isfinite(number)] if width > 0 else []
    if len(last) < 2:
        return ""
    low, high = min(last), max(last)
    steps = len(glyphs.levels) - 1
    if high == low:
        return glyphs.levels[0] * len(last)
    # Divide first: the difference of two large numbers may overflow a float.
    scale = (high / 2 - low / 2) * 2 / steps if isfinite(high - low) else 0.0
    if not scale:
        return "".join(glyphs.levels[steps if number > 0 else 0] for number in last)
    return "".join(glyphs.levels[min(steps, int((number - low) / scale + 0.5))] for number in last)


def share_bar(share: float, width: int, glyphs: Glyphs) -> list[tuple[str, str]]:
    """Return progress, 0 to 1, as a bar of exactly `width` cells in styled runs."""
    resolution = len(glyphs.eighths)
    steps = round(max(0.0, min(1.0, share)) * width * resolution)
    full, part = divmod(steps, resolution)
    done = glyphs.eighths[-1] * full + (glyphs.eighths[part - 1] if part else "")
    return [(done, "mid"), (glyphs.track * (width - len(done)), "track")]


def cost_text(dollars: float) -> str:
    """Return an estimate in US dollars, with enough digits to see it move."""
    return f"~${dollars:.3f}" if dollars < 1 else f"~${dollars:.2f}"


def decibel_text(level: float | None) -> str:
    """Return a level in whole dBFS, three cells: `-60` for the floor, ` --` for None."""
    return " --" if level is None else f"{max(FLOOR_DB, min(0.0, level)):3.0f}"


def bar_steps(level: float | None, width: int, resolution: int) -> int:
    """Return the filled steps of `width` x `resolution` at `level` dBFS."""
    if level is None or width <= 0:
        return 0
    part = (min(0.0, level) - FLOOR_DB) / -FLOOR_DB
    return max(0, min(width * resolution, round(part * width * resolution)))


def zone(cell: int, width: int) -> str:
    """Return a bar cell's style by the level at its left edge: `low`, `mid` or `high`."""
    level = FLOOR_DB + (-FLOOR_DB) * cell / max(1, width)
    return "low" if level < MID_DB else "mid" if level < HIGH_DB else "high"


def bar(level: float | None, width: int, glyphs: Glyphs, *, peak: float | None = None) -> list[tuple[str, str]]:
    """Return a level bar of exactly `width` cells as (text, style) runs.

    Styles are `low`, `mid`, `high`, `track`, `peak`. One cell is divided into as many steps as `glyphs.eighths` has
    signs. `peak` (dBFS) is marked where it lies beyond the filled part.
    """
    resolution = len(glyphs.eighths)
    steps = bar_steps(level, width, resolution)
    full, part = divmod(steps, resolution)
    cells: list[tuple[str, str]] = [(glyphs.eighths[-1], zone(cell, width)) for cell in range(full)]
    if part:
        cells.append((glyphs.eighths[part - 1], zone(full, width)))
    cells.extend((glyphs.track, "track") for _ in range(width - len(cells)))
    if peak is not None and width:
        at = min(width - 1, bar_steps(peak, width, 1))
        if at >= full + bool(part) and peak > FLOOR_DB:
            cells[at] = (glyphs.peak, "peak")
    return joined(cells)
