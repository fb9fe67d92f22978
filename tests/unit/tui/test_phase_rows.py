"""The phase pane's most important parts fit any width."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.support.collection import DISPUTED, PAID, PLAN, tree

from gemini_live_runtime.journal.fold.agent_view import AgentView, Need, PhaseVisit, Tick, TransitionStatus
from gemini_live_runtime.journal.fold.packing import pack
from gemini_live_runtime.text import sanitise
from gemini_live_tui.painting.glyphs import ASCII, UNICODE
from gemini_live_tui.painting.runs import Run, width_of
from gemini_live_tui.panes import phase_rows as phase
from gemini_live_tui.panes.explanations import live_value, outline


def text(runs: list[Run]) -> str:
    return "".join(part for part, _ in runs)


PATH = [
    PhaseVisit("notice", 0.0, 1, 9, "initial", seconds=16.3),
    PhaseVisit("verify", 16.3, 3, 40, "guard", "they understood the notice", 9.78),
    PhaseVisit("negotiate", 26.1, 7, 80, "guard", "we know who they are"),
]


def agent_view(**values: Any) -> AgentView:
    made = AgentView(path=list(PATH), visits={"notice": 1, "verify": 1, "negotiate": 3})
    for name, value in values.items():
        setattr(made, name, value)
    return made


def test_the_phase_says_how_long_it_has_lasted_how_often_it_was_entered_and_why() -> None:
    row = text(phase.now_row(agent_view(), 38.5, 70, UNICODE))
    assert row.startswith("▶ negotiate  for 12 s · 3rd time")
    assert row.endswith("we know who they are")


def test_the_last_phase_is_said_to_be_it() -> None:
    assert "the last phase" in text(phase.now_row(agent_view(terminal=True), 38.5, 70, UNICODE))
    assert phase.rows_of(agent_view(terminal=True))[-2:] == ["end", "tools"]


def test_a_phase_without_a_way_out_does_not_promise_one() -> None:
    shape = pack({"phases": [{"name": "negotiate", "ways": []}]})
    assert phase.rows_of(agent_view(shape=shape))[-2:] == ["closed", "tools"]
    assert text(phase.plain_row("closed", 60, UNICODE)).endswith("no transition leads on from here")
    leading = pack({"phases": [{"name": "negotiate", "ways": [{"to": "paid"}]}]})
    assert phase.rows_of(agent_view(shape=leading))[-2:] == ["unread", "tools"]


def test_a_path_that_fits_is_whole() -> None:
    row = text(phase.path_row(agent_view(), 80, UNICODE))
    assert row == "  notice ✓ 16 s → verify ✓ 9.8 s → ▶ negotiate"


def test_of_a_path_that_does_not_fit_the_newest_end_is_kept() -> None:
    row = text(phase.path_row(agent_view(), 40, UNICODE))
    assert row == "  … → verify ✓ 9.8 s → ▶ negotiate"


def test_after_a_hand_off_to_an_agent_without_phases_none_is_the_present_one() -> None:
    path = [*PATH[:2], replace(PATH[2], seconds=4.0)]
    agent = agent_view(path=path, ticks=[Tick("handoff", 30.1, 90, "collector → specialist")])
    assert phase.rows_of(agent) == ["agent", "path", "tools"]
    said = text(phase.agent_row(agent, "specialist", 60, UNICODE))
    assert said.strip() == "▶ specialist  took over at 00:30 · has no phases"
    assert text(phase.path_row(agent, 80, UNICODE)) == "  notice ✓ 16 s → verify ✓ 9.8 s → negotiate ✓ 4.0 s"
    assert text(phase.path_row(agent, 40, UNICODE)) == "  … → verify ✓ 9.8 s → negotiate ✓ 4.0 s"


def test_the_path_shows_hand_offs_between_phases() -> None:
    agent = agent_view(ticks=[Tick("watch", 1.0, 20, "x"), Tick("handoff", 26.0, 79, "greeter → collector")])
    assert text(phase.path_row(agent, 80, UNICODE)) == "  notice ✓ 16 s → verify ✓ 9.8 s ⇄ ▶ negotiate"
    assert text(phase.path_row(agent, 80, ASCII)) == "  notice + 16 s -> verify + 9.8 s <> > negotiate"


@given(st.integers(1, 200), st.lists(st.text("ab日本é", min_size=1, max_size=12), min_size=1, max_size=9))
def test_no_path_is_wider_than_the_pane(width: int, names: list[str]) -> None:
    path = [PhaseVisit(name, 0.0, 1, 1, "guard", seconds=1.0) for name in names]
    for glyphs in (UNICODE, ASCII):
        assert width_of(phase.path_row(AgentView(path=path), width, glyphs)) <= width


def test_what_is_open_stands_before_what_is_known() -> None:
    needs = (Need("user:name", "name", met=True, by="tool verify"), Need("app:plan", "plan", met=False))
    assert text(phase.needs_row(agent_view(needs=needs), 60, UNICODE)) == "needs  ○ plan open  ✓ name by tool verify  "
    assert "by tool" not in text(phase.needs_row(agent_view(needs=needs), 34, UNICODE))


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (
            TransitionStatus("disputed", "guard is false", "", pack(DISPUTED)),
            "✗ no    → disputed  app:disputed is true (not set)",
        ),
        (TransitionStatus("paid", "guard is false", "", pack(PAID)), "✗ no    → paid      derived:left == 0 (now 250)"),
        (
            TransitionStatus("plan", "requirement missing", "", pack(PLAN), missing=("app:plan",)),
            "○ lacks → plan      app:plan not",
        ),
        (TransitionStatus("plan", "ready", "", pack(tree("x", True, ("x", 1, "")))), "✓ ready → plan      x (now 1)"),
        (
            TransitionStatus("plan", "target's guard is false", "", "", pack(PLAN)),
            "✗ no    → plan      plan's own guard: app:month",
        ),
        (TransitionStatus("plan", "guard is false", "they can pay"), "✗ no    → plan      they can pay"),
    ],
)
def test_a_way_shows_the_value_that_decides(way: TransitionStatus, said: str) -> None:
    assert text(phase.transition_row(way, 80, UNICODE, room=8)).strip().startswith(said)


def test_a_way_with_a_breakpoint_says_so() -> None:
    way = TransitionStatus("plan", "guard is false", "", pack(PLAN))
    assert "plan ■ break" in text(phase.transition_row(way, 80, UNICODE, room=4, broken=True))


@given(st.integers(1, 120), st.text(max_size=40), st.text(max_size=40))
def test_no_row_is_wider_than_the_pane(width: int, name: str, because: str) -> None:
    way = TransitionStatus(name, "guard is false", because)
    made = agent_view(needs=(Need(name, name, met=False),), ways=(way,), allowed=(name,), blocked=because)
    made.path[-1] = replace(made.path[-1], phase=name, because=because)
    for runs in (
        phase.now_row(made, 99, width, UNICODE),
        phase.transition_row(way, width, UNICODE, room=cell_len(name)),
        phase.needs_row(made, width, UNICODE),
        phase.tools_row(made, width, UNICODE),
        phase.waits_row(made, width, UNICODE),
        phase.agent_row(made, name, width, UNICODE),
        *(phase.plain_row(row, width, UNICODE) for row in phase.rows_of(AgentView())),
    ):
        assert width_of(runs) <= width


@pytest.mark.parametrize(("is_started", "told"), [(True, "no phases, only its instruction"), (False, "No phase yet")])
def test_an_agent_without_phases_is_told_apart_from_one_that_is_not_here_yet(is_started: bool, told: str) -> None:
    rows = phase.rows_of(AgentView(), is_started=is_started)
    assert told in text(phase.plain_row(rows[0], 60, UNICODE))


def test_a_tool_list_says_all_none_or_which() -> None:
    said = [text(phase.tools_row(agent_view(allowed=allowed), 60, UNICODE)) for allowed in (None, (), ("pay", "wait"))]
    assert said == ["tools  all of the agent's", "tools  none in this phase", "tools  pay · wait"]


# -- explanations ----------------------------------------------------------------------------------------------------


def test_of_an_or_that_is_false_the_first_part_decides_and_of_an_and_the_false_one() -> None:
    assert live_value(PAID) == "derived:left == 0 (now 250)"
    either = tree("a or b", False, children=(tree("a", False, ("a", None, "")), tree("b", False, ("b", 2, ""))))
    assert live_value(either) == "a (not set)"


def test_an_outline_has_each_part_with_its_values_and_their_writers() -> None:
    lines = [" " * indent + text(runs) for indent, runs in outline(PAID, UNICODE)]
    assert lines == [
        "✗ no  session:called_ok:take_payment counts a success and derived:left == 0",
        "  ✓ yes session:called_ok:take_payment counts a success",
        "        session:called_ok:take_payment = 1  by signal",
        "  ✗ no  derived:left == 0",
        "        derived:left = 250  by computed left",
    ]


def harmless(line: str) -> bool:
    """Return True for text without control characters."""
    return sanitise(line) == line and "\n" not in line


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["text", "value", "reads", "children",
    "problem", "key", "present"]), inner, max_size=7),
    max_leaves=30,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["text", "value", "reads", "children", "problem"]), json_values))
def test_a_tree_of_any_shape_can_be_shown(odd: dict[str, Any]) -> None:
    for _, runs in outline(odd, UNICODE):
        assert harmless(text(runs))
    assert harmless(live_value(odd))


def test_a_tree_that_goes_on_for_ever_is_cut() -> None:
    deep = tree("x", True)
    for _ in range(100):
        deep = tree("x", True, children=(deep, deep))
    assert len(list(outline(deep, UNICODE))) < 500
