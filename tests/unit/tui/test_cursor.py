"""Every moment of the past is the fold up to it; the present is undisturbed."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.manual_clock import ManualClock

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.journal.history.live_history import LiveHistory
from gemini_live_runtime.journal.history.session_history import History
from gemini_live_tui.session_data.cursor import Cursor, OutOfReachError, slower_or_faster
from gemini_live_tui.session_data.moment_parser import NoSuchMomentError, find


def _events(turns: int = 6) -> list[ev.Event]:
    """Return turns of five events, a second apart.

    A phase is entered in each second turn, a mark set in each third.
    """
    found: list[ev.Event] = []

    def tell(turn: int, payload: ev.Payload) -> None:
        found.append(ev.Event(len(found) + 1, float(len(found)), turn, turn, payload))

    tell(
        0,
        ev.SessionStarted(
            session_id="s", agent="a", model="m", backend="local", wall=1.0, record="text", mode="voice", program="test"
        ),
    )
    for turn in range(1, turns + 1):
        tell(turn, ev.TurnStarted(by="voice"))
        tell(turn, ev.TranscriptDelta(side="user", text=f"question {turn}"))
        if turn % 2:
            tell(turn, ev.PhaseEntered(phase=f"p{turn}", trigger="guard"))
        if turn % 3 == 0:
            tell(turn, ev.MarkSet(text=f"note {turn}", of=len(found) - 1))
        tell(turn, ev.TranscriptDelta(side="model", text=f"answer {turn}"))
        tell(turn, ev.TurnCompleted(outcome="complete", latency_ms=100.0 * turn))
    return found


def _cursor(events: list[ev.Event], clock: ManualClock | None = None) -> tuple[Cursor, History]:
    history = LiveHistory()
    for event in events:
        history.append(event)
    return Cursor(clock or ManualClock(), lambda: history), history


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("step"), st.sampled_from(["event", "turn", "transition", "mark"]), st.sampled_from([-1, 1])),
        st.tuples(st.just("seek"), st.integers(0, 60), st.just(0)),
        st.tuples(st.just("time"), st.integers(0, 60), st.just(0)),
        st.tuples(st.just("live"), st.just(0), st.just(0)),
        st.tuples(st.just("happen"), st.integers(1, 3), st.just(0)),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(MOVES)
def test_scrubbing_to_and_fro_shows_the_fold_of_every_moment_and_leaves_the_present_alone(moves) -> None:
    events = _events(12)
    known = 20
    cursor, history = _cursor(events[:known])
    said: list[str] = []
    for what, one, two in moves:
        try:
            if what == "step":
                cursor.step(one, two)
            elif what == "seek":
                cursor.seek(one)
            elif what == "time":
                cursor.seek_time(one)
            elif what == "live":
                cursor.live()
            else:
                for event in events[known : known + one]:
                    history.append(event)
                known = min(len(events), known + one)
        except JournalError as error:
            said.append(str(error))
        seq = known if cursor.seq is None else cursor.seq
        assert cursor.view.to_json() == fold(events[:seq]).to_json()
        assert history.live.to_json() == fold(events[:known]).to_json()
    assert {text.rstrip(".") for text in said} <= {"This is the beginning"}


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 28), min_size=1, max_size=6))
def test_two_readers_at_one_moment_see_the_same(seqs) -> None:
    events = _events()
    one, _ = _cursor(events)
    other, _ = _cursor(events)
    for seq in seqs:
        one.seek(seq)
    other.seek(seqs[-1])
    assert one.view.to_json() == other.view.to_json()


def test_steps_lead_to_turns_transitions_and_marks_and_past_the_last_to_the_present() -> None:
    events = _events()
    cursor, _ = _cursor(events)
    turns = [event.seq for event in events if isinstance(event.payload, ev.TurnStarted)]
    phases = [event.seq for event in events if isinstance(event.payload, ev.PhaseEntered)]
    marks = [event.payload.of for event in events if isinstance(event.payload, ev.MarkSet)]
    for kind, expected in (("turn", turns), ("transition", phases), ("mark", marks)):
        for seq in reversed(expected):
            cursor.step(kind, -1)
            assert cursor.seq == seq
        for seq in expected[1:]:
            cursor.step(kind, 1)
            assert cursor.seq == seq
        cursor.step(kind, 1)
        assert cursor.seq is None


def test_the_beginning_says_so_and_what_came_before_the_console_must_be_read_first() -> None:
    cursor, _ = _cursor(_events())
    cursor.seek(0)
    with pytest.raises(JournalError, match="beginning"):
        cursor.step("event", -1)
    late = LiveHistory(fold(_events()[:10]))
    for event in _events()[10:]:
        late.append(event)
    cursor = Cursor(ManualClock(), lambda: late)
    cursor.seek(10)
    with pytest.raises(OutOfReachError, match="from before event 11"):
        cursor.step("event", -1)
    assert cursor.seq == 10
    with pytest.raises(OutOfReachError, match="from before event 11"):
        cursor.seek_time(0.0)
    only = LiveHistory(fold(_events()[:10]))
    for move in (lambda: Cursor(ManualClock(), lambda: only).step("turn", -1), lambda: find("0:00", only)):
        with pytest.raises(OutOfReachError, match="from before event 11"):
            move()


def test_playing_moves_in_session_time_and_ends_in_the_present() -> None:
    clock = ManualClock()
    cursor, history = _cursor(_events(), clock)
    cursor.seek(5)
    cursor.play()
    assert cursor.advance() == pytest.approx(0.25)
    clock.advance(3.0)
    cursor.advance()
    assert cursor.seq == 8
    cursor.set_speed(2.0)
    clock.advance(2.0)
    cursor.advance()
    assert cursor.seq == 12
    cursor.pause()
    clock.advance(60)
    assert cursor.advance() is None
    assert cursor.seq == 12
    cursor.play()
    clock.advance(60)
    cursor.advance()
    assert cursor.seq is None
    assert not cursor.playing
    assert cursor.view is history.live


def test_played_from_the_end_a_recording_begins_anew() -> None:
    cursor, _ = _cursor(_events())
    cursor.play()
    assert cursor.seq == 0


def test_speeds_stop_at_the_slowest_and_the_fastest() -> None:
    assert [slower_or_faster(speed, 1) for speed in (0.5, 1.0, 2.0, 4.0)] == [1.0, 2.0, 4.0, 4.0]
    assert slower_or_faster(0.5, -1) == 0.5


@pytest.mark.parametrize(
    ("text", "seq"),
    [
        ("0:03", 4), ("3s", 4), ("3.5 sec", 4), ("0:00:03.2", 4), ("event 7", 7), ("7", 7), ("turn 2", 7),
        ("t2", 7), ("mark 1", 12), ("phase p3", 13), ("PHASE P1", 4), ("end", None), ("live", None),
        ("start", 0), ("99:00", None),
    ],
)  # fmt: skip
def test_moments_are_understood_as_people_write_them(text: str, seq: int | None) -> None:
    _, history = _cursor(_events())
    found = find(text, history)
    if text == "mark 1":
        assert found == history.live.agent_view.marks[0].of
    elif text == "phase p3":
        assert isinstance(history.event(found or 0).payload, ev.PhaseEntered)
    elif text in ("turn 2", "t2"):
        assert history.event(found or 0).turn == 2
    else:
        assert found == seq


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tomorrow", "is no moment. Write 12:34"),
        ("turn 99", "no turn 99; the last one is 6"),
        ("event 9,999", "no event 9,999; the last one is"),
        ("mark 9", "no mark 9; this session has 2 marks"),
        ("phase nowhere", "never in phase 'nowhere'; it was in p1, p3, p5"),
    ],
)
def test_what_names_no_moment_gets_a_sentence(text: str, said: str) -> None:
    _, history = _cursor(_events())
    with pytest.raises(NoSuchMomentError, match=said):
        find(text, history)


@given(st.text(max_size=40))
def test_no_text_breaks_the_search_for_a_moment(text: str) -> None:
    _, history = _cursor(_events(3))
    with contextlib.suppress(NoSuchMomentError):
        assert (find(text, history) or 0) <= history.last_seq


def test_a_recording_is_read_to_its_end(tmp_path) -> None:
    import json

    from gemini_live_runtime.journal.history.recorded_history import RecordedHistory
    from gemini_live_runtime.vocabulary import header

    path = tmp_path / "events.jsonl"
    lines = [json.dumps({**header(), "session_id": "s"}), *(event.to_line() for event in _events())]
    path.write_text("\n".join(lines) + "\n")
    history = RecordedHistory(path)
    asyncio.run(history.load_all())
    cursor = Cursor(ManualClock(), lambda: history)
    cursor.step("turn", -1)
    assert cursor.view.to_json() == fold(_events()[: cursor.seq]).to_json()
    history.close()
