"""Pieces of the model's audio are counted and passed to isolated listeners."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.support.manual_clock import ManualClock

from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackFault, CallbackRunner, SlowCallback
from gemini_live_runtime.session.definition.callbacks import EventCallbacks
from gemini_live_runtime.session.io.sound_tap import GAPS, sound_tap
from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry


class Bench:
    """A tap with listeners; `seconds` is how long they take."""

    def __init__(self, *listeners: Callable[[bytes], Any]) -> None:
        self.clock = ManualClock()
        self.reports: list[CallbackFault | SlowCallback] = []
        self.telemetry = SessionTelemetry(0.0)
        callbacks = EventCallbacks()
        for listener in listeners:
            callbacks = callbacks.add("on_audio", listener)
        runner = CallbackRunner(callbacks, clock=self.clock, report=self.reports.append)
        self.take = sound_tap(self.telemetry, runner.inline_listeners("on_audio"), self.clock.now)

    def pieces(self, count: int) -> None:
        for _ in range(count):
            self.take(b"pcm")

    @property
    def slow(self) -> list[SlowCallback]:
        return [report for report in self.reports if isinstance(report, SlowCallback)]

    @property
    def faults(self) -> list[CallbackFault]:
        return [report for report in self.reports if isinstance(report, CallbackFault)]


async def test_every_listener_hears_every_piece_in_order() -> None:
    heard: list[str] = []
    bench = Bench(lambda pcm: heard.append("a"), lambda pcm: heard.append("b"))

    bench.pieces(100)

    assert heard == ["a", "b"] * 100
    assert bench.reports == []


async def test_pieces_are_counted_with_and_without_listeners() -> None:
    for listeners in ((), (lambda pcm: None,)):
        bench = Bench(*listeners)
        bench.telemetry.turn_started(0.0, 1, "typed")
        bench.pieces(1000)
        bench.telemetry.turn_completed(1.0)
        bench.pieces(24)

        metrics = bench.telemetry.turn_metrics()
        assert metrics is not None
        assert metrics.audio_bytes == 3000
        figures = bench.telemetry.snapshot(2.0)
        assert (figures["audio_chunks_out"], figures["audio_kbytes_out"]) == (1024, 3)


@pytest.mark.parametrize("count", [1, 2])
async def test_a_listener_that_raises_harms_nobody_and_is_reported_ever_more_rarely(count: int) -> None:
    def fail(pcm: bytes) -> None:
        raise SystemExit(3)

    heard: list[bytes] = []
    bench = Bench(*(fail, heard.append)[:count])

    bench.pieces(100)

    assert [fault.times for fault in bench.faults] == [1, 2, 4, 8, 16, 32, 64]
    assert len(heard) == (count - 1) * 100


@pytest.mark.parametrize("count", [1, 2])
async def test_a_coroutine_is_named_every_time_and_not_left_behind(count: int) -> None:
    async def save(pcm: bytes) -> None: ...

    def forgetful(pcm: bytes) -> Coroutine[Any, Any, None]:
        return save(pcm)

    bench = Bench(*(forgetful, lambda pcm: None)[:count])
    bench.pieces(4)

    assert [fault.times for fault in bench.faults] == [1, 2, 4]
    assert "returned a coroutine" in bench.faults[0].error


@pytest.mark.parametrize("quick", range(0, 160, 13))
async def test_a_listener_that_becomes_slow_is_named_within_two_seconds(quick: int) -> None:
    calls = itertools.count()
    bench = Bench(lambda pcm: bench.clock.advance(0.002 if next(calls) >= quick else 0.0))

    bench.pieces(quick + 50)  # of 40 ms

    assert bench.slow


async def test_a_listener_is_timed_every_time_while_it_is_slow() -> None:
    bench = Bench(lambda pcm: None, lambda pcm: bench.clock.advance(0.002))

    bench.pieces(100)

    assert [slow.times for slow in bench.slow] == [1, 2, 4, 8, 16, 32, 64]


@pytest.mark.parametrize("every", [2, 10, 19, 25, 50, 72])
async def test_a_listener_that_is_slow_once_in_so_many_pieces_is_named_in_some_minutes(every: int) -> None:
    calls = itertools.count(1)
    bench = Bench(lambda pcm: bench.clock.advance(0.0 if next(calls) % every else 0.002))

    bench.pieces(25 * 60 * 5)

    assert bench.slow


def test_the_pieces_of_a_round_are_a_prime_number() -> None:
    round_ = sum(GAPS) + len(GAPS)

    assert max(GAPS) < 50
    assert all(round_ % divisor for divisor in range(2, round_))
