"""The store folds all messages of the link, in order, once.

Only samples may be overtaken.
"""

from __future__ import annotations

import asyncio
import itertools

import pytest
from tests.support.manual_clock import ManualClock

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.engine.link import Bye, Hello, Snapshot
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.samples import MeterSample
from gemini_live_tui.session_data.store import FRAME_S, MAX_QUEUED, MAX_WAITS, Store


def _store(wakes: list[None] | None = None) -> Store:
    return Store(ManualClock(), lambda: (wakes if wakes is not None else []).append(None))


def _event(seq: int, payload: ev.Payload | None = None) -> ev.Event:
    return ev.Event(seq, float(seq), 0, 0, payload or ev.SessionState(word="listening"))


def test_what_changed_is_marked_once() -> None:
    async def main() -> None:
        wakes: list[None] = []
        store = _store(wakes)
        store.take_dirty()
        await store.put(_event(1))
        assert wakes
        store.drain_all()
        assert store.take_dirty() == Dirty.HEADER
        assert store.take_dirty() == Dirty.NONE
        assert store.view.word == "listening"

    run_virtual(main())


def test_of_many_samples_the_last_is_shown() -> None:
    async def main() -> None:
        store = _store()
        for level in range(1000):
            await store.put(MeterSample(t=0.0, mic_db=-float(level % 60)))
        assert store.queued == 0
        store.drain_all()
        assert store.view.meters.mic_db == -float(999 % 60)

    run_virtual(main())


def test_a_sample_is_not_undone_by_a_snapshot_that_was_folded_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemini_live_tui.session_data.store.FOLD_BUDGET_S", -1.0)

    async def main() -> None:
        store = _store()
        await store.put(Hello("s", 1, "test"))
        await store.put(Snapshot(SessionView()))
        await store.put(MeterSample(t=0.0, mic_db=-12.0))
        while store.drain():
            pass
        assert store.view.meters.mic_db == -12.0

    run_virtual(main())


def test_a_sample_without_news_asks_for_no_frame() -> None:
    async def main() -> None:
        frames: list[None] = []
        store = Store(ManualClock(), lambda: frames.append(None))
        await store.put(MeterSample(t=1.0, loop_lag_ms=2.0))
        assert not frames
        await store.put(MeterSample(t=2.0, mic_db=-30.0))
        assert len(frames) == 1

    run_virtual(main())


def test_an_event_that_comes_twice_is_folded_once() -> None:
    async def main() -> None:
        store = _store()
        for seq in (1, 2, 2, 1, 3):
            await store.put(_event(seq))
        store.drain_all()
        assert store.view.events_by_type == {"session.state": 3}
        assert store.missed == 0

    run_virtual(main())


def test_missing_events_are_counted() -> None:
    async def main() -> None:
        store = _store()
        for seq in (1, 5):
            await store.put(_event(seq))
        while store.drain():
            pass
        assert store.missed == 3

    run_virtual(main())


def test_a_full_queue_makes_the_reader_wait_and_loses_nothing() -> None:
    async def main() -> None:
        store = _store()

        async def fill() -> None:
            for seq in range(1, 3 * MAX_QUEUED):
                await store.put(_event(seq))

        filling = asyncio.create_task(fill())
        await asyncio.sleep(1)
        assert store.queued == MAX_QUEUED
        while not filling.done() or store.queued:
            store.drain()
            await asyncio.sleep(0.01)
        assert store.view.seq == 3 * MAX_QUEUED - 1
        assert store.missed == 0

    run_virtual(main())


def test_a_snapshot_replaces_the_view_and_events_go_on_after_it() -> None:
    async def main() -> None:
        store = _store()
        await store.put(Hello("s", 1, "p"))
        await store.put(Snapshot(SessionView(seq=10, word="speaking")))
        await store.put(_event(11))
        store.drain_all()
        assert store.epoch == 1
        assert store.view.seq == 11
        assert store.missed == 0
        assert store.live

    run_virtual(main())


def test_the_word_is_offline_after_an_orderly_end_and_error_after_any_other() -> None:
    async def main() -> None:
        for ending, word in ((Bye("done", 0), "offline"), (Bye("failed", 1), "error")):
            store = _store()
            await store.put(ending)
            store.drain_all()
            assert store.word == word
            assert not store.live
        store = _store()
        store.lose("The engine is gone.")
        assert store.word == "error"

    run_virtual(main())


def test_a_backlog_waits_for_a_key_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemini_live_tui.session_data.store.FOLD_BUDGET_S", -1.0)

    async def main() -> None:
        store = _store()
        for seq in range(1, 11):
            await store.put(_event(seq))
        folded = []
        for _ in range(10):
            store.answer_key()
            before = store.view.seq
            assert store.drain()
            folded.append(store.view.seq > before)
        assert folded == [True, *(MAX_WAITS * [False] + [True]) * 3][:10]

    run_virtual(main())


def test_what_a_key_leads_to_is_shown_at_once() -> None:
    async def main() -> None:
        store = _store()
        store.answer_key()
        await store.put(_event(1))
        assert not store.drain()
        assert store.view.seq == 1

    run_virtual(main())


def test_folding_ends_as_soon_as_a_key_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        store = _store()
        for seq in range(1, 20):
            await store.put(_event(seq))
        monkeypatch.setattr("gemini_live_tui.session_data.store.FOLD_BUDGET_S", -1.0)
        store.drain()
        monkeypatch.setattr("gemini_live_tui.session_data.store.FOLD_BUDGET_S", 1000.0)
        monkeypatch.setattr(store, "_budget_s", 1000.0)
        # As the thread does that reads the terminal.
        store.listen(ev.SessionState, lambda event: store.answer_key() if event.seq == 5 else None)
        assert store.drain()
        assert store.view.seq == 5

    run_virtual(main())


def test_while_keys_are_typed_a_backlog_is_folded_in_shorter_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        store = _store()
        ticks = itertools.count()
        # Each look at the clock takes a millisecond: one event a look.
        monkeypatch.setattr("gemini_live_tui.session_data.store.time.perf_counter", lambda: next(ticks) / 1000)
        for seq in range(1, 200):
            await store.put(_event(seq))
        store.drain()
        quick = store.view.seq
        for _ in range(MAX_WAITS + 1):
            store.answer_key()
            store.drain()
        assert 0 < store.view.seq - quick <= quick / 2

    run_virtual(main())


def test_less_is_folded_in_a_frame_while_drawing_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        store = _store()
        ticks = itertools.count()
        # Each look at the clock takes a millisecond: one event a look.
        monkeypatch.setattr("gemini_live_tui.session_data.store.time.perf_counter", lambda: next(ticks) / 1000)
        for seq in range(1, 200):
            await store.put(_event(seq))

        def folded() -> int:
            before = store.view.seq
            store.drain()
            return store.view.seq - before

        quick = folded()
        store.pace(5 * FRAME_S)
        store.pace(0.0)
        slow = folded()
        for _ in range(10):
            store.pace(0.0)
        assert 0 < slow < quick / 2
        assert folded() > slow

    run_virtual(main())
