"""Numbers and bars as the console shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.samples import MeterSample
from gemini_live_tui.console.meter_strip import MeterMemory
from gemini_live_tui.painting.formatting import bar, bar_steps, clock_text, cost_text, decibel_text, duration_text
from gemini_live_tui.painting.glyphs import ASCII, STATE_LABELS, UNICODE

LEVEL = st.one_of(st.none(), st.floats(-90, 6))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "00:00"), (0, "00:00"), (59.9, "00:59"), (61, "01:01"), (3599, "59:59"), (3661, "1:01:01")],
)
def test_time_is_minutes_and_seconds_and_hours_only_when_there_are_any(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text


@pytest.mark.parametrize(
    ("ms", "text"), [(0, "0 ms"), (612.4, "612 ms"), (999.4, "999 ms"), (999.6, "1.0 s"), (1440, "1.4 s")]
)
def test_a_duration_carries_its_unit(ms: float, text: str) -> None:
    assert duration_text(ms) == text


def test_a_cost_is_marked_as_an_estimate() -> None:
    assert cost_text(0.0214) == "~$0.021"
    assert cost_text(12.345) == "~$12.35" or cost_text(12.345) == "~$12.34"


def test_a_level_takes_three_characters_whatever_it_is() -> None:
    assert [decibel_text(level) for level in (None, -60.0, -7.4, 0.0, -80.0)] == [" --", "-60", " -7", "  0", "-60"]


@given(LEVEL, st.integers(1, 40), LEVEL, st.sampled_from([UNICODE, ASCII]))
def test_a_bar_is_exactly_as_wide_as_asked(level: float | None, width: int, peak: float | None, glyphs: object) -> None:
    assert isinstance(glyphs, type(UNICODE))
    assert sum(cell_len(text) for text, _ in bar(level, width, glyphs, peak=peak)) == width


@given(st.floats(-60, 0), st.floats(-60, 0), st.integers(1, 40))
def test_a_louder_level_never_has_a_shorter_bar(one: float, other: float, width: int) -> None:
    low, high = sorted((one, other))
    assert bar_steps(low, width, 8) <= bar_steps(high, width, 8)


def test_a_bar_turns_amber_and_red_near_full_scale() -> None:
    styles = [style for _, style in bar(0.0, 60, UNICODE)]
    assert styles == ["low", "mid", "high"]
    assert bar(-60.0, 10, UNICODE) == [("─" * 10, "track")]
    assert bar(None, 10, UNICODE) == [("─" * 10, "track")]


def test_a_bar_shows_eighths_of_a_cell() -> None:
    assert {bar(-60 + 60 * part / 80, 10, UNICODE)[0][0] for part in range(1, 9)} == set("▏▎▍▌▋▊▉█")


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_every_sign_is_one_cell_and_every_state_has_one(glyphs: object) -> None:
    assert isinstance(glyphs, type(UNICODE))
    assert set(glyphs.states) == set(STATE_LABELS)
    single = [*glyphs.states.values(), *glyphs.eighths, glyphs.track, glyphs.peak, glyphs.dot, glyphs.cut]
    assert {cell_len(sign) for sign in single} == {1}


def test_the_ascii_signs_are_ascii() -> None:
    text = "".join(
        [*ASCII.states.values(), ASCII.eighths, ASCII.track, ASCII.peak, ASCII.cut, ASCII.arrow, ASCII.prompt]
    )
    assert text.isascii()


def _view(mic: float | None, *, clipped: bool = False) -> SessionView:
    view = SessionView()
    view.meters = MeterSample(mic_db=mic, clipped=clipped)
    return view


def test_the_number_stands_still_long_enough_to_be_read_and_then_follows() -> None:
    memory = MeterMemory()
    memory.observe(_view(-20.0), 0.0)
    memory.observe(_view(-30.0), 0.1)
    assert memory.mic_readout == -20.0
    again = memory.again_in(_view(-30.0), 0.1)
    assert again is not None
    memory.observe(_view(-30.0), 0.1 + again)
    assert memory.mic_readout == -30.0


def test_a_meter_at_rest_asks_for_no_frame() -> None:
    memory = MeterMemory()
    memory.observe(_view(-30.0), 0.0)
    assert memory.again_in(_view(-30.0), 0.0) is None
