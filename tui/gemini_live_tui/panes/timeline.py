"""Show the session from left to right in lanes, to zoom, move and seek in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import BindingType

from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import GoToTime, PaneChanged
from gemini_live_tui.painting.formatting import until_next_second
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.panes import timeline_lanes as lanes
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.panes.timeline_lanes import GUTTER, LEAST_S, ZOOMS, Lanes, Window
from gemini_live_tui.widgets.sheet import Sheet

TURN = len(ZOOMS)
"""Number of the narrowest zoom: one turn."""

LEAPS = 6
"""Steps in which a window that follows the present moves by its own length."""

LEAST_WAIT_S = 0.25
"""Least seconds between two moves of the time axis."""

SLOW_S = 0.5
"""Seconds between two moves from which on the axis moves with the clock, once a second."""


class Timeline(Sheet):
    """Lanes of the newest view, with the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("timeline")]
    dirty = Dirty.TIMELINE | Dirty.TOOLS | Dirty.LATENCY
    whole = True
    every_s = LEAST_WAIT_S

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._zoom = 2
        self._held: float | None = None
        """Begin of a window that does not follow the cursor, in seconds of session time."""
        self._dragged: int | None = None
        """Column that was pointed at last, while the button is down."""
        self._lanes = Lanes(SessionView(), Window(0.0, LEAST_S), 0.0, True, 0.0)

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """Paint the session so far; return the seconds until the axis moves, or None."""
        whole = frame.whole or view
        live = frame.whole is None
        now = max(whole.t, frame.until)
        at = now if live else view.t
        if live and not self._lanes.live:
            self._held = None
        elif not live and at != self._lanes.at:
            self._bring_into_sight(at)
        self._lanes = Lanes(whole, self._window(whole, at, now, live), at, live, now, frame.going)
        self.update_rows()
        if not frame.going or self._zoom == TURN or (self._held is not None and self._lanes.window.end < now):
            return None
        step = max(LEAST_WAIT_S, self._lanes.window.span / max(1, self.size.width - GUTTER))
        # The clock has a frame at each second anyway.
        return until_next_second(frame.until or frame.elapsed) if SLOW_S <= step <= 1.0 else step

    def note(self) -> str:
        """Return the zoom, and a legend of letters where lanes share a row."""
        name = "turn" if self._zoom == TURN else ZOOMS[self._zoom][0]
        shared = "events" in lanes.chosen(self.size.height, has_tasks=lanes.has_tasks(self._lanes.view))
        sign = f" {self._glyphs.separator} "
        keys = f"{sign}{self._glyphs.up} {self._glyphs.down} zoom" if self.has_focus else ""
        note = f"{name}{keys}"
        with_legend = f"{lanes.LEGEND}{sign}{note}"
        return with_legend if shared and len(with_legend) <= self.size.width else note

    def rows(self, width: int, height: int) -> Sequence[Sequence[Run]]:
        """Return the lanes."""
        if not self._lanes.view.seq:
            return [(), [(" What happens is drawn here as it happens.", "quiet")]] if height > 1 else []
        return lanes.paint(self._lanes, width, height, self._glyphs)

    # -- the window --------------------------------------------------------------------------------------------------

    def _window(self, view: SessionView, at: float, now: float, live: bool) -> Window:
        if self._zoom == TURN:
            return _turn_window(view, at, now)
        span = ZOOMS[self._zoom][1]
        if not span:
            return Window(0.0, max(LEAST_S, now))
        start = self._held
        if start is None and live:
            # Move in steps: a still axis can be read, and need not be painted.
            leap = span / LEAPS
            start = max(0.0, -((span - now) // leap) * leap)
            return Window(start, start + span)
        if start is None:
            start = at - span / 2
        start = max(0.0, min(start, now - span))
        if not live:
            self._held = start
        return Window(start, start + span)

    def _bring_into_sight(self, at: float) -> None:
        window = self._lanes.window
        margin = window.span / 20
        if self._held is not None and not window.start + margin <= at <= window.end - margin:
            self._held = at - window.span / 2

    def _change(self, zoom: int) -> None:
        """Zoom around the cursor."""
        self._zoom = max(0, min(TURN, zoom))
        self._held = None
        self._again()

    def _again(self) -> None:
        now = self._lanes
        window = self._window(now.view, now.at, now.now, now.live)
        self._lanes = replace(now, window=window)
        self.update_rows()
        self.post_message(PaneChanged("timeline"))

    # -- pointing ----------------------------------------------------------------------------------------------------

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Seek to the clicked moment, and scrub while the button is down."""
        self.capture_mouse()
        self._dragged = None
        self._point(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Scrub."""
        if self.app.mouse_captured is self:
            self._point(event.x)

    def on_mouse_up(self) -> None:
        """Stop scrubbing."""
        self.release_mouse()

    def _point(self, x: int) -> None:
        width = self.size.width - GUTTER - 1
        column = max(0, min(width - 1, x - GUTTER))
        if width > 0 and column != self._dragged and self._lanes.view.seq:
            self._dragged = column
            t = self._lanes.window.time(column, width)
            # The cell of the last event, and all cells right of it, are the present.
            now = self._lanes.now
            self.post_message(GoToTime(now if column >= self._lanes.window.column(now, width) else t))

    def action_timeline_zoom(self, step: int) -> None:
        """Make the window narrower or wider."""
        self._change(self._zoom + step)

    def action_timeline_pan(self, step: int) -> None:
        """Move the window by a quarter of its length."""
        window = self._lanes.window
        if self._zoom in (0, TURN):
            return
        latest = max(0.0, self._lanes.now - window.span)
        start = max(0.0, min(latest, window.start + step * window.span / 4))
        self._held = None if self._lanes.live and start >= latest else start
        self._again()


def _turn_window(view: SessionView, at: float, now: float) -> Window:
    cards = [card for card in view.agent_view.turns.values() if card.t <= at]
    if not cards:
        return Window(0.0, LEAST_S)
    card = cards[-1]
    end = now if card.end is None else card.end
    start = max(0.0, card.t - 0.5)
    return Window(start, max(start + LEAST_S, end + 0.5))
