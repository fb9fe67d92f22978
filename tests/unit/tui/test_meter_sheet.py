"""The meters tell what is measured, however many problems there are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemini_live_runtime.audio.echo.cancellers import EchoState
from gemini_live_runtime.audio.echo.pause_probe import ProbeState
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.dialogs.meters import MeterSheet
from gemini_live_tui.painting.glyphs import UNICODE
from gemini_live_tui.session_data.meter_history import MeterHistory, OwnCost


def shown(view: SessionView) -> dict[str, tuple[str, str]]:
    """Return text and style of the rows that have a text in place of a value."""
    sheet = MeterSheet(MeterHistory(), OwnCost(lambda: 0.0), UNICODE, on_rows=lambda count, height: None)
    sheet.show(view, 0)
    return {row[0][0].strip(): row[1] for row in sheet.rows(100, 60) if len(row) == 2}


@pytest.mark.parametrize("kind", ["", "lost", "drift"])
def test_the_difference_of_the_clocks_is_shown_beside_any_problem(kind: str) -> None:
    view = SessionView()
    view.meters = replace(view.meters, drift_ppm=-48.0)
    if kind:
        view.health = {kind: ("Something is wrong with the sound.", "devices")}
    rows = shown(view)
    assert rows["sound"][0] == ("Something is wrong with the sound." if kind else "nothing wrong")
    assert rows["clocks"] == ("microphone and speaker 48 ppm apart", "alarm" if kind == "drift" else "strong")


def test_clocks_that_were_not_measured_have_no_row() -> None:
    assert "clocks" not in shown(SessionView())


@pytest.mark.parametrize("probe", ["paused", "person"])
@pytest.mark.parametrize("state", ["learning", "proven", "disturbed"])
@pytest.mark.parametrize("width", [74, 110])
def test_the_states_of_filter_and_probe_are_shown_whole(state: EchoState, probe: ProbeState, width: int) -> None:
    sheet = MeterSheet(MeterHistory(), OwnCost(lambda: 0.0), UNICODE, on_rows=lambda count, height: None)
    view = SessionView()
    view.meters = replace(view.meters, echo_filter=state, probe=probe, false_pauses=12)
    sheet.show(view, 0)
    rows = ["".join(text for text, _ in row) for row in sheet.rows(width, 60)]
    assert any(row.startswith(" echo loss") and row.endswith(f"  {state}, {probe}") for row in rows)
    assert " false pause 12 times, for an echo" in rows


def test_a_filter_without_a_question_is_named_as_one() -> None:
    sheet = MeterSheet(MeterHistory(), OwnCost(lambda: 0.0), UNICODE, on_rows=lambda count, height: None)
    view = SessionView()
    view.meters = replace(view.meters, echo_filter="disturbed")
    sheet.show(view, 0)
    rows = ["".join(text for text, _ in row) for row in sheet.rows(74, 60)]
    assert any(row.endswith("  filter disturbed") for row in rows)
    assert not any("false pause" in row for row in rows)
