"""The timeline's lanes place everything by its time, in rows of the pane's width."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from gemini_live_runtime.journal.fold.agent_view import Mark, PhaseVisit, Span, Tick, ToolRun, TurnCard
from gemini_live_runtime.journal.fold.harness_view import NotificationCard
from gemini_live_runtime.journal.fold.view import Block, SessionView
from gemini_live_tui.painting.glyphs import ASCII, UNICODE
from gemini_live_tui.panes import timeline_lanes as lanes
from gemini_live_tui.panes.timeline_lanes import GUTTER, Lanes, Window

times = st.floats(0, 400, allow_nan=False)
MINUTE = Window(0, 60)
texts = st.text(st.sampled_from("abz 漢é\u0301·◆"), max_size=12)


def _view() -> SessionView:
    view = SessionView(seq=9, t=60.0, turn=2)
    agent_view = view.agent_view
    agent_view.spans = [Span("user", 10, 1, 20), Span("model", 20, 1, 30, cut=True), Span("user", 50, 2)]
    agent_view.path = [PhaseVisit("greet", 0, 0, 1, "start", seconds=30), PhaseVisit("verify", 30, 1, 5, "guard")]
    agent_view.ticks = [
        Tick("watch", 40, 6, "high_balance"),
        Tick("typed", 45, 7, "hello"),
        Tick("away", 47, 8, "user away"),
    ]
    agent_view.tools = {
        "c1": ToolRun("lookup", "{}", 31, 1, 6, "ok", "{}", 4000, 35),
        "c2": ToolRun("pay", "{}", 55, 2, 8),
    }
    agent_view.turns = {1: TurnCard(1, 10, 2, "voice", 30, latency_ms=612)}
    agent_view.marks = [Mark(42, 7, 7, "odd")]
    agent_view.state_density = {12: 1, 13: 4}
    return view


def _rows(height: int, window: Window = MINUTE, width: int = 69, glyphs=UNICODE, live=True) -> dict[str, str]:
    painted = lanes.paint(Lanes(_view(), window, 60.0, live, 60.0), width, height, glyphs)
    return {
        "".join(text for text, _ in row)[:GUTTER].strip(): "".join(text for text, _ in row)[GUTTER:] for row in painted
    }


def test_what_was_said_stands_where_it_was_said() -> None:
    rows = _rows(10)
    assert rows["you"][10:20] == "█" * 10
    assert rows["you"][:10] == "·" * 10
    assert rows["you"][45] == "k"
    assert rows["you"][47] == "z"
    assert rows["you"][50:60] == "█" * 10
    assert rows["model"][20:30] == "█" * 10
    assert rows["model"][30] == "✂"


def test_phases_and_what_happened_are_named_in_their_places() -> None:
    rows = _rows(10)
    assert rows["phase"].startswith("◆greet───")
    assert rows["phase"].index("◆verify") == 30
    assert rows["watch"].index("●high_balance") == 40
    assert rows["tool"][31:36] == "█" * 5
    assert rows["tool"][36:42] == "lookup"
    assert rows["tool"][55] == "─"
    assert rows["mark"].index("●odd") == 42
    assert rows["ms"].index("●612") == 10
    assert rows["state"][12] != " "
    assert rows["state"][13] == "█"


def _with_notification() -> SessionView:
    view = _view()
    view.agent_view.ticks.append(Tick("notification", 52, 9, "the oven is ready: waits"))
    view.harness.notifications["n1"] = NotificationCard("the oven is ready", 52, 2, 9)
    return view


def _painted(view: SessionView, height: int) -> dict[str, str]:
    rows = [
        "".join(text for text, _ in row)
        for row in lanes.paint(Lanes(view, MINUTE, 60.0, True, 60.0), 69, height, UNICODE)
    ]
    return {row[:GUTTER].strip(): row[GUTTER:] for row in rows}


def test_notifications_have_a_lane_once_there_is_one() -> None:
    assert "tasks" not in _painted(_view(), 10)
    row = _painted(_with_notification(), 10)["tasks"]
    assert row[52] == "●"
    assert row[53:].startswith("the")


def test_notifications_are_letters_where_events_share_a_row() -> None:
    assert _painted(_with_notification(), 6)["events"][52] == "n"


def test_fewer_rows_share_lanes_and_letters_say_what_they_are() -> None:
    rows = _rows(4)
    assert list(rows) == ["time", "voices", "phase", "events"]
    assert rows["voices"][10:20] == "▀" * 10
    assert rows["voices"][21:30] == "▄" * 9
    assert (rows["events"][31], rows["events"][40], rows["events"][42]) == ("t", "w", "m")


def test_in_ascii_the_voices_are_told_apart_by_letters() -> None:
    rows = _rows(4, glyphs=ASCII)
    assert rows["voices"][10:30].strip("umB/") == ""
    assert "".join(rows.values()).isascii()


def test_a_phase_ends_where_its_agent_handed_over_to_one_without_phases() -> None:
    view = _view()
    view.agent_view.path = [PhaseVisit("greet", 0, 0, 1, "start", seconds=20), PhaseVisit("sell", 40, 1, 5, "initial")]
    painted = lanes.paint(Lanes(view, MINUTE, 60.0, True, 60.0), 69, 10, UNICODE)
    texts_of_rows = ["".join(text for text, _ in row) for row in painted]
    (row,) = (text[GUTTER:] for text in texts_of_rows if text.strip().startswith("phase"))
    assert row.startswith("◆greet───")
    assert row[21:40].strip() == ""
    assert row.index("◆sell") == 40


def test_a_phase_that_began_before_the_window_is_named_at_its_edge() -> None:
    assert _rows(10, Window(35, 65))["phase"].startswith("verify───")


def test_the_readers_place_is_marked_and_worded() -> None:
    assert _rows(10)["at"].endswith("now ▲")
    assert _rows(4)["time"].endswith("now ▲")
    assert "▲ here" in _rows(4, Window(30, 90), live=False)["time"]


def test_where_nothing_more_will_happen_the_present_is_called_the_end() -> None:
    over = lanes.paint(Lanes(_view(), MINUTE, 40.0, True, 60.0, going=False), 69, 4, UNICODE)
    assert "▲ end" in "".join(text for text, _ in over[0])


def test_of_a_time_of_the_scale_that_the_reader_covers_nothing_is_left() -> None:
    for at in range(60):
        painted = lanes.paint(Lanes(_view(), MINUTE, float(at), False, 60.0), 69, 4, UNICODE)
        scale = "".join(text for text, _ in painted[0])[GUTTER:]
        rest = scale.replace("▲ here", "").replace("here ▲", "")
        assert all(len(label) == 5 for label in re.findall(r"[0-9:]+", rest)), scale


@given(
    st.floats(0, 300), st.floats(0.5, 400), st.integers(1, 150), st.integers(0, 14), st.sampled_from([UNICODE, ASCII])
)
def test_every_row_is_as_wide_as_the_pane_and_no_more_rows_than_there_is_room(start, span, width, height, glyphs):
    painted = lanes.paint(Lanes(_view(), Window(start, start + span), 33.0, False, 60.0), width, max(1, height), glyphs)
    assert len(painted) <= max(1, height)
    for row in painted:
        assert sum(cell_len(text) for text, _ in row) == GUTTER + max(1, width - GUTTER - 1)


@given(st.lists(st.tuples(times, texts), max_size=12), st.floats(0, 300), st.floats(0.5, 400), st.integers(10, 120))
def test_no_name_of_whatever_cells_makes_a_row_wider(named, start, span, width):
    view = SessionView(seq=1)
    named.sort()
    view.agent_view.path = [PhaseVisit(text, t, 0, 1, "x") for t, text in named]
    view.agent_view.ticks = [Tick("watch", t, 1, text) for t, text in named]
    view.agent_view.marks = [Mark(t, 1, 1, text) for t, text in named]
    view.agent_view.tools = {str(n): ToolRun(text, "{}", t, 0, 1, end=t + 1) for n, (t, text) in enumerate(named)}
    view.blocks = [Block(n, "model", t, 0, 0, text=text) for n, (t, text) in enumerate(named)]
    for row in lanes.paint(Lanes(view, Window(start, start + span), 400.0, True, 400.0), width, 10, UNICODE):
        assert sum(cell_len(text) for text, _ in row) == GUTTER + max(1, width - GUTTER - 1)


@given(st.floats(0, 1e5), st.floats(0.1, 1e5), st.integers(1, 400))
def test_a_cell_and_its_time_belong_together(start, span, width):
    window = Window(start, start + span)
    for column in {0, width // 2, width - 1}:
        assert abs(window.column(window.time(column, width), width) - column) <= (1 if span < start * 1e-9 else 0)
