"""Numbers as people read them: times, money, durations and meter bars. Pure functions."""

from __future__ import annotations

from gemini_live_tui.glyphs import Glyphs

FLOOR_DB = -60.0
"""Left end of a meter bar, dBFS; the right end is 0."""

MID_DB = -12.0
HIGH_DB = -3.0
"""A bar's cells from here on are amber, then red."""


def clock_text(seconds: float) -> str:
    """`mm:ss`, or `h:mm:ss` from one hour on; negative times count as zero."""
    total = max(0, int(seconds))
    hours, rest = divmod(total, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes:02}:{secs:02}"


def duration_text(ms: float) -> str:
    """Milliseconds below one second, else seconds with one decimal, e.g. `612 ms` and `1.4 s`."""
    return f"{ms:.0f} ms" if ms < 999.5 else f"{ms / 1000:.1f} s"


def cost_text(dollars: float) -> str:
    """An estimate in US dollars: always marked as one, with enough digits to see it move."""
    return f"~${dollars:.3f}" if dollars < 1 else f"~${dollars:.2f}"


def decibel_text(level: float | None) -> str:
    """A level in whole dBFS, three characters wide; the floor shows as `-60`, nothing to measure as ` --`."""
    return " --" if level is None else f"{max(FLOOR_DB, min(0.0, level)):3.0f}"


def bar_steps(level: float | None, width: int, resolution: int) -> int:
    """How many of `width` x `resolution` steps of a bar are filled at `level` dBFS."""
    if level is None or width <= 0:
        return 0
    part = (min(0.0, level) - FLOOR_DB) / -FLOOR_DB
    return max(0, min(width * resolution, round(part * width * resolution)))


def zone(cell: int, width: int) -> str:
    """The style of cell number `cell` of a level bar: `low`, `mid` or `high`, by the level at its left edge."""
    level = FLOOR_DB + (-FLOOR_DB) * cell / max(1, width)
    return "low" if level < MID_DB else "mid" if level < HIGH_DB else "high"


def bar(level: float | None, width: int, glyphs: Glyphs, *, peak: float | None = None) -> list[tuple[str, str]]:
    """A level bar of exactly `width` cells as (text, style) runs; styles are `low`, `mid`, `high`, `track`, `peak`.

    One cell is divided into as many steps as `glyphs.eighths` has signs. `peak` (dBFS) is marked where it lies beyond
    the filled part.
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
    return _joined(cells)


def _joined(cells: list[tuple[str, str]]) -> list[tuple[str, str]]:
    runs: list[tuple[str, str]] = []
    for text, style in cells:
        if runs and runs[-1][1] == style:
            runs[-1] = (runs[-1][0] + text, style)
        else:
            runs.append((text, style))
    return runs
