"""Paint a stretch of session time as rows of cells. Pure functions of a view."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

from rich.cells import cell_len

from gemini_live_runtime.journal.fold.agent_view import Span, Tick
from gemini_live_runtime.journal.fold.view import Block, SessionView
from gemini_live_runtime.records import record
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import joined
from gemini_live_tui.painting.wrapping import fit

Run = tuple[str, str]
Cell = tuple[str, str]

GUTTER = 8
"""Cells of the lanes' names."""

ZOOMS: tuple[tuple[str, float], ...] = (("session", 0.0), ("5 min", 300.0), ("1 min", 60.0), ("30 s", 30.0))
"""Widths of the window in seconds; 0 is the whole session. After these comes the turn."""

LEAST_S = 10.0
"""Least seconds of a window: a shorter session or turn does not fill it."""

_STEPS = (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)
_MAX_BEFORE = 16
"""Sounds before a window that may reach into it: sounds of one lane follow each other."""

THINGS = {
    "watch": "w",
    "typed": "k",
    "away": "z",
    "refused": "x",
    "fault": "!",
    "held": "h",
    "handoff": "o",
    "task": "b",
    "notification": "n",
}
"""Letters of moments where all of them share a lane; a tool is `t`, a mark `m`, an answer without sound `a`."""

_LATER = {"task": "lane-tool", "notification": "lane-watcher"}
"""Styles of what goes on after its moment: tasks with memory, and notifications."""

LEGEND = "k typed, z away, a answer, w watch, t tool, m mark, x refused, ! fault, h held, o agent, b task, n note"


