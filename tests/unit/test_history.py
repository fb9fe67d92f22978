"""A history's view at any event is the fold of the events up to it."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vocabulary_strategies import sessions

from gemini_live_runtime import events as ev
from gemini_live_runtime import vocabulary
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import JournalError, NewerFormatError
from gemini_live_runtime.journal.fold import blocks
from gemini_live_runtime.journal.fold.session_fold import apply_sample, fold
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.history import blob_store, keyframes, page_store
from gemini_live_runtime.journal.history.earlier_events import load_earlier
from gemini_live_runtime.journal.history.live_history import LiveHistory
from gemini_live_runtime.journal.history.recorded_history import RecordedHistory
from gemini_live_runtime.journal.history.session_history import TRANSITIONS, TURNS, History
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.samples import MeterSample

Events = list[ev.Event]
FIRINGS = frozenset({"watcher.fired", "pattern.fired"})


@pytest.fixture(autouse=True, scope="module", params=["a usual view", "a view that forgets"])
def small(request: pytest.FixtureRequest) -> Iterator[None]:
    """Shrink the pages to three events, and the transcripts kept in memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_store, "PAGE", 3)
        patch.setattr(page_store, "CACHED_PAGES", 2)
        if request.param == "a view that forgets":
            patch.setattr(blocks, "MAX_BLOCKS", 5)
            patch.setattr(keyframes, "CHUNK", 4)
            patch.setattr(keyframes, "CACHED_CHUNKS", 2)
        yield


def as_on_a_link(events: Sequence[ev.Event]) -> Events:
    return [vocabulary.event_from_line(event.to_line()) for event in events]


def stamped(*payloads: ev.Payload, turns: Sequence[int] = ()) -> Events:
    stamps = turns or [1] * len(payloads)
    return [ev.Event(seq, seq / 10, stamps[seq - 1], 1, payload) for seq, payload in enumerate(payloads, 1)]


def said(text: str, side: ev.Side = "model") -> ev.Payload:
    return ev.TranscriptDelta(side=side, text=text)


def started(record: ev.Record) -> ev.Payload:
    return ev.SessionStarted(
        session_id="s1", agent="a", model="m", backend="b", wall=0.0, record=record, mode="voice", program="p"
    )


def live(events: Sequence[ev.Event], base: SessionView | None = None) -> LiveHistory:
    found = LiveHistory(base)
    for event in events:
        found.append(event)
    return found


def write(path: Path, events: Sequence[ev.Event], session_id: str = "") -> Path:
    header = {**vocabulary.header(), "session_id": session_id}
    path.write_text("\n".join([json.dumps(header), *(event.to_line() for event in events)]) + "\n")
    return path


def opened(path: Path, until: int | None = None) -> RecordedHistory:
    found = RecordedHistory(path, until=until)
    while found.load():
        pass
    return found


# -- views ------------------------------------------------------------------------------------------------------------


@given(sessions(), st.lists(st.integers(0, 45), min_size=1, max_size=12))
def test_seeking_back_and_forth_always_gives_the_fold_from_the_start(session, seeks):
    events = as_on_a_link(session)
    found = live(events)
    for seq in seeks:
        assert found.view_at(seq) == fold(events[:seq])
    assert found.live == fold(events)


@given(sessions(), st.data())
def test_seeks_while_the_session_goes_on_do_not_disturb_it(session, data):
    events = as_on_a_link(session)
    found = LiveHistory()
    for event in events:
        found.append(event)
        seq = data.draw(st.integers(0, event.seq))
        assert found.view_at(seq) == fold(events[:seq])
    assert found.live == fold(events)


@given(sessions(), st.data())
def test_a_callers_changes_to_a_view_do_not_change_the_history(session, data):
    events = as_on_a_link(session)
    found = live(events)
    seq = data.draw(st.integers(0, len(events)))
    spoilt = found.view_at(seq)
    spoilt.blocks.clear()
    spoilt.events_by_type.clear()
    spoilt.word_reason = "spoilt"
    assert found.view_at(seq) == fold(events[:seq])


