"""The waterfall of a turn: bars that follow each other, and how the turns compare."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from gemini_live_runtime.journal.fold.agent_view import TurnCard
from gemini_live_runtime.journal.fold.view import Block, SessionView
from gemini_live_runtime.latency import STAGES as STAGES_IN_ORDER
from gemini_live_tui.painting.glyphs import ASCII, UNICODE
from gemini_live_tui.panes import latency_bars as waterfall
from gemini_live_tui.panes.transcript import Transcript

STAGES = (
    ("hang_over", 180.0),
    ("uplink", 60.0),
    ("server", 288.0),
    ("downlink", None),
    ("buffer", 48.0),
    ("speaker", 36.0),
    ("total", 612.0),
)


def _card(turn: int = 1, ms: float | None = 612.0, stages=STAGES) -> TurnCard:
    names, values = tuple(zip(*stages, strict=True)) or ((), ())
    return TurnCard(
        turn, 10.0 * turn, turn, "voice", latency_ms=ms, source="local_voice", stage_names=names, stage_ms=values
    )


def _view(*latencies: float | None) -> SessionView:
    view = SessionView(seq=1)
    view.agent_view.turns = {number: _card(number, ms) for number, ms in enumerate(latencies, 1)}
    return view


def _text(row) -> str:
    return "".join(text for text, _ in row)


def test_each_bar_begins_where_the_one_before_ended() -> None:
    rows = [_text(row) for row in waterfall.bars(_card(), 80, UNICODE)]
    assert len(rows) == 6
    ends = 0
    for row in rows:
        if "█" in row:
            assert abs(row.index("█") - max(ends, row.index("█"))) <= 1
            assert ends == 0 or abs(row.index("█") - ends) <= 1
            ends = row.rindex("█") + 1
    assert "180 ms" in rows[0]


def test_a_stage_that_could_not_be_measured_says_so() -> None:
    rows = [_text(row) for row in waterfall.bars(_card(), 80, UNICODE)]
    assert "downlink" in rows[3]
    assert rows[3].endswith("not measured")


def test_typed_text_that_waited_for_its_connection_has_no_voice_detection() -> None:
    card = replace(_card(ms=468.0, stages=(("hang_over", 180.0), ("server", 288.0))), source="typed")
    assert waterfall.inline(card, UNICODE, 60) == "468 ms │wait 180│model 288│"
    assert _text(waterfall.bars(card, 80, UNICODE)[0]).startswith(" waiting ")


def test_the_title_says_what_said_that_the_input_was_over() -> None:
    said = _text(waterfall.title(_card(14), UNICODE, 100))
    assert "turn 14 · 612 ms to the first sound · 02:20 · from the local voice mark" in said


def test_the_summary_names_half_nearly_all_and_the_worst() -> None:
    said = _text(waterfall.summary(_view(100, None, 400, 200, 1900), UNICODE))
    assert said == " p50 200 ms · p95 1.9 s · worst 1.9 s in turn 5 · 4 turns"
    assert waterfall.worst(_view(300, 300)).turn == 1
    assert waterfall.summary(_view(None), UNICODE) == []


def test_the_line_below_a_turn_keeps_to_its_room() -> None:
    assert waterfall.inline(_card(), UNICODE, 60) == "612 ms │vad 180│net 60│model 288│play 84│"
    assert waterfall.inline(_card(), ASCII, 20) == "612 ms"
    assert waterfall.inline(_card(), UNICODE, 3) == ""
    assert waterfall.inline(_card(ms=None), UNICODE, 60) == ""


def test_a_latency_of_seconds_is_printed_in_the_unit_of_its_parts() -> None:
    card = _card(ms=1412.0, stages=(("server", 1400.5), ("buffer", 11.5), ("total", 1412.0)))
    assert "turn 1 · 1412 ms to the first sound" in _text(waterfall.title(card, UNICODE, 100))
    assert waterfall.inline(card, UNICODE, 60) == "1412 ms │model 1401│play 11│"


def test_the_title_tells_when_the_first_byte_came() -> None:
    card = replace(_card(), first_byte_ms=528.0)
    assert "612 ms to the first sound · first byte 528 ms · 00:10" in _text(waterfall.title(card, UNICODE, 100))


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1e5)), min_size=6, max_size=6),
    st.integers(24, 200),
    st.sampled_from([UNICODE, ASCII]),
)
def test_rows_never_exceed_the_width(values, width, glyphs):
    card = _card(stages=tuple(zip(STAGES_IN_ORDER, values, strict=True)))
    for row in waterfall.bars(card, width, glyphs):
        assert sum(cell_len(text) for text, _ in row) <= width
    assert sum(cell_len(text) for text, _ in waterfall.title(card, glyphs, width)) <= max(width, 40)


@given(st.text(alphabet="abc \u4e2d", min_size=1, max_size=60).filter(str.strip), st.integers(30, 60), st.booleans())
def test_the_latency_behind_an_answer_is_never_a_line_of_its_own(text: str, width: int, spacious: bool) -> None:
    view = SessionView(blocks=[Block(1, "model", 1.0, 1, 1, text, done=True, ms=612.0)])
    transcript = Transcript()
    transcript._view, transcript._spacious = view, spacious
    with_it = [line.plain for line in transcript.item_lines(0, width)]
    view.blocks = [replace(view.blocks[0], ms=None)]
    without = [line.plain for line in transcript.item_lines(0, width)]
    assert with_it[:-1] == without[:-1]
    assert with_it[-1] in (without[-1], f"{without[-1]}  612 ms")
    assert all(cell_len(line) <= width for line in with_it)
    assert (with_it == without) == (cell_len(without[-1]) + len("  612 ms") > width)
