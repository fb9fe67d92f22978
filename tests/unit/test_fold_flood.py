"""A flood of events is folded into few rows, and each event at the same cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.blocks import _MAX_ALTERNATING
from gemini_live_runtime.journal.fold.session_fold import apply, fold
from gemini_live_runtime.journal.fold.view import Block, SessionView
from gemini_live_runtime.journal.plain import PlainWriter


def stamped(payloads: Iterable[ev.Payload]) -> list[ev.Event]:
    return [ev.Event(seq, 0.0, 1, 1, payload) for seq, payload in enumerate(payloads, 1)]


def notice(text: str, code: str = "protocol", level: Any = "warning") -> ev.Notice:
    return ev.Notice(level=level, code=code, text=text)


def rows(view: SessionView) -> list[tuple[str, int]]:
    return [(block.text, block.count) for block in view.blocks]


FLOODS = {
    "unreadable frames": (notice(f"A frame cannot be read: bad letter {n}") for n in range(405)),
    "going away": (ev.ConnectionGoAway(time_left_s=float(n)) for n in range(405)),
    "unknown kinds": (notice(f"Part of a message was not understood: kind{n}") for n in range(405)),
    "closes": (
        ev.ConnectionClosed(close_code=1006, reason="", sentence=f"Broken {n}", remedy="", requested=False)
        for n in range(405)
    ),
}


@pytest.mark.parametrize("name", FLOODS)
def test_notices_of_one_kind_are_one_row_with_a_count_and_the_last_text(name: str) -> None:
    view = fold(stamped(FLOODS[name]))
    assert [block.count for block in view.blocks] == [405]
    assert "404" in view.blocks[0].text
    assert view.block_chars == len(view.blocks[0].text) + len(view.blocks[0].detail)


def test_notices_of_kinds_that_alternate_are_a_row_for_each_kind() -> None:
    kinds = [f"{letter}: detail" for letter in "abcdefgh"][:_MAX_ALTERNATING]
    view = fold(stamped(notice(kind) for _ in range(100) for kind in kinds))
    assert rows(view) == [(kind, 100) for kind in kinds]


def test_notices_that_say_different_things_stay_apart() -> None:
    said = [
        notice("It goes to pay when the turn ends."),
        notice("It goes to bye when the turn ends."),
        notice("It goes to bye when the turn ends.", code="other"),
        notice("It goes to bye when the turn ends.", level="error"),
    ]
    assert [count for _, count in rows(fold(stamped(said)))] == [1, 1, 1, 1]


def test_a_notice_after_something_was_said_is_a_new_row() -> None:
    view = fold(stamped([notice("a: 1"), ev.TextSent(text="hello"), notice("a: 2"), notice("a: 3")]))
    assert rows(view) == [("a: 1", 1), ("hello", 1), ("a: 3", 2)]


def test_log_lines_are_counted_where_they_say_the_same() -> None:
    texts = ["there is no tool x", "there is no tool x", "step 1", "step 2", "there is no tool x"]
    view = fold(stamped(ev.Log(source="engine", level="warning", text=text) for text in texts))
    assert rows(view) == [("there is no tool x", 3), ("step 1", 1), ("step 2", 1)]
    assert len(view.log) == 5


def test_a_console_that_attaches_in_mid_flood_counts_on() -> None:
    events = stamped([*(notice(f"a: {n}") for n in range(10)), ev.ToolCalled(call_id="c", name="t", args={})])
    view = fold(events[:5])
    restored = SessionView.from_json(json.loads(json.dumps(view.to_json())))
    assert fold(events[5:], restored) == fold(events)


def test_plain_output_prints_the_first_notices_of_a_kind_and_then_fewer_and_fewer() -> None:
    writer = PlainWriter()
    lines = [line for event in stamped(notice(f"a: {n}") for n in range(2000)) for line in writer.feed(event)]
    assert lines == [
        "notice: warning: a: 0",
        "notice: warning: a: 1",
        "notice: warning: a: 2",
        "notice: warning: a: 9 (10 times)",
        "notice: warning: a: 99 (100 times)",
        "notice: warning: a: 999 (1,000 times)",
    ]


class _Counted(list[Block]):
    """Blocks that count how many of them were looked at."""

    looks = 0

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        self.looks += 1
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[Block]:
        for block in super().__iter__():
            self.looks += 1
            yield block


def test_an_event_costs_no_more_in_a_turn_with_thousands_of_calls() -> None:
    calls = [f"call-{number}" for number in range(1000)]
    flood: list[ev.Payload] = []
    for call in calls:
        flood += (
            ev.ToolCalled(call_id=call, name="t", args={}),
            ev.TranscriptDelta(side="model", text=f"about {call}"),
        )
    flood += [ev.ToolFinished(call_id=call, name="t", status="ok", result={}, ms=1.0, delivered=True) for call in calls]
    view = SessionView()
    view.blocks = blocks = _Counted()
    for event in stamped(flood):
        apply(view, event)
    assert [block.done for block in view.blocks if block.kind == "tool"] == [True] * 1000
    assert blocks.looks < 10 * len(flood)


def test_plain_output_looks_only_at_the_call_that_ends() -> None:
    writer = PlainWriter()
    writer.view.blocks = blocks = _Counted()
    calls = [ev.ToolCalled(call_id=f"c{number}", name="t", args={}) for number in range(1000)]
    ends = [
        ev.ToolFinished(call_id=call.call_id, name="t", status="ok", result={}, ms=1.0, delivered=True)
        for call in calls
    ]
    lines = [line for event in stamped([*calls, *ends]) for line in writer.feed(event)]
    assert lines == ["tool: t() -> ok, 1 ms {}"] * 1000
    assert writer.rest() == []
    assert blocks.looks < 20 * len(lines)
