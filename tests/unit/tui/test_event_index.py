"""The events pane lists long histories unread, or filters them in portions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.journal.history.live_history import LiveHistory
from gemini_live_tui.session_data.event_index import EventFilter, EventIndex, Numbers

KINDS: tuple[ev.Payload, ...] = (
    ev.TurnStarted(by="voice"),
    ev.TranscriptDelta(side="user", text="Frau Müller"),
    ev.MarkSet(text="odd"),
    ev.SessionState(word="listening"),
)
WORDS = ("", "turn.*", "mark.set turn.started", "odd", '"Frau Müller"', "turn.* odd", "session.state listening", "nope")


def _events(kinds: list[int], first: int = 1) -> list[ev.Event]:
    return [ev.Event(seq, float(seq), 0, 0, KINDS[kind]) for seq, kind in enumerate(kinds, first)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 3), max_size=700),
    st.lists(st.integers(0, 3), max_size=300),
    st.sampled_from(WORDS),
    st.integers(0, 5),
)
def test_rows_are_what_the_filter_lets_through_whenever_it_came(before, after, written, slices) -> None:
    history = LiveHistory()
    for event in _events(before):
        history.append(event)
    only = EventFilter.read(written)
    index = EventIndex(history, only)
    for _ in range(slices):
        index.scan(0.0)
    for event in _events(after, len(before) + 1):
        history.append(event)
    while index.scan(0.0):
        pass
    every = _events(before) + _events(after, len(before) + 1)
    assert list(index.rows) == [str(event.seq) for event in every if only.lets(event)]
    assert index.searched == 1.0


def test_without_a_filter_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    history = LiveHistory()
    for event in _events([0] * 2000):
        history.append(event)
    monkeypatch.setattr(history, "events", lambda *_: pytest.fail("read"))
    index = EventIndex(history, EventFilter())
    assert not index.scan()
    assert len(index.rows) == 2000
    assert index.rows[1999] == "2000"


def test_what_is_read_later_in_front_is_searched_too(tmp_path) -> None:
    events = _events([2, 0, 2, 0, 0, 2])
    late = LiveHistory(fold(events[:3]))
    for event in events[3:]:
        late.append(event)
    index = EventIndex(late, EventFilter.read("mark.set"))
    while index.scan():
        pass
    assert list(index.rows) == ["6"]


@pytest.mark.parametrize(
    ("written", "only"),
    [
        ("", EventFilter()),
        ("tool.* Ruiz", EventFilter(("tool.*",), ("ruiz",))),
        ('"Ms. Ruiz" state.changed', EventFilter(("state.changed",), ("ms. ruiz",))),
        ('"open', EventFilter((), ("open",))),
    ],
)
def test_a_filter_is_read_as_it_is_written(written: str, only: EventFilter) -> None:
    assert EventFilter.read(written) == only
    assert bool(only) == bool(written)


@given(st.integers(1, 50), st.integers(0, 50), st.integers(-60, 60))
def test_numbers_behave_like_a_list(first: int, count: int, index: int) -> None:
    numbers = Numbers(range(first, first + count))
    expected = [str(number) for number in range(first, first + count)]
    assert list(numbers) == expected
    assert list(Numbers([int(number) for number in expected])) == expected
    for rows in (numbers, Numbers([int(number) for number in expected])):
        assert rows[index:] == expected[index:]
        for row in ("0", str(index), "x", *expected[:2]):
            assert (row in rows) == (row in expected)
            if row in expected:
                assert rows.index(row) == expected.index(row)