@given(session=sessions(), seeks=st.lists(st.integers(0, 45), min_size=1, max_size=8))
def test_a_live_history_and_one_from_the_file_agree(tmp_path_factory, session, seeks):
    events = as_on_a_link(session)
    from_link = live(events)
    from_file = opened(write(tmp_path_factory.mktemp("s") / "events.jsonl", events))
    assert list(from_file.events(1, 100)) == list(from_link.events(1, 100)) == events
    assert list(from_file.events_back(20)) == events[:20][::-1]
    for seq in seeks:
        assert from_file.view_at(seq) == from_link.view_at(seq)
    assert from_file.live == from_link.live
    from_file.close()


@given(session=sessions(), data=st.data())
def test_a_console_that_attached_late_agrees_once_it_has_read_the_file(tmp_path_factory, session, data):
    events = as_on_a_link(session)
    cut = data.draw(st.integers(0, len(events)))
    base = SessionView.from_json(json.loads(json.dumps(fold(events[:cut]).to_json())))
    late = live(events[cut:], base)
    assert late.first_seq == cut + 1
    assert late.view_at(cut) == fold(events[:cut])
    if cut:
        with pytest.raises(JournalError, match="is not in reach"):
            late.event(cut)
    path = write(tmp_path_factory.mktemp("s") / "events.jsonl", events)
    asyncio.run(load_earlier(late, path))
    assert late.first_seq == 1
    assert late.count == len(events)
    whole = live(events)
    assert list(late.events(1, 100)) == events
    assert list(late.events_back(100)) == events[::-1]
    for seq in data.draw(st.lists(st.integers(0, 45), max_size=8)):
        assert late.view_at(seq) == fold(events[:seq])
        assert late.following(seq, TURNS | TRANSITIONS) == whole.following(seq, TURNS | TRANSITIONS)
        assert late.preceding(seq, TURNS | FIRINGS) == whole.preceding(seq, TURNS | FIRINGS)
        assert late.turn_bounds(seq) == whole.turn_bounds(seq)
        assert late.seq_at_time(seq) == whole.seq_at_time(seq)
    late.close()


def test_samples_in_the_live_view_are_in_no_other():
    events = stamped(said("one"), said(" two"), said(" three"), said(" four"))
    found = live(events[:3])
    apply_sample(found.live, MeterSample(t=99.0, mic_db=-3.0))
    found.append(events[3])
    apply_sample(found.live, MeterSample(t=99.5, mic_db=-4.0))
    assert [found.view_at(seq) for seq in (3, 4)] == [fold(events[:3]), fold(events)]
    assert found.live.meters.mic_db == -4.0


def test_an_event_that_comes_twice_is_taken_once():
    events = stamped(said("one"), said(" two"))
    found = live([*events, events[0], events[1]])
    assert found.live == fold(events)
    assert found.count == 2


# -- finding ----------------------------------------------------------------------------------------------------------


@given(sessions(), st.data())
def test_stepping_by_type_finds_the_events_of_a_full_search(session, data):
    events = as_on_a_link(session)
    found = live(events)
    types = data.draw(st.sets(st.sampled_from(sorted(ev.PAYLOADS)), min_size=1, max_size=20))
    seq = data.draw(st.integers(0, len(events) + 1))
    wanted = [event.seq for event in events if event.type in types]
    assert found.following(seq, types) == next((number for number in wanted if number > seq), None)
    assert found.preceding(seq, types) == next((number for number in reversed(wanted) if number < seq), None)


@given(sessions(), st.floats(0, 100))
def test_the_event_at_a_time_is_the_last_one_up_to_it(session, t):
    events = as_on_a_link(session)
    assert live(events).seq_at_time(t) == max((event.seq for event in events if event.t <= t), default=0)


@given(sessions(), st.integers(0, 20))
def test_a_turn_goes_from_its_first_event_to_its_last(session, turn):
    events = as_on_a_link(session)
    own = [event.seq for event in events if event.turn == turn]
    assert live(events).turn_bounds(turn) == ((own[0], own[-1]) if own else None)


def test_an_event_stamped_with_an_earlier_turn_belongs_to_the_turn_it_happened_in():
    found = live(stamped(*[said("x")] * 6, turns=[1, 1, 2, 1, 2, 3]))
    assert [found.turn_bounds(turn) for turn in (1, 2, 3, 4)] == [(1, 2), (3, 5), (6, 6), None]