@record
class Window:
    """Stretch of session time, in seconds; `end` > `start`."""

    start: float
    end: float

    @property
    def span(self) -> float:
        """Length in seconds."""
        return self.end - self.start

    def column(self, t: float, width: int) -> int:
        """Return a moment's cell among `width`.

        One outside of the window is outside of 0..width - 1.
        """
        return int((t - self.start) / self.span * width // 1)

    def time(self, column: int, width: int) -> float:
        """Return the moment in the middle of a cell."""
        return self.start + (column + 0.5) * self.span / max(1, width)


@record
class Lanes:
    """Inputs of the lanes: view, window, cursor, and whether the session goes on."""

    view: SessionView
    window: Window
    at: float
    """Cursor, in seconds of session time."""
    live: bool
    """True when the cursor is at the present."""
    now: float
    """End of the session so far, in seconds of session time."""
    going: bool = True
    """True when more may happen."""


def paint(lanes: Lanes, width: int, height: int, glyphs: Glyphs) -> list[list[Run]]:
    """Return at most `height` rows of `width` cells.

    With more rows more lanes have one of their own.
    """
    inner = max(1, width - GUTTER - 1)
    rows = []
    names = chosen(height, has_tasks=has_tasks(lanes.view))
    for name in names:
        cells = _PAINTERS[name](lanes, inner, glyphs)
        if name == "time" and "at" not in names:
            _point(cells, lanes, inner, glyphs)
        rows.append([(f" {name:<{GUTTER - 1}}", "quiet"), *joined(cells)])
    return rows


def chosen(height: int, *, has_tasks: bool = False) -> tuple[str, ...]:
    """Return the lanes for `height` rows; events without a lane share one.

    With `has_tasks` tasks and notifications get a lane, too, where others have one.
    """
    with_tasks: tuple[tuple[str, ...], ...] = (
        ("time", "you", "model", "phase", "watch", "tool", "tasks", "state", "ms", "mark", "at"),
        ("time", "you", "model", "phase", "watch", "tool", "tasks", "state", "ms", "mark"),
        ("time", "you", "model", "phase", "watch", "tool", "tasks", "state", "mark"),
        ("time", "you", "model", "phase", "watch", "tool", "tasks", "state"),
    )
    shapes: tuple[tuple[str, ...], ...] = (
        *(with_tasks if has_tasks else ()),
        ("time", "you", "model", "phase", "watch", "tool", "state", "ms", "mark", "at"),
        ("time", "you", "model", "phase", "watch", "tool", "state", "ms", "mark"),
        ("time", "you", "model", "phase", "watch", "tool", "state", "mark"),
        ("time", "you", "model", "phase", "events", "state", "ms"),
        ("time", "you", "model", "phase", "events", "state"),
        ("time", "you", "model", "phase", "events"),
        ("time", "voices", "phase", "events"),
        ("time", "voices", "phase"),
        ("time", "voices"),
    )
    for lanes in shapes:
        if len(lanes) <= height:
            return lanes
    return ("voices",)


def has_tasks(view: SessionView) -> bool:
    """Return True when there is something for the lane of tasks and notifications."""
    harness = view.harness
    return bool(harness.tasks or harness.notifications or harness.memories)


def axis_step(span: float, width: int) -> float:
    """Return the seconds between two labels, so that each has room."""
    return next((step for step in _STEPS if step / span * width >= 12), span)


# -- the lanes -------------------------------------------------------------------------------------------------------


def _time(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    window = lanes.window
    step = axis_step(window.span, width)
    cells: list[Cell] = [(glyphs.rule, "track")] * width
    at = step * -(-window.start // step)
    while at < window.end:
        column = window.column(at, width)
        if 0 <= column < width:
            tenth = f".{int(at * 10) % 10}" if step < 1 else ""
            _write(cells, column, f"{glyphs.tick}{clock_text(at)}{tenth}", "quiet", width)
        at += step
    return cells


def _point(cells: list[Cell], lanes: Lanes, width: int, glyphs: Glyphs) -> None:
    column = lanes.window.column(lanes.at, width)
    word = "here" if not lanes.live else "now" if lanes.going else "end"
    if not 0 <= column <= width:
        return
    column = min(column, width - 1)
    text, at = f"{glyphs.pointer} {word}", column
    if column + len(text) > width:
        text, at = f"{word} {glyphs.pointer}", column - len(word) - 1
    if at >= 0:
        _clear_labels(cells, at, at + len(text), glyphs)
        _write(cells, at, text, "key", width)
    else:
        cells[column] = (glyphs.pointer, "key")


def _clear_labels(cells: list[Cell], start: int, end: int, glyphs: Glyphs) -> None:
    """Remove the times that would be covered in part: the rest reads as another time."""
    end = min(end, len(cells))
    while start > 0 and cells[start][1] == cells[start - 1][1] == "quiet":
        start -= 1
    while end < len(cells) and cells[end - 1][1] == cells[end][1] == "quiet":
        end += 1
    for column in range(start, end):
        if cells[column][1] == "quiet":
            cells[column] = (glyphs.rule, "track")


def _at(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    cells: list[Cell] = [(" ", "")] * width
    _point(cells, lanes, width, glyphs)
    return cells


def _spans(lanes: Lanes, lane: str) -> Iterable[Span]:
    spans, window = lanes.view.agent_view.spans, lanes.window
    first = max(0, bisect_left(spans, window.start, key=_begin) - _MAX_BEFORE)
    for span in spans[first : bisect_right(spans, window.end, key=_begin)]:
        if span.lane == lane and (lanes.now if span.end is None else span.end) >= window.start:
            yield span


def _begin(item: Span | Tick) -> float:
    return item.t


def _said(block: Block) -> float:
    return block.t


def _sound(lanes: Lanes, width: int, lane: str, glyphs: Glyphs) -> list[Cell]:
    cells: list[Cell] = [(glyphs.still, "track")] * width
    for span in _spans(lanes, lane):
        first = max(0, lanes.window.column(span.t, width))
        last = min(width - 1, lanes.window.column(lanes.now if span.end is None else span.end, width))
        for column in range(first, last + 1):
            cells[column] = (glyphs.fill, f"lane-{lane}")
        if span.cut and 0 <= last < width and first <= last:
            cells[last] = (glyphs.cut, "cut")
    return cells


def _you(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    cells = _sound(lanes, width, "user", glyphs)
    for tick in _ticks(lanes, "typed", "away"):
        column = lanes.window.column(tick.t, width)
        if 0 <= column < width:
            cells[column] = (THINGS[tick.lane], "lane-user")
    return cells


def _model(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    cells = _sound(lanes, width, "model", glyphs)
    blocks, window = lanes.view.blocks, lanes.window
    for block in blocks[bisect_left(blocks, window.start, key=_said) : bisect_right(blocks, window.end, key=_said)]:
        if block.kind == "model":
            column = window.column(block.t, width)
            if 0 <= column < width and cells[column][1] == "track":
                cells[column] = ("a", "lane-model")
    return cells


def _voices(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    user = _you(lanes, width, glyphs)
    model = _model(lanes, width, glyphs)
    upper, lower, both = tuple(glyphs.voices)
    cells: list[Cell] = []
    for mine, its in zip(user, model, strict=True):
        if its[1] == "cut":
            cells.append(its)
        elif mine[0] in (THINGS["typed"], THINGS["away"]):
            cells.append(mine)
        elif mine[1] == "lane-user" and its[1] == "lane-model":
            cells.append((both, "strong"))
        elif mine[1] == "lane-user":
            cells.append((upper, "lane-user"))
        else:
            cells.append((lower if its[0] == glyphs.fill else its[0], its[1]))
    return cells


def _phase(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    path, window = lanes.view.agent_view.path, lanes.window
    cells: list[Cell] = [(" ", "")] * width
    for number, stay in enumerate(path):
        end = path[number + 1].t if number + 1 < len(path) else lanes.now
        if stay.seconds is not None:
            # An agent without phases may have taken over.
            end = min(end, stay.t + stay.seconds)
        if end < window.start or stay.t >= window.end:
            continue
        first, last = window.column(stay.t, width), min(width - 1, window.column(end, width))
        begins = first >= 0
        first = max(0, first)
        for column in range(first, last + 1):
            cells[column] = (glyphs.rule, "track")
        sign = glyphs.diamond if begins else ""
        text = sign + fit(stay.phase, last - first - len(sign), glyphs.ellipsis)
        _write(cells, first, text, "lane-phase", width)
    return cells


def _named(lanes: Lanes, width: int, moments: Sequence[tuple[float, str, str]], glyphs: Glyphs) -> list[Cell]:
    """Return moments with as much of their words as fits before the next one."""
    cells: list[Cell] = [(" ", "")] * width
    columns = [(lanes.window.column(t, width), text, style) for t, text, style in moments]
    columns = [item for item in columns if 0 <= item[0] < width]
    for number, (column, text, style) in enumerate(columns):
        until = columns[number + 1][0] if number + 1 < len(columns) else width
        room = until - column - 1
        cells[column] = (glyphs.dot, style)
        if room > 2:
            _write(cells, column + 1, fit(text, room - 1, glyphs.ellipsis), "said", width)
    return cells


def _ticks(lanes: Lanes, *kinds: str) -> Iterable[Tick]:
    ticks, window = lanes.view.agent_view.ticks, lanes.window
    first = bisect_left(ticks, window.start, key=_begin)
    for tick in ticks[first : bisect_right(ticks, window.end, key=_begin)]:
        if tick.lane in kinds:
            yield tick


def _watch(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    styles = {"watch": "lane-watcher", "held": "warn", "fault": "error", "handoff": "lane-phase"}
    words = {"watch": "", "held": "held ", "fault": "fault ", "handoff": "hand-off "}
    moments = [(tick.t, words[tick.lane] + tick.text, styles[tick.lane]) for tick in _ticks(lanes, *styles)]
    return _named(lanes, width, moments, glyphs)


def _tasks(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    moments = [(tick.t, tick.text, _LATER[tick.lane]) for tick in _ticks(lanes, *_LATER)]
    return _named(lanes, width, moments, glyphs)


def _tool(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    window = lanes.window
    cells: list[Cell] = [(" ", "")] * width
    begun: list[tuple[int, str, bool]] = []
    for run in lanes.view.agent_view.tools.values():
        end = lanes.now if run.end is None else run.end
        if end < window.start or run.t >= window.end:
            continue
        first, last = max(0, window.column(run.t, width)), min(width - 1, window.column(end, width))
        good = run.status in ("running", "ok")
        for column in range(first, last + 1):
            cells[column] = (glyphs.rule if run.status == "running" else glyphs.fill, "lane-tool" if good else "warn")
        word = run.name if good else f"{run.name} {run.status}"
        begun.append((last + 1, word, good))
    begun.sort()
    for number, (column, word, good) in enumerate(begun):
        until = begun[number + 1][0] - 1 if number + 1 < len(begun) else width
        if until - column > 2:
            _write(cells, column, fit(word, until - column - 1, glyphs.ellipsis), "said" if good else "warn", width)
    return cells


def _state(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    window, density = lanes.window, lanes.view.agent_view.state_density
    counts = [0] * width
    # A second that is wider than a cell fills several.
    for second in range(int(window.start), int(window.end) + 1):
        changes = density.get(second)
        if changes:
            first = max(0, window.column(second, width))
            last = min(width - 1, max(first, window.column(second + 0.999, width)))
            for column in range(first, last + 1):
                counts[column] += changes
    most = max(counts)
    top = len(glyphs.levels) - 1
    return [(glyphs.levels[round(count / most * top)], "lane-state") if count else (" ", "") for count in counts]


def _ms(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    moments = [
        (card.t, f"{card.latency_ms:.0f}", "lane-latency")
        for card in lanes.view.agent_view.turns.values()
        if card.latency_ms is not None and lanes.window.start <= card.t < lanes.window.end
    ]
    return _named(lanes, width, moments, glyphs)


def _mark(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    moments = [(mark.t, mark.text or "mark", "mark") for mark in lanes.view.agent_view.marks]
    return _named(lanes, width, sorted(moments), glyphs)


def _events(lanes: Lanes, width: int, glyphs: Glyphs) -> list[Cell]:
    """Return watchers, tools, marks and the rest as letters.

    The more important letter covers the other.
    """
    window = lanes.window
    cells: list[Cell] = [(" ", "")] * width
    found: list[tuple[float, str, str]] = []
    start, end = window.start, window.end
    found.extend((run.t, "t", "lane-tool") for run in lanes.view.agent_view.tools.values() if start <= run.t < end)
    styles = {
        **_LATER,
        "refused": "warn",
        "watch": "lane-watcher",
        "held": "warn",
        "fault": "error",
        "handoff": "lane-phase",
    }
    found.extend((tick.t, THINGS[tick.lane], styles[tick.lane]) for tick in _ticks(lanes, *styles))
    found.extend((mark.t, "m", "mark") for mark in lanes.view.agent_view.marks)
    for t, letter, style in found:
        column = window.column(t, width)
        if 0 <= column < width:
            cells[column] = (letter, style)
    return cells


_PAINTERS: dict[str, Callable[[Lanes, int, Glyphs], list[Cell]]] = {
    "time": _time,
    "you": _you,
    "model": _model,
    "voices": _voices,
    "phase": _phase,
    "watch": _watch,
    "tool": _tool,
    "tasks": _tasks,
    "state": _state,
    "ms": _ms,
    "mark": _mark,
    "events": _events,
    "at": _at,
}


def _write(cells: list[Cell], at: int, text: str, style: str, width: int) -> None:
    """Put text over cells. A wide character takes two, the second one is empty."""
    for character in text:
        size = cell_len(character)
        if at + max(1, size) > width:
            return
        if size == 0:
            # A combining character joins the cell of its letter.
            if at:
                cells[at - 1] = (cells[at - 1][0] + character, cells[at - 1][1])
            continue
        cells[at] = (character, style)
        for more in range(1, size):
            cells[at + more] = ("", style)
        at += size
