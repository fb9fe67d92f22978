"""A minute of meters has a value a second; the console's cost is measured."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.samples import MeterSample
from gemini_live_tui.console.meter_strip import _short
from gemini_live_tui.painting.glyphs import ASCII, UNICODE
from gemini_live_tui.session_data.meter_history import NAMES, SECONDS, MeterHistory, OwnCost, spark


def _cost() -> OwnCost:
    return OwnCost(lambda: 0.0, lambda: 0.0)


def _view(**values) -> SessionView:
    return SessionView(meters=MeterSample(**values))


def test_of_a_second_the_loudest_counts_and_of_the_echo_the_last() -> None:
    history = MeterHistory()
    for now, mic, erle in ((0.0, -40.0, 10.0), (0.4, -12.0, 30.0), (0.9, -30.0, 20.0), (1.0, -50.0, None)):
        history.observe(_view(mic_db=mic, erle_db=erle), now, _cost())
    assert list(history.values["mic"]) == [-12.0, -50.0]
    assert list(history.values["erle"]) == [20.0, None]


def test_seconds_without_a_frame_are_a_gap() -> None:
    history = MeterHistory()
    history.observe(_view(mic_db=-10.0), 5.0, _cost())
    history.observe(_view(mic_db=-20.0), 8.0, _cost())
    assert list(history.values["mic"]) == [-10.0, None, None, -20.0]


@given(st.lists(st.floats(0, 30), max_size=200))
def test_no_more_than_a_minute_is_kept(steps) -> None:
    history, now = MeterHistory(), 0.0
    for step in steps:
        now += step
        history.observe(_view(mic_db=-10.0), now, _cost())
    assert all(len(history.values[name]) <= SECONDS for name in NAMES)


def test_the_console_costs_what_it_used_of_the_time_that_went_by() -> None:
    now, used = [0.0], [0.0]
    cost = OwnCost(lambda: now[0], lambda: used[0])

    def draw() -> None:
        now[0] += 0.004
        used[0] += 0.004

    for _ in range(30):
        cost.frame(draw)
        now[0] += 0.046
    assert cost.share is not None
    assert abs(cost.share - 0.08) < 0.005
    assert cost.frame_ms is not None
    assert abs(cost.frame_ms - 4.0) < 1e-6


def test_while_the_clock_stands_still_nothing_is_measured() -> None:
    cost = _cost()
    cost.frame(lambda: None)
    assert (cost.share, cost.frame_ms) == (None, None)


@given(st.lists(st.one_of(st.none(), st.floats(-1e3, 1e3)), max_size=80), st.integers(1, 70))
def test_columns_are_as_many_as_there_is_room_for(values, width) -> None:
    for signs in (UNICODE, ASCII):
        assert len(spark(values, width, signs.levels, low=-60, high=0)) == width


@given(st.integers(0, 10**9))
def test_counts_are_short(count) -> None:
    assert len(_short(count)) <= 5
    assert [_short(number) for number in (812, 4812, 12_400, 1_200_000)] == ["812", "4.8k", "12k", "1.2M"]