def test_a_missing_event_resolves_to_the_one_before():
    events = [event for event in stamped(*[said(f"{n} ") for n in range(12)]) if event.seq not in (1, 5, 6, 7, 8)]
    found = live(events)
    assert (found.first_seq, found.last_seq, found.count) == (2, 12, 7)
    assert found.view_at(7) == fold(events[:3])
    assert found.seq_at_time(0.75) == 4
    with pytest.raises(JournalError, match=r"Event 7 is not in reach"):
        found.event(7)


def test_an_unreachable_server_is_an_error_in_a_sentence():
    found = live(stamped(said("x"), said("y")))
    with pytest.raises(JournalError, match=r"^Event 3 is not in reach: events 1 to 2 are\.$"):
        found.event(3)
    with pytest.raises(JournalError, match=r"Event -1 is not in reach"):
        found.view_at(-1)
    with pytest.raises(JournalError, match=r"Event 1 is not in reach: nothing is\."):
        LiveHistory().event(1)


# -- bounds -----------------------------------------------------------------------------------------------------------


def long_session(count: int, record: ev.Record) -> Events:
    """Events that do not compress well and leave next to nothing in the view."""
    words = [os.urandom(300).hex() for _ in range(count)]
    frames = [ev.WireMessage(direction="sent", kinds=("x",), frame=word, size=600) for word in words]
    return stamped(started(record), *frames)


