"""Print an agent's changes and decisions as lines that no text can forge."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.unit.vocabulary_strategies import sessions

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.agent_lines import AgentLines, agent_lines
from gemini_live_runtime.journal.plain import PlainWriter
from gemini_live_runtime.state.explanation import decisive_leaves
from gemini_live_runtime.text import sanitise


def told(*payloads: ev.Payload, everything: bool = False) -> list[str]:
    writer = PlainWriter(agent=AgentLines(everything=everything))
    return [line for seq, item in enumerate(payloads, 1) for line in writer.feed(ev.Event(seq, float(seq), 1, 1, item))]


def wrote(key: str, old: object, new: object, **more: object) -> ev.StateChanged:
    values: dict[str, object] = {"key": key, "old": old, "new": new, "mutation": 1, "origin": "tool", **more}
    return ev.StateChanged(**values)  # type: ignore[arg-type]


FALSE = {"text": "app:plan is set", "value": False}
LOW = {
    "text": "app:sum > 90",
    "value": False,
    "reads": [{"key": "app:sum", "value": 12, "present": True, "by": "tool: add"}],
}


def test_a_change_names_its_writer_and_what_was_there():
    assert told(
        wrote("app:plan", None, "gold", added=True, by="offer"), wrote("app:plan", "gold", None, removed=True)
    ) == [
        'set: app:plan = "gold" by tool offer',
        'set: app:plan removed (was "gold") by tool',
    ]


def test_what_the_session_writes_for_itself_is_told_only_with_everything():
    change = wrote("session:phase", "a", "b")
    assert told(change) == []
    assert told(change, everything=True) == ['set: session:phase = "b" (was "a") by tool']


def test_a_way_is_told_again_only_when_it_stands_otherwise():
    way = {"to": "close", "outcome": "guard is false", "because": "", "guard": {**LOW, "children": [LOW, FALSE]}}
    read = ev.GuardsRead(phase="offer", ways=(way,), needs=({"key": "a", "label": "name", "met": False, "by": ""},))
    moved = ev.GuardsRead(phase="offer", ways=({**way, "guard": FALSE},))
    lines = told(ev.PhaseEntered(phase="offer", trigger="initial"), read, read, moved)
    assert lines[1:] == [
        "need: name is open",
        "transition: offer -> close: guard is false, app:sum > 90 is false: app:sum is 12; app:plan is not set",
        "transition: offer -> close: guard is false, app:plan is not set",
    ]


def test_a_transition_says_why():
    true = {"text": "app:plan is set", "value": True, "reads": [{**LOW["reads"][0], "key": "app:plan"}]}  # type: ignore[index]
    either = {"text": "either", "value": True, "children": [LOW, true]}
    lines = told(ev.PhaseEntered(phase="b", previous="a", trigger="guard", explanation=either))
    assert lines == ["phase: a → b", "why: app:plan is set (written by tool: add)"]


def test_a_turn_tells_where_its_time_went():
    stages = {"hang_over": 180.0, "server": 288.4, "speaker": None, "total": 468.4}
    measured = ev.TurnMeasured(
        of_turn=3, latency_ms=468.4, source="server_vad", stages=stages, prompt_tokens=12, response_tokens=7
    )
    assert told(measured) == ["turn: 3: 468 ms = hang-over 180 + server 288; 12 tokens in, 7 out"]


def test_typed_text_waits_for_a_connection_and_has_no_hang_over():
    stages = {"hang_over": 180.0, "server": 288.0}
    tokens = {"prompt_tokens": 12, "response_tokens": 7}
    measured = ev.TurnMeasured(of_turn=3, latency_ms=468.0, source="typed", stages=stages, **tokens)
    assert told(measured) == ["turn: 3: 468 ms = waiting 180 + server 288; 12 tokens in, 7 out"]


@pytest.mark.parametrize(("detail", "lines"), [("talk", 0), ("decisions", 1), ("all", 2)])
def test_the_detail_chooses_what_is_told(detail, lines):
    writer = PlainWriter(agent=agent_lines(detail))
    out = [
        line
        for seq, change in enumerate((wrote("app:a", 1, 2), wrote("temp:b", 1, 2)), 1)
        for line in writer.feed(ev.Event(seq, 1.0, 1, 1, change))
    ]
    assert len(out) == lines


def test_nothing_decides_an_explanation_that_is_not_there():
    assert decisive_leaves(None) == []


@given(sessions())
def test_no_line_has_anything_that_a_terminal_obeys(session):
    writer = PlainWriter(agent=AgentLines(everything=True))
    for event in session:
        for line in writer.feed(event):
            assert sanitise(line) == line
