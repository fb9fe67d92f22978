"""The time axis moves with the clock where it moves slowly."""

from __future__ import annotations

import pytest
from textual.geometry import Size

from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.panes.timeline import Timeline


@pytest.mark.parametrize(
    ("columns", "until_next"),
    [(100, 0.755), (70, 0.755), (40, 60 / 32), (220, 60 / 212)],
)
def test_an_axis_of_a_minute_moves_with_the_clock_unless_it_is_wide(
    columns: int, until_next: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Timeline, "size", Size(columns, 8))
    frame = Frame(1, now=50.0, elapsed=12.25, live=True, marks=Dirty.NONE, going=True)
    assert Timeline().show(SessionView(), frame) == pytest.approx(until_next)