def test_an_unrecorded_session_writes_no_file_and_keeps_events_within_its_limit(monkeypatch):
    def refuse(**options: object) -> None:
        raise AssertionError("a file was made")

    monkeypatch.setattr(blob_store.tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr(page_store, "MAX_MEMORY_BYTES", 20_000)
    events = long_session(300, "off")
    found = LiveHistory()
    for event in events:
        found.append(event)
        assert found.memory_bytes <= 20_000
    assert 200 < found.first_seq < 295
    assert found.count == 301 - found.first_seq + 1
    for seq in (found.first_seq - 1, found.first_seq, 300, 301):
        assert found.view_at(seq) == fold(events[:seq])
    with pytest.raises(JournalError, match="is not in reach"):
        found.view_at(found.first_seq - 2)


def test_a_recorded_session_has_little_in_memory(monkeypatch):
    monkeypatch.setattr(page_store, "MAX_MEMORY_BYTES", 20_000)
    events = long_session(300, "text")
    found = live(events)
    assert found.first_seq == 1
    # The first page existed before an event said that the session is recorded.
    assert found.memory_bytes < 2_000
    assert found.view_at(150) == fold(events[:150])
    found.close()


def test_where_the_disk_is_full_memory_is_used_and_stays_bounded(monkeypatch):
    def refuse(**options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(blob_store.tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr(page_store, "MAX_MEMORY_BYTES", 20_000)
    events = long_session(300, "text")
    found = live(events)
    assert found.memory_bytes <= 20_000
    assert found.first_seq > 1
    assert found.view_at(300) == fold(events[:300])


def test_a_file_stays_wholly_in_reach_where_no_temporary_file_can_be_made(tmp_path, monkeypatch):
    def refuse(**options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(blob_store.tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr(page_store, "MAX_MEMORY_BYTES", 20_000)
    events = long_session(300, "text")
    found = opened(write(tmp_path / "events.jsonl", events))
    assert found.memory_bytes < 400_000
    assert found.first_seq == 1
    for seq in (0, 1, 7, 150, 299, 301):
        assert found.view_at(seq) == fold(events[:seq])


def bytes_of(value: object, seen: set[int]) -> int:
    """Return the bytes of all objects reachable from `value` and not in `seen`.

    Classes and modules count nothing.
    """
    total, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, type | types.ModuleType | types.FunctionType):
            continue
        seen.add(id(item))
        total += sys.getsizeof(item)
        waiting += gc.get_referents(item)
    return total


def own_bytes(found: History) -> int:
    """Return the bytes of a history without its live view."""
    seen: set[int] = set()
    bytes_of(found.live, seen)
    return bytes_of(found, seen)


def test_a_recorded_session_has_one_index_entry_in_memory_for_each_page():
    def spoken(number: int) -> ev.Payload:
        if number % 5 == 0:
            return ev.StateChanged(key=f"app:k{number % 50}", old=None, new=number, mutation=number, origin="tool")
        return ev.TurnCompleted(outcome="complete", latency_ms=1.0) if number % 7 == 0 else said(f"word {number} ")

    events = stamped(started("text"), *[spoken(number) for number in range(1, 6000)])
    found = live(events[:3000])
    before = own_bytes(found)
    for event in events[3000:]:
        found.append(event)
    for seq in range(1, 6000, 250):
        found.view_at(seq)
    own_bytes_a_page = (own_bytes(found) - before) / (3000 / page_store.PAGE)
    assert own_bytes_a_page < 1000
    found.close()


# -- files ------------------------------------------------------------------------------------------------------------


def test_a_file_can_be_sought_while_it_is_being_read(tmp_path):
    events = stamped(*[said(f"{n} ") for n in range(200)])
    found = RecordedHistory(write(tmp_path / "events.jsonl", events))
    assert (found.loaded, found.count) == (0.0, 0)
    shares = []
    while found.load(budget_s=0.0):
        shares.append(found.loaded)
        assert found.view_at(found.last_seq // 2) == fold(events[: found.last_seq // 2])
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert (found.loaded, found.count) == (1.0, 200)


async def test_other_tasks_run_while_a_file_is_read(tmp_path):
    path = write(tmp_path / "events.jsonl", stamped(*[said(f"{n} ") for n in range(2000)]))
    shares: list[float] = []
    found = RecordedHistory(path)
    await found.load_all(shares.append)
    assert shares[-1] == 1.0
    assert found.count == 2000


def test_a_session_that_is_still_recorded_can_be_read_on(tmp_path):
    events = stamped(*[said(f"{n} ") for n in range(20)])
    path = write(tmp_path / "events.jsonl", events[:10])
    with path.open("a") as file:
        file.write(events[10].to_line()[:20])
    found = opened(path)
    assert (found.last_seq, found.torn) == (10, True)
    with path.open("a") as file:
        file.write(events[10].to_line()[20:] + "\n" + "".join(f"{event.to_line()}\n" for event in events[11:]))
    found.load()
    assert (found.last_seq, found.torn) == (20, False)
    assert found.view_at(15) == fold(events[:15])


def test_damage_is_passed_over_in_reading_and_in_seeking(tmp_path, monkeypatch):
    events = stamped(*[said(f"{n} ") for n in range(12)])
    lines = [event.to_line() for event in events]
    lines[4:4] = ["{broken", lines[1], '{"seq": 5}', "", "\x00"]
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join([json.dumps(vocabulary.header()), *lines]) + "\n" + lines[0][:9])
    found = opened(path)
    assert found.torn
    assert [problem.line for problem in found.problems] == [6, 7, 8, 9, 10]
    for seq in (2, 4, 5, 12):
        assert found.view_at(seq) == fold(events[:seq])
    assert list(found.events(3, 6)) == events[2:6]


_JUNK = ("", "{", "[", "]", "{}", "[]", "1", "null", "\x00", '{"seq": 3}', "{}, {}", '{"x": [1', "2]}", "NaN")


@given(session=sessions(), data=st.data())
def test_a_history_of_any_file_has_the_events_of_its_reader(tmp_path_factory, session, data):
    lines: list[str] = []
    for event in session:
        line = event.to_line()
        between = st.sampled_from((*_JUNK, f"{line}, {line}", *lines[-2:]))
        lines += [*data.draw(st.lists(between, max_size=2)), line]
    for _ in range(data.draw(st.integers(0, min(3, len(lines))))):
        lines.pop(data.draw(st.integers(0, len(lines) - 1)))
    path = tmp_path_factory.mktemp("s") / "events.jsonl"
    path.write_text("\n".join([json.dumps(vocabulary.header()), "", *lines]) + data.draw(st.sampled_from(["\n", ""])))
    journal = read_journal(path)
    events = list(journal)
    found = opened(path)
    assert list(found.events(0, 100)) == events
    assert (found.problems, found.torn) == (journal.problems, journal.torn)
    for index, event in enumerate(events, 1):
        assert found.event(event.seq) == event
        assert found.view_at(event.seq) == fold(events[:index])
    found.close()


def test_a_file_that_changes_under_its_reader_is_an_error_and_no_wrong_answer(tmp_path):
    events = stamped(*[said(f"{n} ") for n in range(30)])
    path = write(tmp_path / "events.jsonl", events)
    found = opened(path)
    path.write_text("x" * path.stat().st_size)
    with pytest.raises(JournalError, match="the session file was changed"):
        found.view_at(10)


@pytest.mark.parametrize("content", ["", "RIFF", '{"format": "else"}\n'])
def test_a_foreign_file_is_refused_with_a_sentence(tmp_path, content):
    (tmp_path / "x").write_text(content)
    with pytest.raises(JournalError, match=r"is not a gemini-live-tui session|is empty"):
        RecordedHistory(tmp_path / "x")


def test_a_newer_file_is_refused_by_name(tmp_path):
    (tmp_path / "x").write_text(json.dumps({"format": ev.FORMAT, "version": 99}) + "\n")
    with pytest.raises(NewerFormatError, match="version 99"):
        RecordedHistory(tmp_path / "x")


def test_a_recording_whose_writer_is_a_moment_behind_is_waited_for(tmp_path):
    events = stamped(started("text"), *[said(f"{n} ") for n in range(10)])
    path = write(tmp_path / "events.jsonl", events[:4])
    late = live(events[6:], fold(events[:6]))

    def catch_up() -> None:
        with path.open("a") as file:
            file.writelines(f"{event.to_line()}\n" for event in events[4:])

    async def attach() -> None:
        asyncio.get_running_loop().call_later(0.5, catch_up)
        await load_earlier(late, path)

    run_virtual(attach())
    assert (late.first_seq, late.count) == (1, 11)
    assert late.view_at(5) == fold(events[:5])
    late.close()


def test_a_recording_that_ends_too_early_is_refused(tmp_path):
    events = stamped(started("text"), *[said(f"{n} ") for n in range(10)])
    late = live(events[6:], fold(events[:6]))
    with pytest.raises(JournalError, match="ends with event 4 of session s1, needed is event 6 of session s1"):
        run_virtual(load_earlier(late, write(tmp_path / "events.jsonl", events[:4])))


def test_events_that_the_disk_was_too_slow_for_just_before_a_console_came_do_not_keep_it_from_the_past(tmp_path):
    events = stamped(started("text"), *[said(f"{n} ") for n in range(10)])
    late = live(events[6:], fold(events[:6]))
    path = write(tmp_path / "events.jsonl", [*events[:4], *events[7:]])
    asyncio.run(load_earlier(late, path))
    assert (late.first_seq, late.count) == (1, 9)
    assert late.view_at(3) == fold(events[:3])
    assert late.view_at(5) == fold(events[:4])
    assert late.view_at(6) == fold(events[:6])
    assert [event.seq for event in late.events(1, 11)] == [1, 2, 3, 4, *range(7, 12)]
    late.close()


def test_events_of_lines_that_are_readable_only_one_by_one_can_be_reached(tmp_path):
    events = stamped(started("text"), *[said(f"{n} ") for n in range(12)])
    path = write(tmp_path / "events.jsonl", events)
    path.write_bytes(b"".join(b"\xef\xbb\xbf" + line for line in path.read_bytes().splitlines(keepends=True)))
    found = opened(path)
    assert list(found.events(1, len(events))) == events
    assert found.view_at(8) == fold(events[:8])
    found.close()


def test_a_history_that_is_closed_says_so(tmp_path):
    found = opened(write(tmp_path / "events.jsonl", stamped(*[said(f"{n} ") for n in range(30)])))
    found.close()
    with pytest.raises(JournalError, match="cannot be read back"):
        found.view_at(10)


async def test_the_recording_of_another_session_is_not_put_in_front(tmp_path):
    events = stamped(started("text"), *[said(f"{n} ") for n in range(10)])
    base = fold(events[:6])
    base.session_id = "another"
    late = live(events[6:], base)
    with pytest.raises(JournalError, match="needed is event 6 of session another"):
        await load_earlier(late, write(tmp_path / "events.jsonl", events))
    assert late.first_seq == 7
